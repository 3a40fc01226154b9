#define HASH_NONFATAL_OOM 1
#include "region-controller/publish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "region-controller/hash.h"
#include "region-controller/plan.h"

#define MAX_TORS 32768 /* with those that aggregators name; beyond: not remembered */

struct publish {
	struct publish_tor *tors;
	struct wire_writer *writer;
	struct publish_counts counts;
};

int
publish_new(struct publish **ret)
{
	struct publish *publish = calloc(1, sizeof(*publish));

	if (publish == NULL)
		return -ENOMEM;
	publish->writer = wire_writer_new();
	if (publish->writer == NULL) {
		publish_free(publish);
		return -ENOMEM;
	}
	*ret = publish;
	return 0;
}

static void
drop(struct publish *publish, struct publish_tor *tor)
{
	HASH_DEL(publish->tors, tor);
	free(tor->bytes);
	free(tor);
}

void
publish_free(struct publish *publish)
{
	struct publish_tor *tor, *next;

	if (publish == NULL)
		return;
	HASH_ITER (hh, publish->tors, tor, next)
		drop(publish, tor);
	wire_writer_free(publish->writer);
	free(publish);
}

/* Finds or makes it; NULL: no room. */
static struct publish_tor *
tor_named(struct publish *publish, const char *name)
{
	struct publish_tor *tor = NULL;

	HASH_FIND_STR(publish->tors, name, tor);
	if (tor != NULL)
		return tor;
	if (HASH_COUNT(publish->tors) >= MAX_TORS || strlen(name) >= RM_NAME_BYTES)
		return NULL;
	tor = calloc(1, sizeof(*tor));
	if (tor == NULL)
		return NULL;
	strcpy(tor->tor, name);
	HASH_ADD_STR(publish->tors, tor, tor);
	if (tor->hh.tbl == NULL) { /* uthash could not grow */
		free(tor);
		return NULL;
	}
	return tor;
}

bool
publish_held(
    struct publish *publish, const char *name, uint64_t version, uint64_t digest)
{
	struct publish_tor *tor = version == 0 ? NULL : tor_named(publish, name);

	/* The last number cannot be outrun; nobody sane is near it. */
	if (tor == NULL || version == UINT64_MAX)
		return false;
	if (version > tor->newest_version) {
		tor->newest_version = version;
		tor->newest_digest = digest;
		tor->disputed = false;
	} else if (version == tor->newest_version && digest != tor->newest_digest) {
		tor->disputed = true;
	}
	if (tor->bytes != NULL &&
	    (version > tor->version ||
		(version == tor->version && digest != tor->digest)))
		tor->outrun = true;
	return tor->outrun;
}

static uint64_t
next_version(const struct publish_tor *tor, rm_wall_t now)
{
	uint64_t ms = now.ns > 0 ? (uint64_t)(now.ns / RM_NS_PER_MS) : 0;
	uint64_t above = tor->newest_version + 1;

	return ms > above ? ms : above;
}

/* Takes the plan over under the version that is due. */
static int
publish_plan(struct publish *publish, struct publish_tor *tor,
    const struct plan_set *set, size_t i, uint64_t digest, rm_wall_t now)
{
	bool is_held =
	    tor->newest_version > 0 && tor->newest_digest == digest && !tor->disputed;
	uint64_t version = is_held ? tor->newest_version : next_version(tor, now);
	struct wire_bytes bytes;
	uint8_t *copy;
	int r;

	r = plan_set_write(set, i, version, digest, publish->writer, &bytes);
	if (r < 0)
		return r;
	copy = malloc(bytes.len);
	if (copy == NULL)
		return -ENOMEM;
	memcpy(copy, bytes.data, bytes.len);
	free(tor->bytes);
	tor->bytes = copy;
	tor->len = bytes.len;
	tor->version = tor->newest_version = version;
	tor->digest = tor->newest_digest = digest;
	tor->published = now;
	tor->outrun = tor->disputed = false;
	publish->counts.published++;
	publish->counts.adopted += is_held;
	return 1;
}

static int
update_tor(struct publish *publish, const struct plan_set *set, size_t i, rm_wall_t now)
{
	struct publish_tor *tor = tor_named(publish, plan_set_tor(set, i));
	struct wire_bytes bytes;
	uint64_t digest;
	int r;

	if (tor == NULL)
		return -ENOMEM;
	tor->named = true;
	if (tor->bytes == NULL && plan_set_members(set, i) == 0)
		return 0;
	r = plan_set_write(set, i, 0, 0, publish->writer, &bytes);
	if (r < 0)
		return r;
	digest = hash_bytes(bytes.data, bytes.len);
	if (tor->bytes != NULL && tor->digest == digest && !tor->outrun) {
		publish->counts.unchanged++;
		return 0;
	}
	return publish_plan(publish, tor, set, i, digest, now);
}

int
publish_update(struct publish *publish, const struct plan_set *set, rm_wall_t now)
{
	struct publish_tor *tor, *next;
	int changed = 0, failure = 0;

	publish->counts.updates++;
	HASH_ITER (hh, publish->tors, tor, next)
		tor->named = false;
	for (size_t i = 0; i < plan_set_count(set); i++) {
		int r = update_tor(publish, set, i, now);

		if (r < 0) {
			publish->counts.failed++;
			failure = failure < 0 ? failure : r;
		} else {
			changed += r;
		}
	}
	HASH_ITER (hh, publish->tors, tor, next) {
		if (!tor->named && tor->bytes != NULL)
			drop(publish, tor);
	}
	return failure < 0 ? failure : changed;
}

const struct publish_tor *
publish_find(const struct publish *publish, const char *name)
{
	struct publish_tor *tor = NULL;

	HASH_FIND_STR(publish->tors, name, tor);
	return tor != NULL && tor->bytes != NULL ? tor : NULL;
}

const struct publish_counts *
publish_counts(const struct publish *publish)
{
	return &publish->counts;
}
