#include "host-agent/rnic/rnic_find.h"

#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host-agent/rnic/rdma_index.h"
#include "host-agent/rnic/sysfs_file.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/core/netns.h"

/* The most levels of devices: a VLAN on a bond of two virtual functions has as many. */
#define MAX_DEPTH 4

static const char *
root_of(const struct rnic_find *find)
{
	return find->sysfs != NULL ? find->sysfs : RDMA_SYSFS;
}

static struct rnic_found *
add(struct rnic_find *find)
{
	struct rnic_found *list;

	list = realloc(find->list, (find->count + 1) * sizeof(*list));
	if (list == NULL) {
		find->error = -ENOMEM;
		return NULL;
	}
	find->list = list;
	list[find->count] = (struct rnic_found){ 0 };
	return &list[find->count++];
}

static void
take_facts(struct rnic_found *found, const struct rnic_facts *facts)
{
	memcpy(found->netdev, facts->netdev, sizeof(found->netdev));
	memcpy(found->driver, facts->driver, sizeof(found->driver));
}

static bool
is_ethernet(const struct rnic_find *find, const struct rdma_port *port)
{
	char text[32];

	(void)sysfs_text(text, sizeof(text),
	    "%s/class/infiniband/%s/ports/%u/link_layer", root_of(find), port->device,
	    (unsigned)port->port);
	return strcmp(text, "Ethernet") == 0;
}

static void
find_rdma(struct rnic_find *find)
{
	const struct rdma_port *ports;
	size_t count;
	int r;

	r = rdma_index_ports(find->index, &ports, &count);
	if (r < 0) {
		/* -ENOENT: this kernel has no RDMA (yet) */
		find->error = r == -ENOENT ? 0 : r;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct rnic_place place = { .transport = RNIC_ROCE,
			.device = ports[i].device,
			.rdma_port = ports[i].port,
			.gid_index = -1,
			.sysfs = find->sysfs };
		struct rnic_facts facts = { 0 };
		struct rnic_found *found;

		if (!is_ethernet(find, &ports[i]))
			continue;
		found = add(find);
		if (found == NULL)
			return;
		found->transport = RNIC_ROCE;
		memcpy(found->device, ports[i].device, sizeof(found->device));
		found->port = ports[i].port;
		found->error = rnic_facts_read_roce(&place, &facts);
		take_facts(found, &facts);
	}
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct rnic_found *)a)->device,
	    ((const struct rnic_found *)b)->device);
}

static int
list_netdevs(void *arg)
{
	struct rnic_find *find = arg;
	struct if_nameindex *all = if_nameindex();
	const size_t before = find->count;

	if (all == NULL)
		return -errno;
	for (const struct if_nameindex *at = all; at->if_index != 0; at++) {
		struct rnic_found *found;

		if (!find->wants(at->if_name, find->arg))
			continue;
		found = add(find);
		if (found == NULL)
			break;
		found->transport = RNIC_UDP;
		snprintf(found->device, sizeof(found->device), "%s", at->if_name);
		snprintf(found->netdev, sizeof(found->netdev), "%s", at->if_name);
	}
	if_freenameindex(all);
	if (find->count > before) /* the list is NULL if nothing was found */
		qsort(find->list + before, find->count - before, sizeof(*find->list),
		    by_name);
	return find->error;
}

static void
find_netdevs(struct rnic_find *find)
{
	size_t at = find->count;
	int fd, r;

	r = rm_netns_open(find->netns, &fd);
	if (r == 0) {
		r = rm_netns_call(fd, list_netdevs, find);
		close(fd);
	}
	if (r < 0 && r != -ENOENT) /* -ENOENT: the namespace does not exist yet */
		find->error = r;
	for (; at < find->count; at++) {
		struct rnic_found *found = &find->list[at];
		struct rnic_facts facts = { 0 };

		found->error =
		    rnic_facts_read(find->netns, found->device, NULL, &facts);
		if (found->error == 0)
			take_facts(found, &facts);
	}
}

/* ---- The switches behind a network device ---- */

static void find_switches(const struct rnic_find *find, struct rnic_found *found,
    const char *netdev, int depth);

/* Calls find_switches for each network device whose entry in this folder has this
 * prefix. */
static void
look_into(const struct rnic_find *find, struct rnic_found *found, const char *folder,
    const char *prefix, int depth)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] != '.' &&
		    strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			find_switches(
			    find, found, entry->d_name + strlen(prefix), depth - 1);
	}
	if (dir != NULL)
		closedir(dir);
}

/* LLDP frames come over cables: so the neighbours of a bond or a VLAN are those of the
 * devices below it, and the neighbour of a virtual function is that of the physical
 * function. */
static void
find_switches(const struct rnic_find *find, struct rnic_found *found,
    const char *netdev, int depth)
{
	const char *name = lldp_switch(&find->lldp, netdev);
	char folder[SYSFS_PATH_BYTES];

	if (name != NULL) {
		if (found->switch_count < WIRE_MAX_ATTACHMENTS)
			found->switches[found->switch_count++] = name;
		return;
	}
	if (depth == 0)
		return;
	snprintf(folder, sizeof(folder), "%s/class/net/%s", root_of(find), netdev);
	look_into(find, found, folder, "lower_", depth);
	snprintf(folder, sizeof(folder), "%s/class/net/%s/device/physfn/net",
	    root_of(find), netdev);
	look_into(find, found, folder, "", depth);
}

void
rnic_find_run(struct rnic_find *find)
{
	int64_t cpu_ns = rm_thread_cpu_ns(),
		searched_ns = rdma_index_cpu_ns(find->index);

	rnic_find_clear(find);
	find->lldp.count = 0;
	find->lldp_error = find->lldp_file[0] == '\0'
			       ? -ENOENT
			       : lldp_read(find->lldp_file, &find->lldp);
	/* RDMA ports are used only in the agent's own network namespace. */
	if (find->netns == NULL && (find->rdma || find->lldp_error == 0))
		find_rdma(find);
	find_netdevs(find);
	for (size_t i = 0; find->lldp_error == 0 && i < find->count; i++)
		if (find->list[i].netdev[0] != '\0')
			find_switches(
			    find, &find->list[i], find->list[i].netdev, MAX_DEPTH);
	find->cpu_ns = rm_thread_cpu_ns() - cpu_ns -
		       (rdma_index_cpu_ns(find->index) - searched_ns);
}

void
rnic_find_clear(struct rnic_find *find)
{
	free(find->list);
	find->list = NULL;
	find->count = 0;
	find->error = 0;
}
