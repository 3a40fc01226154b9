/*
 * prober - asks: sends probes by the pinglist's pace and says what became of each.
 *
 * One prober per RNIC, over one port. Every probe that it tried to send ends in
 * exactly one result, at the latest timeout_ns after its send: the sums of results
 * are the sums of probes. Besides, a reply that comes later than that is told once, as
 * WIRE_OVERDUE.
 */
#ifndef HOST_AGENT_PROBE_PROBER_H
#define HOST_AGENT_PROBE_PROBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/probe/prober_limits.h"
#include "host-agent/probe/target_rules.h"
#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct ceiling;
struct key_ring;
struct port;
struct prober;
struct rm_loop;

struct prober_options {
	int64_t timeout_ns;      /* a probe with no reply after this is lost */
	uint64_t max_rate_per_s; /* of all targets; 0: the ceiling. Lower than the
				    pinglist asks: all intervals stretch alike */
	uint64_t random_seed;
	struct target_home home; /* all zero: not known */
	/* Of all probers together, borrowed; NULL: none. */
	struct ceiling *host_ceiling;
};

struct prober_counts {
	uint64_t asked;   /* probes that became due, made up ones included */
	uint64_t skipped; /* due, but never tried: too late to be made up, or for
			     want of a socket, memory or address handle */
	uint64_t sent;    /* handed to the kernel or NIC with success */
	uint64_t send_failed;
	uint64_t outcomes[WIRE_OUTCOMES];
	uint64_t invalid[WIRE_INVALID_REASONS];
	uint64_t late_sends;
	uint64_t unknown_replies;    /* no such probe in flight (any more) */
	uint64_t malformed_replies;  /* none at all, or with a broken TLV */
	uint64_t unverified_replies; /* with a wrong MAC, or none where one is due */
	uint64_t split_replies;      /* OK ones with all three terms */
	uint64_t held;               /* times that a ceiling held back what was due */
	uint64_t refused_targets[TARGET_REFUSALS];
};

/* result.sent_age_ns is left 0: the batch fills it from sent. Must not call the prober.
 */
typedef void prober_on_result(
    const struct wire_result *result, rm_mono_t sent, void *arg);

int prober_new(struct rm_loop *loop, struct port *port,
    const struct prober_options *options, prober_on_result *on_result, void *arg,
    struct prober **ret);
void prober_free(struct prober *prober); /* unresolved probes end without a result */

/*
 * Replaces the target list (copied). A target that stays (same source, destination
 * and kind) keeps its pace, sequence and what is in flight; a new one starts at a
 * random point of its interval. Targets beyond the ceilings are refused and counted.
 */
int prober_set_targets(
    struct prober *prober, const struct wire_target *targets, size_t count);

/* Borrowed for as long as it lives: targets that are set next are probed with a MAC
 * where it has their key. NULL: none is. */
void prober_set_keys(struct prober *prober, const struct key_ring *ring);

/*
 * Asks which flows of each target are to take turns from now on: a bit per flow of
 * wire->flows, which are those that its probes really leave from. A target that stays
 * keeps what was chosen for it as long as its flows are the same.
 */
void prober_choose_flows(struct prober *prober,
    uint64_t (*choose)(const struct wire_target *wire, void *arg), void *arg);

/* Probes all targets towards dst at interval_us for duration_ms, within the ceilings.
 */
void prober_focus(struct prober *prober, struct wire_rnic_id dst, uint32_t interval_us,
    uint32_t duration_ms);

void prober_pause(
    struct prober *prober, bool paused); /* what is in flight still ends */

/* Of what the targets ask for, 1 to 1000: all intervals stretch alike. */
void prober_set_permille(struct prober *prober, uint32_t permille);

/* How long what it has to do next has been due. */
int64_t prober_behind_ns(const struct prober *prober, rm_mono_t now);

const struct prober_counts *prober_counts(const struct prober *prober);
size_t prober_targets(const struct prober *prober);
size_t prober_keyed_targets(const struct prober *prober); /* of them, with a MAC */
struct port *prober_port(const struct prober *prober);

#endif
