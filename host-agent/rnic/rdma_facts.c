#include "host-agent/rnic/rdma_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/rnic/sysfs_file.h"

#define DEVICE_PATH "%s/class/infiniband/%s"
#define PORT_PATH DEVICE_PATH "/ports/%u"

static enum gid_fit gid_fit(
    const struct rdma_facts *facts, uint8_t family, const struct rdma_gid *gid);

/* Checks a name that comes from outside, because it becomes part of a path. */
static bool
name_is_sane(const char *name, size_t size)
{
	return name[0] != '\0' && name[0] != '.' && strlen(name) < size &&
	       strchr(name, '/') == NULL;
}

/* Parses count groups of four hex digits, with colons between them. */
static bool
parse_groups(const char *text, size_t count, uint8_t *ret)
{
	for (size_t i = 0; i < count; i++) {
		uint8_t nibbles[4];

		for (size_t k = 0; k < 4; k++, text++) {
			if (*text >= '0' && *text <= '9')
				nibbles[k] = (uint8_t)(*text - '0');
			else if (*text >= 'a' && *text <= 'f')
				nibbles[k] = (uint8_t)(*text - 'a' + 10);
			else
				return false;
		}
		ret[2 * i] = (uint8_t)(nibbles[0] << 4 | nibbles[1]);
		ret[2 * i + 1] = (uint8_t)(nibbles[2] << 4 | nibbles[3]);
		if (*text != (i + 1 == count ? '\0' : ':'))
			return false;
		text++;
	}
	return true;
}

uint64_t
rdma_facts_guid(const char *root, const char *device)
{
	uint64_t guid = 0;
	uint8_t bytes[8];
	char text[64];

	if (sysfs_text(text, sizeof(text), DEVICE_PATH "/node_guid", root, device) <
		0 ||
	    !parse_groups(text, 4, bytes))
		return 0;
	for (int i = 0; i < 8; i++)
		guid = guid << 8 | bytes[i];
	return guid;
}

/* The driver's name is that of the PCI or auxiliary device. rdma-core uses another name
 * for the RDMA device. */
static const struct {
	const char *prefix, *family;
} drivers[] = {
	{ "mlx5_", "mlx5" },
	{ "mlx4_", "mlx4" },
	{ "bnxt_", "bnxt_re" },
	{ "irdma", "irdma" },
	{ "ice", "irdma" },
	{ "idpf", "irdma" },
	{ "i40e", "irdma" },
	{ "hns", "hns" },
};

/* Soft devices have no hardware as parent. Their description may have been changed by
 * an administrator, so files that only rxe has are checked first. */
static const char *
soft_driver(const char *root, const char *device)
{
	char text[128];

	if (sysfs_exists(DEVICE_PATH "/parent", root, device))
		return "rxe";
	if (sysfs_text(text, sizeof(text), DEVICE_PATH "/node_desc", root, device) < 0)
		text[0] = '\0';
	if (strcmp(text, "rxe") == 0 || strncmp(device, "rxe", 3) == 0)
		return "rxe";
	if (strncmp(text, "Software iWARP", 14) == 0 || strncmp(device, "siw", 3) == 0)
		return "siw";
	return "";
}

static void
read_driver(const char *root, struct rdma_facts *facts)
{
	char text[RDMA_DRIVER_BYTES];
	const char *name = text;

	if (!sysfs_exists(DEVICE_PATH "/device", root, facts->device))
		name = soft_driver(root, facts->device);
	else if (sysfs_link(text, sizeof(text), DEVICE_PATH "/device/driver", root,
		     facts->device) < 0)
		text[0] = '\0';
	for (size_t i = 0; name == text && i < sizeof(drivers) / sizeof(*drivers); i++)
		if (strncmp(text, drivers[i].prefix, strlen(drivers[i].prefix)) == 0)
			name = drivers[i].family;
	snprintf(facts->driver, sizeof(facts->driver), "%s", name);
}

/* Reads a 16-bit number, "0x11" or "4: ACTIVE"; 0: there is none. */
static uint16_t
read_number(const char *root, const struct rdma_facts *facts, const char *file)
{
	char text[64];
	unsigned long value;

	if (sysfs_text(text, sizeof(text), PORT_PATH "/%s", root, facts->device,
		facts->port, file) < 0)
		return 0;
	value = strtoul(text, NULL, 0);
	return value > UINT16_MAX ? 0 : (uint16_t)value;
}

static void
read_port(const char *root, struct rdma_facts *facts)
{
	uint16_t state = read_number(root, facts, "state");
	char text[64];

	facts->state = state > UINT8_MAX ? 0 : (uint8_t)state;
	facts->lid = read_number(root, facts, "lid");
	facts->sm_lid = read_number(root, facts, "sm_lid");
	(void)sysfs_text(text, sizeof(text), PORT_PATH "/link_layer", root,
	    facts->device, facts->port);
	if (strcmp(text, "Ethernet") == 0)
		facts->link = RDMA_LINK_ETHERNET;
	else if (strcmp(text, "InfiniBand") == 0)
		facts->link = RDMA_LINK_INFINIBAND;
}

/* Two types have the text "IB/RoCE v1". The file of an empty entry cannot be read. */
static uint8_t
read_gid_type(const char *root, const struct rdma_facts *facts, unsigned index)
{
	char text[32];

	if (facts->link == RDMA_LINK_INFINIBAND)
		return RDMA_GID_IB;
	if (sysfs_text(text, sizeof(text), PORT_PATH "/gid_attrs/types/%u", root,
		facts->device, facts->port, index) < 0)
		return 0;
	return strcmp(text, "RoCE v2") == 0 ? RDMA_GID_ROCE_V2 : RDMA_GID_ROCE_V1;
}

static void
take_netdev(struct rdma_facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->netdev_count; i++) {
		if (strcmp(facts->netdevs[i], name) == 0)
			return;
	}
	if (name[0] == '\0' || facts->netdev_count == RDMA_MAX_NETDEVS)
		return;
	memcpy(facts->netdevs[facts->netdev_count++], name, RDMA_NETDEV_BYTES);
}

static void
take_gid(const char *root, struct rdma_facts *facts, unsigned index, const char *text)
{
	struct rdma_gid gid = { .index = (uint8_t)index };

	if (!parse_groups(text, GID_BYTES / 2, gid.bytes) || gid_is_zero(gid.bytes))
		return;
	gid.type = read_gid_type(root, facts, index);
	if (gid.type == 0)
		return;
	(void)sysfs_text(gid.netdev, sizeof(gid.netdev),
	    PORT_PATH "/gid_attrs/ndevs/%u", root, facts->device, facts->port, index);
	take_netdev(facts, gid.netdev);
	facts->gids[facts->gid_count++] = gid;
}

static void
read_gids(const char *root, struct rdma_facts *facts)
{
	for (unsigned i = 0; i < RDMA_MAX_GIDS; i++) {
		char text[64];
		int r;

		r = sysfs_text(text, sizeof(text), PORT_PATH "/gids/%u", root,
		    facts->device, facts->port, i);
		if (r == -ENOENT)
			return; /* This is the end of the table. */
		if (r == 0)
			take_gid(root, facts, i, text);
	}
	facts->gids_unseen = sysfs_exists(PORT_PATH "/gids/%u", root, facts->device,
	    facts->port, (unsigned)RDMA_MAX_GIDS);
}

int
rdma_facts_read(
    const char *root, const char *device, uint8_t port, struct rdma_facts *ret)
{
	struct rdma_facts facts = { .port = port };

	if (!name_is_sane(device, RDMA_DEVICE_BYTES) ||
	    !sysfs_exists(DEVICE_PATH, root, device))
		return -ENODEV;
	snprintf(facts.device, sizeof(facts.device), "%s", device);
	if (!sysfs_exists(PORT_PATH, root, device, port))
		return -ENOENT;
	facts.node_guid = rdma_facts_guid(root, device);
	read_driver(root, &facts);
	read_port(root, &facts);
	read_gids(root, &facts);
	*ret = facts;
	return 0;
}

/* How suitable a GID is, from worst to best. */
enum gid_fit {
	FIT_OTHER_FAMILY, /* the GID is of the other address family */
	/* the GID's packets have no UDP header, so they are not routed and have no
	   source port */
	FIT_ROCE_V1,
	FIT_LINK_LOCAL, /* it can be used only if the link of every peer is known */
	FIT_USABLE,
};

static const int gid_errors[] = {
	[FIT_OTHER_FAMILY] = -EADDRNOTAVAIL,
	[FIT_ROCE_V1] = -EPROTONOSUPPORT,
	[FIT_LINK_LOCAL] = -ENETUNREACH,
};

static enum gid_fit
gid_fit(const struct rdma_facts *facts, uint8_t family, const struct rdma_gid *gid)
{
	struct wire_address address;

	if (facts->link == RDMA_LINK_INFINIBAND)
		return gid->type == RDMA_GID_IB ? FIT_USABLE : FIT_OTHER_FAMILY;
	gid_to_address(gid->bytes, &address);
	if (address.family != family)
		return FIT_OTHER_FAMILY;
	if (gid->type != RDMA_GID_ROCE_V2)
		return FIT_ROCE_V1;
	return gid_is_global(gid->bytes) ? FIT_USABLE : FIT_LINK_LOCAL;
}

static int
pick_index(const struct rdma_facts *facts, const struct rdma_gid_wish *wish,
    struct rdma_gid *ret)
{
	for (size_t i = 0; i < facts->gid_count; i++) {
		const struct rdma_gid *gid = &facts->gids[i];
		enum gid_fit fit;

		if (gid->index != wish->index)
			continue;
		fit = gid_fit(facts, wish->family, gid);
		if (fit == FIT_OTHER_FAMILY)
			return -EAFNOSUPPORT;
		if (fit != FIT_USABLE)
			return gid_errors[fit];
		*ret = *gid;
		return 0;
	}
	return -ENXIO;
}

static const char *
preferred_netdev(const struct rdma_facts *facts, const struct rdma_gid_wish *wish)
{
	if (wish->netdev != NULL)
		return wish->netdev;
	return facts->netdev_count == 0 ? "" : facts->netdevs[0];
}

int
rdma_facts_pick_gid(const struct rdma_facts *facts, const struct rdma_gid_wish *wish,
    struct rdma_gid *ret)
{
	const char *netdev = preferred_netdev(facts, wish);
	const struct rdma_gid *best = NULL;
	enum gid_fit best_fit = FIT_OTHER_FAMILY;

	if (wish->family != 4 && wish->family != 6)
		return -EINVAL;
	if (wish->index >= 0)
		return pick_index(facts, wish, ret);
	for (size_t i = 0; i < facts->gid_count; i++) {
		const struct rdma_gid *gid = &facts->gids[i];
		enum gid_fit fit = gid_fit(facts, wish->family, gid);

		if (fit < best_fit || fit == FIT_OTHER_FAMILY)
			continue;
		if (fit == best_fit && (strcmp(best->netdev, netdev) == 0 ||
					   strcmp(gid->netdev, netdev) != 0))
			continue;
		best = gid;
		best_fit = fit;
	}
	if (best_fit != FIT_USABLE)
		return gid_errors[best_fit];
	*ret = *best;
	return 0;
}

const char *
rdma_facts_error(int r)
{
	switch (-r) {
	case ENODEV:
		return "no such RDMA device";
	case ENOENT:
		return "no such port";
	case ENXIO:
		return "there is no GID at this index of the GID table";
	case EADDRNOTAVAIL:
		return "no RoCE v2 GID of this address family: has the interface an "
		       "address?";
	case EPROTONOSUPPORT:
		return "only a RoCE v1 GID, and RoCE v2 is needed";
	case ENETUNREACH:
		return "only a link-local GID: has the interface a global address?";
	case EAFNOSUPPORT:
		return "the chosen GID is of the other address family";
	case ENOTUNIQ:
		return "its node GUID is zero, and it has no network device with a "
		       "MAC: give it a node GUID (ip link set PF vf N node_guid GUID)";
	case E2BIG:
		return "more than 4096 RDMA devices: name the RDMA device instead of "
		       "the network device";
	default:
		return strerror(-r);
	}
}
