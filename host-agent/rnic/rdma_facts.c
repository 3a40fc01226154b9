#include "host-agent/rnic/rdma_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/rnic/sysfs_file.h"

#define DEVICE_PATH "%s/class/infiniband/%s"
#define PORT_PATH DEVICE_PATH "/ports/%u"

/* A name from outside becomes part of a path. */
static bool
name_is_sane(const char *name, size_t size)
{
	return name[0] != '\0' && name[0] != '.' && strlen(name) < size &&
	       strchr(name, '/') == NULL;
}

/* count groups of four hex digits with colons between them. */
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

static int
read_guid(const char *root, struct rdma_facts *facts)
{
	uint8_t bytes[8];
	char text[64];

	if (sysfs_text(text, sizeof(text), DEVICE_PATH "/node_guid", root,
		facts->device) < 0 ||
	    !parse_groups(text, 4, bytes))
		return -ENXIO;
	facts->node_guid = 0;
	for (int i = 0; i < 8; i++)
		facts->node_guid = facts->node_guid << 8 | bytes[i];
	return facts->node_guid == 0 ? -ENXIO : 0;
}

/* The device's driver is that of a PCI or auxiliary device, not of the RDMA part. */
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

/* Soft devices have no hardware. Who set up the host may have renamed the
 * description, so what only rxe has comes first. */
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

/* A number up to 16 bits, "0x11" or "4: ACTIVE"; 0 when there is none. */
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

/* "IB/RoCE v1" is one word for two things; reading it fails for an empty entry. */
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
			return; /* the end of the table */
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
	int r;

	if (!name_is_sane(device, RDMA_DEVICE_BYTES) ||
	    !sysfs_exists(DEVICE_PATH, root, device))
		return -ENODEV;
	snprintf(facts.device, sizeof(facts.device), "%s", device);
	if (!sysfs_exists(PORT_PATH, root, device, port))
		return -ENOENT;
	r = read_guid(root, &facts);
	if (r < 0)
		return r;
	read_driver(root, &facts);
	read_port(root, &facts);
	read_gids(root, &facts);
	*ret = facts;
	return 0;
}
