#include "region-controller/store/plan_copy.h"

#include <errno.h>
#include <stdlib.h>

#include "region-controller/store/hash.h"

int
plan_copy_make(struct plan_copy *ret, bool with_mixes)
{
	struct wire_plan *plan = &ret->plan;

	ret->members = calloc(plan->member_count + 1, sizeof(*ret->members));
	ret->remotes = calloc(plan->remote_count + 1, sizeof(*ret->remotes));
	ret->entries = calloc(plan->entry_count + 1, sizeof(*ret->entries));
	ret->aliases = calloc(plan->alias_count + 1, sizeof(*ret->aliases));
	if (with_mixes)
		ret->mixes = calloc(plan->entry_count + 1, sizeof(*ret->mixes));
	if (ret->members == NULL || ret->remotes == NULL || ret->entries == NULL ||
	    ret->aliases == NULL || (with_mixes && ret->mixes == NULL)) {
		plan_copy_clear(ret);
		return -ENOMEM;
	}
	plan->members = ret->members;
	plan->remotes = ret->remotes;
	plan->entries = ret->entries;
	plan->aliases = ret->aliases;
	return 0;
}

void
plan_copy_clear(struct plan_copy *copy)
{
	free(copy->members);
	free(copy->remotes);
	free(copy->entries);
	free(copy->aliases);
	free(copy->mixes);
	*copy = (struct plan_copy){ 0 };
}

int
plan_copy_view(struct plan_copy *ret, const struct wire_plan_view *view)
{
	struct plan_copy copy = { .plan = view->plan };
	int r;

	r = plan_copy_make(&copy, false);
	if (r < 0)
		return r;
	for (size_t i = 0; i < copy.plan.member_count; i++)
		wire_plan_member(view, i, &copy.members[i]);
	for (size_t i = 0; i < copy.plan.remote_count; i++)
		wire_plan_remote(view, i, &copy.remotes[i]);
	for (size_t i = 0; i < copy.plan.entry_count; i++)
		wire_plan_entry(view, i, &copy.entries[i]);
	for (size_t i = 0; i < copy.plan.alias_count; i++)
		wire_plan_alias(view, i, &copy.aliases[i]);
	*ret = copy;
	return 0;
}

int
plan_copy_digest(struct plan_copy *copy, struct wire_writer *writer, uint64_t *digest)
{
	struct wire_plan bare = copy->plan;
	struct wire_bytes bytes;
	int r;

	bare.version = bare.digest = 0;
	r = wire_write_plan(writer, &bare, &bytes);
	if (r == 0)
		*digest = hash_bytes(bytes.data, bytes.len);
	return r;
}

int
plan_copy_stamp(const struct wire_bytes *plan, uint64_t version, uint64_t digest,
    struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_plan_view view;
	struct plan_copy copy;
	int r;

	r = wire_open_plan(&view, plan->data, plan->len);
	if (r == 0)
		r = plan_copy_view(&copy, &view);
	if (r < 0)
		return r;
	copy.plan.version = version;
	copy.plan.digest = digest;
	r = wire_write_plan(writer, &copy.plan, out);
	plan_copy_clear(&copy);
	return r;
}
