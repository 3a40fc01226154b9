#include "tor-aggregator/api/switch_answer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/http/http_server.h"
#include "rackmesh/metrics/base_unit.h"
#include "rackmesh/metrics/metrics.h"
#include "tor-aggregator/api/aggregator_show.h"
#include "tor-aggregator/switch/switch_collector.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_neighbor.h"
#include "tor-aggregator/tor_aggregator_neighbors.h"
#include "tor-aggregator/tor_aggregator_state.h"
#include "tor-aggregator/window/roster.h"

#define LIMIT 200 /* ports, queues and groups in one answer */
#define MAX_LIMIT 2000
#define LABEL_BYTES 256

/* ---- JSON ---- */

struct wanted {
	const char *tor, *port; /* NULL: any; tor: the name of any switch */
	bool all;               /* include values of 0 */
	uint64_t offset, limit, count;
	struct neighbors_elsewhere elsewhere;
};

static void
set_u64(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key,
	    json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value));
}

/* The neighbour at a port of that switch. */
static json_t *
show_neighbor(const struct tor_aggregator *aggregator, size_t at,
    const struct switch_neighbor *lldp, struct neighbors_elsewhere *elsewhere)
{
	json_t *object;
	struct neighbor found;

	if (lldp == NULL)
		return json_null();
	found = tor_aggregator_neighbor(aggregator, at, lldp, elsewhere);
	object = json_object();
	json_object_set_new(object, "name", json_string(lldp->name));
	json_object_set_new(object, "port", json_string(lldp->port));
	json_object_set_new(object, "description", json_string(lldp->description));
	json_object_set_new(object, "kind", json_string(neighbor_kind_str(found.kind)));
	if (found.rnic != NULL)
		json_object_set_new(object, "host", json_string(found.rnic->host));
	if (found.kind == NEIGHBOR_RNIC)
		json_object_set_new(object, "device", json_string(found.rnic->device));
	return object;
}

/* i: index of the value among those of the row. */
static json_t *
show_value(const struct switch_row *row, unsigned i, const struct counter_state *state)
{
	const bool by_errors = row->by == SWITCH_BY_ERRORS;
	json_t *value = collector_show_value(row->name, row->unit,
	    row->by == SWITCH_BY_PRIORITY ? (int)i : -1, row->gauge, state);

	if (by_errors)
		json_object_set_new(
		    value, switch_by_str(SWITCH_BY_ERRORS), json_integer((int)i));
	return value;
}

static json_t *
show_object(const struct switch_object *of, bool all)
{
	const struct counter_state *state = of->states;
	json_t *object = json_object(), *list = json_array();

	json_object_set_new(object, "part", json_string(switch_part_str(of->part)));
	json_object_set_new(object, "port", json_string(of->port));
	json_object_set_new(object, "role",
	    json_string(switch_port_is_internal(of->port) ? "fabric" : "edge"));
	json_object_set_new(object, "index",
	    of->part == SWITCH_PORT ? json_null() : json_integer(of->index));
	for (const struct switch_row *row = switch_rows; row->name != NULL; row++)
		for (unsigned i = 0;
		     row->part == of->part && i < switch_row_values(row); i++, state++)
			if (state->there && (all || state->total != 0))
				json_array_append_new(list, show_value(row, i, state));
	json_object_set_new(object, "counters", list);
	return object;
}

static json_t *
show_objects(const struct tor_aggregator *aggregator, size_t at,
    const struct switch_list *list, struct wanted *wanted)
{
	json_t *shown = json_array(), *each;

	for (size_t i = 0; i < switch_list_count(list); i++) {
		const struct switch_object *object = switch_list_get(list, i);

		if (wanted->port != NULL && strcmp(wanted->port, object->port) != 0)
			continue;
		if (wanted->count++ < wanted->offset || wanted->limit == 0)
			continue;
		wanted->limit--;
		each = show_object(object, wanted->all);
		if (object->part == SWITCH_PORT)
			json_object_set_new(each, "neighbor",
			    show_neighbor(aggregator, at, switch_list_neighbor(list, i),
				&wanted->elsewhere));
		json_array_append_new(shown, each);
	}
	return shown;
}

/* The state of the readings of a switch. */
static json_t *
show_reading(const char *tor, const struct switch_collector *collector)
{
	const struct collector_shown shown = switch_collector_shown(collector).reading;
	const size_t count = switch_collector_asics(collector);
	json_t *object = json_object(), *asics = count > 1 ? json_array() : NULL;

	json_object_set_new(object, "tor", json_string(tor));
	collector_show(&shown, object);
	if (count > 1)
		json_object_set_new(object, "asics", asics);
	for (size_t i = 0; count > 1 && i < count; i++) {
		const struct collector_shown one =
		    collector_shown(switch_collector_reading(collector, i));
		json_t *asic = json_object();

		collector_show(&one, asic);
		json_array_append_new(asics, asic);
	}
	return object;
}

/* clang-format off */
static const struct show_sum port_sums[] = {
	{ "up", { "oper_up" } },
	{ "speed_mbps", { "speed_mbps" } },
	{ "rx_bytes", { "rx_bytes" } },
	{ "tx_bytes", { "tx_bytes" } },
	{ "pfc_received", { "pfc_rx_frames" } },
	{ "pfc_received", { "port_pfc_rx_frames" } },
	{ "pfc_sent", { "pfc_tx_frames" } },
	{ "pfc_sent", { "port_pfc_tx_frames" } },
	{ "global_pauses", { "gpause_rx_frames", "gpause_tx_frames" } },
	{ "dropped", { "rx_discards", "tx_discards" } },
	{ "no_buffer", { "rx_buffer_drops", "tx_buffer_drops" } },
	{ "errors", { "rx_err", "tx_err" } },
};
/* clang-format on */

static bool
add_of_port(const void *of, const char *counter, uint64_t *sum)
{
	const struct switch_object *port = of;
	const struct counter_state *state = port->states;
	bool there = false;

	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		const size_t values =
		    row->part == SWITCH_PORT ? switch_row_values(row) : 0;

		for (size_t i = 0; i < values && strcmp(row->name, counter) == 0; i++) {
			*sum += row->gauge ? state[i].total : state[i].delta;
			there |= state[i].there;
		}
		state += values;
	}
	return there;
}

static json_t *
show_ports(const struct switch_collector *collector)
{
	const struct switch_collector_shown shown = switch_collector_shown(collector);
	json_t *ports = json_array();

	for (size_t i = 0; i < switch_list_count(shown.list); i++) {
		const struct switch_object *port = switch_list_get(shown.list, i);
		json_t *row;

		if (port->part != SWITCH_PORT || switch_port_is_internal(port->port))
			continue;
		row = json_object();
		json_object_set_new(row, "name", json_string(port->port));
		show_sums(row, port_sums, sizeof(port_sums) / sizeof(port_sums[0]),
		    add_of_port, port);
		json_array_append_new(ports, row);
	}
	return ports;
}

json_t *
switch_ports_show(const struct tor_aggregator *aggregator, size_t rack)
{
	json_t *object;

	if (aggregator->switches[rack] == NULL)
		return json_null();
	object = show_reading(aggregator->tors[rack], aggregator->switches[rack]);
	json_object_set_new(object, "ports", show_ports(aggregator->switches[rack]));
	return object;
}

static const char *
role_str(enum switch_role role)
{
	return role == SWITCH_ROLE_SPINE ? "spine" : "tor";
}

/* Returns the key by which ports are sorted: first the port's worst problem, then its
 * load. */
static double
trouble_of(const json_t *port)
{
	static const char *const worst_first[] = { "errors", "dropped", "no_buffer",
		"global_pauses", "pfc_received", "pfc_sent" };
	double bits = 0, bytes = 0;

	for (size_t i = 0; i < sizeof(worst_first) / sizeof(worst_first[0]); i++)
		bits = 2 * bits +
		       (json_integer_value(json_object_get(port, worst_first[i])) > 0);
	bytes += (double)json_integer_value(json_object_get(port, "rx_bytes"));
	bytes += (double)json_integer_value(json_object_get(port, "tx_bytes"));
	return bits + bytes / (bytes + 1e9);
}

/* Returns the ports with the worst problems, the worst first. Takes ownership of all.
 */
static json_t *
worst_of(json_t *all)
{
	json_t *worst = json_array();

	while (
	    json_array_size(worst) < SWITCH_WORST_PORTS && json_array_size(all) > 0) {
		size_t at = 0;
		double most = -1;

		for (size_t i = 0; i < json_array_size(all); i++) {
			const double trouble = trouble_of(json_array_get(all, i));

			if (trouble > most) {
				most = trouble;
				at = i;
			}
		}
		json_array_append(worst, json_array_get(all, at));
		json_array_remove(all, at);
	}
	json_decref(all);
	return worst;
}

json_t *
other_switches_show(const struct tor_aggregator *aggregator)
{
	json_t *list = json_array();

	for (size_t i = 0; i < aggregator->read_switch_count; i++) {
		const struct read_switch *one = &aggregator->read_switches[i];
		json_t *object, *ports;

		if (one->rack != SIZE_MAX)
			continue;
		object = show_reading(one->name, one->collector);
		ports = show_ports(one->collector);
		json_object_set_new(object, "tor", json_null());
		json_object_set_new(object, "name", json_string(one->name));
		json_object_set_new(object, "role", json_string(role_str(one->role)));
		set_u64(object, "port_count", json_array_size(ports));
		json_object_set_new(object, "ports", worst_of(ports));
		json_array_append_new(list, object);
	}
	return list;
}

/* at: index in read_switches. */
static json_t *
show_switch(const struct tor_aggregator *aggregator, size_t at, struct wanted *wanted)
{
	const struct read_switch *one = &aggregator->read_switches[at];
	const struct switch_collector_shown shown =
	    switch_collector_shown(one->collector);
	const struct switch_counts *counts = switch_collector_counts(one->collector);
	json_t *object = show_reading(one->name, one->collector);

	if (one->rack == SIZE_MAX)
		json_object_set_new(object, "tor", json_null());
	json_object_set_new(object, "name", json_string(one->name));
	json_object_set_new(object, "role", json_string(role_str(one->role)));
	set_u64(object, "parse_errors", counts->parse_errors);
	set_u64(object, "commands_refused", counts->commands_refused);
	set_u64(object, "values_exported", shown.exported.exported);
	set_u64(object, "values_unused", shown.exported.unused);
	set_u64(object, "values_refused", shown.exported.refused);
	json_object_set_new(
	    object, "objects", show_objects(aggregator, at, shown.list, wanted));
	return object;
}

void
switch_answer_get(struct rm_http_request *request, void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	struct wanted wanted = {
		.tor = rm_http_query(request, "tor"),
		.port = rm_http_query(request, "port"),
		.all = rm_http_query(request, "all") != NULL,
		.limit = LIMIT,
		.elsewhere = { .budget = NEIGHBORS_BUDGET },
	};
	json_t *all, *list;

	if (!rm_http_query_number(request, "offset", 0, UINT32_MAX, &wanted.offset) ||
	    !rm_http_query_number(request, "limit", 1, MAX_LIMIT, &wanted.limit))
		return;
	all = json_object();
	list = json_array();
	for (size_t i = 0; i < aggregator->read_switch_count; i++)
		if (wanted.tor == NULL ||
		    strcmp(wanted.tor, aggregator->read_switches[i].name) == 0)
			json_array_append_new(
			    list, show_switch(aggregator, i, &wanted));
	set_u64(all, "object_count", wanted.count);
	json_object_set_new(all, "switches", list);
	rm_http_reply_json(request, 200, all);
}

/* ---- metrics ---- */

#define N(name) "rackmesh_aggregator_switch_" name
#define R(field) offsetof(struct collector_counts, field)
#define C(field) offsetof(struct switch_counts, field)

/* clang-format off */
static const struct metrics_counter reading_counters[] = {
	{ N("reads_total"), "", R(reads), "Readings of a switch's counters." },
	{ N("reads_failed_total"), "", R(failed), "Readings that were abandoned." },
	{ 0 }
};

static const struct metrics_counter value_counters[] = {
	{ N("values_total"), "", C(values), "Single values read." },
	{ N("parse_errors_total"), "", C(parse_errors), "Values, ports and queues that could not be parsed." },
	{ N("objects_refused_total"), "", C(refused), "Ports, queues and priority groups beyond the limits, at each reading." },
	{ N("duplicate_ports_total"), "", C(duplicates), "Ports that an ASIC of the switch has, although an ASIC before it in the config has them, at each reading." },
	{ N("commands_refused_total"), "", C(commands_refused), "Commands that a Nexus refused or left without an answer, at each reading." },
	{ N("resets_total"), "", C(resets), "Counters that began again at 0." },
	{ 0 }
};
/* clang-format on */

struct row_family {
	struct rm_metrics_family family;
	const struct switch_metrics *shown;
	const struct switch_row *row;
	/* index of the first value of the row, among the values of its part */
	size_t first;
};

struct switch_metrics {
	const struct tor_aggregator *aggregator;
	struct row_family rows[];
};

struct switch_label {
	char text[128];
};

/* For a ToR of this aggregator, the label is the same as in all metrics of the rack. */
static struct switch_label
label_of(const struct read_switch *one)
{
	struct switch_label label;

	snprintf(label.text, sizeof(label.text), "%s=\"%s\",switch_role=\"%s\"",
	    one->rack == SIZE_MAX ? "switch" : "tor", one->name, role_str(one->role));
	return label;
}

static void
report_object(struct rm_metrics_out *out, const struct row_family *family,
    const char *of, const struct switch_object *object)
{
	const struct switch_row *row = family->row;
	const struct counter_state *states = object->states + family->first;
	const char *role =
	    switch_port_is_internal(object->port) ? ",role=\"fabric\"" : "";
	char label[LABEL_BYTES], more[24] = "";

	if (object->part == SWITCH_PORT)
		snprintf(
		    label, sizeof(label), "%s,port=\"%s\"%s", of, object->port, role);
	else
		snprintf(label, sizeof(label), "%s,port=\"%s\"%s,%s=\"%u\"", of,
		    object->port, role, switch_part_str(object->part), object->index);
	for (unsigned i = 0; i < switch_row_values(row); i++) {
		if (row->by != SWITCH_BY_NONE)
			snprintf(more, sizeof(more), "%s=\"%u\"",
			    switch_by_str(row->by), i % 100);
		if (states[i].there && switch_is_exported(object, row, i))
			rm_metrics_series(out, label, more,
			    base_unit_value(row->unit, states[i].total));
	}
}

static void
report_row(struct rm_metrics_out *out, const void *arg)
{
	const struct row_family *family = arg;
	const struct tor_aggregator *aggregator = family->shown->aggregator;

	for (size_t s = 0; s < aggregator->read_switch_count; s++) {
		const struct read_switch *one = &aggregator->read_switches[s];
		const struct switch_label label = label_of(one);
		const struct switch_list *list =
		    switch_collector_shown(one->collector).list;

		for (size_t i = 0; i < switch_list_count(list); i++)
			if (switch_list_get(list, i)->part == family->row->part &&
			    switch_list_get(list, i)->exported)
				report_object(
				    out, family, label.text, switch_list_get(list, i));
	}
}

static double
read_exported(const void *arg)
{
	return (double)switch_collector_shown(arg).exported.exported;
}

static double
read_unused(const void *arg)
{
	return (double)switch_collector_shown(arg).exported.unused;
}

static double
read_refused(const void *arg)
{
	return (double)switch_collector_shown(arg).exported.refused;
}

/* clang-format off */
static const struct collector_gauge {
	const char *name, *help;
	double (*read)(const void *collector);
} collector_gauges[] = {
	{ N("values_exported"), "Values of the last complete reading that rackmesh_switch_* shows.", read_exported },
	{ N("values_unused"), "Values left out because no counter of their traffic class was ever above 0.", read_unused },
	{ N("values_refused"), "Values left out because the limit of one switch is reached.", read_refused },
};
/* clang-format on */

/* The readings of one ASIC. They have the label asic if there are several. */
static int
add_asic(struct rm_metrics *metrics, const struct read_switch *one, size_t asic)
{
	const struct collector *reading =
	    switch_collector_reading(one->collector, asic);
	const struct collector_counts *counts = collector_counts(reading);
	struct switch_label labels = label_of(one);
	const char *label = labels.text;
	const size_t used = strlen(label);
	int r;

	if (switch_collector_asics(one->collector) > 1)
		snprintf(labels.text + used, sizeof(labels.text) - used,
		    ",asic=\"%zu\"", asic);
	r = metrics_table_add(metrics, reading_counters, counts, label);
	if (r == 0)
		r = rm_metrics_counter_ns(metrics, counts, N("read_seconds_total"),
		    label, "Time spent on readings that were complete.",
		    &counts->took_ns);
	if (r == 0)
		r = rm_metrics_gauge(metrics, counts, N("up"), label,
		    "1: the last reading of the switch's counters was complete.",
		    collector_read_up, reading);
	if (r == 0)
		r = rm_metrics_gauge(metrics, counts, N("age_seconds"), label,
		    "Seconds since the last complete reading of the switch's counters "
		    "began; -1: none yet.",
		    collector_read_age_s, reading);
	return r;
}

static int
add_collector(struct rm_metrics *metrics, const struct read_switch *one)
{
	const struct switch_collector *collector = one->collector;
	const struct switch_counts *counts = switch_collector_counts(collector);
	const struct switch_label labels = label_of(one);
	const char *label = labels.text;
	int r;

	r = metrics_table_add(metrics, value_counters, counts, label);
	if (r == 0)
		r = rm_metrics_counter(metrics, counts, N("values_impossible_total"),
		    label,
		    "Counters that were not used for diagnoses in one interval, "
		    "because they cannot have increased by so much.",
		    &one->impossible);
	for (size_t i = 0; r == 0 && i < switch_collector_asics(collector); i++)
		r = add_asic(metrics, one, i);
	for (size_t i = 0;
	     r == 0 && i < sizeof(collector_gauges) / sizeof(collector_gauges[0]); i++)
		r = rm_metrics_gauge(metrics, counts, collector_gauges[i].name, label,
		    collector_gauges[i].help, collector_gauges[i].read, collector);
	return r;
}

static int
add_rows(struct tor_aggregator *aggregator, struct rm_metrics *metrics)
{
	size_t rows = 0, first[SWITCH_PARTS] = { 0 };
	struct switch_metrics *shown;
	int r = 0;

	while (switch_rows[rows].name != NULL)
		rows++;
	shown = calloc(1, sizeof(*shown) + rows * sizeof(shown->rows[0]));
	if (shown == NULL)
		return -ENOMEM;
	shown->aggregator = aggregator;
	aggregator->switch_metrics = shown;
	for (size_t i = 0; r == 0 && i < rows; i++) {
		const struct switch_row *row = &switch_rows[i];

		shown->rows[i] = (struct row_family){
			{ row->metric, row->gauge ? "gauge" : "counter", row->help,
			    report_row },
			shown, row, first[row->part]
		};
		first[row->part] += switch_row_values(row);
		r = rm_metrics_family(
		    metrics, shown, &shown->rows[i].family, &shown->rows[i]);
	}
	return r;
}

int
switch_metrics_register(struct tor_aggregator *aggregator, struct rm_metrics *metrics)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < aggregator->read_switch_count; i++)
		r = add_collector(metrics, &aggregator->read_switches[i]);
	return r == 0 && aggregator->read_switch_count > 0
		   ? add_rows(aggregator, metrics)
		   : r;
}

void
switch_metrics_free(struct switch_metrics *shown)
{
	free(shown);
}
