#include "analyzer/api/region_metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/analyzer_state.h"
#include "analyzer/incidents/incident_table.h"
#include "analyzer/incidents/region.h"
#include "analyzer/marks/cnp_balance.h"
#include "analyzer/sla/sla.h"
#include "rackmesh/judge/verdict.h"
#include "rackmesh/metrics/metrics.h"

#define LABEL_BYTES 1024 /* room for the longest names, with each byte escaped */

/* ---- service levels -------------------------------------------------------------- */

struct report {
	struct rm_metrics_out *out;
	void (*report)(struct rm_metrics_out *out, const char *labels,
	    const struct sla_total *total);
};

static void
report_scope(const struct sla_total *total, void *arg)
{
	const struct report *report = arg;
	char labels[LABEL_BYTES];

	snprintf(labels, sizeof(labels), "region=\"%s\",scope=\"%s\",dscp=\"%u\"",
	    total->region, total->scope, total->dscp);
	report->report(report->out, labels, total);
}

static void
report_probes(
    struct rm_metrics_out *out, const char *labels, const struct sla_total *total)
{
	rm_metrics_series(out, labels, "", (double)total->sent);
}

static void
report_lost(
    struct rm_metrics_out *out, const char *labels, const struct sla_total *total)
{
	rm_metrics_series(out, labels, "", (double)total->lost);
}

static void
report_rack_minutes(
    struct rm_metrics_out *out, const char *labels, const struct sla_total *total)
{
	rm_metrics_series(
	    out, labels, "state=\"available\"", (double)total->racks_available);
	rm_metrics_series(
	    out, labels, "state=\"unavailable\"", (double)total->racks_unavailable);
	rm_metrics_series(
	    out, labels, "state=\"unknown\"", (double)total->racks_unknown);
}

static void
report_ratio(
    struct rm_metrics_out *out, const char *labels, const struct sla_total *total)
{
	if (total->last_sent > 0)
		rm_metrics_series(out, labels, "",
		    (double)total->last_lost / (double)total->last_sent);
}

static void
report_rtt(
    struct rm_metrics_out *out, const char *labels, const struct sla_total *total)
{
	if (total->last_rtt_ns[WIRE_P99] == 0)
		return;
	rm_metrics_series(out, labels, "quantile=\"0.5\"",
	    (double)total->last_rtt_ns[WIRE_P50] / RM_NS_PER_S);
	rm_metrics_series(out, labels, "quantile=\"0.99\"",
	    (double)total->last_rtt_ns[WIRE_P99] / RM_NS_PER_S);
}

#define EACH_SCOPE(name)                                                       \
	static void family_##name(struct rm_metrics_out *out, const void *arg) \
	{                                                                      \
		const struct analyzer *analyzer = arg;                         \
		struct report report = { out, report_##name };                 \
                                                                               \
		sla_each(analyzer->sla, report_scope, &report);                \
	}

EACH_SCOPE(probes)
EACH_SCOPE(lost)
EACH_SCOPE(rack_minutes)
EACH_SCOPE(ratio)
EACH_SCOPE(rtt)

/* ---- incidents ------------------------------------------------------------------- */

static void
report_kinds(struct rm_metrics_out *out, const struct incident_table *table,
    const struct region *region)
{
	unsigned open[RM_KINDS] = { 0 };
	char labels[LABEL_BYTES], kind[64];

	for (size_t i = 0; i < incident_table_open(table); i++) {
		const struct incident_table_entry *entry = incident_table_get(table, i);

		if (strcmp(entry->region, region_name(region)) != 0)
			continue;
		/* A kind that only a later release knows is not counted. */
		for (int k = 1; k < RM_KINDS; k++)
			open[k] +=
			    strcmp(entry->kind, rm_kind_str((enum rm_kind)k)) == 0;
	}
	snprintf(labels, sizeof(labels), "region=\"%s\"", region_name(region));
	for (int k = 1; k < RM_KINDS; k++) {
		snprintf(
		    kind, sizeof(kind), "kind=\"%s\"", rm_kind_str((enum rm_kind)k));
		rm_metrics_series(out, labels, kind, open[k]);
	}
}

static void
report_impacts(struct rm_metrics_out *out, const struct incident_table *table,
    const struct region *region)
{
	unsigned open[RM_IMPACTS] = { 0 };
	char labels[LABEL_BYTES], impact[32];

	for (size_t i = 0; i < incident_table_open(table); i++) {
		const struct incident_table_entry *entry = incident_table_get(table, i);

		if (strcmp(entry->region, region_name(region)) == 0)
			open[entry->impact]++;
	}
	snprintf(labels, sizeof(labels), "region=\"%s\"", region_name(region));
	for (int i = 0; i < RM_IMPACTS; i++) {
		snprintf(impact, sizeof(impact), "impact=\"%s\"",
		    rm_impact_str((enum rm_impact)i));
		rm_metrics_series(out, labels, impact, open[i]);
	}
}

static void
family_impacts(struct rm_metrics_out *out, const void *arg)
{
	const struct analyzer *analyzer = arg;

	for (size_t i = 0; i < analyzer->region_count; i++)
		report_impacts(out, analyzer->table, analyzer->regions[i]);
}

static void
family_kinds(struct rm_metrics_out *out, const void *arg)
{
	const struct analyzer *analyzer = arg;

	for (size_t i = 0; i < analyzer->region_count; i++)
		report_kinds(out, analyzer->table, analyzer->regions[i]);
}

/* value is NAN if there is none. */
static void
report_cnps(struct rm_metrics_out *out, const struct analyzer *analyzer,
    double (*value)(const struct cnp_finding *finding))
{
	for (size_t i = 0; i < analyzer->region_count; i++) {
		const struct region *region = analyzer->regions[i];
		const double one = value(region_cnps(region));
		char labels[LABEL_BYTES];

		snprintf(labels, sizeof(labels), "region=\"%s\"", region_name(region));
		if (!isnan(one))
			rm_metrics_series(out, labels, "", one);
	}
}

static double
cnps_lost(const struct cnp_finding *finding)
{
	return finding->state == CNP_LOST;
}

static double
cnp_arrival_ratio(const struct cnp_finding *finding)
{
	const bool known = finding->state == CNP_WORKING || finding->state == CNP_LOST;

	return known && finding->sent > 0
		   ? (double)finding->received / (double)finding->sent
		   : NAN;
}

static double
cnp_counting_ratio(const struct cnp_finding *finding)
{
	return finding->rnics > 0
		   ? (double)finding->rnics_counting / (double)finding->rnics
		   : NAN;
}

static void
family_cnps_lost(struct rm_metrics_out *out, const void *arg)
{
	report_cnps(out, arg, cnps_lost);
}

static void
family_cnp_ratio(struct rm_metrics_out *out, const void *arg)
{
	report_cnps(out, arg, cnp_arrival_ratio);
}

static void
family_cnp_counting(struct rm_metrics_out *out, const void *arg)
{
	report_cnps(out, arg, cnp_counting_ratio);
}

/* Names come from an aggregator, and may contain any character. */
static void
put_escaped(FILE *out, const char *label, const char *text)
{
	fprintf(out, "%s=\"", label);
	for (; *text != '\0'; text++) {
		if (*text == '\\' || *text == '"')
			putc('\\', out);
		if (*text == '\n')
			fputs("\\n", out);
		else
			putc(*text, out);
	}
	putc('"', out);
}

static void
report_part(struct rm_metrics_out *out, const struct incident_table_entry *entry)
{
	char labels[LABEL_BYTES] = "";
	FILE *text = fmemopen(labels, sizeof(labels), "w");
	bool whole;

	if (text == NULL)
		return;
	put_escaped(text, "region", entry->region);
	put_escaped(text, ",part_type", entry->part_type);
	put_escaped(text, ",part", entry->part);
	put_escaped(text, ",place", entry->place);
	put_escaped(text, ",kind", entry->kind);
	whole = ftell(text) < (long)sizeof(labels) - 1;
	if (fclose(text) == 0 && whole)
		rm_metrics_series(out, labels, "", 1);
}

static bool
is_same_part(const struct incident_table_entry *a, const struct incident_table_entry *b)
{
	return strcmp(a->region, b->region) == 0 &&
	       strcmp(a->part_type, b->part_type) == 0 &&
	       strcmp(a->part, b->part) == 0 && strcmp(a->place, b->place) == 0 &&
	       strcmp(a->kind, b->kind) == 0;
}

/* Two aggregators of a rack may have opened the same incident: each series is written
 * once. */
static void
family_parts(struct rm_metrics_out *out, const void *arg)
{
	const struct incident_table *table = ((const struct analyzer *)arg)->table;
	size_t count = incident_table_open(table);

	if (count > PARTS_AT_FAULT_MAX)
		count = PARTS_AT_FAULT_MAX;
	for (size_t i = 0; i < count; i++) {
		const struct incident_table_entry *entry = incident_table_get(table, i);
		bool reported = false;

		for (size_t k = 0; k < i && !reported; k++)
			reported = is_same_part(incident_table_get(table, k), entry);
		if (!reported)
			report_part(out, entry);
	}
}

static double
read_left_out(const void *table)
{
	const size_t open = incident_table_open(table);

	return open > PARTS_AT_FAULT_MAX ? (double)(open - PARTS_AT_FAULT_MAX) : 0;
}

/* clang-format off */
static const struct rm_metrics_family families[] = {
	{ "rackmesh_region_probes_total", "counter", "Probes of whole minutes, by class, inside racks (rack) and between them (fabric).", family_probes },
	{ "rackmesh_region_probes_lost_total", "counter", "Probes of whole minutes that were lost, by class, inside racks (rack) and between them (fabric).", family_lost },
	{ "rackmesh_region_loss_ratio", "gauge", "Share of probes lost in the last whole minute with results, by class, inside racks (rack) and between them (fabric).", family_ratio },
	{ "rackmesh_region_network_rtt_seconds", "summary", "Network round-trip time of the last whole minute with results, by class, inside racks (rack) and between them (fabric).", family_rtt },
	{ "rackmesh_region_rack_minutes_total", "counter", "Minutes of racks, by class and scope: available (less was lost than the threshold), unavailable, or unknown (no results).", family_rack_minutes },
	{ "rackmesh_region_incidents_open", "gauge", "Incidents open now in the region, of racks and of parts between racks, by kind.", family_kinds },
	{ "rackmesh_region_incidents_by_impact", "gauge", "Incidents open now in the region, by impact: P0 where probes of a service are lost, P1 where a service uses the part, P2 where none does, and unknown.", family_impacts },
	{ "rackmesh_region_cnps_lost", "gauge", "1: CNPs that RNICs of the region send do not arrive at its senders.", family_cnps_lost },
	{ "rackmesh_region_cnp_arrival_ratio", "gauge", "Ratio of CNPs that senders received to CNPs that RNICs of the region sent, in the last minute; absent while no verdict on CNPs is possible.", family_cnp_ratio },
	{ "rackmesh_region_cnp_counting_ratio", "gauge", "Ratio of RNICs that count CNPs and RDMA packets to all RNICs of the region; below 0.9 there is no verdict on lost CNPs.", family_cnp_counting },
	{ "rackmesh_region_part_at_fault", "gauge", "1: an incident of the part is open.", family_parts },
};
/* clang-format on */

int
region_metrics_register(const struct analyzer *analyzer, struct rm_metrics *metrics)
{
	int r =
	    rm_metrics_gauge(metrics, families, "rackmesh_region_parts_left_out", "",
		"Open incidents whose part is not shown because the limit of series is "
		"reached.",
		read_left_out, analyzer->table);

	for (size_t i = 0; r == 0 && i < sizeof(families) / sizeof(families[0]); i++)
		r = rm_metrics_family(metrics, families, &families[i], analyzer);
	return r;
}
