/*
 * rnic_facts - what an RNIC's network device says about itself.
 *
 * rnic_facts_read asks the kernel and may wait for its locks: call it on the worker.
 */
#ifndef HOST_AGENT_RNIC_FACTS_H
#define HOST_AGENT_RNIC_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define RNIC_DRIVER_BYTES 32
#define RNIC_FAMILIES 2 /* a port has one address per family */

struct rnic_facts {
	uint64_t netns_inode; /* of the namespace it was seen in */
	unsigned ifindex;     /* new when the device has been made anew */
	struct wire_rnic_id id;
	struct wire_address addresses[RNIC_FAMILIES]; /* port 0 */
	size_t address_count;
	uint32_t mtu_bytes;
	char driver[RNIC_DRIVER_BYTES]; /* "" when unknown */
};

/*
 * netns: as for rm_netns_open. address: the one to use, or NULL for the first global
 * one of each family. -ENOENT: no such namespace; -ENODEV: no such device; -ENXIO: it
 * has no MAC; -EADDRNOTAVAIL: no such, or no global, address yet.
 */
int rnic_facts_read(
    const char *netns, const char *device, const char *address, struct rnic_facts *ret);

/* Nothing differs that sockets are bound to or that identifies the RNIC. */
bool rnic_facts_same_place(const struct rnic_facts *a, const struct rnic_facts *b);
bool rnic_facts_same(const struct rnic_facts *a, const struct rnic_facts *b);

#endif
