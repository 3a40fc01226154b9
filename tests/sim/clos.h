/*
 * clos - a simulated fabric: hosts, RNICs, racks, switches, cables, and the path of
 * each flow. Deterministic: the only randomness is the hash that the caller gives.
 *
 * Two tiers: every ToR has `cables` to each of the spines. Three tiers: each pod has an
 * equal share of the racks, and `middle` middle switches of its own. The m-th middle
 * switch of a pod has a cable to each core of group m: cores m * uplinks to
 * (m + 1) * uplinks - 1, where uplinks = cores / middle. A k-ary fat tree is
 * { .tiers = 3, .pods = k, .racks = k * k / 2, .middle = k / 2, .cores = k * k / 4,
 *   .rnics_per_rack = k / 2 }.
 *
 * Rails: a host's i-th RNIC is connected to the i-th ToR of a group of rnics_per_host
 * ToRs, so a rack has one RNIC of each of its hosts.
 *
 * Everything that can be at fault is a part with a number below clos_parts(): first the
 * RNICs, then hosts, then switches (ToRs first), then directed links. Every cable has
 * two links, also that of an RNIC.
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
/* links of the longest path, including the cables of both RNICs */
#define CLOS_MAX_HOPS 6
#define CLOS_MAX_CABLES 4 /* most cables between the same two switches */
#define CLOS_NONE UINT32_MAX

struct clos_options {
	uint32_t tiers;  /* 2, 3 */
	uint32_t pods;   /* of three tiers */
	uint32_t racks;  /* number of racks; with rails, a multiple of rnics_per_host */
	uint32_t middle; /* two tiers: number of spines; three tiers: number of switches
			    of a pod above its ToRs */
	uint32_t cores;  /* a multiple of middle */
	/* number of cables from each ToR to each middle switch; 0: 1 */
	uint32_t cables;
	uint32_t rnics_per_rack, rnics_per_host; /* of a host; 0: 1 */
	bool rails;
	/* A switch answers traces from one address, not from that of the interface at
	 * which the packet arrived. Parallel cables could not be distinguished then, so
	 * there must be none. */
	bool loopbacks;
	/* All switches of a tier use the same hash, which is the same for both
	 * directions of a flow: a reply crosses the same switches as its probe. */
	bool symmetric;
};

enum clos_type { CLOS_RNIC, CLOS_HOST, CLOS_TOR, CLOS_MIDDLE, CLOS_CORE, CLOS_LINK };

struct clos_part {
	enum clos_type type;
	/* for a link: the parts at its ends; for an RNIC: its host and its ToR */
	uint32_t from, to;
	uint32_t twin;  /* for a link: the other direction of its cable */
	uint32_t cable; /* for a link: its number among parallel cables */
	uint32_t pod;   /* for a ToR or middle switch: its pod */
};

struct clos;

/* -EINVAL: impossible options; -ENOMEM. */
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
/* The links that begin at a switch, including the links to RNICs. The twin of each of
 * these links ends at the switch. */
uint32_t clos_leaving(const struct clos *clos, uint32_t sw, const uint32_t **links);

/* Writes "h1/r0", "h1", "tor1", "spine1", "pod1-agg1", "core1"; for a link, the name
 * that the daemons use (see rackmesh/judge/part.h). */
void clos_name(const struct clos *clos, uint32_t part, char name[RM_PART_NAME_BYTES]);
/* Returns the part with this name. The two switches of a link may be in either order:
 * the link leads from the first to the second. If there are parallel cables, the first
 * one is returned. CLOS_NONE: no part has this name. */
uint32_t clos_find(const struct clos *clos, const char *name);
/* Writes "10.0.1.7" for an RNIC, "10.200.0.9" for the interface at a link's end; with
 * loopbacks, the address of the part at that end. */
void clos_address(const struct clos *clos, uint32_t part, char text[16]);

/*
 * Computes the path of a flow: its links in order. The choice at every switch depends
 * on the hash and on the switch. A withdrawn cable, which routing avoids, is used only
 * if there is no other cable. Returns the number of links; 0: there is no path.
 */
uint32_t clos_route(const struct clos *clos, uint32_t src_rnic, uint32_t dst_rnic,
    uint64_t hash, uint32_t links[CLOS_MAX_HOPS]);
void clos_withdraw(struct clos *clos, uint32_t link,
    bool withdrawn); /* Both directions of the cable are withdrawn. */

/* The topology for a controller (docs/topology.md). The caller owns the reference.
 * NULL: out of memory. */
json_t *clos_topology(const struct clos *clos);

#endif
