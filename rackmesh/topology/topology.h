/*
 * topology - a region's switches and links, read from a file that a person has written.
 * Pure.
 *
 * docs/topology.md describes the format. A topology that was loaded is consistent:
 * every name is valid and unique, every link connects two switches of one plane, and
 * every address belongs to one switch. Unusual but possible entries (a ToR that reaches
 * no other one) give warnings. The file is not trusted: its reader is fuzzed. A
 * topology does not change after it was loaded.
 *
 * Switches, planes and links are identified by index, in the order of the file. Every
 * switch with the role tor is a rack, even without an entry in "racks".
 */
#ifndef RACKMESH_TOPOLOGY_TOPOLOGY_H
#define RACKMESH_TOPOLOGY_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/error.h"
#include "rackmesh/judge/part.h"

#define RM_TOPOLOGY_MAX_PLANES 64
#define RM_TOPOLOGY_MAX_SWITCHES 16384
#define RM_TOPOLOGY_MAX_LINKS 262144
#define RM_TOPOLOGY_MAX_COUNT 256 /* maximum number of cables of one link */
/* maximum number of names of aliases of one switch */
#define RM_TOPOLOGY_MAX_ALIASES 1024
#define RM_TOPOLOGY_MAX_AGGREGATORS 8 /* maximum number of aggregators of one rack */
#define RM_TOPOLOGY_MAX_RACK_RNICS 1024
/* maximum number of members of all racks together */
#define RM_TOPOLOGY_MAX_MEMBERS 65536
#define RM_TOPOLOGY_MAX_CABLES 128 /* maximum number of cables of one host */
#define RM_TOPOLOGY_MAX_WARNINGS 64
#define RM_TOPOLOGY_MAX_PATHS 256      /* more parallel paths count as this many */
#define RM_TOPOLOGY_REFLECTOR_PORT 862 /* UDP port of STAMP */
#define RM_TOPOLOGY_DEFAULT_PLANE "default"

enum rm_switch_role {
	RM_SWITCH_TOR = 1, /* a switch to which RNICs are connected (ToR) */
	RM_SWITCH_SPINE,
	RM_SWITCH_CORE,
	RM_SWITCH_OTHER,
};

/* The RNICs of a host whose cables end in the rack's ToR. Both are patterns. */
struct rm_topology_member {
	char host[RM_NAME_BYTES];
	/* "": all devices that no other entry of the host names */
	char device[RM_NAME_BYTES];
};

struct rm_switch {
	char name[RM_NAME_BYTES];
	enum rm_switch_role role;
	size_t plane;
	int line; /* line number in the file */
	bool has_reflector;
	struct rm_address reflector;
	struct rm_address *aliases; /* their port is 0 */
	size_t alias_count;
	/* only for a ToR: its entry in "racks"; all 0: it has no entry */
	struct rm_endpoint *aggregators;
	size_t aggregator_count;
	struct rm_topology_member *members;
	size_t member_count;
	uint32_t expected_hosts, expected_rnics;
};

struct rm_topology_link {
	size_t a, b; /* switches */
	uint32_t count;
	uint32_t speed_gbps; /* speed of one cable, in Gb/s; 0: not given */
	int line;
};

struct rm_topology;

/* error->text: "file:line:column: what is wrong; what to do". */
int rm_topology_load(
    const char *path, struct rm_topology **ret, struct rm_error *error);
int rm_topology_parse(const char *name, const char *text, size_t len,
    struct rm_topology **ret, struct rm_error *error);
void rm_topology_free(struct rm_topology *topology);

const char *rm_topology_region(const struct rm_topology *topology);
size_t rm_topology_planes(const struct rm_topology *topology);
const char *rm_topology_plane(const struct rm_topology *topology, size_t i);
size_t rm_topology_switches(const struct rm_topology *topology);
const struct rm_switch *rm_topology_switch(
    const struct rm_topology *topology, size_t i);
size_t rm_topology_links(const struct rm_topology *topology);
const struct rm_topology_link *rm_topology_link(
    const struct rm_topology *topology, size_t i);

/* Texts "file:line: ..."; if there are too many, the last one has the number of the
 * others. */
size_t rm_topology_warnings(const struct rm_topology *topology);
const char *rm_topology_warning(const struct rm_topology *topology, size_t i);

/* False: there is no switch of that name. */
bool rm_topology_find(
    const struct rm_topology *topology, const char *name, size_t *ret);
/* Finds the switch with this interface address; the port is ignored. False: there is
 * none. */
bool rm_topology_find_alias(
    const struct rm_topology *topology, const struct rm_address *address, size_t *ret);

struct rm_topology_cable {
	const char *device; /* as in rm_topology_member; borrowed */
	size_t tor;         /* index of the switch */
};

/* Fills in at most max cables of that host, in the order of the file. Returns how many
 * there are. */
size_t rm_topology_cables(const struct rm_topology *topology, const char *host,
    struct rm_topology_cable *cables, size_t max);

const char *rm_switch_role_str(enum rm_switch_role role);
/* False: the file has no links of this plane, so its paths are not known. */
bool rm_topology_has_links(const struct rm_topology *topology, size_t plane);

#endif
