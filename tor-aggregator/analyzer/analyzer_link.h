/*
 * analyzer_link - sends the lanes to the first reachable analyzer.
 *
 * Incidents are sent before summaries, with a bounded window of unacknowledged messages
 * of each; these are sent again, in order, after every reconnect. Both sides ping:
 * after the analyzer's first ping, 2.5 s of silence mean that it is gone. If the
 * analyzer in use is not the first of the list, the earlier ones are tried meanwhile,
 * and when one of them sends a welcome the link returns to it.
 */
#ifndef TOR_AGGREGATOR_ANALYZER_ANALYZER_LINK_H
#define TOR_AGGREGATOR_ANALYZER_ANALYZER_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"
#include "tor-aggregator/analyzer/analyzer_link_options.h"

struct analyzer_link;
struct rm_loop;
struct report_spool;

struct analyzer_link_callbacks { /* each may be NULL */
	/* Nothing is sent yet: messages put on the lanes here follow the waiting
	 * ones. */
	void (*on_welcome)(void *arg);
	/* A WIRE_DRILL; answered with analyzer_link_send. < 0 closes the link. */
	int (*on_drill)(const uint8_t *data, size_t len, void *arg);
	void *arg;
};

struct analyzer_link_counts {
	uint64_t connected, disconnected, refused, silent;
	uint64_t returned;             /* returned to an earlier analyzer of the list */
	uint64_t summaries, incidents; /* messages sent, including those sent again */
	uint64_t acks, bad_frames;
};

int analyzer_link_new(struct rm_loop *loop, const struct analyzer_link_options *options,
    const struct analyzer_link_callbacks *callbacks, struct report_spool *reports,
    struct analyzer_link **ret);
/* Before the report spool is freed. */
void analyzer_link_free(struct analyzer_link *link);

/* -ENOTCONN, or as rm_link_send. */
int analyzer_link_send(struct analyzer_link *link, const struct wire_bytes *bytes);

/* Call it often: pings every 500 ms, and closes a silent link. controller: this
 * aggregator's controller, whose certificate expires then; 0: not soon. */
void analyzer_link_tick(struct analyzer_link *link, const char *controller,
    uint64_t controller_ends_s, rm_mono_t now);
/* This daemon itself was stopped until now: the peer was not silent meanwhile. */
void analyzer_link_stalled(struct analyzer_link *link, rm_mono_t now);

bool analyzer_link_connected(const struct analyzer_link *link);
const char *analyzer_link_analyzer(const struct analyzer_link *link); /* id, or "" */
const struct analyzer_link_counts *analyzer_link_counts(
    const struct analyzer_link *link);

#endif
