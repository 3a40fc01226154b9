/*
 * rack_judge - which of a rack's RNICs is at fault, from one window. Pure.
 *
 * Explains all losses jointly by the fewest, likeliest parts (rackmesh/judge/judge):
 * every probe is a leg out and, if it arrived, a leg back; an RNIC's send and
 * receive sides are separate parts with a common prior. Hosts whose agents were
 * stalled, dead, restarting or paused in the window are no witnesses, and their RNICs
 * are neither blamed nor cleared: late is not lost, deaf is not dead.
 */
#ifndef TOR_AGGREGATOR_JUDGE_RACK_JUDGE_H
#define TOR_AGGREGATOR_JUDGE_RACK_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/incident/incident.h"
#include "rackmesh/judge/verdict.h"

struct port_flaps_of;
struct rack;
struct rack_judge;
struct window_closed;

struct rack_judgement {
	const struct rm_verdict
	    *verdicts; /* also of hosts and agents; samples not filled */
	size_t verdict_count;
	const enum rm_health *members; /* per member: GOOD needs clean legs both ways */
	const enum rm_health
	    *hosts; /* per host, its agent and management path included */
	uint64_t unexplained_lost; /* legs lost that no part explains */
};

int rack_judge_new(struct rack_judge **ret);
void rack_judge_free(struct rack_judge *judge);

/* Everything in *ret lives until the next call. -ENOMEM: *ret is untouched. */
int rack_judge_window(struct rack_judge *judge, const struct rack *rack,
    const struct window_closed *window, rm_wall_t window_start,
    struct rack_judgement *ret);

/* What is known of ports, for a later life: of the i-th one that fell lately, or flaps.
 * False: there are no more. */
bool rack_judge_port(
    const struct rack_judge *judge, size_t i, rm_mono_t now, struct port_flaps_of *ret);
/* What an earlier life knew of one, on our clock. -ENOMEM. */
int rack_judge_restore_port(struct rack_judge *judge, const struct port_flaps_of *port);
/* Windows so far in which any port had fallen. */
uint64_t rack_judge_falls(const struct rack_judge *judge);

#endif
