#include "region-controller/store/store_topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/why.h"
#include "rackmesh/topology/topology.h"

int
store_topology_read(struct store_topology *ret, const char *name, const char *region,
    const char *text, size_t len, struct rm_why *why)
{
	struct store_topology fresh = { .len = len };
	int r;

	if (len > STORE_TOPOLOGY_MAX_BYTES)
		return rm_why(why, -EFBIG, "%s: larger than %u MiB", name,
		    STORE_TOPOLOGY_MAX_BYTES >> 20);
	r = rm_topology_parse(name, text, len, &fresh.topology, why);
	if (r < 0)
		return r;
	if (strcmp(rm_topology_region(fresh.topology), region) != 0)
		r = rm_why(why, -EINVAL,
		    "%s: it is the topology of region \"%s\", and this controller's is "
		    "\"%s\"; correct one of the two",
		    name, rm_topology_region(fresh.topology), region);
	if (r == 0) {
		fresh.text = malloc(len + 1);
		if (fresh.text == NULL)
			r = rm_why(why, -ENOMEM, "%s: out of memory", name);
	}
	if (r < 0) {
		store_topology_clear(&fresh);
		return r;
	}
	memcpy(fresh.text, text, len);
	fresh.text[len] = '\0';
	*ret = fresh;
	return 0;
}

void
store_topology_clear(struct store_topology *topology)
{
	rm_topology_free(topology->topology);
	free(topology->text);
	*topology = (struct store_topology){ 0 };
}
