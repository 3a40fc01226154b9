#include "region-controller/registry/registry_place.h"

#include <string.h>

#include "rackmesh/topology/topology.h"

static enum registry_refusal
find_place(const struct rm_topology *topology, const size_t *members,
    struct registry_rnic *rnic)
{
	for (size_t i = 0; i < rnic->tor_count; i++) {
		const struct rm_switch *sw;
		size_t *index = &rnic->switches[i];

		if (topology == NULL ||
		    !rm_topology_find(topology, rnic->tors[i], index))
			return REGISTRY_UNKNOWN_TOR;
		sw = rm_topology_switch(topology, *index);
		if (sw->role != RM_SWITCH_TOR)
			return REGISTRY_NOT_A_TOR;
		if (i > 0 && sw->plane != rnic->plane)
			return REGISTRY_WRONG_PLANE;
		if (members[*index] >= WIRE_MAX_MEMBERS)
			return REGISTRY_RACK_FULL;
		rnic->plane = sw->plane;
	}
	return REGISTRY_PLACED;
}

void
registry_place(
    const struct rm_topology *topology, size_t *members, struct registry_rnic *rnic)
{
	rnic->refusal = find_place(topology, members, rnic);
	if (rnic->refusal != REGISTRY_PLACED)
		return;
	for (size_t i = 0; i < rnic->tor_count; i++)
		members[rnic->switches[i]]++;
}

void
registry_unplace(size_t *members, const struct registry_rnic *rnic)
{
	if (members == NULL || rnic->refusal != REGISTRY_PLACED)
		return;
	for (size_t i = 0; i < rnic->tor_count; i++)
		members[rnic->switches[i]]--;
}

struct wire_rnic
registry_wire(const struct rm_topology *topology, const struct registry_rnic *rnic)
{
	bool placed = rnic->refusal == REGISTRY_PLACED && topology != NULL;
	struct wire_rnic wire = {
		.id = { rnic->id.guid, rnic->id.port },
		.host = rnic->host,
		.device = rnic->device,
		.driver = rnic->driver,
		.tor_count = rnic->tor_count,
		.plane = placed ? rm_topology_plane(topology, rnic->plane) : "",
		.address_count = rnic->address_count,
		.qpn = rnic->qpn,
		.mtu_bytes = rnic->mtu_bytes,
		.incarnation = rnic->incarnation,
		.large_qpn = rnic->large_qpn,
		.lid = rnic->lid,
		.link = rnic->link,
		.authenticates = rnic->authenticates,
	};

	for (size_t i = 0; i < rnic->tor_count; i++)
		wire.tors[i] = rnic->tors[i];
	memcpy(wire.addresses, rnic->addresses, sizeof(wire.addresses));
	return wire;
}
