/*
 * aggregator link - one aggregator, as this host sees it: the link to it, the batch
 * being filled for it, and what it has not acknowledged.
 *
 * Everything leaves in the order in which it became known. A heartbeat says through
 * which time all results are on the stream ahead of it: the aggregator closes windows
 * by that. It goes out also while batches have to wait for acknowledgements: a slow
 * aggregator must not take a healthy agent for a frozen one.
 */
#ifndef HOST_AGENT_REPORT_AGGREGATOR_LINK_H
#define HOST_AGENT_REPORT_AGGREGATOR_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/report/outbox.h"
#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define AGGREGATOR_LINK_PEER_TEXT 96

struct loop_turn;
struct rm_endpoint;
struct rm_loop;
struct rm_tls;
struct aggregator_link;

struct aggregator_link_options {
	const struct rm_endpoint *aggregator;
	const char *host, *region; /* borrowed */
	uint64_t incarnation;
	struct rm_tls *tls; /* borrowed; NULL: plaintext */
	size_t batch_max_results;
	int64_t batch_max_age_ns;
	struct outbox_options outbox;
	int64_t backoff_base_ns, backoff_cap_ns; /* 0: the dialer's */
};

struct aggregator_link_callbacks {
	/* A session has begun: time to register. */
	void (*on_welcome)(struct aggregator_link *aggregator_link, void *arg);
	/* < 0 ends the session with that reason. */
	int (*on_pinglist)(struct aggregator_link *aggregator_link, const uint8_t *data,
	    size_t len, void *arg);
	void (*on_focus)(struct aggregator_link *aggregator_link,
	    const struct wire_focus *focus, void *arg);
	/* cause: quoted. on_down follows. */
	void (*on_refused)(
	    struct aggregator_link *aggregator_link, const char *cause, void *arg);
	/* A heartbeat was behind, and nothing is in its way any more: report again. */
	void (*on_caught_up)(struct aggregator_link *aggregator_link, void *arg);
	/* The session, or an attempt at one, has ended. */
	void (*on_down)(struct aggregator_link *aggregator_link, int reason,
	    bool had_session, void *arg);
	void (*on_brake)(struct aggregator_link *aggregator_link,
	    const struct wire_brake *brake, void *arg);
	/* What aggregator_link_resolve or aggregator_link_join asked; answer is
	 * borrowed. NULL: nothing is ever asked. */
	void (*on_resolved)(struct aggregator_link *aggregator_link,
	    const struct wire_resolve_answer *answer, void *arg);
	/* Connected to whom this certificate's URI names ("": a link without TLS),
	 * before a word is said. < 0: it is not one of ours. NULL: whoever it is. */
	int (*on_peer)(
	    struct aggregator_link *aggregator_link, const char *identity, void *arg);
	/* As on_pinglist; NULL: nobody here authenticates, keys are passed over. */
	int (*on_keys)(struct aggregator_link *aggregator_link, const uint8_t *data,
	    size_t len, void *arg);
};

struct aggregator_link_counts {
	uint64_t sessions;
	uint64_t refusals;       /* welcomes that were none */
	uint64_t refused_frames; /* malformed, out of turn, or of no kind we know */
	uint64_t pinglists, keys, focuses, brakes, acks, pings;
	uint64_t heartbeats;
	uint64_t heartbeats_behind; /* batches could not go before it */
	uint64_t count_rows;
	uint64_t registrations;
	uint64_t paths;
	uint64_t services; /* reports */
	uint64_t counter_reports;
	uint64_t asked, resolved; /* of resolve and join */
	uint64_t overdue_unsent;  /* see aggregator_link_result */
};

int aggregator_link_new(struct rm_loop *loop,
    const struct aggregator_link_options *options,
    const struct aggregator_link_callbacks *callbacks, void *arg,
    struct aggregator_link **ret);
void aggregator_link_free(
    struct aggregator_link *aggregator_link); /* not from its own callbacks */

/* A result, known now. One that is overdue goes to peers that know such, as the welcome
 * of the session said; it is counted otherwise, as it is between sessions. */
void aggregator_link_result(struct aggregator_link *aggregator_link,
    const struct wire_result *result, rm_mono_t sent, rm_mono_t now);

/* What is known so far goes out now. True: all of it went. */
bool aggregator_link_flush(struct aggregator_link *aggregator_link, rm_mono_t now);

/* What the loop did since the last time: goes into the next heartbeat. */
void aggregator_link_note(
    struct aggregator_link *aggregator_link, const struct loop_turn *turn);

struct aggregator_link_report {
	const struct wire_count *rows; /* receive counts that have changed */
	size_t row_count;
	bool paused, paused_by_hand;
	uint64_t self_loss;
	/* Of all aggregator links that are live: see aggregator_link_live; and which,
	 * by bit, are mute.
	 */
	const char *const *live;
	size_t live_count;
	uint64_t live_mute;
	/* What the heartbeat vouches for: results known by then have been handed over.
	 */
	rm_mono_t known_through;
};

/* Batches, then receive counts, then the heartbeat; nothing while there is no
 * session. Also watches over the peer: call it every HEARTBEAT_INTERVAL_NS. */
void aggregator_link_report(struct aggregator_link *aggregator_link,
    const struct aggregator_link_report *report, rm_mono_t now);
/* The peer knows nothing of our counts, or has missed some: the next report is to
 * hold all rows. */
bool aggregator_link_wants_all_counts(const struct aggregator_link *aggregator_link);

/* 0 also while there is no session: the next welcome asks again. */
/* settings: of each of them, or NULL. */
int aggregator_link_register(struct aggregator_link *aggregator_link,
    const struct wire_rnic *rnics, const struct wire_settings *settings, size_t count);

/* Traced paths, at most WIRE_MAX_PATHS. -ENOTCONN without a session. */
int aggregator_link_paths(struct aggregator_link *aggregator_link,
    const struct wire_path *paths, size_t count, rm_mono_t now);

/* All service flows; host, incarnation and now_ns are filled here. -ENOTCONN without a
 * session. */
int aggregator_link_services(struct aggregator_link *aggregator_link,
    const struct wire_services *services, rm_mono_t now);
/* What the RNICs counted; incarnation is filled here. -ENOTCONN without a session. */
int aggregator_link_counter_report(struct aggregator_link *aggregator_link,
    const struct wire_counter_report *counters);
/* Questions, each answered by on_resolved with its token, unless the session ends
 * before. -ENOTCONN without a session. */
int aggregator_link_resolve(
    struct aggregator_link *aggregator_link, const struct wire_resolve *resolve);
int aggregator_link_join(
    struct aggregator_link *aggregator_link, const struct wire_join *join);

bool aggregator_link_has_session(const struct aggregator_link *aggregator_link);
/* The aggregator's id if there is a session and something came lately; else NULL. */
const char *aggregator_link_live(
    const struct aggregator_link *aggregator_link, rm_mono_t now);
/* In this session it has last said that it cannot deliver alerts. */
bool aggregator_link_is_mute(const struct aggregator_link *aggregator_link);
const char *aggregator_link_address(const struct aggregator_link *aggregator_link);
/* In on_down: what TLS has to say about the reason; "": nothing. */
const char *aggregator_link_error(const struct aggregator_link *aggregator_link);
/* Of the certificate of the peer that it is connected to; "": it is not, or without
 * TLS. */
const char *aggregator_link_identity(const struct aggregator_link *aggregator_link);
const char *aggregator_link_peer(
    const struct aggregator_link *aggregator_link); /* quoted; "" before a welcome */
const struct aggregator_link_counts *aggregator_link_counts(
    const struct aggregator_link *aggregator_link);
const struct outbox *aggregator_link_outbox(
    const struct aggregator_link *aggregator_link);

#endif
