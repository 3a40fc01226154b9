/*
 * prober - sends probes at the rates of the pinglist, and reports the outcome of each.
 *
 * One prober per RNIC, over one transport. Every probe that the prober tried to send
 * gives exactly one result, at the latest timeout_ns after sending: the numbers of
 * results and probes are equal. A reply that comes later is reported once more, as
 * WIRE_OVERDUE.
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
	int64_t timeout_ns;      /* a probe with no reply after this is lost */
	uint64_t max_rate_per_s; /* of all targets; 0: the built-in limit. If the
				    pinglist asks for more, all intervals are stretched
				    by the same factor */
	uint64_t random_seed;
	struct target_home home; /* all zero: not known */
	/* Shared by all probers, borrowed; NULL: none. */
	struct rate_limit *host_rate_limit;
};

struct prober_counts {
	uint64_t asked; /* probes that became due, also those sent late after a stall */
	uint64_t skipped; /* due, but not sent: too late, or no socket, memory or
			     address handle */
	uint64_t sent;    /* given to the kernel or NIC with success */
	uint64_t send_failed;
	uint64_t outcomes[WIRE_OUTCOMES];
	uint64_t invalid[WIRE_INVALID_REASONS];
	uint64_t late_sends;
	uint64_t unknown_replies; /* there is no such probe in flight */
	/* No packet of the format, or one with a broken TLV. */
	uint64_t malformed_replies;
	uint64_t unverified_replies; /* with a wrong MAC, or without the MAC that is
					required */
	uint64_t split_replies;      /* OK replies with all three delays */
	uint64_t held; /* times that a limit delayed packets that were due */
	uint64_t refused_targets[TARGET_REFUSALS];
};

/* result.sent_age_ns is left 0: the batch fills it from sent. The function must not
 * call the prober. */
typedef void prober_on_result(
    const struct wire_result *result, rm_mono_t sent, void *arg);

int prober_new(struct rm_loop *loop, struct port *port,
    const struct prober_options *options, prober_on_result *on_result, void *arg,
    struct prober **ret);
void prober_free(struct prober *prober); /* unresolved probes end without a result */

/*
 * Replaces the target list (copied). A target that stays (same source, destination and
 * kind) keeps its pace, sequence and probes in flight; a new one starts at a random
 * point of its interval. Targets beyond the limits are refused and counted.
 */
int prober_set_targets(
    struct prober *prober, const struct wire_target *targets, size_t count);

/* Borrowed for the prober's life: targets set afterwards are probed with a MAC if the
 * key ring has their key. NULL: no MACs. */
void prober_set_keys(struct prober *prober, const struct key_ring *ring);

/*
 * Calls the function for each target to choose the flows to probe: a bit per flow of
 * wire->flows, which has the real source ports. A target that stays keeps its choice
 * while its flows do not change.
 */
void prober_choose_flows(struct prober *prober,
    uint64_t (*choose)(const struct wire_target *wire, void *arg), void *arg);

/* Probes all targets towards dst at interval_us for duration_ms, within the limits. */
void prober_focus(struct prober *prober, struct wire_rnic_id dst, uint32_t interval_us,
    uint32_t duration_ms);

void prober_pause(struct prober *prober, bool paused); /* probes in flight still end */

/* Share of the targets' rates, 1 to 1000: all intervals are stretched by the same
 * factor. */
void prober_set_permille(struct prober *prober, uint32_t permille);

/* How long the prober's next work has been due. */
int64_t prober_behind_ns(const struct prober *prober, rm_mono_t now);

const struct prober_counts *prober_counts(const struct prober *prober);
size_t prober_targets(const struct prober *prober);
/* Number of targets that are probed with a MAC. */
size_t prober_keyed_targets(const struct prober *prober);
struct port *prober_port(const struct prober *prober);

#endif
