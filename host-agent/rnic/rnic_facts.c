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
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/netns.h"

/* /proc/net follows the process; the namespace is this thread's alone. */
#define IPV6_ADDRESSES "/proc/thread-self/net/if_inet6"

/* Not usable yet, never, or not for long. */
#define IPV6_UNFIT \
	(IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED | IFA_F_TEMPORARY)

struct look {
	const char *device;
	const char *address; /* NULL: any global one */
	struct rnic_facts facts;
};

static bool
ipv4_is_global(const uint8_t bytes[4])
{
	return bytes[0] != 127 && bytes[0] != 0 && bytes[0] < 224 &&
	       !(bytes[0] == 169 && bytes[1] == 254);
}

/* getifaddrs does not tell the flags of an address. */
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

/* Whether this address is wanted; fills *ret with it. */
static bool
address_wanted(
    const struct look *look, const struct sockaddr *from, struct wire_address *ret)
{
	struct in6_addr wanted; /* room for both families */
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
	/* Compared as bytes: IPv6 has many spellings. */
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
			return; /* the kernel names the primary one first */
	}
	facts->addresses[facts->address_count++] = address;
}

static void
take_mac(struct look *look, const struct sockaddr_ll *from)
{
	if (from->sll_halen != 6)
		return;
	look->facts.id.guid = 0;
	look->facts.id.port = 0; /* the guid holds a MAC */
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

void
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

/* What it is good to know, and no reason to fail. */
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
		memcpy(look->facts.driver, driver.driver, RNIC_DRIVER_BYTES - 1);
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
	int r;

	if (place->transport != RNIC_UDP && place->netns == NULL) {
		r = rnic_facts_read_roce(place, ret);
		if (place->transport == RNIC_ROCE || (r != -ENODEV && r != -ENOTSUP))
			return r;
	}
	return rnic_facts_read(place->netns, place->device, place->address, ret);
}
