#include "tor-aggregator/api/diagnosis_answer.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/metrics/metrics.h"
#include "tor-aggregator/api/aggregator_show.h"
#include "tor-aggregator/diagnosis/diagnoses.h"
#include "tor-aggregator/diagnosis/pause_findings.h"
#include "tor-aggregator/tor_aggregator_diagnosis.h"
#include "tor-aggregator/tor_aggregator_state.h"

#define LIMIT 200 /* findings in one answer */
#define MAX_LIMIT 2000
#define MAX_RNICS 256 /* number of RNICs whose rules are shown */
#define LABEL_BYTES 160

/* ---- JSON ---- */

struct wanted {
	const char *tor, *host, *device; /* NULL: any */
	uint64_t offset, limit, count;
};

static json_t *
show_finding(const char *tor, const struct diagnosed *rnic, size_t d)
{
	const struct diagnosis_finding *finding = &rnic->findings[d];
	char since[RM_WALL_TEXT];
	json_t *object = json_object();

	rm_wall_format(finding->since, since);
	json_object_set_new(object, "tor", json_string(tor));
	json_object_set_new(object, "id",
	    rnic->kind == DIAGNOSED_RNIC ? show_id(rnic->id) : json_null());
	json_object_set_new(object, "host", json_string(rnic->host));
	json_object_set_new(object, "device", json_string(rnic->device));
	json_object_set_new(object, "diagnosis", json_string(rules[d].name));
	json_object_set_new(object, "what", json_string(rules[d].what));
	json_object_set_new(object, "evidence", json_string(finding->sentence));
	json_object_set_new(object, "since", json_string(since));
	return object;
}

static void
add_findings(
    json_t *list, const char *tor, const struct diagnosed *rnic, struct wanted *wanted)
{
	for (size_t d = 0; d < DIAGNOSES; d++) {
		if (!rnic->findings[d].stands)
			continue;
		if (wanted->count >= wanted->offset &&
		    json_array_size(list) < wanted->limit)
			json_array_append_new(list, show_finding(tor, rnic, d));
		wanted->count++;
	}
}

/* Names the missing counter of each diagnosis that is not possible. */
static json_t *
show_not_known(const struct diagnosed *rnic)
{
	json_t *object = json_object();

	for (size_t d = 0; rnic->fresh && d < DIAGNOSES; d++)
		if (rnic->results[d].status == RULE_NOT_KNOWN)
			json_object_set_new(object, rules[d].name,
			    json_string(indicator_needs(
				&rnic->evidence, rnic->results[d].needs)));
	return object;
}

/* The text; JSON null if it is "". */
static json_t *
text_or_null(const char *text)
{
	return text[0] == '\0' ? json_null() : json_string(text);
}

static json_t *
show_rnic_rules(const char *tor, const struct diagnosed *rnic)
{
	json_t *object = json_object();

	json_object_set_new(object, "tor", json_string(tor));
	json_object_set_new(object, "id",
	    rnic->kind == DIAGNOSED_RNIC ? show_id(rnic->id) : json_null());
	json_object_set_new(object, "host", json_string(rnic->host));
	json_object_set_new(object, "device", json_string(rnic->device));
	json_object_set_new(object, "age_ms",
	    json_integer(rm_mono_since(rm_mono_now(), rnic->reported) / RM_NS_PER_MS));
	json_object_set_new(
	    object, "interval_ms", json_integer(rnic->evidence.host_ns / RM_NS_PER_MS));
	json_object_set_new(object, "not_known", show_not_known(rnic));
	json_object_set_new(
	    object, "network", json_string(network_status_str(rnic->network)));
	json_object_set_new(
	    object, "network_evidence", text_or_null(rnic->network_text));
	return object;
}

static bool
is_wanted(const char *wanted, const char *name)
{
	return wanted == NULL || strcmp(wanted, name) == 0;
}

static void
add_rack(json_t *findings, json_t *rnics, const char *tor,
    const struct diagnoses *diagnoses, struct wanted *wanted)
{
	for (size_t i = 0; i < diagnoses_rnics(diagnoses); i++) {
		const struct diagnosed *rnic = diagnoses_rnic(diagnoses, i);

		if (!is_wanted(wanted->host, rnic->host) ||
		    !is_wanted(wanted->device, rnic->device))
			continue;
		add_findings(findings, tor, rnic, wanted);
		if (wanted->host != NULL && json_array_size(rnics) < MAX_RNICS)
			json_array_append_new(rnics, show_rnic_rules(tor, rnic));
	}
}

/* ---- where pauses begin ---- */

/* Sets a rate by time and a rate by frames; one of them is null. */
static void
set_rate(json_t *object, const struct pause_rate *rate)
{
	json_object_set_new(object, "paused_pct",
	    rate->known && rate->timed ? json_real(rate->value) : json_null());
	json_object_set_new(object, "frames_per_s",
	    rate->known && !rate->timed ? json_real(rate->value) : json_null());
}

static json_t *
show_steps(const struct pause_finding *finding)
{
	json_t *steps = json_array();

	for (size_t i = 0; i < finding->step_count && i < PAUSE_STEPS; i++) {
		json_t *step = json_object();

		json_object_set_new(step, "from", json_string(finding->steps[i].from));
		json_object_set_new(step, "to", json_string(finding->steps[i].to));
		set_rate(step, &finding->steps[i].rate);
		json_array_append_new(steps, step);
	}
	return steps;
}

static json_t *
show_pause(const struct pause_standing *standing)
{
	const struct pause_finding *finding = &standing->finding;
	json_t *object = json_object(), *victims = json_array();
	char since[RM_WALL_TEXT];

	rm_wall_format(standing->since, since);
	for (size_t i = 0; i < finding->victim_count && i < PAUSE_VICTIMS; i++)
		json_array_append_new(victims, json_string(finding->victims[i]));
	json_object_set_new(
	    object, "diagnosis", json_string(pause_kind_str(finding->kind)));
	json_object_set_new(
	    object, "what", json_string(pause_kind_what(finding->kind)));
	json_object_set_new(object, "priority",
	    finding->priority == PAUSE_GLOBAL
		? json_null()
		: json_integer((json_int_t)finding->priority));
	json_object_set_new(object, "source", text_or_null(finding->source));
	json_object_set_new(object, "switch", text_or_null(finding->at_switch));
	json_object_set_new(object, "port", text_or_null(finding->at_port));
	json_object_set_new(
	    object, "victim_count", json_integer((json_int_t)finding->victim_count));
	json_object_set_new(object, "victims", victims);
	set_rate(object, &finding->rate);
	json_object_set_new(
	    object, "step_count", json_integer((json_int_t)finding->step_count));
	json_object_set_new(object, "steps", show_steps(finding));
	json_object_set_new(object, "evidence", json_string(finding->sentence));
	json_object_set_new(object, "since", json_string(since));
	return object;
}

/* The pauses are always those of all switches that are read, not of one rack. */
void
pauses_show(const struct tor_aggregator *aggregator, json_t *all)
{
	const struct pauses *pauses = aggregator->pauses;
	json_t *list = json_array();

	for (size_t i = 0; pauses != NULL && i < pauses->findings.count; i++)
		if (pauses->findings.kept[i].stands)
			json_array_append_new(
			    list, show_pause(&pauses->findings.kept[i]));
	json_object_set_new(all, "pauses", list);
	json_object_set_new(all, "switches_read",
	    json_integer(
		(json_int_t)(pauses == NULL || pauses->at.ns == 0
				 ? 0
				 : aggregator->read_switch_count - pauses->old)));
}

json_t *
diagnosis_show(const struct tor_aggregator *aggregator, size_t rack)
{
	const struct diagnoses *diagnoses = aggregator->diagnoses[rack];
	struct wanted wanted = { .limit = LIMIT };
	json_t *all = json_object(), *findings = json_array();

	add_rack(findings, NULL, aggregator->tors[rack], diagnoses, &wanted);
	json_object_set_new(all, "rnics_reported",
	    json_integer((json_int_t)diagnoses_reported(diagnoses)));
	json_object_set_new(
	    all, "finding_count", json_integer((json_int_t)wanted.count));
	json_object_set_new(all, "findings", findings);
	return all;
}

void
diagnosis_answer_get(struct rm_http_request *request, void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	struct wanted wanted = {
		.tor = rm_http_query(request, "tor"),
		.host = rm_http_query(request, "host"),
		.device = rm_http_query(request, "device"),
		.limit = LIMIT,
	};
	json_t *all, *findings, *rnics;
	size_t reported = 0;

	if (!rm_http_query_number(request, "offset", 0, UINT32_MAX, &wanted.offset) ||
	    !rm_http_query_number(request, "limit", 1, MAX_LIMIT, &wanted.limit))
		return;
	all = json_object();
	findings = json_array();
	rnics = json_array();
	for (size_t i = 0; i < aggregator->rack_count; i++) {
		if (!is_wanted(wanted.tor, aggregator->tors[i]))
			continue;
		reported += diagnoses_reported(aggregator->diagnoses[i]);
		add_rack(findings, rnics, aggregator->tors[i], aggregator->diagnoses[i],
		    &wanted);
	}
	json_object_set_new(all, "rnics_reported", json_integer((json_int_t)reported));
	json_object_set_new(
	    all, "finding_count", json_integer((json_int_t)wanted.count));
	json_object_set_new(all, "findings", findings);
	json_object_set_new(all, "rnics", rnics);
	pauses_show(aggregator, all);
	rm_http_reply_json(request, 200, all);
}

/* ---- metrics ---- */

static void
report_rack(
    struct rm_metrics_out *out, const char *tor, const struct diagnoses *diagnoses)
{
	unsigned standing[DIAGNOSES] = { 0 };
	char label[LABEL_BYTES], kind[64];

	for (size_t i = 0; i < diagnoses_rnics(diagnoses); i++)
		for (size_t d = 0; d < DIAGNOSES; d++)
			standing[d] += diagnoses_rnic(diagnoses, i)->findings[d].stands;
	snprintf(label, sizeof(label), "tor=\"%s\"", tor);
	for (size_t d = 0; d < DIAGNOSES; d++) {
		snprintf(kind, sizeof(kind), "diagnosis=\"%s\"", rules[d].name);
		rm_metrics_series(out, label, kind, standing[d]);
	}
}

static void
report_findings(struct rm_metrics_out *out, const void *arg)
{
	const struct tor_aggregator *aggregator = arg;

	for (size_t i = 0; i < aggregator->rack_count; i++)
		report_rack(out, aggregator->tors[i], aggregator->diagnoses[i]);
}

static const struct rm_metrics_family findings = { "rackmesh_diagnosis_rnics", "gauge",
	"RNICs of the rack for which the diagnosis holds.", report_findings };

static void
report_pauses(struct rm_metrics_out *out, const void *arg)
{
	const struct pauses *pauses = ((const struct tor_aggregator *)arg)->pauses;
	unsigned standing[PAUSE_KINDS] = { 0 };
	char kind[64];

	for (size_t i = 0; pauses != NULL && i < pauses->findings.count; i++)
		standing[pauses->findings.kept[i].finding.kind] +=
		    pauses->findings.kept[i].stands;
	for (enum pause_kind k = 0; pauses != NULL && k < PAUSE_KINDS; k++) {
		snprintf(kind, sizeof(kind), "diagnosis=\"%s\"", pause_kind_str(k));
		rm_metrics_series(out, kind, "", standing[k]);
	}
}

static const struct rm_metrics_family pause_findings = { "rackmesh_diagnosis_pauses",
	"gauge",
	"Sources and loops of pauses that spread over the switches that are read.",
	report_pauses };

static double
read_left_out(const void *arg)
{
	return (double)((const struct pauses *)arg)->left_out;
}

#define N(name) "rackmesh_aggregator_readings_" name

int
diagnosis_metrics_register(
    struct tor_aggregator *aggregator, struct rm_metrics *metrics)
{
	int r = rm_metrics_family(metrics, aggregator, &findings, aggregator);

	if (r == 0 && aggregator->pauses != NULL)
		r = rm_metrics_family(metrics, aggregator, &pause_findings, aggregator);
	if (r == 0 && aggregator->pauses != NULL)
		r = rm_metrics_gauge(metrics, aggregator->pauses,
		    "rackmesh_diagnosis_pauses_left_out", "",
		    "Ports with pauses, and pauses, beyond the limits of the last "
		    "search for the origins of pauses.",
		    read_left_out, aggregator->pauses);
	if (r == 0)
		r = rm_metrics_counter(metrics, aggregator, N("elsewhere_total"), "",
		    "Reports of the counters of RNICs that are in no rack of this "
		    "aggregator: agents send the counters of all their RNICs to each "
		    "aggregator.",
		    &aggregator->readings_elsewhere);
	for (size_t i = 0; r == 0 && i < aggregator->rack_count; i++) {
		const struct diagnoses_counts *counts =
		    diagnoses_counts(aggregator->diagnoses[i]);
		char label[LABEL_BYTES];

		snprintf(label, sizeof(label), "tor=\"%s\"", aggregator->tors[i]);
		r = rm_metrics_counter(metrics, counts, N("total"), label,
		    "Reports of an RNIC's counters.", &counts->reports);
		if (r == 0)
			r = rm_metrics_counter(metrics, counts, N("refused_total"),
			    label,
			    "Reports of an RNIC's counters refused: there are too "
			    "many RNICs, no memory, or its interval is invalid.",
			    &counts->refused);
		if (r == 0)
			r = rm_metrics_counter(metrics, counts,
			    N("unknown_values_total"), label,
			    "Values of counters that only newer agents know.",
			    &counts->unknown_values);
	}
	return r;
}
