#include "tests/sim/truth.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"

#define HOST_LASTS_NS (4 * RM_NS_PER_S) /* a shorter outage is not noticed */
#define LATE_NS                                                               \
	(100 * RM_NS_PER_MS) /* no fabric's queues hold packets for this long \
			      */

static bool
is_enough(const struct fault *fault)
{
	switch (fault->kind) {
	case FAULT_HOST_STALL:
	case FAULT_BURST:
		return false;
	case FAULT_LATENCY:
		return fault->latency_ns >= LATE_NS;
	case FAULT_HOST_DOWN:
	case FAULT_AGENT_DOWN:
	case FAULT_AGENT_FROZEN:
	case FAULT_MANAGEMENT_DOWN:
		return fault->to_ns - fault->from_ns >= HOST_LASTS_NS;
	default:
		return true;
	}
}

static double
loss_of(const struct fault *fault)
{
	switch (fault->kind) {
	case FAULT_RNIC_LOSSY:
	case FAULT_LINK_LOSSY:
	case FAULT_SWITCH_LOSSY:
		return fault->loss;
	case FAULT_FLOWS_BLACKHOLED:
		return fault->share;
	default:
		return 1;
	}
}

static struct truth
of_fault(const struct clos *clos, const struct fault *fault)
{
	const bool link = clos_part(clos, fault->part)->type == CLOS_LINK;

	return (struct truth){
		.part = link && fault->direction == FAULT_RECEIVE
			    ? clos_part(clos, fault->part)->twin
			    : fault->part,
		.both_directions = link && fault->direction == FAULT_BOTH,
		.kind = scenario_kind_str(fault->kind),
		.one_class = fault->dscp >= 0,
		.dscp = fault->dscp >= 0 ? (uint8_t)fault->dscp : 0,
		.loss = loss_of(fault),
		.from_ns = fault->from_ns,
		.to_ns = fault->to_ns < fault->rerouted_ns ? fault->to_ns
							   : fault->rerouted_ns,
		.counts = is_enough(fault),
	};
}

static const char *
kind_str(enum life_kind kind)
{
	return kind == LIFE_STALL ? "stall" : "agent-restart";
}

int
truth_of(const struct clos *clos, const struct fault *faults, size_t count,
    const struct life *life, struct truth **ret, size_t *truths)
{
	const uint32_t first = clos_first(clos, CLOS_HOST);
	const struct life_span *spans;
	size_t room = count + 1, n = 0;
	struct truth *all;

	for (uint32_t h = 0; h < clos_hosts(clos); h++)
		room += life_spans(life, h, &spans);
	all = calloc(room, sizeof *all);
	if (all == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (faults[i].kind != FAULT_BURST)
			all[n++] = of_fault(clos, &faults[i]);
	for (uint32_t h = 0; h < clos_hosts(clos); h++) {
		const size_t own = life_spans(life, h, &spans);

		for (size_t i = 0; i < own; i++)
			if (spans[i].noise)
				all[n++] = (struct truth){ .part = first + h,
					.kind = kind_str(spans[i].kind),
					.loss = 1,
					.from_ns = spans[i].from_ns,
					.to_ns = spans[i].to_ns };
	}
	*ret = all;
	*truths = n;
	return 0;
}

/* ---- as JSON --------------------------------------------------------------------- */

static json_t *
seconds(int64_t ns)
{
	return ns == INT64_MAX ? json_null() : json_real((double)ns / 1e9);
}

static json_t *
show_fault(const struct clos *clos, const struct fault *fault)
{
	const struct truth truth = of_fault(clos, fault);
	const struct clos_part *part = clos_part(clos, truth.part);
	char name[RM_PART_NAME_BYTES], from[RM_PART_NAME_BYTES];
	json_t *json;

	clos_name(clos, truth.part, name);
	json = json_pack("{s:s, s:s, s:s, s:f, s:o, s:o, s:b}", "kind", truth.kind,
	    "part", name, "way", scenario_direction_names[fault->direction], "loss",
	    truth.loss, "from_s", seconds(truth.from_ns), "to_s", seconds(truth.to_ns),
	    "counts", truth.counts);
	if (part->type == CLOS_LINK) {
		clos_name(clos, part->from, from);
		clos_name(clos, part->to, name);
		json_object_set_new(json, "from", json_string(from));
		json_object_set_new(json, "to", json_string(name));
		json_object_set_new(json, "cable", json_integer(part->cable));
	}
	if (fault->dscp >= 0)
		json_object_set_new(json, "dscp", json_integer(fault->dscp));
	if (fault->min_bytes > 0)
		json_object_set_new(json, "min_bytes", json_integer(fault->min_bytes));
	if (fault->pair > 0)
		json_object_set_new(json, "pair", json_integer(fault->pair));
	if (fault->on_ns > 0)
		json_object_set_new(json, "flap",
		    json_pack("{s:f, s:f}", "on_ms", (double)fault->on_ns / 1e6,
			"off_ms", (double)fault->off_ns / 1e6));
	if (fault->held_ns > 0)
		json_object_set_new(
		    json, "held_ms", json_real((double)fault->held_ns / 1e6));
	if (fault->kind == FAULT_LATENCY)
		json_object_set_new(
		    json, "latency_us", json_real((double)fault->latency_ns / 1e3));
	return json;
}

static void
show_noise(json_t *list, const struct clos *clos, const struct life *life)
{
	const uint32_t first = clos_first(clos, CLOS_HOST);

	for (uint32_t h = 0; h < clos_hosts(clos); h++) {
		const struct life_span *spans;
		const size_t own = life_spans(life, h, &spans);
		char name[RM_PART_NAME_BYTES];

		clos_name(clos, first + h, name);
		for (size_t i = 0; i < own; i++)
			if (spans[i].noise)
				json_array_append_new(list,
				    json_pack("{s:s, s:s, s:o, s:o, s:b}", "kind",
					kind_str(spans[i].kind), "part", name, "from_s",
					seconds(spans[i].from_ns), "to_s",
					seconds(spans[i].to_ns), "counts", false));
	}
}

static json_t *
show_numbers(const struct scenario_option *options, const double *values, size_t count)
{
	json_t *json = json_object();

	for (size_t i = 0; i < count; i++)
		if (values[i] != options[i].fallback)
			json_object_set_new(
			    json, options[i].name, json_real(values[i]));
	return json;
}

char *
truth_line(const struct scenario *scenario, const struct scenario_draw *draw,
    uint64_t seed, uint32_t number, const struct clos *clos, const struct fault *faults,
    size_t count, const struct life *life)
{
	const struct clos_options *o = &draw->fabric;
	json_t *list = json_array(), *json;
	char *line;

	for (size_t i = 0; i < count; i++)
		if (faults[i].kind != FAULT_BURST)
			json_array_append_new(list, show_fault(clos, &faults[i]));
	show_noise(list, clos, life);
	json = json_pack("{s:s, s:I, s:i, s:f, s:{s:i, s:i, s:i, s:i, s:i, s:i, s:i, "
			 "s:i, s:b, s:b, s:b}, s:o, s:o, s:o}",
	    "scenario", scenario->name, "seed", (json_int_t)seed, "run", (int)number,
	    "seconds", draw->seconds, "fabric", "tiers", (int)o->tiers, "pods",
	    (int)o->pods, "racks", (int)o->racks, "middle", (int)o->middle, "cores",
	    (int)o->cores, "cables", (int)o->cables, "rnics_per_rack",
	    (int)o->rnics_per_rack, "rnics_per_host", (int)o->rnics_per_host, "rails",
	    o->rails, "loopbacks", o->loopbacks, "symmetric", o->symmetric, "probing",
	    show_numbers(scenario_probing_options, draw->probing, PROBING_OPTIONS),
	    "noise", show_numbers(scenario_noise_options, draw->noise, NOISE_OPTIONS),
	    "faults", list);
	line = json == NULL ? NULL : json_dumps(json, JSON_COMPACT);
	json_decref(json);
	return line;
}
