#define HASH_NONFATAL_OOM 1
#include "region-controller/plan/publish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "region-controller/plan/plan.h"
#include "region-controller/store/hash.h"
#include "region-controller/store/store_record.h"

/* The largest version of an aggregator that a new plan has to exceed. No correct
 * version is near it, and it is far below what the stores can read. */
#define MAX_VERSION ((uint64_t)INT64_MAX / 4)
#define KEYS_STEP 4096
/* Includes the ToRs that only aggregators have named; more ToRs are ignored. */
#define MAX_TORS 32768

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

/* Finds the ToR of that name, or adds it. NULL: there is no room. */
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
	struct publish_tor *tor = NULL;

	if (version > 0 && version <= MAX_VERSION)
		tor = tor_named(publish, name);
	if (tor == NULL)
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

bool
publish_keys_held(struct publish *publish, const char *name, uint64_t version)
{
	struct publish_tor *tor = NULL;

	if (version > 0 && version <= MAX_VERSION)
		tor = tor_named(publish, name);
	if (tor == NULL || version <= tor->keys_version || version <= tor->keys_held)
		return false;
	tor->keys_held = version;
	return tor->keys_version > 0;
}

uint64_t
publish_keys_version(
    struct publish *publish, const char *name, uint32_t epoch, rm_wall_t now)
{
	uint64_t ms = now.ns > 0 ? (uint64_t)(now.ns / RM_NS_PER_MS) : 0, next;
	struct publish_tor *tor = NULL;

	HASH_FIND_STR(publish->tors, name, tor);
	if (tor == NULL)
		return 0;
	if (tor->keys_version > tor->keys_held && tor->keys_epoch == epoch &&
	    tor->keys_digest == tor->digest)
		return tor->keys_version;
	next = tor->keys_version + 1;
	if (tor->keys_version <= tor->keys_held)
		next = tor->keys_held + KEYS_STEP;
	tor->keys_version = next > ms ? next : ms;
	tor->keys_epoch = epoch;
	tor->keys_digest = tor->digest;
	return tor->keys_version;
}

static bool
is_held(const struct publish_tor *tor, uint64_t digest)
{
	return tor->newest_version > 0 && tor->newest_digest == digest &&
	       !tor->disputed;
}

/* bytes: the plan with version and digest 0. */
static int
put_plan(struct publish *publish, struct publish_tor *tor,
    const struct wire_bytes *bytes, uint64_t digest, const struct publish_sink *sink)
{
	const struct store_draft draft = {
		.tor = tor->tor,
		.bytes = *bytes,
		.digest = digest,
		.above = tor->newest_version,
		.is_held = is_held(tor, digest),
	};
	uint64_t before = tor->wanted;
	int r;

	tor->wanted = digest;
	tor->outrun = false;
	r = sink->put(&draft, sink->arg);
	if (r < 0) {
		tor->wanted = before;
		return r;
	}
	publish->counts.published++;
	publish->counts.adopted += draft.is_held;
	return 1;
}

static int
update_tor(struct publish *publish, const struct plan_set *set, size_t i,
    const struct publish_sink *sink)
{
	struct publish_tor *tor = tor_named(publish, plan_set_tor(set, i));
	struct wire_bytes bytes;
	uint64_t digest, current;
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
	current = tor->wanted;
	if (current == 0 && tor->bytes != NULL)
		current = tor->digest;
	if (current == digest && !tor->outrun) {
		publish->counts.unchanged++;
		return 0;
	}
	return put_plan(publish, tor, &bytes, digest, sink);
}

void
publish_begin(struct publish *publish, struct publish_walk *walk)
{
	struct publish_tor *tor, *next;

	publish->counts.updates++;
	HASH_ITER (hh, publish->tors, tor, next)
		tor->named = false;
	*walk = (struct publish_walk){ 0 };
}

static void
drop_unnamed(struct publish *publish, const struct publish_sink *sink)
{
	struct publish_tor *tor, *next;

	HASH_ITER (hh, publish->tors, tor, next) {
		if (!tor->named && (tor->bytes != NULL || tor->wanted != 0)) {
			tor->wanted = 0;
			sink->drop(tor->tor, sink->arg);
		}
	}
}

bool
publish_step(struct publish *publish, const struct plan_set *set,
    const struct publish_sink *sink, struct publish_walk *walk)
{
	int r;

	if (walk->at == plan_set_count(set)) {
		drop_unnamed(publish, sink);
		return false;
	}
	r = update_tor(publish, set, walk->at++, sink);
	if (r < 0) {
		publish->counts.failed++;
		walk->failure = walk->failure < 0 ? walk->failure : r;
	} else {
		walk->changed += r;
	}
	return true;
}

bool
publish_stored(struct publish *publish, const struct store_plan *plan)
{
	struct publish_tor *tor = tor_named(publish, plan->tor);
	uint8_t *copy = tor == NULL ? NULL : malloc(plan->bytes.len);
	struct wire_plan_view view;
	bool is_news;

	if (copy != NULL)
		memcpy(copy, plan->bytes.data, plan->bytes.len);
	if (copy == NULL || wire_open_plan(&view, copy, plan->bytes.len) < 0) {
		publish->counts.failed++;
		/* If the memory was short, the plan is written again. A plan that
		 * cannot be read is not written again, because that would happen at
		 * every update. */
		if (tor != NULL && copy == NULL && tor->wanted == plan->digest)
			tor->wanted = 0;
		free(copy);
		return true;
	}
	/* The plan is neither the old one nor the one that was written last: an earlier
	 * write may have arrived late. */
	is_news = plan->digest != tor->wanted &&
		  (tor->bytes == NULL || plan->digest != tor->digest);
	free(tor->bytes);
	tor->bytes = copy;
	tor->len = plan->bytes.len;
	tor->view = view;
	tor->version = plan->version;
	tor->digest = plan->digest;
	tor->published = plan->since;
	if (tor->wanted == plan->digest)
		tor->wanted = 0;
	if (plan->version < tor->newest_version ||
	    (plan->version == tor->newest_version && !is_held(tor, plan->digest))) {
		tor->outrun = true;
	} else {
		tor->newest_version = plan->version;
		tor->newest_digest = plan->digest;
		tor->outrun = tor->disputed = false;
	}
	return tor->outrun || is_news;
}

void
publish_gone(struct publish *publish, const char *name)
{
	struct publish_tor *tor = NULL;

	HASH_FIND_STR(publish->tors, name, tor);
	if (tor == NULL)
		return;
	/* The versions that aggregators have are not dropped. */
	free(tor->bytes);
	tor->bytes = NULL;
	tor->len = 0;
	tor->version = tor->digest = 0;
}

void
publish_forget_wanted(struct publish *publish)
{
	struct publish_tor *tor, *next;

	HASH_ITER (hh, publish->tors, tor, next)
		tor->wanted = 0;
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
