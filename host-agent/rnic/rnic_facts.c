#include "host-agent/rnic/rnic_facts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/if_addr.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host-agent/rnic/rdma_facts.h"
#include "host-agent/rnic/rdma_index.h"
#include "host-agent/rnic/sysfs_file.h"
#include "rackmesh/core/fnv.h"
#include "rackmesh/core/netns.h"

/* This path shows the namespace of the thread. /proc/net shows that of the process, and
 * the thread may have entered another one. */
#define IPV6_ADDRESSES "/proc/thread-self/net/if_inet6"

/* Flags of addresses that cannot be used (yet), or that will be removed soon. */
#define IPV6_UNFIT \
	(IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED | IFA_F_TEMPORARY)

struct look {
	const char *device;
	const char *address; /* the address to use; NULL: any global address */
	struct rnic_facts facts;
};

static bool
ipv4_is_global(const uint8_t bytes[4])
{
	return bytes[0] != 127 && bytes[0] != 0 && bytes[0] < 224 &&
	       !(bytes[0] == 169 && bytes[1] == 254);
}

/* True: the address may be used. Its flags come from /proc, since getifaddrs does not
 * return them. */
static bool
ipv6_is_fit(const char *device, const struct in6_addr *address)
{
	char line[256], hex[33] = "";
	FILE *file = fopen(IPV6_ADDRESSES, "re");
	bool fit = false;

	if (file == NULL)
		return false;
	for (int i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", address->s6_addr[i]);
	while (fgets(line, sizeof(line), file) != NULL) {
		unsigned index, prefix, scope, flags;
		char text[33], name[IFNAMSIZ];

		if (sscanf(line, "%32s %x %x %x %x %15s", text, &index, &prefix, &scope,
			&flags, name) == 6 &&
		    strcmp(text, hex) == 0 && strcmp(name, device) == 0)
			fit = !(flags & IPV6_UNFIT);
	}
	fclose(file);
	return fit;
}

static bool
ipv6_is_global(const struct in6_addr *address)
{
	return !IN6_IS_ADDR_LINKLOCAL(address) && !IN6_IS_ADDR_LOOPBACK(address) &&
	       !IN6_IS_ADDR_MULTICAST(address) && !IN6_IS_ADDR_UNSPECIFIED(address);
}

/* True: the address is to be used; *ret is the address. */
static bool
address_wanted(
    const struct look *look, const struct sockaddr *from, struct wire_address *ret)
{
	struct in6_addr wanted; /* room for an address of either family */
	bool fit;

	*ret = (struct wire_address){ 0 };
	if (from->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)from;

		ret->family = 4;
		memcpy(ret->bytes, &in->sin_addr, 4);
		fit = look->address != NULL || ipv4_is_global(ret->bytes);
	} else {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)from;

		ret->family = 6;
		memcpy(ret->bytes, &in6->sin6_addr, 16);
		fit = (look->address != NULL || ipv6_is_global(&in6->sin6_addr)) &&
		      ipv6_is_fit(look->device, &in6->sin6_addr);
	}
	if (!fit || look->address == NULL)
		return fit;
	/* The addresses are compared as bytes, because one IPv6 address can be written
	 * in several ways. */
	return inet_pton(from->sa_family, look->address, &wanted) == 1 &&
	       memcmp(&wanted, ret->bytes, ret->family == 4 ? 4 : 16) == 0;
}

static void
take_address(struct look *look, const struct sockaddr *from)
{
	struct rnic_facts *facts = &look->facts;
	struct wire_address address;

	if (!address_wanted(look, from, &address))
		return;
	for (size_t i = 0; i < facts->address_count; i++) {
		if (facts->addresses[i].family == address.family)
			/* keeps the first address, which is the kernel's primary one */
			return;
	}
	facts->addresses[facts->address_count++] = address;
}

static void
take_mac(struct look *look, const struct sockaddr_ll *from)
{
	if (from->sll_halen != 6)
		return;
	look->facts.id.guid = 0;
	look->facts.id.port = 0; /* the GUID is derived from a MAC */
	for (int i = 0; i < 6; i++)
		look->facts.id.guid = look->facts.id.guid << 8 | from->sll_addr[i];
	look->facts.ifindex = (unsigned)from->sll_ifindex;
}

static int
look_at_addresses(struct look *look)
{
	struct ifaddrs *all;
	bool there = false;

	if (getifaddrs(&all) < 0)
		return -errno;
	for (const struct ifaddrs *at = all; at != NULL; at = at->ifa_next) {
		if (strcmp(at->ifa_name, look->device) != 0)
			continue;
		there = true;
		if (at->ifa_addr == NULL)
			continue;
		if (at->ifa_addr->sa_family == AF_PACKET)
			take_mac(look, (const struct sockaddr_ll *)at->ifa_addr);
		else if (at->ifa_addr->sa_family == AF_INET ||
			 at->ifa_addr->sa_family == AF_INET6)
			take_address(look, at->ifa_addr);
	}
	freeifaddrs(all);
	if (!there)
		return -ENODEV;
	if (look->facts.id.guid == 0)
		return -ENXIO;
	return look->facts.address_count == 0 ? -EADDRNOTAVAIL : 0;
}

static uint8_t
prefix_of(const struct sockaddr *mask)
{
	uint8_t bytes[16] = { 0 }, bits = 0;

	if (mask->sa_family == AF_INET)
		memcpy(bytes, &((const struct sockaddr_in *)mask)->sin_addr, 4);
	else
		memcpy(bytes, &((const struct sockaddr_in6 *)mask)->sin6_addr, 16);
	while (bits < 128 && bytes[bits / 8] & 0x80 >> bits % 8)
		bits++;
	return bits;
}

static void
take_prefix(struct rnic_facts *facts, const struct ifaddrs *at)
{
	bool ipv4 = at->ifa_addr->sa_family == AF_INET;
	const void *bytes =
	    ipv4
		? (const void *)&((const struct sockaddr_in *)at->ifa_addr)->sin_addr
		: (const void *)&((const struct sockaddr_in6 *)at->ifa_addr)->sin6_addr;

	for (size_t i = 0; i < facts->address_count; i++) {
		if (facts->addresses[i].family == (ipv4 ? 4 : 6) &&
		    memcmp(facts->addresses[i].bytes, bytes, ipv4 ? 4 : 16) == 0)
			facts->prefix_bits[i] = prefix_of(at->ifa_netmask);
	}
}

/* Fills in prefix_bits from the addresses of netdev in this thread's namespace; 0 if
 * the addresses cannot be read. */
static void
rnic_facts_prefixes(struct rnic_facts *facts)
{
	struct ifaddrs *all;

	if (facts->netdev[0] == 0 || getifaddrs(&all) < 0)
		return;
	for (const struct ifaddrs *at = all; at != NULL; at = at->ifa_next) {
		if (at->ifa_addr != NULL && at->ifa_netmask != NULL &&
		    (at->ifa_addr->sa_family == AF_INET ||
			at->ifa_addr->sa_family == AF_INET6) &&
		    strcmp(at->ifa_name, facts->netdev) == 0)
			take_prefix(facts, at);
	}
	freeifaddrs(all);
}

void
rnic_facts_driver(char ret[RNIC_DRIVER_BYTES], const char text[RNIC_DRIVER_BYTES])
{
	size_t len = strnlen(text, RNIC_DRIVER_BYTES - 1);

	for (size_t i = 0; i < len; i++) {
		const char c = text[i];

		ret[i] = c < ' ' || c > '~' || c == '"' || c == '\\' ? '_' : c;
	}
	ret[len] = '\0';
}

/* Reads the facts that may be missing: a failure is ignored. */
static int
look_at_device(struct look *look)
{
	struct ethtool_drvinfo driver = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq request = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", look->device);
	if (ioctl(fd, SIOCGIFMTU, &request) == 0)
		look->facts.mtu_bytes = (uint32_t)request.ifr_mtu;
	request.ifr_data = (char *)&driver;
	if (ioctl(fd, SIOCETHTOOL, &request) == 0)
		rnic_facts_driver(look->facts.driver, driver.driver);
	close(fd);
	return 0;
}

static int
look_inside(void *arg)
{
	struct look *look = arg;
	int r;

	r = look_at_addresses(look);
	if (r < 0)
		return r;
	rnic_facts_prefixes(&look->facts);
	return look_at_device(look);
}

int
rnic_facts_read(
    const char *netns, const char *device, const char *address, struct rnic_facts *ret)
{
	struct look look = { .device = device, .address = address };
	struct stat stat;
	int fd, r;

	look.facts.transport = RNIC_UDP;
	if (strlen(device) >= sizeof(look.facts.netdev))
		return -ENODEV;
	memcpy(look.facts.netdev, device, strlen(device));
	r = rm_netns_open(netns, &fd);
	if (r < 0)
		return r;
	if (fstat(fd, &stat) < 0)
		r = -errno;
	look.facts.netns_inode = stat.st_ino;
	if (r == 0)
		r = rm_netns_call(fd, look_inside, &look);
	close(fd);
	if (r == 0)
		*ret = look.facts;
	return r;
}

struct wire_rnic_id
rnic_facts_id_apart(struct wire_rnic_id id, const char *name)
{
	const uint64_t hash = rm_fnv1a(RM_FNV1A, name, strlen(name));

	/* Sets the bit that marks a MAC as locally administered: the second bit of its
	 * first byte. The MAC is in the low 48 bits. */
	if (id.port == 0)
		id.guid = (id.guid ^ (hash & 0xffffff)) | UINT64_C(2) << 40;
	else
		id.guid = (id.guid ^ (hash & 0xffffffff)) | UINT64_C(2) << 56;
	return id;
}

static bool
address_equal(const struct wire_address *a, const struct wire_address *b)
{
	return a->family == b->family &&
	       memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool
rnic_facts_same_place(const struct rnic_facts *a, const struct rnic_facts *b)
{
	if (a->transport != b->transport || a->netns_inode != b->netns_inode ||
	    a->ifindex != b->ifindex || a->rdma_inode != b->rdma_inode ||
	    a->lid != b->lid || strcmp(a->rdma_device, b->rdma_device) != 0 ||
	    a->id.guid != b->id.guid || a->id.port != b->id.port ||
	    a->address_count != b->address_count)
		return false;
	for (size_t i = 0; i < a->address_count; i++) {
		if (!address_equal(&a->addresses[i], &b->addresses[i]) ||
		    a->gid_index[i] != b->gid_index[i])
			return false;
	}
	/* QPs and their buffers are made for one MTU. */
	return a->transport == RNIC_UDP || a->mtu_bytes == b->mtu_bytes;
}

bool
rnic_facts_same(const struct rnic_facts *a, const struct rnic_facts *b)
{
	return rnic_facts_same_place(a, b) && a->mtu_bytes == b->mtu_bytes &&
	       strcmp(a->driver, b->driver) == 0 && strcmp(a->netdev, b->netdev) == 0;
}

int
rnic_facts_find(const struct rnic_place *place, struct rnic_facts *ret)
{
	int roce = -ENODEV, r;

	if (place->transport != RNIC_UDP && place->netns == NULL) {
		roce = rnic_facts_read_roce(place, ret);
		if (place->transport == RNIC_ROCE ||
		    (roce != -ENODEV && roce != -ENOTSUP))
			return roce;
	}
	r = rnic_facts_read(place->netns, place->device, place->address, ret);
	/* An RDMA device without a GID exists, and no network device has its name. The
	 * error about RDMA helps more. */
	return r == -ENODEV ? roce : r;
}

_Static_assert(RNIC_RDMA_NAME_BYTES == RDMA_DEVICE_BYTES, "both hold the same names");
_Static_assert(RNIC_NETDEV_BYTES == RDMA_NETDEV_BYTES, "both hold the same names");
_Static_assert(RNIC_DRIVER_BYTES == RDMA_DRIVER_BYTES, "both hold the same names");

#define OWN_NETNS "/proc/self/ns/net"

struct search {
	const struct rnic_place *place;
	const char *root;
	const char *netdev; /* the netdev from the config; NULL: the port's own */
	struct rdma_facts rdma;
	struct rnic_facts facts;
};

/* Returns the index of the network device in this file; 0: it does not exist. */
static uint32_t
netdev_number(const struct search *search, const char *file)
{
	char text[16];

	if (sysfs_text(text, sizeof(text), "%s/class/net/%s/%s", search->root,
		search->facts.netdev, file) < 0)
		return 0;
	return (uint32_t)strtoul(text, NULL, 10);
}

/* Returns the GUID as soft devices derive it: the EUI-64 of the MAC. 0: the device has
 * no MAC either. */
static uint64_t
guid_of_mac(const struct search *search)
{
	uint64_t mac = 0;
	unsigned bytes[6];
	char text[64];

	if (search->facts.netdev[0] == 0 ||
	    sysfs_text(text, sizeof(text), "%s/class/net/%s/address", search->root,
		search->facts.netdev) < 0 ||
	    sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x", &bytes[0], &bytes[1], &bytes[2],
		&bytes[3], &bytes[4], &bytes[5]) != 6)
		return 0;
	for (int i = 0; i < 6; i++)
		mac = mac << 8 | bytes[i];
	if (mac == 0)
		return 0;
	return ((mac >> 24) << 40 | UINT64_C(0xfffe) << 24 | (mac & 0xffffff)) ^
	       UINT64_C(2) << 56;
}

static uint64_t
inode_of(const char *path)
{
	struct stat stat_of;

	return stat(path, &stat_of) < 0 ? 0 : stat_of.st_ino;
}

/* True: the netdev still belongs to the port. It may have got another device after the
 * index was made. */
static bool
port_has_netdev(const struct search *search)
{
	const struct rdma_facts *rdma = &search->rdma;
	bool owned = false;

	for (size_t i = 0; i < rdma->gid_count; i++) {
		if (strcmp(rdma->gids[i].netdev, search->netdev) == 0)
			return true;
		owned |= rdma->gids[i].netdev[0] != '\0';
	}
	return !owned; /* an interface that is down owns no GID */
}

static int
find_by_netdev(struct search *search)
{
	const struct rnic_place *place = search->place;
	char device[RDMA_DEVICE_BYTES];
	uint8_t port;
	int r;

	if (place->index == NULL)
		r = rdma_index_find_now(search->root, place->device, device, &port);
	else
		r = rdma_index_find(place->index, place->device, device, &port);
	if (r < 0)
		return r == -ENOENT ? -ENODEV : r;
	search->netdev = place->device;
	r = rdma_facts_read(search->root, device, port, &search->rdma);
	if (place->index == NULL || (r == 0 && port_has_netdev(search)))
		return r;
	rdma_index_expire(place->index);
	r = rdma_index_find(place->index, place->device, device, &port);
	if (r < 0)
		return r == -ENOENT ? -ENODEV : r;
	return rdma_facts_read(search->root, device, port, &search->rdma);
}

/* device is the name of an RDMA device, or of the network device of a port. */
static int
find_port(struct search *search)
{
	const struct rnic_place *place = search->place;
	int r;

	r = rdma_facts_read(
	    search->root, place->device, place->rdma_port, &search->rdma);
	return r == -ENODEV ? find_by_netdev(search) : r;
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

/* The addresses are compared as bytes, because one IPv6 address can be written in
 * several ways. */
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

/* Picks one GID per family; a single one if the config has its index, and on
 * InfiniBand. */
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
			/* return the error of the family that gives more information */
			first = r;
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
	if (search.facts.id.guid == 0)
		search.facts.id.guid = guid_of_mac(&search);
	if (search.facts.id.guid == 0)
		return -ENOTUNIQ;
	if (search.facts.netdev[0] != 0) {
		search.facts.ifindex = netdev_number(&search, "ifindex");
		search.facts.mtu_bytes = netdev_number(&search, "mtu");
		rnic_facts_prefixes(&search.facts);
	}
	*ret = search.facts;
	return 0;
}
