#include "host-agent/api/agent_api_counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/api/agent_api.h"
#include "host-agent/api/agent_metrics.h"
#include "host-agent/api/agent_show.h"
#include "host-agent/counters/counters.h"
#include "host-agent/namespaces/namespace_ports.h"
#include "host-agent/services/cgroup_name.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/metrics/base_unit.h"
#include "rackmesh/metrics/metrics.h"

#define LABELS 320

static const char *
device_of(const struct counter_port_place *place)
{
	return place->rdma_device[0] != '\0' ? place->rdma_device : place->netdev;
}

/* ---- JSON ---- */

/* interval_ns: the interval at which a value is read that is read seldom; 0: every
 * reading includes the value. */
static json_t *
show_value(const struct counter_row *row, size_t index,
    const struct counter_state *state, int64_t interval_ns)
{
	json_t *object = json_object();

	json_object_set_new(object, "name", json_string(row->name));
	if (row->index != COUNTER_ONE)
		agent_show_u64(object, counter_index_str(row->index), index);
	json_object_set_new(object, "unit", json_string(row->unit));
	if (row->width == 0) {
		agent_show_u64(object, "value", state->total);
		return object;
	}
	agent_show_u64(object, "total", state->total);
	agent_show_u64(object, "delta", state->delta);
	if (interval_ns > 0)
		json_object_set_new(
		    object, "interval_ms", json_integer(interval_ns / RM_NS_PER_MS));
	if (state->wraps > 0)
		agent_show_u64(object, "wraps", state->wraps);
	if (state->resets > 0)
		agent_show_u64(object, "resets", state->resets);
	return object;
}

static json_t *
show_values(const struct counters_port *port)
{
	json_t *list = json_array();
	size_t at = 0;

	for (const struct counter_row *row = counter_rows; row->name != NULL; row++)
		for (size_t i = 0; i < counter_row_values(row); i++, at++)
			if (port->states[at].there)
				json_array_append_new(list,
				    show_value(row, i, &port->states[at],
					port->seldom[at] ? port->all_interval_ns : 0));
	return list;
}

json_t *
agent_api_counters_port(const struct counters_port *port, rm_mono_t now)
{
	const struct counter_port_place *place = &port->place;
	json_t *object = json_object();

	json_object_set_new(object, "device", json_string(device_of(place)));
	json_object_set_new(object, "port", json_integer(place->port));
	json_object_set_new(object, "netdev", json_string(place->netdev));
	json_object_set_new(object, "netns",
	    place->netns[0] != '\0' ? json_string(place->netns) : json_null());
	json_object_set_new(object, "driver", json_string(place->driver));
	json_object_set_new(object, "error",
	    port->error < 0 ? json_string("nothing there that can be read")
			    : json_null());
	json_object_set_new(object, "age_ms",
	    json_integer(rm_mono_since(now, port->at) / RM_NS_PER_MS));
	json_object_set_new(
	    object, "interval_ms", json_integer(port->interval_ns / RM_NS_PER_MS));
	json_object_set_new(
	    object, "read_us", json_integer(port->reading.took_ns / RM_NS_PER_US));
	json_object_set_new(object, "optics_age_ms",
	    port->optics_at.ns == 0
		? json_null()
		: json_integer(rm_mono_since(now, port->optics_at) / RM_NS_PER_MS));
	json_object_set_new(object, "counters", show_values(port));
	return object;
}

void
agent_api_counters(struct rm_http_request *request, void *arg)
{
	const struct agent_api *api = arg;
	const struct counters *counters = api->counters;
	json_t *all = json_object(), *list = json_array();
	const rm_mono_t now = rm_mono_now();

	json_object_set_new(all, "enabled", json_boolean(counters != NULL));
	for (size_t i = 0; counters != NULL && i < counters_ports(counters); i++)
		if (counters_port(counters, i)->wanted &&
		    counters_port(counters, i)->at.ns != 0)
			json_array_append_new(list,
			    agent_api_counters_port(counters_port(counters, i), now));
	json_object_set_new(all, "ports", list);
	rm_http_reply_json(request, 200, all);
}

/* ---- Metrics ---- */

#define C(field) offsetof(struct counters_counts, field)

/* clang-format off */
static const struct metrics_counter own_counters[] = {
	{ "rackmesh_agent_counters_reads_total", "", C(reads), "Readings of all counters of one RNIC." },
	{ "rackmesh_agent_counters_reads_failed_total", "", C(failed), "Readings that found no counter at all." },
	{ "rackmesh_agent_counters_reads_overdue_total", "", C(overdue), "Readings left out because the previous one had not ended." },
	{ "rackmesh_agent_counters_numbers_total", "", C(numbers), "Counter values read." },
	{ "rackmesh_agent_counters_wraps_total", "", C(wraps), "Times that a counter of 32 bits began again at 0 after its largest value." },
	{ "rackmesh_agent_counters_resets_total", "", C(resets), "Times that a counter was reset to 0, for another reason than an overflow." },
	{ "rackmesh_agent_optics_reads_total", "", C(optics_reads), "Readings of the optical module of one RNIC." },
	{ "rackmesh_agent_optics_none_total", "", C(optics_none), "Readings that found no optical module whose power can be read." },
	{ "rackmesh_agent_optics_refused_total", "", C(optics_refused), "Readings of optical modules that the kernel refused: the agent lacks CAP_NET_ADMIN." },
	{ "rackmesh_agent_optics_overdue_total", "", C(optics_overdue), "Readings of optical modules that did not begin because the previous reading of the same module had not ended." },
	{ "rackmesh_agent_optics_failed_total", "", C(optics_failed), "Readings of optical modules that failed for another reason." },
	{ 0 }
};
/* clang-format on */

/* The exporter of Spiderpool uses these names, too. */
static const struct alias {
	const char *metric, *row;
} aliases[] = {
	{ "rdma_rx_pause_total", "pfc_rx_frames" },
	{ "rdma_tx_pause_total", "pfc_tx_frames" },
	{ "rdma_rx_discards_total", "prio_rx_discards" },
	{ "rdma_tx_discards_total", "prio_tx_discards" },
	{ "rdma_vport_speed_mbps", "port_rate_mbps" },
};

#define ALIASES (sizeof(aliases) / sizeof(aliases[0]))

struct row_family {
	struct rm_metrics_family family;
	const struct agent_counter_metrics *shown;
	const struct counter_row *row;
	size_t first; /* index of the first value of this row */
};

struct agent_counter_metrics {
	const char *host;
	const struct counters *counters;
	struct row_family families[];
};

/* False: the port has no values to show: it is not read any more, or its first reading
 * has not ended. */
static bool
label_of(const struct agent_counter_metrics *shown, const struct counters_port *port,
    char label[LABELS])
{
	const struct counter_port_place *place = &port->place;
	const struct counters_port *bond = counters_bond_of(shown->counters, port);

	snprintf(label, LABELS, "host=\"%s\",device=\"%s\",port=\"%u\"%s%s%s%s%s%s",
	    shown->host, device_of(place), place->port,
	    place->netns[0] != '\0' ? ",netns=\"" : "", place->netns,
	    place->netns[0] != '\0' ? "\"" : "", bond != NULL ? ",bond=\"" : "",
	    bond != NULL ? device_of(&bond->place) : "", bond != NULL ? "\"" : "");
	return port->wanted && port->at.ns != 0;
}

static void
report_row(struct rm_metrics_out *out, const void *arg)
{
	const struct row_family *family = arg;
	const struct counters *counters = family->shown->counters;
	const struct counter_row *row = family->row;
	char label[LABELS], more[32] = "";

	for (size_t p = 0; p < counters_ports(counters); p++) {
		const struct counters_port *port = counters_port(counters, p);

		if (!label_of(family->shown, port, label))
			continue;
		for (size_t i = 0; i < counter_row_values(row); i++) {
			const struct counter_state *state =
			    &port->states[family->first + i];

			if (row->index != COUNTER_ONE)
				snprintf(more, sizeof(more), "%s=\"%zu\"",
				    counter_index_str(row->index), i);
			if (state->there)
				rm_metrics_series(out, label, more,
				    counter_row_is_optics(row)
					? base_unit_value(row->unit, state->total)
					: (double)state->total);
		}
	}
}

static void
report_class(struct rm_metrics_out *out, const void *arg)
{
	const struct agent_counter_metrics *shown = arg;
	char label[LABELS];

	for (size_t p = 0; p < counters_ports(shown->counters); p++) {
		const struct counters_port *port = counters_port(shown->counters, p);
		const int class = port->reading.traffic_class;

		if (label_of(shown, port, label) && class >= 0 &&
		    class != COUNTER_NO_CLASS)
			rm_metrics_series(out, label, "", class);
	}
}

static void
report_age(struct rm_metrics_out *out, const void *arg)
{
	const struct agent_counter_metrics *shown = arg;
	const rm_mono_t now = rm_mono_now();
	char label[LABELS];

	for (size_t p = 0; p < counters_ports(shown->counters); p++) {
		const struct counters_port *port = counters_port(shown->counters, p);

		if (label_of(shown, port, label))
			rm_metrics_series(
			    out, label, "", (double)rm_mono_since(now, port->at) / 1e9);
	}
}

static int
add_own(struct rm_metrics *metrics, const struct agent_counter_metrics *shown)
{
	static const struct rm_metrics_family age = {
		"rackmesh_agent_counters_age_seconds", "gauge",
		"Seconds since the last reading of this RNIC's counters began.",
		report_age
	};
	static const struct rm_metrics_family class = { "rdma_device_tos", "gauge",
		"Traffic class that the driver sets in all RoCE packets.",
		report_class };
	const struct counters_counts *counts = counters_counts(shown->counters);
	int r = metrics_table_add_owned(metrics, shown, own_counters, counts, "");

	if (r == 0)
		r = rm_metrics_counter_ns(metrics, shown,
		    "rackmesh_agent_counters_read_seconds_total", "",
		    "Wall-clock seconds spent reading counters.", &counts->took_ns);
	if (r == 0)
		r = rm_metrics_counter_ns(metrics, shown,
		    "rackmesh_agent_counters_cpu_seconds_total", "",
		    "CPU seconds spent reading counters.", &counts->cpu_ns);
	if (r == 0)
		r = rm_metrics_counter_ns(metrics, shown,
		    "rackmesh_agent_optics_read_seconds_total", "",
		    "Wall-clock seconds spent reading optical modules.",
		    &counts->optics_took_ns);
	if (r == 0)
		r = rm_metrics_counter_ns(metrics, shown,
		    "rackmesh_agent_optics_cpu_seconds_total", "",
		    "CPU seconds spent reading optical modules.",
		    &counts->optics_cpu_ns);
	if (r == 0)
		r = rm_metrics_family(metrics, shown, &age, shown);
	if (r == 0)
		r = rm_metrics_family(metrics, shown, &class, shown);
	return r;
}

/* at: index of the row's first value. */
static int
add_row(struct rm_metrics *metrics, struct agent_counter_metrics *shown,
    struct row_family *family, const struct counter_row *row, const char *metric,
    size_t at)
{
	*family = (struct row_family){ { metric, row->width == 0 ? "gauge" : "counter",
					   row->help, report_row },
		shown, row, at };
	return rm_metrics_family(metrics, shown, &family->family, family);
}

static int
add_alias(struct rm_metrics *metrics, struct agent_counter_metrics *shown,
    struct row_family *family, const struct alias *alias)
{
	size_t at = 0;

	for (const struct counter_row *row = counter_rows; row->name != NULL;
	     at += counter_row_values(row++))
		if (strcmp(row->name, alias->row) == 0)
			return add_row(metrics, shown, family, row, alias->metric, at);
	return -ENOENT;
}

int
agent_counter_metrics_new(struct rm_metrics *metrics, const char *host,
    const struct counters *counters, struct agent_counter_metrics **ret)
{
	struct agent_counter_metrics *shown;
	size_t rows = 0, first = 0;
	int r = 0;

	*ret = NULL;
	if (counters == NULL)
		return 0;
	while (counter_rows[rows].name != NULL)
		rows++;
	shown =
	    calloc(1, sizeof(*shown) + (rows + ALIASES) * sizeof(shown->families[0]));
	if (shown == NULL)
		return -ENOMEM;
	*ret = shown;
	shown->host = host;
	shown->counters = counters;
	for (size_t i = 0; i < rows && r == 0; i++) {
		const struct counter_row *row = &counter_rows[i];

		r = add_row(
		    metrics, shown, &shown->families[i], row, row->metric, first);
		first += counter_row_values(row);
	}
	for (size_t i = 0; i < ALIASES && r == 0; i++)
		r = add_alias(metrics, shown, &shown->families[rows + i], &aliases[i]);
	return r < 0 ? r : add_own(metrics, shown);
}

void
agent_counter_metrics_free(struct agent_counter_metrics *shown)
{
	free(shown);
}

/* ---- other namespaces ---- */

static void
report_namespaces(struct rm_metrics_out *out, const void *arg)
{
	const struct namespace_ports *ports = arg;
	char label[2 * LABELS + CGROUP_NAME_BYTES];

	for (size_t i = 0; i < ports->count; i++) {
		const struct namespace_port *port = &ports->ports[i];
		const char *uid = cgroup_name_uid(port->service);

		snprintf(label, sizeof(label),
		    "device=\"%s\",port=\"%u\",netns=\"%s\",service=\"%s\","
		    "pod_uid=\"%s\"",
		    port->place.rdma_device, port->place.port, port->place.netns,
		    port->service, uid == NULL ? "" : uid);
		rm_metrics_series(out, label, "", 1);
	}
}

static double
read_left_out(const void *arg)
{
	return (double)((const struct namespace_ports *)arg)->left_out;
}

static double
read_refused(const void *arg)
{
	return (double)((const struct namespace_ports *)arg)->refused;
}

int
agent_namespace_metrics(struct rm_metrics *metrics, const struct namespace_ports *ports)
{
	static const struct rm_metrics_family info = {
		"rackmesh_agent_namespace_port_info", "gauge",
		"1, for each port of an RDMA device in another network namespace, with "
		"its owner.",
		report_namespaces
	};
	int r;

	if (ports == NULL)
		return 0;
	r = rm_metrics_family(metrics, ports, &info, ports);
	if (r == 0)
		r = rm_metrics_gauge(metrics, ports,
		    "rackmesh_agent_namespace_ports_left_out", "",
		    "Ports and network namespaces that are not read because of the "
		    "agent's limits.",
		    read_left_out, ports);
	return r < 0 ? r
		     : rm_metrics_gauge(metrics, ports,
			   "rackmesh_agent_namespaces_refused", "",
			   "Network namespaces that the kernel did not let the agent "
			   "enter: the agent lacks CAP_SYS_ADMIN.",
			   read_refused, ports);
}
