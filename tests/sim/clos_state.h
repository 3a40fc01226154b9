/*
 * clos_state - shared by clos.c, clos_name.c and clos_route.c; private to them.
 *
 * The numbers of the parts are in this order: RNICs, hosts, ToRs, middle switches (pod
 * by pod), cores, links. The two links of a cable have neighbouring numbers, the upward
 * one first. Cables are in this order: those of RNICs, those from ToRs to middle
 * switches (ToR by ToR, middle switch by middle switch, cable by cable), those from
 * middle switches to cores (middle switch by middle switch).
 */
#ifndef TESTS_SIM_CLOS_STATE_H
#define TESTS_SIM_CLOS_STATE_H

#include "tests/sim/clos.h"

struct clos {
	struct clos_options o;
	uint32_t rnics, hosts, middles, cores; /* how many; ToRs: o.racks */
	uint32_t pods, pod_racks, uplinks;     /* two tiers are simulated as one pod */
	uint32_t links, parts;
	struct clos_part *part;
	uint32_t *rack;                    /* members of rack 0, then of rack 1, ... */
	uint32_t *leaving_first, *leaving; /* by switch; links */
	bool *withdrawn;                   /* by link */
	uint32_t withdrawn_count;
};

/* First parts. */
static inline uint32_t
clos_tors(const struct clos *c)
{
	return c->rnics + c->hosts;
}

static inline uint32_t
clos_middles(const struct clos *c)
{
	return clos_tors(c) + c->o.racks;
}

static inline uint32_t
clos_cores(const struct clos *c)
{
	return clos_middles(c) + c->middles;
}

static inline uint32_t
clos_first_link(const struct clos *c)
{
	return clos_cores(c) + c->cores;
}

/* Returns the upward link; the next number is its twin. Racks, pods and middle switches
 * are counted from 0. */
static inline uint32_t
clos_rnic_link(const struct clos *c, uint32_t rnic)
{
	return clos_first_link(c) + 2 * rnic;
}

static inline uint32_t
clos_rack_link(const struct clos *c, uint32_t rack, uint32_t middle, uint32_t cable)
{
	return clos_first_link(c) +
	       2 * (c->rnics + (rack * c->o.middle + middle) * c->o.cables + cable);
}

static inline uint32_t
clos_core_link(const struct clos *c, uint32_t pod, uint32_t middle, uint32_t uplink)
{
	return clos_first_link(c) +
	       2 * (c->rnics + c->o.racks * c->o.middle * c->o.cables +
		       (pod * c->o.middle + middle) * c->uplinks + uplink);
}

#endif
