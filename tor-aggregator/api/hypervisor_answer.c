#include "tor-aggregator/api/hypervisor_answer.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/http/http_server.h"
#include "rackmesh/metrics/base_unit.h"
#include "rackmesh/metrics/metrics.h"
#include "tor-aggregator/api/aggregator_show.h"
#include "tor-aggregator/hypervisor/hypervisor_collector.h"
#include "tor-aggregator/hypervisor/hypervisor_findings.h"
#include "tor-aggregator/tor_aggregator_state.h"

#define LIMIT 200 /* NICs in one answer */
#define MAX_LIMIT 1000
#define LABEL_BYTES 128

/* ---- JSON ---- */

struct wanted {
	const char *host, *nic; /* NULL: any */
	bool all;               /* include values of 0 */
	uint64_t offset, limit, count;
};

static void
set_u64(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key,
	    json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value));
}

/* Gets the findings on a NIC; none if its host is not being read. */
static void
find(const struct hypervisor_shown *host, const struct hypervisor_nic *nic,
    char texts[HYPERVISOR_FINDINGS][FINDING_BYTES])
{
	if (host->reading.up)
		hypervisor_findings_report(nic, host->reading.interval_ns, texts);
	else
		for (int i = 0; i < HYPERVISOR_FINDINGS; i++)
			texts[i][0] = '\0';
}

static json_t *
show_findings(const struct hypervisor_shown *host, const struct hypervisor_nic *nic)
{
	char texts[HYPERVISOR_FINDINGS][FINDING_BYTES];
	json_t *list = json_array(), *object;

	find(host, nic, texts);
	for (int i = 0; i < HYPERVISOR_FINDINGS; i++) {
		if (texts[i][0] == '\0')
			continue;
		object = json_object();
		json_object_set_new(
		    object, "finding", json_string(hypervisor_finding_str(i)));
		json_object_set_new(object, "text", json_string(texts[i]));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *
show_nic(
    const struct hypervisor_shown *host, const struct hypervisor_nic *nic, bool all)
{
	const struct counter_state *state = nic->states;
	json_t *object = json_object(), *list = json_array();

	json_object_set_new(object, "nic", json_string(nic->name));
	json_object_set_new(object, "driver", json_string(nic->driver));
	json_object_set_new(object, "findings", show_findings(host, nic));
	for (const struct hypervisor_row *row = hypervisor_rows; row->name != NULL;
	     row++)
		for (unsigned i = 0; i < hypervisor_row_values(row); i++, state++)
			if (state->there && (all || state->total != 0))
				json_array_append_new(
				    list, collector_show_value(row->name, row->unit,
					      row->by_priority ? (int)i : -1,
					      row->gauge, state));
	json_object_set_new(object, "counters", list);
	return object;
}

static json_t *
show_nics(const struct hypervisor_shown *shown, struct wanted *wanted)
{
	json_t *list = json_array();

	for (size_t i = 0; i < hypervisor_nics_count(shown->nics); i++) {
		const struct hypervisor_nic *nic = hypervisor_nics_get(shown->nics, i);

		if (!nic->there ||
		    (wanted->nic != NULL && strcmp(wanted->nic, nic->name) != 0))
			continue;
		if (wanted->count++ < wanted->offset || wanted->limit == 0)
			continue;
		wanted->limit--;
		json_array_append_new(list, show_nic(shown, nic, wanted->all));
	}
	return list;
}

/* The state of the readings of a host. */
static json_t *
show_reading(const struct hypervisor_collector *collector)
{
	const struct collector_shown shown =
	    collector_shown(hypervisor_collector_reading(collector));
	json_t *object = json_object();

	json_object_set_new(
	    object, "host", json_string(hypervisor_collector_shown(collector).name));
	collector_show(&shown, object);
	return object;
}

/* clang-format off */
static const struct show_sum nic_sums[] = {
	{ "up", { "link_up" } },
	{ "speed_mbps", { "speed_mbps" } },
	{ "rx_bytes", { "netdev_rx_bytes" } },
	{ "tx_bytes", { "netdev_tx_bytes" } },
	{ "pfc_received", { "pfc_rx_frames" } },
	{ "pfc_sent", { "pfc_tx_frames" } },
	{ "global_pauses", { "gpause_rx_frames", "gpause_tx_frames" } },
	{ "dropped", { "phy_rx_discards", "phy_tx_discards" } },
	{ "dropped", { "netdev_rx_dropped", "netdev_tx_dropped" } },
	{ "no_buffer", { "rx_out_of_buffer" } },
	{ "no_buffer", { "netdev_rx_missed" } },
	{ "errors", { "netdev_rx_errors", "netdev_tx_errors" } },
	{ "errors", { "crc_err" } },
};
/* clang-format on */

static bool
add_of_nic(const void *of, const char *counter, uint64_t *sum)
{
	const struct hypervisor_nic *nic = of;
	const struct counter_state *state = nic->states;
	bool there = false;

	for (const struct hypervisor_row *row = hypervisor_rows; row->name != NULL;
	     row++) {
		const size_t values = hypervisor_row_values(row);

		for (size_t i = 0; i < values && strcmp(row->name, counter) == 0; i++) {
			*sum += row->gauge ? state[i].total : state[i].delta;
			there |= state[i].there;
		}
		state += values;
	}
	return there;
}

static json_t *
show_host_sums(const struct hypervisor_collector *collector)
{
	const struct hypervisor_shown host = hypervisor_collector_shown(collector);
	json_t *object = show_reading(collector), *ports = json_array();

	for (size_t i = 0; i < hypervisor_nics_count(host.nics); i++) {
		const struct hypervisor_nic *nic = hypervisor_nics_get(host.nics, i);
		json_t *row;

		if (!nic->there)
			continue;
		row = json_object();
		json_object_set_new(row, "name", json_string(nic->name));
		show_sums(row, nic_sums, sizeof(nic_sums) / sizeof(nic_sums[0]),
		    add_of_nic, nic);
		json_object_set_new(row, "findings", show_findings(&host, nic));
		json_array_append_new(ports, row);
	}
	json_object_set_new(object, "ports", ports);
	return object;
}

json_t *
hypervisors_show(const struct tor_aggregator *aggregator)
{
	json_t *list = json_array();

	for (size_t i = 0; i < aggregator->hypervisor_count; i++)
		json_array_append_new(list, show_host_sums(aggregator->hypervisors[i]));
	return list;
}

static json_t *
show_hypervisor(const struct hypervisor_collector *collector, struct wanted *wanted)
{
	const struct hypervisor_shown shown = hypervisor_collector_shown(collector);
	json_t *object = show_reading(collector);

	set_u64(object, "parse_errors",
	    hypervisor_collector_counts(collector)->parse_errors);
	set_u64(object, "values_exported", shown.on_metrics.exported);
	set_u64(object, "values_unused", shown.on_metrics.unused);
	set_u64(object, "values_refused", shown.on_metrics.refused);
	json_object_set_new(object, "nics", show_nics(&shown, wanted));
	return object;
}

void
hypervisor_answer_get(struct rm_http_request *request, void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	struct wanted wanted = {
		.host = rm_http_query(request, "host"),
		.nic = rm_http_query(request, "nic"),
		.all = rm_http_query(request, "all") != NULL,
		.limit = LIMIT,
	};
	json_t *all, *list;

	if (!rm_http_query_number(request, "offset", 0, UINT32_MAX, &wanted.offset) ||
	    !rm_http_query_number(request, "limit", 1, MAX_LIMIT, &wanted.limit))
		return;
	all = json_object();
	list = json_array();
	for (size_t i = 0; i < aggregator->hypervisor_count; i++) {
		const struct hypervisor_collector *host = aggregator->hypervisors[i];

		if (wanted.host == NULL ||
		    strcmp(wanted.host, hypervisor_collector_shown(host).name) == 0)
			json_array_append_new(list, show_hypervisor(host, &wanted));
	}
	set_u64(all, "nic_count", wanted.count);
	json_object_set_new(all, "hypervisors", list);
	rm_http_reply_json(request, 200, all);
}

/* ---- metrics ---- */

#define N(name) "rackmesh_aggregator_hypervisor_" name
#define R(field) offsetof(struct collector_counts, field)
#define C(field) offsetof(struct hypervisor_nics_counts, field)

/* clang-format off */
static const struct metrics_counter reading_counters[] = {
	{ N("reads_total"), "", R(reads), "Readings of an ESXi host's counters." },
	{ N("reads_failed_total"), "", R(failed), "Readings that were abandoned." },
	{ 0 }
};

static const struct metrics_counter value_counters[] = {
	{ N("values_total"), "", C(values), "Single values read." },
	{ N("parse_errors_total"), "", C(parse_errors), "Values, lines and names of NICs that could not be parsed." },
	{ N("nics_refused_total"), "", C(refused), "NICs beyond the limit, at each reading." },
	{ N("resets_total"), "", C(resets), "Counters that began again at 0." },
	{ 0 }
};
/* clang-format on */

struct row_family {
	struct rm_metrics_family family;
	const struct tor_aggregator *aggregator;
	const struct hypervisor_row *row;
	size_t first; /* index of the first value of the row */
};

struct hypervisor_metrics {
	struct rm_metrics_family findings;
	const struct tor_aggregator *aggregator;
	struct row_family rows[];
};

static void
report_nic(struct rm_metrics_out *out, const struct row_family *family,
    const char *host, const struct hypervisor_nic *nic)
{
	const struct counter_state *states = nic->states + family->first;
	char label[LABEL_BYTES], more[16] = "";

	snprintf(label, sizeof(label), "host=\"%s\",nic=\"%s\"", host, nic->name);
	for (unsigned i = 0; i < hypervisor_row_values(family->row); i++) {
		if (family->row->by_priority)
			snprintf(more, sizeof(more), "priority=\"%u\"", i);
		if (states[i].there && hypervisor_nic_reports(nic, family->row, i))
			rm_metrics_series(out, label, more,
			    base_unit_value(family->row->unit, states[i].total));
	}
}

static void
report_row(struct rm_metrics_out *out, const void *arg)
{
	const struct row_family *family = arg;
	const struct tor_aggregator *aggregator = family->aggregator;

	for (size_t h = 0; h < aggregator->hypervisor_count; h++) {
		const struct hypervisor_shown shown =
		    hypervisor_collector_shown(aggregator->hypervisors[h]);

		for (size_t i = 0; i < hypervisor_nics_count(shown.nics); i++)
			if (hypervisor_nics_get(shown.nics, i)->on_metrics)
				report_nic(out, family, shown.name,
				    hypervisor_nics_get(shown.nics, i));
	}
}

static void
report_nic_findings(struct rm_metrics_out *out, const struct hypervisor_shown *shown,
    const struct hypervisor_nic *nic)
{
	char texts[HYPERVISOR_FINDINGS][FINDING_BYTES], label[LABEL_BYTES], more[40];

	find(shown, nic, texts);
	snprintf(
	    label, sizeof(label), "host=\"%s\",nic=\"%s\"", shown->name, nic->name);
	for (int i = 0; i < HYPERVISOR_FINDINGS; i++) {
		snprintf(
		    more, sizeof(more), "finding=\"%s\"", hypervisor_finding_str(i));
		rm_metrics_series(out, label, more, texts[i][0] != '\0');
	}
}

static void
report_findings(struct rm_metrics_out *out, const void *arg)
{
	const struct hypervisor_metrics *shown = arg;
	const struct tor_aggregator *aggregator = shown->aggregator;

	for (size_t h = 0; h < aggregator->hypervisor_count; h++) {
		const struct hypervisor_shown host =
		    hypervisor_collector_shown(aggregator->hypervisors[h]);

		for (size_t i = 0; i < hypervisor_nics_count(host.nics); i++)
			if (hypervisor_nics_get(host.nics, i)->on_metrics)
				report_nic_findings(
				    out, &host, hypervisor_nics_get(host.nics, i));
	}
}

static double
read_exported(const void *arg)
{
	return (double)hypervisor_collector_shown(arg).on_metrics.exported;
}

static double
read_unused(const void *arg)
{
	return (double)hypervisor_collector_shown(arg).on_metrics.unused;
}

static double
read_refused(const void *arg)
{
	return (double)hypervisor_collector_shown(arg).on_metrics.refused;
}

/* clang-format off */
static const struct value_gauge {
	const char *name, *help;
	double (*read)(const void *collector);
} value_gauges[] = {
	{ N("values_exported"), "Values of the last complete reading that rackmesh_hypervisor_* shows.", read_exported },
	{ N("values_unused"), "Values left out because no counter of their priority was ever above 0.", read_unused },
	{ N("values_refused"), "Values left out because the limit of one ESXi host is reached.", read_refused },
};
/* clang-format on */

static int
add_collector(struct rm_metrics *metrics, const struct hypervisor_collector *collector,
    const uint64_t *impossible)
{
	const struct collector *reading = hypervisor_collector_reading(collector);
	const struct collector_counts *counts = collector_counts(reading);
	char label[LABEL_BYTES];
	int r;

	snprintf(label, sizeof(label), "host=\"%s\"",
	    hypervisor_collector_shown(collector).name);
	r = metrics_table_add(metrics, reading_counters, counts, label);
	if (r == 0)
		r = metrics_table_add(metrics, value_counters,
		    hypervisor_collector_counts(collector), label);
	if (r == 0)
		r = rm_metrics_counter(metrics, counts, N("values_impossible_total"),
		    label,
		    "Counters that were not used for diagnoses in one interval, "
		    "because they cannot have increased by so much.",
		    impossible);
	if (r == 0)
		r = rm_metrics_counter_ns(metrics, counts, N("read_seconds_total"),
		    label, "Time spent on readings that were complete.",
		    &counts->took_ns);
	if (r == 0)
		r = rm_metrics_gauge(metrics, counts, N("up"), label,
		    "1: the last reading of the ESXi host's counters was complete.",
		    collector_read_up, reading);
	if (r == 0)
		r = rm_metrics_gauge(metrics, counts, N("age_seconds"), label,
		    "Seconds since the last complete reading began; -1: none yet.",
		    collector_read_age_s, reading);
	for (size_t i = 0; r == 0 && i < sizeof(value_gauges) / sizeof(value_gauges[0]);
	     i++)
		r = rm_metrics_gauge(metrics, counts, value_gauges[i].name, label,
		    value_gauges[i].help, value_gauges[i].read, collector);
	return r;
}

static int
add_rows(struct tor_aggregator *aggregator, struct rm_metrics *metrics)
{
	size_t rows = 0, first = 0;
	struct hypervisor_metrics *shown;
	int r;

	while (hypervisor_rows[rows].name != NULL)
		rows++;
	shown = calloc(1, sizeof(*shown) + rows * sizeof(shown->rows[0]));
	if (shown == NULL)
		return -ENOMEM;
	shown->aggregator = aggregator;
	aggregator->hypervisor_metrics = shown;
	shown->findings = (struct rm_metrics_family){ "rackmesh_hypervisor_finding",
		"gauge", "1: the finding holds for the NIC's last interval.",
		report_findings };
	r = rm_metrics_family(metrics, shown, &shown->findings, shown);
	for (size_t i = 0; r == 0 && i < rows; i++) {
		const struct hypervisor_row *row = &hypervisor_rows[i];

		shown->rows[i] = (struct row_family){
			{ row->metric, row->gauge ? "gauge" : "counter", row->help,
			    report_row },
			aggregator, row, first
		};
		first += hypervisor_row_values(row);
		r = rm_metrics_family(
		    metrics, shown, &shown->rows[i].family, &shown->rows[i]);
	}
	return r;
}

int
hypervisor_metrics_register(
    struct tor_aggregator *aggregator, struct rm_metrics *metrics)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < aggregator->hypervisor_count; i++)
		r = add_collector(metrics, aggregator->hypervisors[i],
		    &aggregator->hypervisor_racks[i].impossible);
	return r == 0 && aggregator->hypervisor_count > 0
		   ? add_rows(aggregator, metrics)
		   : r;
}

void
hypervisor_metrics_free(struct hypervisor_metrics *shown)
{
	free(shown);
}
