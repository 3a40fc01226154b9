/*
 * sim_region - the path rows of all racks of a large region with faults, made up.
 *
 * The fabric has three tiers: pods of 25 racks with eight switches each, and 64 cores.
 * Each rack probes 16 other racks along four paths each, in two classes, at 30 probes
 * per second and link, and loses one packet of 100,000 without a fault. A rack with
 * losses sends rows every second, another one every ten seconds. Replies take paths of
 * their own. All is the same in each run.
 */
#ifndef BENCH_SIM_REGION_H
#define BENCH_SIM_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define SIM_REGION_POD_RACKS 25
#define SIM_REGION_ROW_S 10
/* steps of a second; in each, a quarter of the racks sends */
#define SIM_REGION_STEPS 4
#define SIM_REGION_STEP_NS (RM_NS_PER_S / SIM_REGION_STEPS)

struct sim_region;

struct sim_region_options {
	size_t racks;
	/* They begin at faults_from_s: dead and lossy links, ToRs and switches, some in
	 * one class only, some two links of one switch. */
	size_t faults;
	bool
	    core; /* in addition a core switch is dead, so that every rack has losses */
	uint64_t faults_from_s;
};

int sim_region_new(const struct sim_region_options *options, struct sim_region **ret);
void sim_region_free(struct sim_region *region);

/* Writes the next summary of this step, from 0 on. -ENOENT: there are no more in this
 * step, and the next call is for the next step. The bytes are valid until the next
 * call. */
int sim_region_next(struct sim_region *region, struct wire_bytes *ret);
/* The time at the end of the current step. */
rm_mono_t sim_region_now(const struct sim_region *region);
rm_wall_t sim_region_wall(const struct sim_region *region);

/* The nth faulty part, with the name that a verdict gives it. NULL: there are no more.
 */
const char *sim_region_fault(const struct sim_region *region, size_t nth);

#endif
