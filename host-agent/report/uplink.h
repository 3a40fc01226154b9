/*
 * uplink - one aggregator, as this host sees it: the link to it, the batch being
 * filled for it, and what it has not acknowledged.
 *
 * Everything leaves in the order in which it became known. A heartbeat says through
 * which time all results are on the stream ahead of it: the aggregator closes windows
 * by that. It goes out also while batches have to wait for acknowledgements: a slow
 * aggregator must not take a healthy agent for a frozen one.
 */
#ifndef HOST_AGENT_REPORT_UPLINK_H
#define HOST_AGENT_REPORT_UPLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/report/outbox.h"
#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define UPLINK_PEER_TEXT 96

struct loop_turn;
struct rm_endpoint;
struct rm_loop;
struct rm_tls;
struct uplink;

struct uplink_options {
	const struct rm_endpoint *aggregator;
	const char *host, *region; /* borrowed */
	uint64_t incarnation;
	struct rm_tls *tls; /* borrowed; NULL: plaintext */
	size_t batch_max_results;
	int64_t batch_max_age_ns;
	struct outbox_options outbox;
	int64_t backoff_base_ns, backoff_cap_ns; /* 0: the dialer's */
};

struct uplink_callbacks {
	/* A session has begun: time to register. */
	void (*on_welcome)(struct uplink *uplink, void *arg);
	/* < 0 ends the session with that reason. */
	int (*on_pinglist)(
	    struct uplink *uplink, const uint8_t *data, size_t len, void *arg);
	void (*on_focus)(
	    struct uplink *uplink, const struct wire_focus *focus, void *arg);
	/* cause: quoted. on_down follows. */
	void (*on_refused)(struct uplink *uplink, const char *cause, void *arg);
	/* A heartbeat was behind, and nothing is in its way any more: report again. */
	void (*on_caught_up)(struct uplink *uplink, void *arg);
	/* The session, or an attempt at one, has ended. */
	void (*on_down)(struct uplink *uplink, int reason, bool had_session, void *arg);
	void (*on_brake)(
	    struct uplink *uplink, const struct wire_brake *brake, void *arg);
	/* What uplink_resolve or uplink_join asked; answer is borrowed. NULL: nothing
	 * is ever asked. */
	void (*on_resolved)(
	    struct uplink *uplink, const struct wire_resolve_answer *answer, void *arg);
	/* Connected to whom this certificate's URI names ("": a link without TLS),
	 * before a word is said. < 0: it is not one of ours. NULL: whoever it is. */
	int (*on_peer)(struct uplink *uplink, const char *identity, void *arg);
	/* As on_pinglist; NULL: nobody here authenticates, keys are passed over. */
	int (*on_keys)(
	    struct uplink *uplink, const uint8_t *data, size_t len, void *arg);
};

struct uplink_counts {
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
	uint64_t overdue_unsent;  /* see uplink_result */
};

int uplink_new(struct rm_loop *loop, const struct uplink_options *options,
    const struct uplink_callbacks *callbacks, void *arg, struct uplink **ret);
void uplink_free(struct uplink *uplink); /* not from its own callbacks */

/* A result, known now. One that is overdue goes to peers that know such, as the welcome
 * of the session said; it is counted otherwise, as it is between sessions. */
void uplink_result(struct uplink *uplink, const struct wire_result *result,
    rm_mono_t sent, rm_mono_t now);

/* What is known so far goes out now. True: all of it went. */
bool uplink_flush(struct uplink *uplink, rm_mono_t now);

/* What the loop did since the last time: goes into the next heartbeat. */
void uplink_note(struct uplink *uplink, const struct loop_turn *turn);

struct uplink_report {
	const struct wire_count *rows; /* receive counts that have changed */
	size_t row_count;
	bool paused, paused_by_hand;
	uint64_t self_loss;
	/* Of all uplinks that are live: see uplink_live; and which, by bit, are mute.
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
void uplink_report(
    struct uplink *uplink, const struct uplink_report *report, rm_mono_t now);
/* The peer knows nothing of our counts, or has missed some: the next report is to
 * hold all rows. */
bool uplink_wants_all_counts(const struct uplink *uplink);

/* 0 also while there is no session: the next welcome asks again. */
/* settings: of each of them, or NULL. */
int uplink_register(struct uplink *uplink, const struct wire_rnic *rnics,
    const struct wire_settings *settings, size_t count);

/* Traced paths, at most WIRE_MAX_PATHS. -ENOTCONN without a session. */
int uplink_paths(
    struct uplink *uplink, const struct wire_path *paths, size_t count, rm_mono_t now);

/* All service flows; host, incarnation and now_ns are filled here. -ENOTCONN without a
 * session. */
int uplink_services(
    struct uplink *uplink, const struct wire_services *services, rm_mono_t now);
/* What the RNICs counted; incarnation is filled here. -ENOTCONN without a session. */
int uplink_counter_report(
    struct uplink *uplink, const struct wire_counter_report *counters);
/* Questions, each answered by on_resolved with its token, unless the session ends
 * before. -ENOTCONN without a session. */
int uplink_resolve(struct uplink *uplink, const struct wire_resolve *resolve);
int uplink_join(struct uplink *uplink, const struct wire_join *join);

bool uplink_has_session(const struct uplink *uplink);
/* The aggregator's id if there is a session and something came lately; else NULL. */
const char *uplink_live(const struct uplink *uplink, rm_mono_t now);
/* In this session it has last said that it cannot deliver alerts. */
bool uplink_is_mute(const struct uplink *uplink);
const char *uplink_address(const struct uplink *uplink);
/* In on_down: what TLS has to say about the reason; "": nothing. */
const char *uplink_error(const struct uplink *uplink);
/* Of the certificate of the peer that it is connected to; "": it is not, or without
 * TLS. */
const char *uplink_identity(const struct uplink *uplink);
const char *uplink_peer(const struct uplink *uplink); /* quoted; "" before a welcome */
const struct uplink_counts *uplink_counts(const struct uplink *uplink);
const struct outbox *uplink_outbox(const struct uplink *uplink);

#endif
