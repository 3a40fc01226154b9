/*
 * aggregator_session - one aggregator at the other end of a link: its hello, what it
 * tells of, what it is sent. Shared by aggregator_session.c and aggregators.c only.
 */
#ifndef REGION_CONTROLLER_AGGREGATOR_SESSION_H
#define REGION_CONTROLLER_AGGREGATOR_SESSION_H

#include "region-controller/aggregators.h"

struct rm_link;
struct rm_timer;

struct session {
	struct aggregators_session info; /* first */
	struct aggregators *owner;
	struct session *prev, *next;
	struct rm_link *link;
	rm_mono_t begun;
};

struct aggregators {
	struct rm_loop *loop;
	struct aggregators_options options;
	struct session *sessions;
	struct wire_writer *writer;
	struct rm_timer *sweep;
	uint64_t last_id;
	struct aggregators_counts counts;
};

/* Takes it off the list; closes its link without a word. */
void session_free(struct session *session);
/* What rm_link wants of its on_frame; arg is the session. */
int session_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg);
/* Sends the plans that it does not hold. */
int session_deliver(struct session *session);
bool session_serves(const struct session *session, const char *tor);

#endif
