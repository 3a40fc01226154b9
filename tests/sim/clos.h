/*
 * clos - a made-up fabric: hosts, RNICs, racks, switches, cables, and the way that a
 * flow takes. Deterministic; no randomness but the hash that it is given.
 *
 * Two tiers: every ToR has `cables` to each of the spines. Three tiers: the racks are
 * dealt to pods, each with switches of its own in the middle (as many as `middle`);
 * the m-th of every pod has a cable to each core of its group: cores m * uplinks to
 * (m + 1) * uplinks - 1, where uplinks = cores / middle. A k-ary fat tree is
 * { .tiers = 3, .pods = k, .racks = k * k / 2, .middle = k / 2, .cores = k * k / 4,
 *   .rnics_per_rack = k / 2 }.
 *
 * Rails: a host's i-th RNIC ends in the i-th ToR of its group of rnics_per_host ToRs,
 * so that a rack holds one RNIC of each of its hosts.
 *
 * Everything that can be at fault is a part with a number of its own, below
 * clos_parts(): first the RNICs, then hosts, then switches (ToRs first), then directed
 * links. Of an RNIC's cable there are two links, like of any other.
 */
#ifndef TESTS_SIM_CLOS_H
#define TESTS_SIM_CLOS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/part.h"

#define CLOS_MAX_RACKS 10000
#define CLOS_MAX_RNICS_PER_RACK 64
#define CLOS_MAX_HOPS 6   /* links of the longest way, the RNICs' own cables included */
#define CLOS_MAX_CABLES 4 /* between the same two switches */
#define CLOS_NONE UINT32_MAX

struct clos_options {
	uint32_t tiers; /* 2, 3 */
	uint32_t pods;  /* of three tiers */
	uint32_t racks; /* with rails a multiple of rnics_per_host */
	uint32_t
	    middle;     /* two tiers: spines; three: switches of a pod above its ToRs */
	uint32_t cores; /* a multiple of middle */
	uint32_t cables; /* of each ToR to each middle switch; 0: 1 */
	uint32_t rnics_per_rack, rnics_per_host; /* of a host; 0: 1 */
	bool rails;
	/* A switch answers traces from one address, not from the interface that a
	 * packet came in by; parallel cables look alike then, so there are none. */
	bool loopbacks;
	/* All switches of a tier hash alike, and both directions of a flow alike: a
	 * reply crosses the switches that its probe crossed. */
	bool symmetric;
};

enum clos_type { CLOS_RNIC, CLOS_HOST, CLOS_TOR, CLOS_MIDDLE, CLOS_CORE, CLOS_LINK };

struct clos_part {
	enum clos_type type;
	uint32_t from, to; /* of a link: parts; of an RNIC: its host and its ToR */
	uint32_t twin;     /* of a link: the other direction of its cable */
	uint32_t cable;    /* of a link: which of those between the same two */
	uint32_t pod;      /* of a ToR or middle switch */
};

struct clos;

/* -EINVAL: options that make no fabric; -ENOMEM. */
int clos_new(const struct clos_options *options, struct clos **ret);
void clos_free(struct clos *clos);

uint32_t clos_parts(const struct clos *clos);
const struct clos_part *clos_part(const struct clos *clos, uint32_t part);
uint32_t clos_rnics(const struct clos *clos);    /* 0 .. */
uint32_t clos_hosts(const struct clos *clos);    /* from clos_rnics() on */
uint32_t clos_switches(const struct clos *clos); /* behind the hosts */
uint32_t clos_links(const struct clos *clos);    /* at the end */
bool clos_is_symmetric(const struct clos *clos);
uint32_t clos_first(const struct clos *clos, enum clos_type type);
/* The RNICs of a rack (a ToR's part), in their order. */
uint32_t clos_rack(const struct clos *clos, uint32_t tor, const uint32_t **rnics);
/* Links that begin at a switch, RNICs' cables too; their twins end there. */
uint32_t clos_leaving(const struct clos *clos, uint32_t sw, const uint32_t **links);

/* "h1/r0", "h1", "tor1", "spine1", "pod1-agg1", "core1"; a link as the daemons name it
 * (see rackmesh/judge/part.h). */
void clos_name(const struct clos *clos, uint32_t part, char name[RM_PART_NAME_BYTES]);
/* By such a name, a link from the first named to the second (whichever order, the first
 * of parallel cables); CLOS_NONE: there is none. */
uint32_t clos_find(const struct clos *clos, const char *name);
/* "10.0.1.7" of an RNIC, "10.200.0.9" of the interface at a link's end; with loopbacks
 * of the part there. */
void clos_address(const struct clos *clos, uint32_t part, char text[16]);

/*
 * The way of a flow: links, in order. The choice at every switch depends on the hash
 * and on the switch. A cable that is withdrawn is not taken (as after routing has
 * noticed), unless there is no other. Returns how many; 0: there is no way.
 */
uint32_t clos_route(const struct clos *clos, uint32_t src_rnic, uint32_t dst_rnic,
    uint64_t hash, uint32_t links[CLOS_MAX_HOPS]);
void clos_withdraw(struct clos *clos, uint32_t link, bool withdrawn); /* both ways */

/* The topology document that a controller would be given (docs/topology.md). New
 * reference; NULL: memory. */
json_t *clos_topology(const struct clos *clos);

#endif
