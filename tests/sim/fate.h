/*
 * fate - the fate of a packet: which links it crosses, which fault drops it, how long
 * it takes. Pure.
 *
 * Faults of RNICs, links and switches are here; those of hosts and agents are in
 * life.h. A prober computes the path of a flow once, and stores it together with
 * fate_epoch: when that number changes, the path may have changed.
 */
#ifndef TESTS_SIM_FATE_H
#define TESTS_SIM_FATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/clos.h"
#include "tests/sim/dice.h"
#include "tests/sim/scenario.h"

struct fate;

struct fate_path {
	uint32_t out[CLOS_MAX_HOPS], back[CLOS_MAX_HOPS];
	uint8_t out_count, back_count; /* 0: there is no path */
	bool touched; /* a fault of the run is on the path at some time */
	bool sprayed; /* every packet takes another path */
};

/* a probe; its reply has the same values, in the reverse direction */
struct fate_packet {
	uint32_t src, dst;
	uint16_t port;
	uint8_t dscp;
	uint32_t bytes; /* of UDP payload */
};

enum fate_end { FATE_ANSWERED, FATE_LOST_FORWARD, FATE_LOST_REVERSE };

/* Borrows clos (whose cables it withdraws) and faults. */
int fate_new(struct clos *clos, const struct fault *faults, size_t count,
    const struct scenario_draw *draw, uint64_t seed, struct fate **ret);
void fate_free(struct fate *fate);

/* Advances the time: routing begins to avoid parts that it has found dead, and paths
 * change. Times must not decrease. */
void fate_advance(struct fate *fate, int64_t now_ns);
uint32_t fate_epoch(const struct fate *fate);

void fate_path(
    const struct fate *fate, const struct fate_packet *flow, struct fate_path *ret);

/* Simulates a whole round trip. *rtt_ns is set if the probe is answered; *late_ns is
 * how much longer than usual the probe took to the responder, if it arrived there. This
 * function is called for every probe, so it must be fast. */
enum fate_end fate_round_trip(struct fate *fate, const struct fate_path *path,
    const struct fate_packet *packet, int64_t now_ns, int64_t *rtt_ns,
    int64_t *late_ns);

/* True: a trace of this flow gets an answer from the end of its i-th link. Answers of
 * switches are never lost, whatever happens to the flow. */
bool fate_hop_answers(struct fate *fate, const struct fate_path *path, size_t i,
    const struct fate_packet *packet, int64_t now_ns);
/* Does the same with random numbers of its own, so that the fate of probes does not
 * depend on it. */
bool fate_hop_answers_apart(struct fate *fate, const struct fate_path *path, size_t i,
    const struct fate_packet *packet, int64_t now_ns);

bool fate_port_is_down(const struct fate *fate, uint32_t rnic, int64_t now_ns);

/* Appends noise (bursts of loss) in the form of faults to the malloc'd array *faults.
 */
int fate_add_bursts(const struct scenario *scenario, const struct scenario_draw *draw,
    const struct clos *clos, struct dice *dice, struct fault **faults, size_t *count);

bool fault_is_active(const struct fault *fault, int64_t now_ns);

#endif
