#include "region-controller/store_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/base/why.h"
#include "rackmesh/fabric/topology.h"

struct store_file {
	struct store store;
	char *path, *region;
	struct rm_topology *topology;
	store_on_change *on_change;
	void *arg;
};

static int
read_topology(
    const struct store_file *file, struct rm_topology **ret, struct rm_why *why)
{
	struct rm_topology *topology = NULL;
	int r;

	r = rm_topology_load(file->path, &topology, why);
	if (r == 0 && strcmp(rm_topology_region(topology), file->region) != 0) {
		r = rm_why(why, -EINVAL,
		    "%s: it is the topology of region \"%s\", and this controller's is "
		    "\"%s\"; correct one of the two",
		    file->path, rm_topology_region(topology), file->region);
		rm_topology_free(topology);
	}
	if (r == 0)
		*ret = topology;
	return r;
}

static const struct rm_topology *
file_topology(const struct store *store)
{
	return ((const struct store_file *)store)->topology;
}

static int
file_reload(struct store *store, struct rm_why *why)
{
	struct store_file *file = (struct store_file *)store;
	struct rm_topology *fresh = NULL;
	int r;

	r = read_topology(file, &fresh, why);
	if (r == 0 && file->on_change != NULL) {
		r = file->on_change(fresh, file->arg);
		if (r < 0)
			rm_why(why, r, "%s: cannot be taken into use", file->path);
	}
	if (r < 0) {
		rm_topology_free(fresh);
		return r;
	}
	rm_topology_free(file->topology);
	file->topology = fresh;
	return 0;
}

static void
file_watch(struct store *store, store_on_change *on_change, void *arg)
{
	struct store_file *file = (struct store_file *)store;

	file->on_change = on_change;
	file->arg = arg;
}

static void
file_free(struct store *store)
{
	struct store_file *file = (struct store_file *)store;

	rm_topology_free(file->topology);
	free(file->path);
	free(file->region);
	free(file);
}

static const struct store_methods file_methods = {
	.topology = file_topology,
	.reload = file_reload,
	.watch = file_watch,
	.free = file_free,
};

int
store_file_new(
    const char *path, const char *region, struct store **ret, struct rm_why *why)
{
	struct store_file *file = calloc(1, sizeof(*file));
	int r = -ENOMEM;

	if (file == NULL)
		return rm_why(why, -ENOMEM, "out of memory");
	file->store.methods = &file_methods;
	file->path = strdup(path);
	file->region = strdup(region);
	if (file->path == NULL || file->region == NULL)
		rm_why(why, r, "out of memory");
	else
		r = read_topology(file, &file->topology, why);
	if (r < 0) {
		file_free(&file->store);
		return r;
	}
	*ret = &file->store;
	return 0;
}
