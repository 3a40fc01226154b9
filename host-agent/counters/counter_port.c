#include "host-agent/counters/counter_port.h"

#include <dirent.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host-agent/counters/counter_files.h"
#include "host-agent/counters/dcb_pfc.h"
#include "host-agent/counters/link_stats.h"
#include "host-agent/counters/netdev_stats.h"
#include "host-agent/counters/rdma_stats.h"
#include "host-agent/kernel/counter_kernel.h"
#include "host-agent/rnic/rnic_facts.h"
#include "host-agent/rnic/sysfs_file.h"
#include "schemas/wire/agent.h"
#include "schemas/wire/text.h"

#define MAX_PARTS 512
#define MAX_GIDS 256               /* entries of a port's table that are read */
#define LOOK_NS (60 * RM_NS_PER_S) /* time between two searches for new counters */

enum origin {
	FROM_FILE,
	FROM_ETHTOOL,
	FROM_STATS,
	FROM_RESOURCES,
	FROM_DCB,
	FROM_LINK
};

#define ORIGINS (FROM_LINK + 1)

struct part {
	uint8_t origin;
	uint8_t scale;
	uint16_t index; /* index of the number among the numbers of its origin */
};

/* The source of one value of the table: a sum of numbers, in parts[first] to
 * parts[first + count - 1]. */
struct bound {
	uint16_t first, count;
	uint16_t source;
	bool seldom; /* at least one of the numbers is read seldom */
};

_Static_assert(COUNTER_FIRMWARE_BYTES == RNIC_DRIVER_BYTES, "one function cleans both");

struct counter_port {
	const struct counter_kernel *kernel;
	struct counter_port_place place;
	enum counter_driver driver;
	bool bound;
	rm_mono_t bound_at;
	uint64_t identity; /* a hash that identifies the device of the last search */
	char firmware[COUNTER_FIRMWARE_BYTES];
	int traffic_class;
	unsigned fec, gid_types;

	struct counter_files files;
	struct netdev_stats ethtool;
	struct rdma_stats stats, resources;
	struct dcb_pfc dcb;
	bool has_dcb;
	struct link_stats link;
	struct bound *values; /* counter_values() */
	/* for each origin; not used for files, because each file has its own flag */
	bool seldom[ORIGINS];
	/* number of values that the last reading of all values found */
	size_t found_seldom;
	char lowers[COUNTER_MAX_LOWERS][16];
	size_t lower_count;
	struct part parts[MAX_PARTS];
	size_t part_count;
};

int
counter_port_new(const struct counter_kernel *kernel, struct counter_port **ret)
{
	struct counter_port *port = calloc(1, sizeof(*port));

	if (port == NULL)
		return -ENOMEM;
	port->kernel = kernel;
	port->values = calloc(counter_values(), sizeof(*port->values));
	if (port->values == NULL) {
		free(port);
		return -ENOMEM;
	}
	*ret = port;
	return 0;
}

void
counter_port_free(struct counter_port *port)
{
	if (port == NULL)
		return;
	counter_files_close(&port->files);
	netdev_stats_clear(&port->ethtool);
	free(port->values);
	free(port);
}

/* ---- Finding the sources ---- */

static bool
is_link_width(const char *name)
{
	const size_t len = strlen(name), end = strlen("_link_width");

	return len > end && strcmp(name + len - end, "_link_width") == 0;
}

static int
find_file(struct counter_port *port, const struct counter_name *name)
{
	static const char *const folders[] = { [COUNTER_HW] = "hw_counters/",
		[COUNTER_PMA] = "counters/",
		[COUNTER_PORT] = "" };
	const struct counter_port_place *at = &port->place;
	char path[SYSFS_PATH_BYTES];
	int n, file;

	if ((name->place == COUNTER_NETDEV ? at->netdev : at->rdma_device)[0] == '\0')
		return -ENODEV;
	if (name->place == COUNTER_NETDEV)
		n = snprintf(path, sizeof(path), "%s/class/net/%s/%s",
		    port->kernel->sysfs, at->netdev, name->name);
	else if (name->place == COUNTER_HW_DEV)
		n = snprintf(path, sizeof(path),
		    "%s/class/infiniband/%s/hw_counters/%s", port->kernel->sysfs,
		    at->rdma_device, name->name);
	else
		n = snprintf(path, sizeof(path), "%s/class/infiniband/%s/ports/%u/%s%s",
		    port->kernel->sysfs, at->rdma_device, at->port,
		    folders[name->place], name->name);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	file = counter_files_open(&port->files, path);
	if (file >= 0)
		port->files.files[file].lanes = is_link_width(name->name);
	return file;
}

/* Netlink returns all of hw_counters in one request: so files are used only if netlink
 * has no counters. */
static int
find_hw(struct counter_port *port, const struct counter_name *name, uint8_t *origin)
{
	*origin = FROM_STATS;
	if (port->stats.count > 0)
		return rdma_stats_find(&port->stats, name->name);
	*origin = FROM_FILE;
	return find_file(port, name);
}

/* Returns the index of the number at *origin, or < 0: the RNIC has no such number. */
static int
find(struct counter_port *port, const struct counter_name *name, uint8_t *origin)
{
	switch (name->place) {
	case COUNTER_ETHTOOL:
		*origin = FROM_ETHTOOL;
		return netdev_stats_find(&port->ethtool, name->name);
	case COUNTER_DCB:
		*origin = FROM_DCB;
		return dcb_pfc_find(&port->dcb, name->name);
	case COUNTER_LINK:
		*origin = FROM_LINK;
		return link_stats_find(&port->link, name->name);
	case COUNTER_RES:
		*origin = FROM_RESOURCES;
		return rdma_stats_find(&port->resources, name->name);
	case COUNTER_HW:
		return find_hw(port, name, origin);
	case COUNTER_MODULE: /* read separately: see counters.c */
		return -ENOENT;
	default:
		*origin = FROM_FILE;
		return find_file(port, name);
	}
}

/* Uses the first alternative of which at least one name exists. */
static bool
bind_source(struct counter_port *port, const char *text, unsigned index, bool any,
    struct bound *bound)
{
	unsigned alternative = 0;
	struct counter_name name;
	int more;

	bound->first = (uint16_t)port->part_count;
	bound->count = 0;
	while ((more = counter_next_name(&text, index, &name)) >= 0) {
		struct part part = { .scale = name.scale };
		int at = port->part_count < MAX_PARTS ? find(port, &name, &part.origin)
						      : -ENFILE;

		if (at >= 0) {
			part.index = (uint16_t)at;
			port->parts[port->part_count++] = part;
			bound->count++;
		}
		if (more == 0 && bound->count > 0)
			break;
		alternative += more == 0;
	}
	bound->source = (uint16_t)(any << 15 | alternative << 8 | bound->count);
	return bound->count > 0;
}

/* Reads the names of the counters that netlink and ethtool offer. Errors are ignored:
 * counters may still be files. */
static void
look_up(struct counter_port *port)
{
	const struct counter_kernel *kernel = port->kernel;
	const struct counter_port_place *place = &port->place;

	port->ethtool.count = 0;
	port->stats.count = 0;
	port->resources.count = 0;
	port->has_dcb = false;
	port->link = (struct link_stats){ 0 };
	if (place->netdev[0] != '\0') {
		(void)netdev_stats_look(&port->ethtool, kernel, place->netdev);
		(void)dcb_pfc_read(&port->dcb, kernel, place->netdev);
		port->has_dcb = port->dcb.there;
		link_stats_look(&port->link, kernel, place->netdev);
	}
	if (place->rdma_device[0] != '\0') {
		(void)rdma_stats_look(&port->stats, RDMA_STATS_COUNTERS, kernel,
		    place->rdma_device, place->port);
		(void)rdma_stats_look(&port->resources, RDMA_STATS_RESOURCES, kernel,
		    place->rdma_device, place->port);
	}
}

static bool *
seldom_of(struct counter_port *port, const struct part *part)
{
	return part->origin == FROM_FILE ? &port->files.files[part->index].seldom
					 : &port->seldom[part->origin];
}

/* Aggregators judge the increases of counters, never the values of gauges. */
static bool
is_judged(const struct counter_row *row)
{
	for (unsigned i = 1; row->width != 0 && i < WIRE_COUNTERS; i++)
		if (strcmp(wire_counter_str(i), row->name) == 0)
			return true;
	return false;
}

/* If aggregators judge no value of an origin, the origin is read seldom. */
static void
choose_paces(struct counter_port *port)
{
	struct bound *bound = port->values;

	memset(port->seldom, true, sizeof(port->seldom));
	for (size_t i = 0; i < port->files.count; i++)
		port->files.files[i].seldom = true;
	for (const struct counter_row *row = counter_rows; row->name != NULL; row++) {
		const bool judged = is_judged(row);

		for (size_t i = 0; i < counter_row_values(row); i++, bound++)
			for (size_t k = 0; judged && k < bound->count; k++)
				*seldom_of(port, &port->parts[bound->first + k]) =
				    false;
	}
	for (size_t i = 0; i < counter_values(); i++) {
		bound = &port->values[i];
		bound->seldom = false;
		for (size_t k = 0; k < bound->count; k++)
			bound->seldom |=
			    *seldom_of(port, &port->parts[bound->first + k]);
	}
}

static void
bind_all(struct counter_port *port)
{
	struct bound *bound = port->values;

	counter_files_close(&port->files);
	port->part_count = 0;
	look_up(port);
	for (const struct counter_row *row = counter_rows; row->name != NULL; row++) {
		const char *own = row->source[port->driver];
		const char *any = row->source[COUNTER_ANY];

		for (unsigned i = 0; i < counter_row_values(row); i++, bound++) {
			bound->count = 0;
			if (own != NULL && bind_source(port, own, i, false, bound))
				continue;
			if (any != NULL && any != own &&
			    !counter_row_is_own(row, port->driver))
				bind_source(port, any, i, true, bound);
		}
	}
	choose_paces(port);
}

/* Finds the network devices that a bond consists of. */
static void
find_lowers(struct counter_port *port)
{
	static const char prefix[] = "lower_";
	char folder[SYSFS_PATH_BYTES];
	const struct dirent *entry;
	DIR *dir = NULL;

	port->lower_count = 0;
	snprintf(folder, sizeof(folder), "%s/class/net/%s", port->kernel->sysfs,
	    port->place.netdev);
	if (port->place.netdev[0] != '\0' && sysfs_exists("%s/bonding", folder))
		dir = opendir(folder);
	while (dir != NULL && port->lower_count < COUNTER_MAX_LOWERS &&
	       (entry = readdir(dir)) != NULL) {
		const char *name = entry->d_name + sizeof(prefix) - 1;

		if (strncmp(entry->d_name, prefix, sizeof(prefix) - 1) == 0 &&
		    strlen(name) < sizeof(port->lowers[0]))
			strcpy(port->lowers[port->lower_count++], name);
	}
	if (dir != NULL)
		closedir(dir);
}

static uint64_t
mix(uint64_t hash, const char *text)
{
	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/* The version of the firmware comes from sysfs for an RDMA device, and else from
 * ethtool. */
static void
read_firmware(struct counter_port *port)
{
	const struct counter_kernel *kernel = port->kernel;
	const struct counter_port_place *place = &port->place;
	struct ethtool_drvinfo about = { .cmd = ETHTOOL_GDRVINFO };
	char text[sizeof(about.fw_version) + 1] = "";

	if (place->rdma_device[0] != '\0')
		(void)sysfs_text(text, sizeof(text), "%s/class/infiniband/%s/fw_ver",
		    kernel->sysfs, place->rdma_device);
	if (text[0] == '\0' && place->netdev[0] != '\0' && kernel->ethtool != NULL &&
	    kernel->ethtool(kernel->arg, place->netdev, &about) == 0)
		memcpy(text, about.fw_version, sizeof(about.fw_version));
	if (strcmp(text, "N/A") == 0)
		text[0] = '\0';
	text[strcspn(text, " ")] = '\0'; /* "22.39.1002 (MT_0000000359)" */
	rnic_facts_driver(port->firmware, text);
}

/* Reads the traffic class from a file that only mlx5 of MLNX_OFED has. Returns
 * COUNTER_NO_CLASS if the file is empty, which means that no class is set; -1: not
 * known. */
static int
read_traffic_class(const struct counter_port *port)
{
	const struct counter_port_place *place = &port->place;
	unsigned number;
	char text[64];
	int r;

	if (place->rdma_device[0] == '\0')
		return -1;
	r = sysfs_text(text, sizeof(text), "%s/class/infiniband/%s/tc/%u/traffic_class",
	    port->kernel->sysfs, place->rdma_device, place->port);
	if (r < 0)
		return -1;
	if (text[0] == '\0')
		return COUNTER_NO_CLASS;
	return sscanf(text, "Global tclass=%u", &number) == 1 && number <= UINT8_MAX
		   ? (int)number
		   : -1;
}

/* Entries of a GID table that are not used have a file, too, which cannot be read. */
static unsigned
read_gid_types(const struct counter_port *port)
{
	const struct counter_port_place *place = &port->place;
	unsigned types = 0;
	char text[32];
	int r = 0;

	if (place->rdma_device[0] == '\0')
		return 0;
	for (unsigned i = 0; i < MAX_GIDS && r != -ENOENT; i++) {
		r = sysfs_text(text, sizeof(text),
		    "%s/class/infiniband/%s/ports/%u/gid_attrs/types/%u",
		    port->kernel->sysfs, place->rdma_device, place->port, i);
		if (r == 0 && strcmp(text, "RoCE v2") == 0)
			types |= COUNTER_GID_ROCE_V2;
		else if (r == 0 && strcmp(text, "IB/RoCE v1") == 0)
			types |= COUNTER_GID_ROCE_V1;
	}
	return types;
}

static unsigned
read_fec(const struct counter_port *port)
{
	static const unsigned kinds[] = { ETHTOOL_FEC_OFF, ETHTOOL_FEC_RS,
		ETHTOOL_FEC_BASER, ETHTOOL_FEC_LLRS };
	struct ethtool_fecparam fec = { .cmd = ETHTOOL_GFECPARAM };
	const struct counter_kernel *kernel = port->kernel;

	if (port->place.netdev[0] == '\0' || kernel->ethtool == NULL ||
	    kernel->ethtool(kernel->arg, port->place.netdev, &fec) < 0)
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((fec.active_fec & kinds[i]) != 0)
			return kinds[i];
	return 0;
}

/* Returns a hash that changes when the device is created again, or gets other
 * firmware. */
static uint64_t
read_identity(const struct counter_port *port)
{
	const struct counter_port_place *place = &port->place;
	char path[SYSFS_PATH_BYTES], text[64];
	uint64_t identity = mix(0, port->firmware);
	struct stat about;

	if (place->rdma_device[0] != '\0') {
		snprintf(path, sizeof(path), "%s/class/infiniband/%s",
		    port->kernel->sysfs, place->rdma_device);
		if (stat(path, &about) == 0)
			identity ^= about.st_ino;
	}
	if (place->netdev[0] != '\0') {
		(void)sysfs_text(text, sizeof(text), "%s/class/net/%s/ifindex",
		    port->kernel->sysfs, place->netdev);
		identity = mix(identity, text);
	}
	return identity;
}

/* Searches for all counters, unless the last search is recent enough. True: the device
 * is the same as in the last search. */
static bool
look(struct counter_port *port, const struct counter_port_place *place, rm_mono_t now)
{
	const bool moved = memcmp(place, &port->place, sizeof(*place)) != 0;
	const uint64_t before = port->identity;

	if (port->bound && !moved && rm_mono_since(now, port->bound_at) < LOOK_NS)
		return true;
	port->place = *place;
	port->driver = counter_driver_of(place->driver);
	read_firmware(port);
	port->traffic_class = read_traffic_class(port);
	port->fec = read_fec(port);
	port->gid_types = read_gid_types(port);
	port->identity = read_identity(port);
	bind_all(port);
	find_lowers(port);
	port->bound = true;
	port->bound_at = now;
	return !moved && port->identity == before;
}

/* ---- Reading ---- */

/* False: a source does not exist any more, or has other names than at the last search.
 */
static bool
read_values(struct counter_port *port, bool all)
{
	const struct counter_kernel *kernel = port->kernel;
	bool same = counter_files_read(&port->files, all);

	if (all || !port->seldom[FROM_ETHTOOL])
		same &= netdev_stats_read(&port->ethtool, kernel, port->place.netdev) !=
			-ESTALE;
	if (all || !port->seldom[FROM_STATS])
		same &= rdma_stats_read(&port->stats, RDMA_STATS_COUNTERS, kernel) !=
			-ESTALE;
	if (all || !port->seldom[FROM_RESOURCES])
		same &= rdma_stats_read(
			    &port->resources, RDMA_STATS_RESOURCES, kernel) != -ESTALE;
	if (port->has_dcb && (all || !port->seldom[FROM_DCB]))
		(void)dcb_pfc_read(&port->dcb, kernel, port->place.netdev);
	if (all || !port->seldom[FROM_LINK])
		link_stats_read(&port->link, kernel, port->place.netdev);
	return same;
}

static bool
read_part(const struct counter_port *port, const struct part *part, uint64_t *value)
{
	const struct counter_file *file = &port->files.files[part->index];

	switch ((enum origin)part->origin) {
	case FROM_ETHTOOL:
		*value += netdev_stats_value(&port->ethtool, part->index);
		return port->ethtool.there;
	case FROM_STATS:
		*value += port->stats.values[part->index];
		return port->stats.there;
	case FROM_RESOURCES:
		*value += port->resources.values[part->index];
		return port->resources.there;
	case FROM_DCB:
		*value += dcb_pfc_value(&port->dcb, part->index);
		return port->dcb.there;
	case FROM_LINK:
		*value += port->link.value[part->index];
		return port->link.there[part->index];
	case FROM_FILE:
		break;
	}
	*value += file->value * part->scale;
	return file->there;
}

/* A sum is missing if one of its numbers is missing. */
static struct counter_sample
add_up(const struct counter_port *port, const struct bound *bound)
{
	struct counter_sample sample = { .there = bound->count > 0,
		.source = bound->source };

	for (size_t i = 0; i < bound->count && sample.there; i++)
		sample.there =
		    read_part(port, &port->parts[bound->first + i], &sample.value);
	return sample;
}

bool
counter_port_is_seldom(const struct counter_port *port, size_t value)
{
	return port->values[value].seldom;
}

static void
take_values(struct counter_port *port, struct counter_sample *samples,
    struct counter_reading *ret)
{
	const size_t count = counter_values();
	size_t seldom = 0;

	for (size_t i = 0; i < count; i++) {
		const struct bound *bound = &port->values[i];

		samples[i] = (struct counter_sample){ 0 };
		if (bound->seldom && !ret->all)
			continue;
		samples[i] = add_up(port, bound);
		ret->found += samples[i].there;
		ret->parts += bound->count;
		seldom += bound->seldom && samples[i].there;
	}
	if (ret->all)
		port->found_seldom = seldom;
	else
		ret->found += port->found_seldom;
}

int
counter_port_read(struct counter_port *port, const struct counter_port_place *place,
    bool all, rm_mono_t now, struct counter_sample *samples,
    struct counter_reading *ret)
{
	const int64_t cpu_ns = rm_thread_cpu_ns();

	*ret = (struct counter_reading){ .same_device = look(port, place, now) };
	ret->all = all || port->bound_at.ns == now.ns;
	if (!read_values(port, ret->all)) /* search again at the next reading */
		port->bound = false;
	take_values(port, samples, ret);
	memcpy(ret->lowers, port->lowers, sizeof(ret->lowers));
	ret->lower_count = port->lower_count;
	memcpy(ret->firmware, port->firmware, sizeof(ret->firmware));
	ret->traffic_class = port->traffic_class;
	ret->fec = port->fec;
	ret->gid_types = port->gid_types;
	memcpy(ret->dscps, port->dcb.dscps, sizeof(ret->dscps));
	ret->trusts_dscp = port->has_dcb && port->dcb.there ? port->dcb.dscp : -1;
	ret->cpu_ns = rm_thread_cpu_ns() - cpu_ns;
	ret->took_ns = rm_mono_since(rm_mono_now(), now);
	return ret->found == 0 ? -ENODEV : 0;
}
