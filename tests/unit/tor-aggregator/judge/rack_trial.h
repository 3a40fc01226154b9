/*
 * rack_trial - a simulated rack of which some agents report falsely.
 *
 * Whole hosts report falsely: an agent does so for all its RNICs. The verdicts of a
 * trial are sorted: on a false reporter, on the fault, or on a healthy part.
 */
#ifndef TESTS_RACK_TRIAL_H
#define TESTS_RACK_TRIAL_H

#include "tests/unit/tor-aggregator/rack_sim.h"

enum lie {
	LIE_ACCUSE_ONE,
	LIE_ACCUSE_ONE_FALSE_COUNTS, /* and that none of its packets arrives */
	LIE_ACCUSE_ONE_MANY_TIMES,
	LIE_ACCUSE_TWO,
	LIE_ACCUSE_SOME_OF_ALL, /* a third of its probes to each member */
	LIE_ACCUSE_ALL,
	LIE_HIDE, /* reports that a faulty part answers, and that its packets arrive */
	LIE_HIDE_MANY_TIMES,
	LIE_HIDE_OWN, /* all members answer the probes of this host */
	LIE_COUNTS,
	LIE_DELAYS,  /* delays of answered probes: 0, or the longest possible delay */
	LIE_OUTSIDE, /* other racks do not reply */
	LIE_SEND_FAILED,
	LIE_PORT_DOWN,
	LIE_PORT_FLAPS,
	LIE_RANDOM,
	LIES,
};

extern const char *const lie_names[LIES];

struct trial {
	struct sim_options options;
	struct sim_lies lies;
	struct sim *sim;
	uint64_t random;
	size_t hosts, liar_count;
	bool liars[SIM_MAX_MEMBERS];   /* by host */
	enum lie lie[SIM_MAX_MEMBERS]; /* by host */
	/* By host: the member that it reports as lossy. */
	size_t victims[SIM_MAX_MEMBERS];
	size_t seconds[SIM_MAX_MEMBERS]; /* a second member, of another host */
	bool coordinated;
	/* Real refusals: of the victim, of the second one too; shuns: never probes it.
	 */
	bool refuses, refuses_second, shuns;
	size_t faulty; /* the faulty member; members: none */
	struct sim_fault fault;
	bool found, found_otherwise;
	bool named[SIM_MAX_MEMBERS], hinted[SIM_MAX_MEMBERS]; /* by host */
	unsigned innocents,
	    framed; /* framed: agents wrongly named as reporting falsely */
	char pair[RM_PART_NAME_BYTES]; /* the last pair "A or B" that was named */
};

/* Everything is random; fewer than a third of the hosts report falsely. */
void trial_begin(struct trial *trial, uint64_t seed);

/* A rack of `hosts` hosts with one RNIC each. Host 0 reports falsely about `victim`;
 * the RNIC `dead` is dead (SIZE_MAX: none). */
void trial_begin_one(struct trial *trial, uint64_t seed, size_t hosts, enum lie lie,
    size_t victim, size_t dead);

/* Real refusals, not false reports: so many hosts of such a rack do not accept the
 * probes of one victim, or of two. At random they also do not probe the victim. They
 * report correctly, or falsely. */
void trial_begin_refusal(struct trial *trial, uint64_t seed, size_t hosts,
    size_t refusers, bool of_two, bool lying);

void trial_run(struct trial *trial);

#endif
