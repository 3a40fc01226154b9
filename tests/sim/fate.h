/*
 * fate - what becomes of a packet on its way: which links it takes, which fault
 * swallows it, how long it is under way. Pure.
 *
 * What befalls RNICs, links and switches is here; what hosts and agents do is life's.
 * A flow's way is asked for once and kept by whoever probes it, with the number of
 * fate_epoch: another number, another way.
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
	uint8_t out_count, back_count; /* 0: there is no way */
	bool touched;                  /* by some fault of the run, ever */
	bool sprayed;                  /* another one for every packet */
};

struct fate_packet { /* a probe: its reply has the same, the other way */
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

/* Time passes: routing avoids what it has noticed, paths move. In order. */
void fate_advance(struct fate *fate, int64_t now_ns);
uint32_t fate_epoch(const struct fate *fate);

void fate_path(
    const struct fate *fate, const struct fate_packet *flow, struct fate_path *ret);

/* A whole round trip; *rtt_ns is set when it is answered, *late_ns to what its way out
 * took longer than usual, when it was not lost on that. Hot path. */
enum fate_end fate_round_trip(struct fate *fate, const struct fate_path *path,
    const struct fate_packet *packet, int64_t now_ns, int64_t *rtt_ns,
    int64_t *late_ns);

/* Would a trace of this flow see the end of its i-th link? Answers of switches come
 * back whatever happens to the flow itself. */
bool fate_hop_answers(struct fate *fate, const struct fate_path *path, size_t i,
    const struct fate_packet *packet, int64_t now_ns);

bool fate_port_is_down(const struct fate *fate, uint32_t rnic, int64_t now_ns);

/* Noise that is made of faults: bursts of loss. Appended to malloc'd *faults. */
int fate_add_bursts(const struct scenario *scenario, const struct scenario_draw *draw,
    const struct clos *clos, struct dice *dice, struct fault **faults, size_t *count);

bool fault_is_active(const struct fault *fault, int64_t now_ns);

#endif
