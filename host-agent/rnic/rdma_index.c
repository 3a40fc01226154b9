#include "host-agent/rnic/rdma_index.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/rnic/sysfs_file.h"

#define DEVICE_PATH "%s/class/infiniband/%s"

/* ---- The CPU budget of searches ---- */

#define BUDGET_SHARE 400 /* Searches take at most a quarter percent of the time. */
/* least size of the budget: if a search takes little CPU time, several searches in a
 * row are possible */
#define BUDGET_MIN_NS (50 * RM_NS_PER_MS)
/* if one search takes more than the least size: this many in a row */
#define BUDGET_BURST 2

bool
rdma_budget_allows(struct rdma_budget *budget, bool awaited, rm_mono_t now)
{
	if (budget->at.ns == 0) {
		budget->most_ns = BUDGET_MIN_NS;
		budget->left_ns = budget->most_ns;
	} else {
		budget->left_ns += rm_mono_since(now, budget->at) / BUDGET_SHARE;
		if (budget->left_ns > budget->most_ns)
			budget->left_ns = budget->most_ns;
	}
	budget->at = now;
	return budget->left_ns > (awaited ? 0 : budget->most_ns / 2);
}

void
rdma_budget_spend(struct rdma_budget *budget, int64_t cpu_ns)
{
	int64_t before = budget->most_ns;

	budget->most_ns = cpu_ns * BUDGET_BURST;
	if (budget->most_ns < BUDGET_MIN_NS)
		budget->most_ns = BUDGET_MIN_NS;
	/* The CPU time of a search is known only now, and so is the size of the budget.
	 */
	if (budget->most_ns > before)
		budget->left_ns += budget->most_ns - before;
	budget->left_ns -= cpu_ns;
}

/* ---- The search ---- */

/* After this time a device that was not found is searched for again. */
#define MISSED_AGE_NS (3 * RM_NS_PER_S)
/* age at which the last search is repeated without an event */
#define FOUND_AGE_NS (60 * RM_NS_PER_S)

struct owner {
	char netdev[RDMA_NETDEV_BYTES];
	uint32_t port; /* index in the list of ports */
};

struct rdma_index {
	const char *root;
	struct rdma_port *ports;
	size_t port_count, port_room;
	struct owner *owners; /* owners of GIDs, each once per port */
	size_t owner_count, owner_room;
	rm_mono_t read_at; /* time of the last search; 0: there was none */
	int error;         /* result of the last search */
	atomic_bool expired;
	struct rdma_budget budget;
	atomic_uint_fast64_t searches;
	_Atomic int64_t cpu_ns;
};

int
rdma_index_new(const char *root, struct rdma_index **ret)
{
	struct rdma_index *index = calloc(1, sizeof(*index));

	if (index == NULL)
		return -ENOMEM;
	index->root = root;
	*ret = index;
	return 0;
}

void
rdma_index_free(struct rdma_index *index)
{
	if (index == NULL)
		return;
	free(index->ports);
	free(index->owners);
	free(index);
}

void
rdma_index_expire(struct rdma_index *index)
{
	if (index != NULL)
		atomic_store(&index->expired, true);
}

/* Makes room for one more entry; the lists never shrink. */
static int
make_room(void **list, size_t count, size_t *room, size_t bytes)
{
	size_t wanted = *room == 0 ? 16 : *room * 2;
	void *more;

	if (count < *room)
		return 0;
	more = realloc(*list, wanted * bytes);
	if (more == NULL)
		return -ENOMEM;
	*list = more;
	*room = wanted;
	return 0;
}

static int
add_owner(struct rdma_index *index, const char *netdev)
{
	const uint32_t port = (uint32_t)(index->port_count - 1);
	void *list = index->owners;
	int r;

	for (size_t i = index->owner_count; i > 0 && index->owners[i - 1].port == port;
	     i--) {
		if (strcmp(index->owners[i - 1].netdev, netdev) == 0)
			return 0;
	}
	r = make_room(
	    &list, index->owner_count, &index->owner_room, sizeof(*index->owners));
	index->owners = list;
	if (r < 0)
		return r;
	index->owners[index->owner_count].port = port;
	snprintf(
	    index->owners[index->owner_count].netdev, RDMA_NETDEV_BYTES, "%s", netdev);
	index->owner_count++;
	return 0;
}

/* Reads the owners of the last port of the list. */
static int
read_owners(struct rdma_index *index)
{
	const struct rdma_port *port = &index->ports[index->port_count - 1];

	for (unsigned i = 0; i < RDMA_MAX_GIDS; i++) {
		char text[RDMA_NETDEV_BYTES];
		int r;

		r = sysfs_text(text, sizeof(text),
		    DEVICE_PATH "/ports/%u/gid_attrs/ndevs/%u", index->root,
		    port->device, port->port, i);
		if (r == -ENOENT)
			return 0; /* This is the end of the list. */
		if (r == 0 && text[0] != '\0')
			r = add_owner(index, text);
		if (r == -ENOMEM)
			return r;
	}
	return 0;
}

static int
read_device(struct rdma_index *index, const char *device)
{
	struct rdma_port about = { .hard = sysfs_exists(
				       DEVICE_PATH "/device", index->root, device) };

	snprintf(about.device, sizeof(about.device), "%.63s", device);
	(void)sysfs_text(about.parent, sizeof(about.parent), DEVICE_PATH "/parent",
	    index->root, device);
	about.node_guid = rdma_facts_guid(index->root, device);
	for (about.port = 1; about.port <= RDMA_MAX_PORTS; about.port++) {
		void *list = index->ports;
		int r;

		if (!sysfs_exists(DEVICE_PATH "/ports/%u", index->root, device,
			(unsigned)about.port))
			return 0;
		r = make_room(
		    &list, index->port_count, &index->port_room, sizeof(*index->ports));
		index->ports = list;
		if (r < 0)
			return r;
		index->ports[index->port_count++] = about;
		r = read_owners(index);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
device_is_sane(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strlen(entry->d_name) < RDMA_DEVICE_BYTES;
}

/* Sorts by name, because the order of entries in a folder may change at every boot. */
static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int
search(struct rdma_index *index)
{
	struct dirent **names;
	char path[SYSFS_PATH_BYTES];
	int count, r = 0;

	index->port_count = index->owner_count = 0;
	snprintf(path, sizeof(path), "%s/class/infiniband", index->root);
	count = scandir(path, &names, device_is_sane, by_name);
	if (count < 0)
		return -errno;
	if (count > RDMA_MAX_DEVICES)
		r = -E2BIG;
	for (int i = 0; i < count; i++) {
		if (r == 0)
			r = read_device(index, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	if (r < 0)
		index->port_count = index->owner_count = 0;
	return r;
}

/* Searches again if that is due. missed: the last search did not find the device. */
static int
renew(struct rdma_index *index, bool missed)
{
	const rm_mono_t now = rm_mono_now();
	const bool first = index->read_at.ns == 0;
	const bool expired = atomic_load(&index->expired);
	int64_t cpu_ns;

	if (!first && !expired &&
	    rm_mono_since(now, index->read_at) <
		(missed ? MISSED_AGE_NS : FOUND_AGE_NS))
		return index->error;
	if (!rdma_budget_allows(&index->budget, expired || first, now))
		return missed && expired ? -EAGAIN : index->error;
	/* The flag is cleared before reading, so that a change during the search is not
	 * missed. */
	atomic_store(&index->expired, false);
	cpu_ns = rm_thread_cpu_ns();
	index->error = search(index);
	index->read_at = now;
	cpu_ns = rm_thread_cpu_ns() - cpu_ns;
	rdma_budget_spend(&index->budget, cpu_ns);
	atomic_fetch_add(&index->searches, 1);
	atomic_fetch_add(&index->cpu_ns, cpu_ns);
	return index->error;
}

/* ---- Answers ---- */

/* How certain it is that the port belongs to the netdev, in ascending order. */
enum find_fit {
	FIND_NOT,
	FIND_BELOW, /* the port has the same hardware as the netdev */
	FIND_OWNER, /* the netdev owns a GID of the port */
};

struct find {
	const struct rdma_index *index;
	const char *netdev;
	const struct rdma_port *best;
	enum find_fit fit;
};

static void
find_take(struct find *find, const struct rdma_port *port, enum find_fit fit)
{
	if (fit < find->fit ||
	    (fit == find->fit &&
		(find->best == NULL || port->hard <= find->best->hard)))
		return;
	find->best = port;
	find->fit = fit;
}

/* True: the network device belongs to the port. dev_port counts from 0, a port from 1.
 * Used only for a network device that is down, because such a device may own no GID. */
static bool
netdev_is_of(const struct find *find, const struct rdma_port *port)
{
	const char *root = find->index->root;
	char text[64];

	if (port->parent[0] != '\0')
		return strcmp(port->parent, find->netdev) == 0;
	if (!sysfs_exists("%s/class/net/%s/device/infiniband/%s", root, find->netdev,
		port->device))
		return false;
	if (sysfs_text(
		text, sizeof(text), "%s/class/net/%s/dev_port", root, find->netdev) < 0)
		return port->port == 1;
	return strtoul(text, NULL, 10) + 1 == port->port;
}

static bool
find_in(struct find *find)
{
	const struct rdma_index *index = find->index;
	bool below;

	find->best = NULL;
	find->fit = FIND_NOT;
	for (size_t i = 0; i < index->owner_count; i++) {
		if (strcmp(index->owners[i].netdev, find->netdev) == 0)
			find_take(
			    find, &index->ports[index->owners[i].port], FIND_OWNER);
	}
	if (find->fit == FIND_OWNER)
		return true;
	below = sysfs_exists(
	    "%s/class/net/%s/device/infiniband", index->root, find->netdev);
	for (size_t i = 0; i < index->port_count; i++) {
		const struct rdma_port *port = &index->ports[i];

		if ((below || port->parent[0] != '\0') && netdev_is_of(find, port))
			find_take(find, port, FIND_BELOW);
	}
	return find->best != NULL;
}

int
rdma_index_find(struct rdma_index *index, const char *netdev,
    char device[RDMA_DEVICE_BYTES], uint8_t *port)
{
	struct find find = { .index = index, .netdev = netdev };
	int r;

	if (netdev[0] == '\0' || netdev[0] == '.' || strchr(netdev, '/') != NULL)
		return -ENODEV;
	r = renew(index, false);
	if (r < 0 || !find_in(&find)) {
		r = renew(index, true);
		if (r < 0)
			return r;
		if (!find_in(&find))
			return -ENODEV;
	}
	memcpy(device, find.best->device, sizeof(find.best->device));
	*port = find.best->port;
	return 0;
}

int
rdma_index_find_now(
    const char *root, const char *netdev, char device[RDMA_DEVICE_BYTES], uint8_t *port)
{
	struct rdma_index *index;
	int r;

	r = rdma_index_new(root, &index);
	if (r < 0)
		return r;
	r = rdma_index_find(index, netdev, device, port);
	rdma_index_free(index);
	return r;
}

int
rdma_index_ports(struct rdma_index *index, const struct rdma_port **ret, size_t *count)
{
	int r = renew(index, false);

	if (r < 0)
		return r;
	*ret = index->ports;
	*count = index->port_count;
	return 0;
}

uint64_t
rdma_index_searches(const struct rdma_index *index)
{
	return index == NULL ? 0 : atomic_load(&index->searches);
}

int64_t
rdma_index_cpu_ns(const struct rdma_index *index)
{
	return index == NULL ? 0 : atomic_load(&index->cpu_ns);
}
