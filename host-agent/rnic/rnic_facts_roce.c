#include "host-agent/rnic/rnic_facts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host-agent/rnic/rdma_facts.h"
#include "host-agent/rnic/sysfs_file.h"

_Static_assert(RNIC_RDMA_NAME_BYTES == RDMA_DEVICE_BYTES, "the same names");
_Static_assert(RNIC_NETDEV_BYTES == RDMA_NETDEV_BYTES, "the same names");
_Static_assert(RNIC_DRIVER_BYTES == RDMA_DRIVER_BYTES, "the same names");

#define OWN_NETNS "/proc/self/ns/net"

struct search {
	const struct rnic_place *place;
	const char *root;
	const char *netdev; /* as configured; NULL: the port's own */
	struct rdma_facts rdma;
	struct rnic_facts facts;
};

/* A network device's number; 0: not there. */
static uint32_t
netdev_number(const struct search *search, const char *file)
{
	char text[16];

	if (sysfs_text(text, sizeof(text), "%s/class/net/%s/%s", search->root,
		search->facts.netdev, file) < 0)
		return 0;
	return (uint32_t)strtoul(text, NULL, 10);
}

static uint64_t
inode_of(const char *path)
{
	struct stat stat_of;

	return stat(path, &stat_of) < 0 ? 0 : stat_of.st_ino;
}

/* device names an RDMA device, or else the network device of a port. */
static int
find_port(struct search *search)
{
	const struct rnic_place *place = search->place;
	char device[RDMA_DEVICE_BYTES];
	uint8_t port;
	int r;

	r = rdma_facts_read(
	    search->root, place->device, place->rdma_port, &search->rdma);
	if (r != -ENODEV)
		return r;
	r = rdma_facts_find(search->root, place->device, device, &port);
	if (r < 0)
		return -ENODEV;
	search->netdev = place->device;
	return rdma_facts_read(search->root, device, port, &search->rdma);
}

static bool
gid_is_usable(const struct rdma_facts *rdma, const struct rdma_gid *gid)
{
	return rdma->link == RDMA_LINK_INFINIBAND ? gid->type == RDMA_GID_IB
						  : gid->type == RDMA_GID_ROCE_V2;
}

static bool
any_usable(const struct rdma_facts *rdma)
{
	for (size_t i = 0; i < rdma->gid_count; i++) {
		if (gid_is_usable(rdma, &rdma->gids[i]))
			return true;
	}
	return false;
}

static void
take_gid(struct search *search, const struct rdma_gid *gid)
{
	struct rnic_facts *facts = &search->facts;
	size_t i = facts->address_count++;

	gid_to_address(gid->bytes, &facts->addresses[i]);
	facts->gid_index[i] = gid->index;
	memcpy(facts->gids[i], gid->bytes, sizeof(facts->gids[i]));
	if (facts->netdev[0] == 0)
		memcpy(facts->netdev, gid->netdev, sizeof(facts->netdev));
}

/* Compared as bytes: IPv6 has many spellings. */
static int
pick_address(struct search *search)
{
	const char *text = search->place->address;
	const struct rdma_gid *best = NULL;
	struct wire_address wanted = { 0 }, has;

	wanted.family = strchr(text, ':') != NULL ? 6 : 4;
	if (inet_pton(wanted.family == 6 ? AF_INET6 : AF_INET, text, wanted.bytes) != 1)
		return -EINVAL;
	for (size_t i = 0; i < search->rdma.gid_count; i++) {
		const struct rdma_gid *gid = &search->rdma.gids[i];

		gid_to_address(gid->bytes, &has);
		if (!gid_is_usable(&search->rdma, gid) || has.family != wanted.family ||
		    memcmp(has.bytes, wanted.bytes, sizeof(has.bytes)) != 0)
			continue;
		if (best == NULL || (search->netdev != NULL &&
					strcmp(gid->netdev, search->netdev) == 0))
			best = gid;
	}
	if (best == NULL)
		return -EADDRNOTAVAIL;
	take_gid(search, best);
	return 0;
}

/* One per family; only one where a person has chosen its index, or on InfiniBand. */
static int
pick_gids(struct search *search)
{
	static const uint8_t families[] = { 4, 6 };
	int first = 0;

	if (search->place->address != NULL)
		return pick_address(search);
	for (size_t i = 0; i < 2; i++) {
		struct rdma_gid_wish wish = { .family = families[i],
			.index = search->place->gid_index,
			.netdev = search->netdev };
		struct rdma_gid gid;
		int r = rdma_facts_pick_gid(&search->rdma, &wish, &gid);

		if (r == 0) {
			take_gid(search, &gid);
			if (search->rdma.link == RDMA_LINK_INFINIBAND)
				return 0;
		} else if (first == 0 || first == -EADDRNOTAVAIL ||
			   first == -EAFNOSUPPORT) {
			first = r; /* the more telling one of the two */
		}
	}
	return search->facts.address_count == 0 ? first : 0;
}

static void
take_port(struct search *search)
{
	struct rnic_facts *facts = &search->facts;
	char path[SYSFS_PATH_BYTES];

	facts->transport = RNIC_ROCE;
	facts->id.guid = search->rdma.node_guid;
	facts->id.port = search->rdma.port;
	facts->lid = search->rdma.lid;
	memcpy(facts->driver, search->rdma.driver, sizeof(facts->driver));
	memcpy(facts->rdma_device, search->rdma.device, sizeof(facts->rdma_device));
	snprintf(path, sizeof(path), "%s/class/infiniband/%s", search->root,
	    facts->rdma_device);
	facts->rdma_inode = inode_of(path);
	facts->netns_inode = inode_of(OWN_NETNS);
	if (search->netdev != NULL)
		snprintf(facts->netdev, sizeof(facts->netdev), "%s", search->netdev);
}

int
rnic_facts_read_roce(const struct rnic_place *place, struct rnic_facts *ret)
{
	struct search search = {
		.place = place,
		.root = place->sysfs != NULL ? place->sysfs : RDMA_SYSFS,
	};
	int r;

	r = find_port(&search);
	if (r < 0)
		return r;
	if (!any_usable(&search.rdma))
		return -ENOTSUP;
	take_port(&search);
	r = pick_gids(&search);
	if (r < 0)
		return r;
	if (search.facts.netdev[0] == 0 && search.rdma.netdev_count > 0)
		memcpy(search.facts.netdev, search.rdma.netdevs[0],
		    sizeof(search.facts.netdev));
	if (search.facts.netdev[0] != 0) {
		search.facts.ifindex = netdev_number(&search, "ifindex");
		search.facts.mtu_bytes = netdev_number(&search, "mtu");
		rnic_facts_prefixes(&search.facts);
	}
	*ret = search.facts;
	return 0;
}
