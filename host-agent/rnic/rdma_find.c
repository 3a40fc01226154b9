#include "host-agent/rnic/rdma_facts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/rnic/sysfs_file.h"

#define DEVICE_PATH "%s/class/infiniband/%s"
#define MAX_DEVICES 256 /* of a host; a file name says little about being one */

/* How sure it is that a device is the one: the most telling first. */
enum find_fit {
	FIND_NOT,
	FIND_BELOW, /* its hardware is the netdev's too */
	FIND_OWNER, /* the netdev owns a GID of it */
};

struct find {
	const char *root, *netdev;
	const char *device; /* of the list */
	uint8_t port;
	enum find_fit fit;
	bool hard; /* no soft device on top of a netdev */
};

static bool
netdev_owns_gid(const struct find *find, const char *device, unsigned port)
{
	for (unsigned i = 0; i < RDMA_MAX_GIDS; i++) {
		char text[RDMA_NETDEV_BYTES];
		int r;

		r = sysfs_text(text, sizeof(text),
		    DEVICE_PATH "/ports/%u/gid_attrs/ndevs/%u", find->root, device,
		    port, i);
		if (r == -ENOENT)
			return false; /* the end of the table */
		if (r == 0 && strcmp(text, find->netdev) == 0)
			return true;
	}
	return false;
}

/* An interface that is down may own nothing. dev_port counts from 0. */
static bool
netdev_is_of(const struct find *find, const char *device, unsigned port)
{
	char text[64];

	if (sysfs_text(text, sizeof(text), DEVICE_PATH "/parent", find->root, device) ==
	    0)
		return strcmp(text, find->netdev) == 0;
	if (!sysfs_exists("%s/class/net/%s/device/infiniband/%s", find->root,
		find->netdev, device))
		return false;
	if (sysfs_text(text, sizeof(text), "%s/class/net/%s/dev_port", find->root,
		find->netdev) < 0)
		return port == 1;
	return strtoul(text, NULL, 10) + 1 == port;
}

static void
find_look_at(struct find *find, const char *device)
{
	bool hard = sysfs_exists(DEVICE_PATH "/device", find->root, device);

	for (unsigned port = 1; port <= RDMA_MAX_PORTS; port++) {
		enum find_fit fit = FIND_NOT;

		if (!sysfs_exists(DEVICE_PATH "/ports/%u", find->root, device, port))
			return;
		if (netdev_owns_gid(find, device, port))
			fit = FIND_OWNER;
		else if (netdev_is_of(find, device, port))
			fit = FIND_BELOW;
		if (fit == FIND_NOT || fit < find->fit ||
		    (fit == find->fit && hard <= find->hard))
			continue;
		find->device = device;
		find->port = (uint8_t)port;
		find->fit = fit;
		find->hard = hard;
	}
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Sorted: a folder's order changes from one boot to the next. */
static size_t
list_devices(DIR *dir, char names[MAX_DEVICES][RDMA_DEVICE_BYTES])
{
	const struct dirent *entry;
	size_t count = 0;

	while (count < MAX_DEVICES && (entry = readdir(dir)) != NULL) {
		size_t len = strlen(entry->d_name);

		if (entry->d_name[0] == '.' || len >= RDMA_DEVICE_BYTES)
			continue;
		memcpy(names[count++], entry->d_name, len + 1);
	}
	qsort(names, count, RDMA_DEVICE_BYTES, by_name);
	return count;
}

int
rdma_facts_find(
    const char *root, const char *netdev, char device[RDMA_DEVICE_BYTES], uint8_t *port)
{
	struct find find = { .root = root, .netdev = netdev };
	char names[MAX_DEVICES][RDMA_DEVICE_BYTES];
	char path[SYSFS_PATH_BYTES];
	size_t count;
	DIR *dir;

	if (netdev[0] == '\0' || netdev[0] == '.' || strchr(netdev, '/') != NULL)
		return -ENODEV;
	snprintf(path, sizeof(path), "%s/class/infiniband", root);
	dir = opendir(path);
	if (dir == NULL)
		return -errno;
	count = list_devices(dir, names);
	closedir(dir);
	for (size_t i = 0; i < count; i++)
		find_look_at(&find, names[i]);
	if (find.fit == FIND_NOT)
		return -ENODEV;
	memcpy(device, find.device, strlen(find.device) + 1);
	*port = find.port;
	return 0;
}
