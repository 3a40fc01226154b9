#include "tor-aggregator/switch/nexus_list.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "tor-aggregator/switch/nexus.h"
#include "tor-aggregator/switch/nexus_values.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_neighbor.h"
#include "tor-aggregator/switch/switch_table.h"

#define SEVERAL "(several)"

static int
add_objects(const struct nexus_values *values, struct switch_list *list,
    struct switch_counts *counts)
{
	uint32_t added = UINT32_MAX;

	for (size_t i = 0; i < values->count; i++) {
		int r;

		if (values->values[i].light || values->values[i].object == added)
			continue;
		added = values->values[i].object;
		r = switch_list_add(list, &values->values[i].of);
		if (r == -ENOMEM)
			return r;
		counts->refused += r == -ENOSPC;
		counts->parse_errors += r == -EBADMSG;
	}
	return 0;
}

/* One value of an object: the sum of the terms of the first alternative that exists. It
 * uses the values from *at on, before end, and moves *at behind them. If a term occurs
 * twice in the answer, the first one counts. The sample's source holds the alternative,
 * and a bit for each term that was found. */
static struct counter_sample
sum(const struct nexus_value *values, size_t *at, size_t end,
    struct switch_counts *counts)
{
	const struct nexus_value *first = &values[*at];
	struct counter_sample sample = { .there = true };
	unsigned terms = 0;

	for (; *at < end && values[*at].slot == first->slot; ++*at) {
		const struct nexus_value *value = &values[*at];

		if (value->alternative != first->alternative)
			continue;
		if ((terms >> value->term & 1) != 0) { /* the term occurs twice */
			counts->parse_errors++;
			continue;
		}
		terms |= 1U << value->term;
		sample.value += value->value; /* may wrap at 2^64, as counters do */
	}
	sample.source = (uint16_t)((first->alternative + 1U) << 8 | terms);
	return sample;
}

static size_t
end_of_object(const struct nexus_values *values, size_t at)
{
	const uint32_t object = values->values[at].object;

	while (at < values->count && values->values[at].object == object)
		at++;
	return at;
}

/* A gauge of an optical module: its delta is the value of the reading before. The value
 * stays in readings without modules. */
static void
take_light(const struct nexus_values *values, struct counter_state *state,
    const struct counter_sample *sample)
{
	const uint64_t before = state->total;

	if ((values->answered & NEXUS_OPTICS) == 0)
		return;
	(void)counter_take(state, sample, 0, true);
	state->delta = before;
}

/* Takes over the values of one object, beginning with *at, and moves *at behind
 * them. */
static void
take_object(const struct nexus_values *values, size_t *at,
    const struct switch_object *object, struct switch_counts *counts)
{
	struct counter_state *states = object->states;
	size_t end, slot = 0;

	while (*at < values->count &&
	       switch_object_compare(&values->values[*at].of, object) < 0)
		*at = end_of_object(
		    values, *at); /* skips the values of an object that was refused */
	end = *at == values->count ? *at : end_of_object(values, *at);
	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		if (row->part != object->part)
			continue;
		for (unsigned i = 0; i < switch_row_values(row); i++, slot++) {
			struct counter_sample sample = { 0 };

			if (*at < end && values->values[*at].slot == slot)
				sample = sum(values->values, at, end, counts);
			counts->values += sample.there;
			if (nexus_is_of_optics(row))
				take_light(values, &states[slot], &sample);
			else
				counts->resets +=
				    counter_take(&states[slot], &sample,
					row->gauge ? 0 : 64, true) == COUNTER_RESET;
		}
	}
}

/* Takes over the neighbours of the ports. A port may have several neighbours, for
 * example if the firmware of an RNIC sends LLDP beside its host: then the neighbour
 * that has a name is used; if several have names, the neighbour is not known. */
static int
take_neighbors(const struct nexus_values *values, struct switch_list *list)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < values->neighbor_count; i++) {
		struct switch_neighbor taken = values->neighbors[i].of;
		const struct switch_neighbor *before;
		size_t port;

		if (switch_list_find_port(list, values->neighbors[i].port, &port) < 0)
			continue;
		before = switch_list_neighbor(list, port);
		if (before != NULL && before->name[0] != '\0' &&
		    taken.name[0] != '\0' &&
		    !switch_name_is_same(before->name, taken.name))
			taken = (struct switch_neighbor){ .port = SEVERAL };
		else if (before != NULL && (before->name[0] != '\0' ||
					       strcmp(before->port, SEVERAL) == 0))
			continue;
		r = switch_list_set_neighbor(list, port, &taken);
	}
	return r;
}

static int
take_all(const struct nexus_values *values, const struct switch_list *before,
    struct switch_counts *counts, struct switch_list *list, struct rm_error *error)
{
	size_t at = 0;
	int r;

	r = add_objects(values, list, counts);
	if (r == 0)
		r = switch_list_close(list, before, &counts->refused);
	if (r < 0)
		return r;
	if (switch_list_count(list) == 0 ||
	    switch_list_get(list, 0)->part != SWITCH_PORT)
		return rm_error_set(
		    error, -EPROTO, "its answers name no Ethernet port");
	for (size_t i = 0; i < switch_list_count(list); i++)
		take_object(values, &at, switch_list_get(list, i), counts);
	if ((values->asked & NEXUS_NEIGHBORS) != 0)
		return take_neighbors(values, list);
	return before == NULL ? 0 : switch_list_keep_neighbors(list, before);
}

int
nexus_list(const struct nexus_values *values, const struct switch_list *before,
    struct switch_counts *counts, struct switch_list **ret, struct rm_error *error)
{
	struct switch_list *list = switch_list_new();
	int r;

	counts->parse_errors += values->counts.parse_errors;
	counts->refused += values->counts.refused;
	counts->commands_refused += values->counts.commands_refused;
	if (list == NULL)
		return -ENOMEM;
	r = take_all(values, before, counts, list, error);
	if (r < 0)
		switch_list_free(list);
	else
		*ret = list;
	return r;
}
