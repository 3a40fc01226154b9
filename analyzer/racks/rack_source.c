#define HASH_NONFATAL_OOM 1
#include "analyzer/racks/rack_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "rackmesh/judge/part.h"

#define KEY_BYTES (2 * RM_NAME_BYTES)

struct rack {
	char key[KEY_BYTES];
	/* the aggregator whose window was counted last */
	char aggregator[RM_NAME_BYTES];
	uint64_t end_wall_ns;
	rm_mono_t taken;
	UT_hash_handle hh;
};

struct rack_source {
	struct rack *racks;
};

int
rack_source_new(struct rack_source **ret)
{
	struct rack_source *source = calloc(1, sizeof(*source));

	if (source == NULL)
		return -ENOMEM;
	*ret = source;
	return 0;
}

void
rack_source_free(struct rack_source *source)
{
	struct rack *rack, *next;

	if (source == NULL)
		return;
	HASH_ITER (hh, source->racks, rack, next) {
		HASH_DEL(source->racks, rack);
		free(rack);
	}
	free(source);
}

static struct rack *
get(struct rack_source *source, const char *region, const char *tor)
{
	struct rack *rack;
	char key[KEY_BYTES];

	snprintf(key, sizeof(key), "%.63s %.63s", region, tor);
	HASH_FIND_STR(source->racks, key, rack);
	if (rack != NULL || HASH_COUNT(source->racks) >= RACK_SOURCE_MAX)
		return rack;
	rack = calloc(1, sizeof(*rack));
	if (rack == NULL)
		return NULL;
	strcpy(rack->key, key);
	HASH_ADD_STR(source->racks, key, rack);
	if (rack->hh.tbl == NULL) { /* uthash could not grow */
		free(rack);
		return NULL;
	}
	return rack;
}

bool
rack_source_take(struct rack_source *source, const char *region, const char *tor,
    const char *aggregator, uint64_t start_wall_ns, uint64_t end_wall_ns, rm_mono_t now)
{
	struct rack *rack = get(source, region, tor);

	if (rack == NULL)
		return true;
	if (strcmp(rack->aggregator, aggregator) != 0 && rack->aggregator[0] != '\0' &&
	    start_wall_ns < rack->end_wall_ns &&
	    rm_mono_since(now, rack->taken) < RACK_SOURCE_FRESH_NS)
		return false;
	snprintf(rack->aggregator, sizeof(rack->aggregator), "%s", aggregator);
	rack->end_wall_ns = end_wall_ns;
	rack->taken = now;
	return true;
}
