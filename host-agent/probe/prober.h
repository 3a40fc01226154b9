/*
 * prober - sends probes at the rates of the pinglist, and reports the outcome of each.
 *
 * One prober per RNIC, over one transport. Every probe that is counted in `sent` or
 * `send_failed` gives exactly one result when its outcome is known, or when timeout_ns
 * has passed; unless the prober is freed before. If the reply comes later, a further
 * result is reported, WIRE_OVERDUE.
 */
#ifndef HOST_AGENT_PROBE_PROBER_H
#define HOST_AGENT_PROBE_PROBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/probe/prober_limits.h"
#include "host-agent/probe/target_filter.h"
#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct rate_limit;
struct key_ring;
struct port;
struct prober;
struct rm_loop;

struct prober_options {
	int64_t timeout_ns; /* a probe without a reply is lost after this time */
	/* probes per second to all targets together; 0: the built-in limit. If the
	 * pinglist asks for more, all intervals are stretched by the same factor */
	uint64_t max_rate_per_s;
	uint64_t random_seed;
	struct own_rnic own_rnic; /* the RNIC's own addresses; all zeros: not known */
	/* Borrowed, and shared by all probers; NULL: no such limit. */
	struct rate_limit *host_rate_limit;
};

struct prober_counts {
	uint64_t due; /* probes that became due, also those of a stall */
	/* number of due probes that were not sent: they were too late, too many were in
	 * flight, or there was no socket, memory or address handle */
	uint64_t skipped;
	uint64_t sent; /* probes that the kernel or the NIC has accepted */
	uint64_t send_failed;
	/* outcomes of probes; WIRE_OVERDUE is not counted here */
	uint64_t outcomes[WIRE_OUTCOMES];
	uint64_t invalid[WIRE_INVALID_REASONS]; /* probes with WIRE_INVALID */
	uint64_t late_sends;                    /* probes with WIRE_LATE_SEND */
	uint64_t unknown_replies; /* replies that belong to no probe in flight */
	/* packets that are not replies in this format, and replies and follow-ups with
	 * a malformed field or TLV */
	uint64_t malformed_replies;
	/* replies with a wrong MAC, or without a MAC although the target has a key */
	uint64_t unverified_replies;
	/* replies in time for which all three delays are known: those of the prober,
	 * the network and the responder */
	uint64_t split_replies;
	uint64_t held; /* times that a rate limit delayed packets that were due */
	uint64_t refused_targets[TARGET_REFUSALS];
};

/* The callback must not call the prober. result->sent_age_ns is 0: the
 * batch of results (host-agent/report/batch.h) calculates it from `sent`. */
typedef void prober_on_result(
    const struct wire_result *result, rm_mono_t sent, void *arg);

int prober_new(struct rm_loop *loop, struct port *port,
    const struct prober_options *options, prober_on_result *on_result, void *arg,
    struct prober **ret);
void prober_free(struct prober *prober); /* probes in flight end without a result */

/*
 * Copies the list of targets, in place of the old one. A target that stays (same
 * source, destination and kind) keeps its pace, sequence and probes in flight; a new
 * one starts at a random point of its interval. Targets beyond the limits are refused
 * and counted. -ENOMEM: the old list stays.
 */
int prober_set_targets(
    struct prober *prober, const struct wire_target *targets, size_t count);

/* Sets the key ring, which is borrowed for the prober's life. Targets that are set
 * later are probed with a MAC if the ring has their key. NULL: no MACs. */
void prober_set_keys(struct prober *prober, const struct key_ring *ring);

/*
 * Calls choose for each target. It returns a mask: if bit i is set, flow i of
 * wire->flows shall be probed; 0: all flows. wire->flows are the source ports that the
 * packets have (see port_flow), not those of the pinglist. A target that stays in the
 * list keeps the choice as long as its flows are the same.
 */
void prober_choose_flows(struct prober *prober,
    uint64_t (*choose)(const struct wire_target *wire, void *arg), void *arg);

/* Probes all targets with the destination dst at interval_us for duration_ms, within
 * the limits. */
void prober_focus(struct prober *prober, struct wire_rnic_id dst, uint32_t interval_us,
    uint32_t duration_ms);

/* paused: no probes are sent until the next call with false. Probes that become due
 * meanwhile are not sent later, and not counted. Probes in flight still get their
 * results. */
void prober_pause(struct prober *prober, bool paused);

/* Sets the share of the targets' rates that is used, in thousandths, from 1 to 1000:
 * all intervals are stretched by the same factor. Other values change nothing. */
void prober_set_permille(struct prober *prober, uint32_t permille);

/* Returns by how many ns the prober is late with its next packet or time-out; 0: it is
 * not late. */
int64_t prober_behind_ns(const struct prober *prober, rm_mono_t now);

const struct prober_counts *prober_counts(const struct prober *prober);
/* Number of targets. */
size_t prober_targets(const struct prober *prober);
/* Number of targets that are probed with a MAC. */
size_t prober_keyed_targets(const struct prober *prober);
struct port *prober_port(const struct prober *prober);

#endif
