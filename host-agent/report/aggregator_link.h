/*
 * aggregator link - the connection to one aggregator: its link, the batch being filled,
 * and the batches that are not acknowledged.
 *
 * Messages are sent in the order in which their data became known. A heartbeat carries
 * a time: all results known by then were sent before it. The aggregator uses that time
 * to close its windows. Heartbeats are sent even while batches wait for
 * acknowledgement, so that an aggregator that is slow does not treat a healthy agent as
 * frozen.
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
	int64_t backoff_base_ns, backoff_cap_ns; /* in ns; 0: the dialer's defaults */
};

struct aggregator_link_callbacks {
	/* A session has begun: the owner should register its RNICs. */
	void (*on_welcome)(struct aggregator_link *aggregator_link, void *arg);
	/* A pinglist; data is borrowed. < 0 ends the session for that reason. */
	int (*on_pinglist)(struct aggregator_link *aggregator_link, const uint8_t *data,
	    size_t len, void *arg);
	void (*on_focus)(struct aggregator_link *aggregator_link,
	    const struct wire_focus *focus, void *arg);
	/* The aggregator refused the session. cause: its text, quoted. on_down
	 * follows. */
	void (*on_refused)(
	    struct aggregator_link *aggregator_link, const char *cause, void *arg);
	/* A heartbeat could not be sent earlier, and can be now: call
	 * aggregator_link_report again. */
	void (*on_caught_up)(struct aggregator_link *aggregator_link, void *arg);
	/* The session, or an attempt to connect, has ended. reason: a negative
	 * errno. */
	void (*on_down)(struct aggregator_link *aggregator_link, int reason,
	    bool had_session, void *arg);
	void (*on_brake)(struct aggregator_link *aggregator_link,
	    const struct wire_brake *brake, void *arg);
	/* The answer to aggregator_link_resolve or aggregator_link_join; borrowed.
	 * NULL: no requests are made. */
	void (*on_resolved)(struct aggregator_link *aggregator_link,
	    const struct wire_resolve_answer *answer, void *arg);
	/* Called once connected, before the hello. identity: the URI in the peer's
	 * certificate; "": no TLS. Returning < 0 (the peer is no aggregator of this
	 * host) closes the connection. NULL: any peer is accepted. */
	int (*on_peer)(
	    struct aggregator_link *aggregator_link, const char *identity, void *arg);
	/* Keys have arrived; the rules of on_pinglist apply. NULL: keys are ignored,
	 * because no RNIC authenticates. */
	int (*on_keys)(struct aggregator_link *aggregator_link, const uint8_t *data,
	    size_t len, void *arg);
};

struct aggregator_link_counts {
	uint64_t sessions;
	uint64_t refusals; /* answers that refused the hello */
	/* frames that are malformed, unexpected, or of an unknown kind */
	uint64_t refused_frames;
	uint64_t pinglists, keys, focuses, brakes, acks, pings;
	uint64_t heartbeats;
	uint64_t heartbeats_behind; /* heartbeats that were sent while batches waited */
	uint64_t rx_count_report;
	uint64_t registrations;
	uint64_t paths;
	uint64_t services; /* reports */
	uint64_t counter_reports;
	/* resolve and join requests that were sent, and that were answered */
	uint64_t asked, resolved;
	/* overdue results that were not sent: see aggregator_link_result */
	uint64_t overdue_unsent;
};

int aggregator_link_new(struct rm_loop *loop,
    const struct aggregator_link_options *options,
    const struct aggregator_link_callbacks *callbacks, void *arg,
    struct aggregator_link **ret);
/* Must not be called from the callbacks of this link. */
void aggregator_link_free(struct aggregator_link *aggregator_link);

/* Adds a result to the batch. An overdue result is added only if the peer has stated in
 * this session that it takes such results; otherwise it is counted in
 * overdue_unsent. */
void aggregator_link_result(struct aggregator_link *aggregator_link,
    const struct wire_result *result, rm_mono_t sent, rm_mono_t now);

/* Sends the batch and all batches that wait. True: all were sent. */
bool aggregator_link_flush(struct aggregator_link *aggregator_link, rm_mono_t now);

/* Adds stalls of the loop, and how far probing is slowed, to the next heartbeat. */
void aggregator_link_note(
    struct aggregator_link *aggregator_link, const struct loop_turn *turn);

struct aggregator_link_report {
	const struct wire_count *rows; /* receive counts that have changed */
	size_t row_count;
	bool paused, paused_by_hand;
	uint64_t self_loss;
	/* The names of all aggregators for which aggregator_link_live is not NULL; bit
	 * k of live_mute is set if aggregator_link_is_mute for live[k]. */
	const char *const *live;
	size_t live_count;
	uint64_t live_mute;
	/* The heartbeat contains this time: results that were known by then were sent
	 * before it. */
	rm_mono_t known_through;
};

/* Sends the waiting batches, then the receive counts, then the heartbeat; without a
 * session it sends nothing. It also closes the link if the peer is silent, so call it
 * every HEARTBEAT_INTERVAL_NS. */
void aggregator_link_report(struct aggregator_link *aggregator_link,
    const struct aggregator_link_report *report, rm_mono_t now);
/* True: the peer is new or has missed rows, so the next report must have all rows. */
bool aggregator_link_wants_all_counts(const struct aggregator_link *aggregator_link);

/* Without a session the result is 0: the owner registers again at the next welcome. */
/* settings: the settings of each RNIC; NULL: they are not reported. */
int aggregator_link_register(struct aggregator_link *aggregator_link,
    const struct wire_rnic *rnics, const struct wire_settings *settings, size_t count);

/* Sends traced paths, at most WIRE_MAX_PATHS. -ENOTCONN: there is no session. */
int aggregator_link_paths(struct aggregator_link *aggregator_link,
    const struct wire_path *paths, size_t count, rm_mono_t now);

/* Sends all service flows; the function fills in host, incarnation and now_ns.
 * -ENOTCONN: there is no session. */
int aggregator_link_services(struct aggregator_link *aggregator_link,
    const struct wire_services *services, rm_mono_t now);
/* Sends the counters of RNICs; the function fills in incarnation. -ENOTCONN: there is
 * no session. If the report cannot be sent, or may not have arrived when the session
 * ends, its increases are in the next one that can: see counter_backlog.h. */
int aggregator_link_counter_report(struct aggregator_link *aggregator_link,
    const struct wire_counter_report *counters);
/* Both functions send a request. on_resolved gets the answer, with the token of the
 * request, unless the session ends first. -ENOTCONN: there is no session. */
int aggregator_link_resolve(
    struct aggregator_link *aggregator_link, const struct wire_resolve *resolve);
int aggregator_link_join(
    struct aggregator_link *aggregator_link, const struct wire_join *join);

bool aggregator_link_has_session(const struct aggregator_link *aggregator_link);
/* Returns the aggregator's name if there is a session and its last message is recent;
 * else NULL. */
const char *aggregator_link_live(
    const struct aggregator_link *aggregator_link, rm_mono_t now);
/* True: the aggregator has reported in this session that it cannot deliver alerts. */
bool aggregator_link_is_mute(const struct aggregator_link *aggregator_link);
const char *aggregator_link_address(const struct aggregator_link *aggregator_link);
/* For use in on_down: the text of a TLS error; "": there was none. */
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
