/*
 * aggregator link - the connection to one aggregator: its link, the batch being filled,
 * and the batches that are not acknowledged.
 *
 * Messages are sent in the order in which their data became known. A heartbeat has the
 * time up to which all results were sent before it; the aggregator closes windows by
 * that. Heartbeats are also sent while batches wait for acknowledgements, so a slow
 * aggregator does not take a healthy agent for a frozen one.
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
	/* cause: quoted. on_down is called after it. */
	void (*on_refused)(
	    struct aggregator_link *aggregator_link, const char *cause, void *arg);
	/* A heartbeat was delayed and can be sent now: report again. */
	void (*on_caught_up)(struct aggregator_link *aggregator_link, void *arg);
	/* The session has ended, or an attempt to connect. */
	void (*on_down)(struct aggregator_link *aggregator_link, int reason,
	    bool had_session, void *arg);
	void (*on_brake)(struct aggregator_link *aggregator_link,
	    const struct wire_brake *brake, void *arg);
	/* The answer to aggregator_link_resolve or aggregator_link_join; borrowed.
	 * NULL: no requests are made. */
	void (*on_resolved)(struct aggregator_link *aggregator_link,
	    const struct wire_resolve_answer *answer, void *arg);
	/* Called after the connection, before the hello, with the URI of the peer's
	 * certificate ("": a link without TLS). < 0: the peer is not an aggregator
	 * of this host. NULL: any peer is accepted. */
	int (*on_peer)(
	    struct aggregator_link *aggregator_link, const char *identity, void *arg);
	/* As on_pinglist; NULL: no RNIC authenticates, keys are ignored. */
	int (*on_keys)(struct aggregator_link *aggregator_link, const uint8_t *data,
	    size_t len, void *arg);
};

struct aggregator_link_counts {
	uint64_t sessions;
	uint64_t refusals;       /* answers to the hello that were not a welcome */
	uint64_t refused_frames; /* malformed, unexpected, or of an unknown kind */
	uint64_t pinglists, keys, focuses, brakes, acks, pings;
	uint64_t heartbeats;
	uint64_t heartbeats_behind; /* heartbeats before which some batches could not be
				       sent */
	uint64_t rx_count_report;
	uint64_t registrations;
	uint64_t paths;
	uint64_t services; /* reports */
	uint64_t counter_reports;
	uint64_t asked, resolved; /* of resolve and join requests */
	uint64_t overdue_unsent;  /* see aggregator_link_result */
};

int aggregator_link_new(struct rm_loop *loop,
    const struct aggregator_link_options *options,
    const struct aggregator_link_callbacks *callbacks, void *arg,
    struct aggregator_link **ret);
void aggregator_link_free(
    struct aggregator_link *aggregator_link); /* not from its own callbacks */

/* Adds a result. An overdue one is sent only if the welcome of the session says that
 * the peer knows them; else, and between sessions, it is only counted. */
void aggregator_link_result(struct aggregator_link *aggregator_link,
    const struct wire_result *result, rm_mono_t sent, rm_mono_t now);

/* Sends all results so far. True: all were sent. */
bool aggregator_link_flush(struct aggregator_link *aggregator_link, rm_mono_t now);

/* Adds stalls of the loop since the last call to the next heartbeat. */
void aggregator_link_note(
    struct aggregator_link *aggregator_link, const struct loop_turn *turn);

struct aggregator_link_report {
	const struct wire_count *rows; /* receive counts that have changed */
	size_t row_count;
	bool paused, paused_by_hand;
	uint64_t self_loss;
	/* The names of all live aggregator links (aggregator_link_live); live_mute has
	 * a bit for each that is mute. */
	const char *const *live;
	size_t live_count;
	uint64_t live_mute;
	/* The time in the heartbeat: results known by then were sent before it.
	 */
	rm_mono_t known_through;
};

/* Sends batches, then receive counts, then the heartbeat; nothing without a session.
 * Also checks that the peer is alive: call it every HEARTBEAT_INTERVAL_NS. */
void aggregator_link_report(struct aggregator_link *aggregator_link,
    const struct aggregator_link_report *report, rm_mono_t now);
/* The peer has no receive counts, or missed some: the next report must have all
 * rows. */
bool aggregator_link_wants_all_counts(const struct aggregator_link *aggregator_link);

/* 0 also while there is no session: the next welcome registers again. */
/* settings: of each RNIC, or NULL. */
int aggregator_link_register(struct aggregator_link *aggregator_link,
    const struct wire_rnic *rnics, const struct wire_settings *settings, size_t count);

/* Traced paths, at most WIRE_MAX_PATHS. -ENOTCONN without a session. */
int aggregator_link_paths(struct aggregator_link *aggregator_link,
    const struct wire_path *paths, size_t count, rm_mono_t now);

/* All service flows; host, incarnation and now_ns are filled here. -ENOTCONN without a
 * session. */
int aggregator_link_services(struct aggregator_link *aggregator_link,
    const struct wire_services *services, rm_mono_t now);
/* The counters of the RNICs; incarnation is filled here. -ENOTCONN without a
 * session. */
int aggregator_link_counter_report(struct aggregator_link *aggregator_link,
    const struct wire_counter_report *counters);
/* Requests, each answered by on_resolved with its token, unless the session ends
 * before. -ENOTCONN without a session. */
int aggregator_link_resolve(
    struct aggregator_link *aggregator_link, const struct wire_resolve *resolve);
int aggregator_link_join(
    struct aggregator_link *aggregator_link, const struct wire_join *join);

bool aggregator_link_has_session(const struct aggregator_link *aggregator_link);
/* The aggregator's name, if there is a session and a message came recently; else
 * NULL. */
const char *aggregator_link_live(
    const struct aggregator_link *aggregator_link, rm_mono_t now);
/* True: in this session it has reported that it cannot deliver alerts. */
bool aggregator_link_is_mute(const struct aggregator_link *aggregator_link);
const char *aggregator_link_address(const struct aggregator_link *aggregator_link);
/* In on_down: TLS's text on the reason; "": none. */
const char *aggregator_link_error(const struct aggregator_link *aggregator_link);
/* The URI in the certificate of the connected peer; "": not connected, or without
 * TLS. */
const char *aggregator_link_identity(const struct aggregator_link *aggregator_link);
const char *aggregator_link_peer(
    const struct aggregator_link *aggregator_link); /* quoted; "" before a welcome */
const struct aggregator_link_counts *aggregator_link_counts(
    const struct aggregator_link *aggregator_link);
const struct outbox *aggregator_link_outbox(
    const struct aggregator_link *aggregator_link);

#endif
