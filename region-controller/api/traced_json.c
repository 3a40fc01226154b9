#include "region-controller/api/traced_json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "region-controller/api/controller_show.h"
#include "region-controller/topology/traced.h"

/* The times at which a link, in either direction, or any link of a switch was seen. */
struct seen {
	rm_wall_t first, last;
	const char *by;
};

static void
see(struct seen *seen, const struct traced_link *link)
{
	if (seen->by == NULL || link->first_seen.ns < seen->first.ns) {
		seen->first = link->first_seen;
		seen->by = link->by;
	}
	if (link->last_seen.ns > seen->last.ns)
		seen->last = link->last_seen;
}

static void
mark(json_t *object, const char *known, const struct seen *seen)
{
	json_object_set_new(object, "known", json_string(known));
	json_object_set_new(object, "first_traced", show_wall(seen->first));
	json_object_set_new(object, "last_traced", show_wall(seen->last));
	json_object_set_new(object, "traced_by",
	    seen->by == NULL ? json_null() : json_string(seen->by));
}

struct merge {
	const struct traced_link **links; /* sorted by from and to */
	size_t count;
	json_t *switch_seen; /* name of a switch -> its index in seen */
	struct seen *seen;   /* at most two per link */
	size_t seen_count;
	json_t *link_at; /* "a b", with a < b -> index in pairs */
	struct pair {
		const char *a, *b;
		struct seen seen;
		bool is_written;
	} * pairs;
	size_t pair_count;
};

static void
see_switch(struct merge *merge, const char *name, const struct traced_link *link)
{
	json_t *at = json_object_get(merge->switch_seen, name);

	if (at == NULL) {
		at = json_integer((json_int_t)merge->seen_count++);
		json_object_set_new(merge->switch_seen, name, at);
	}
	see(&merge->seen[json_integer_value(at)], link);
}

static void
pair_name(const char *a, const char *b, char name[2 * TRACED_NODE_BYTES])
{
	const bool swapped = strcmp(a, b) > 0;

	strcpy(name, swapped ? b : a);
	strcat(name, " ");
	strcat(name, swapped ? a : b);
}

static struct pair *
pair_of(const struct merge *merge, const char *a, const char *b)
{
	char name[2 * TRACED_NODE_BYTES];
	json_t *at;

	if (strlen(a) >= TRACED_NODE_BYTES || strlen(b) >= TRACED_NODE_BYTES)
		return NULL;
	pair_name(a, b, name);
	at = json_object_get(merge->link_at, name);
	return at == NULL ? NULL : &merge->pairs[json_integer_value(at)];
}

static void
see_link(struct merge *merge, const struct traced_link *link)
{
	struct pair *pair = pair_of(merge, link->from, link->to);
	char name[2 * TRACED_NODE_BYTES];

	if (pair == NULL) {
		pair_name(link->from, link->to, name);
		json_object_set_new(
		    merge->link_at, name, json_integer((json_int_t)merge->pair_count));
		pair = &merge->pairs[merge->pair_count++];
		pair->a = link->from;
		pair->b = link->to;
	}
	see(&pair->seen, link);
}

static void
mark_switches(const struct merge *merge, json_t *switches)
{
	const struct seen never = { .by = NULL };
	const char *name;
	json_t *object, *at;
	size_t i;

	json_array_foreach (switches, i, object) {
		name = json_string_value(json_object_get(object, "name"));
		at = json_object_get(merge->switch_seen, name);
		mark(object, "written",
		    at == NULL ? &never : &merge->seen[json_integer_value(at)]);
		if (at != NULL)
			json_object_del(merge->switch_seen, name);
	}
	json_object_foreach (merge->switch_seen, name, at) {
		object = json_object();
		json_object_set_new(object, "name", json_string(name));
		mark(object, "traced", &merge->seen[json_integer_value(at)]);
		json_array_append_new(switches, object);
	}
}

static void
mark_links(const struct merge *merge, json_t *links)
{
	const struct seen never = { .by = NULL };
	json_t *object;
	size_t i;

	json_array_foreach (links, i, object) {
		struct pair *pair =
		    pair_of(merge, json_string_value(json_object_get(object, "a")),
			json_string_value(json_object_get(object, "b")));

		mark(object, "written", pair == NULL ? &never : &pair->seen);
		if (pair != NULL)
			pair->is_written = true;
	}
	for (i = 0; i < merge->pair_count; i++) {
		const struct pair *pair = &merge->pairs[i];

		if (pair->is_written)
			continue;
		object = json_object();
		json_object_set_new(object, "a", json_string(pair->a));
		json_object_set_new(object, "b", json_string(pair->b));
		mark(object, "traced", &pair->seen);
		json_array_append_new(links, object);
	}
}

int
traced_json_merge(json_t *topology, const struct traced *traced)
{
	struct merge merge = { .count = 0 };
	int r;

	r = traced_sorted(traced, &merge.links, &merge.count);
	if (r < 0)
		return r;
	merge.switch_seen = json_object();
	merge.link_at = json_object();
	merge.seen = calloc(2 * merge.count + 1, sizeof(*merge.seen));
	merge.pairs = calloc(merge.count + 1, sizeof(*merge.pairs));
	if (merge.seen == NULL || merge.pairs == NULL || merge.switch_seen == NULL ||
	    merge.link_at == NULL) {
		r = -ENOMEM;
		goto out;
	}
	for (size_t i = 0; i < merge.count; i++) {
		see_switch(&merge, merge.links[i]->from, merge.links[i]);
		see_switch(&merge, merge.links[i]->to, merge.links[i]);
		see_link(&merge, merge.links[i]);
	}
	mark_switches(&merge, json_object_get(topology, "switches"));
	mark_links(&merge, json_object_get(topology, "links"));
out:
	json_decref(merge.switch_seen);
	json_decref(merge.link_at);
	free(merge.seen);
	free(merge.pairs);
	free(merge.links);
	return r;
}
