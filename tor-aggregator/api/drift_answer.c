#include "tor-aggregator/api/drift_answer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/metrics/metrics.h"
#include "tor-aggregator/drift/drift.h"
#include "tor-aggregator/drift/drift_groups.h"
#include "tor-aggregator/tor_aggregator_state.h"

#define LIMIT 200 /* settings in one answer */
#define MAX_LIMIT 2000
#define LABEL_BYTES (RM_NAME_BYTES + 16)

/* ---- JSON ---- */

struct wanted {
	const char *tor, *host; /* NULL: any */
	bool all;               /* include settings that are as expected */
	uint64_t offset, limit, count;
};

static void
set_u64(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

static void
set_text(json_t *object, const char *key, const struct drift_settings *settings,
    const struct drift_settings *expected, enum wire_setting setting)
{
	char text[DRIFT_TEXT_BYTES];

	drift_setting_text(settings, expected, setting, text);
	json_object_set_new(
	    object, key, text[0] == '\0' ? json_null() : json_string(text));
}

static json_t *
show_setting(const char *tor, const struct drift_rnic *rnic, enum wire_setting setting)
{
	json_t *object = json_object();
	char since[RM_WALL_TEXT];

	rm_wall_format(rnic->since[setting], since);
	json_object_set_new(object, "tor", json_string(tor));
	json_object_set_new(
	    object, "kind", json_string(rnic->is_port ? "port" : "rnic"));
	json_object_set_new(object, "host", json_string(rnic->host));
	json_object_set_new(object, "device", json_string(rnic->device));
	json_object_set_new(object, "setting", json_string(drift_setting_str(setting)));
	json_object_set_new(
	    object, "state", json_string(drift_state_str(rnic->states[setting])));
	set_text(object, "expected", &rnic->expected, &rnic->expected, setting);
	set_text(object, "actual", &rnic->actual, &rnic->expected, setting);
	json_object_set_new(object, "since", json_string(since));
	return object;
}

static void
show_rnic(
    json_t *list, const char *tor, const struct drift_rnic *rnic, struct wanted *wanted)
{
	for (unsigned i = 0; i < WIRE_SETTINGS; i++) {
		const enum drift_state state = rnic->states[i];

		if (state == DRIFT_UNDECLARED || (state == DRIFT_SAME && !wanted->all))
			continue;
		if (wanted->count++ < wanted->offset || wanted->limit == 0)
			continue;
		wanted->limit--;
		json_array_append_new(
		    list, show_setting(tor, rnic, (enum wire_setting)i));
	}
}

static json_t *
show_sums(const char *tor, const struct drift *drift)
{
	const struct drift_sums sums = drift_sums(drift);
	json_t *object = json_object();

	json_object_set_new(object, "tor", json_string(tor));
	set_u64(object, "rnics", sums.rnics);
	set_u64(object, "rnics_different", sums.rnics_different);
	set_u64(object, "ports", sums.ports);
	set_u64(object, "ports_different", sums.ports_different);
	for (int i = DRIFT_SAME; i < DRIFT_STATES; i++)
		set_u64(object, drift_state_str((enum drift_state)i), sums.states[i]);
	return object;
}

static void
show_rack(
    json_t *list, const char *tor, const struct drift *drift, struct wanted *wanted)
{
	for (size_t i = 0; i < drift_count(drift); i++) {
		const struct drift_rnic *rnic = drift_get(drift, i);

		if (rnic->there &&
		    (wanted->host == NULL || strcmp(wanted->host, rnic->host) == 0))
			show_rnic(list, tor, rnic, wanted);
	}
}

json_t *
drift_show(const struct tor_aggregator *aggregator, size_t rack)
{
	const char *tor = aggregator->tors[rack];
	struct wanted wanted = { .limit = LIMIT };
	json_t *all = show_sums(tor, aggregator->drifts[rack]), *list = json_array();

	show_rack(list, tor, aggregator->drifts[rack], &wanted);
	set_u64(all, "groups", drift_groups_count(aggregator->expected));
	set_u64(all, "setting_count", wanted.count);
	json_object_set_new(all, "settings", list);
	return all;
}

void
drift_answer_get(struct rm_http_request *request, void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	struct wanted wanted = {
		.tor = rm_http_query(request, "tor"),
		.host = rm_http_query(request, "host"),
		.all = rm_http_query(request, "all") != NULL,
		.limit = LIMIT,
	};
	json_t *all, *racks, *settings;

	if (!rm_http_query_number(request, "offset", 0, UINT32_MAX, &wanted.offset) ||
	    !rm_http_query_number(request, "limit", 1, MAX_LIMIT, &wanted.limit))
		return;
	all = json_object();
	racks = json_array();
	settings = json_array();
	for (size_t t = 0; t < aggregator->rack_count; t++) {
		const char *tor = aggregator->tors[t];
		const struct drift *drift = aggregator->drifts[t];

		if (wanted.tor != NULL && strcmp(wanted.tor, tor) != 0)
			continue;
		json_array_append_new(racks, show_sums(tor, drift));
		show_rack(settings, tor, drift, &wanted);
	}
	set_u64(all, "groups", drift_groups_count(aggregator->expected));
	set_u64(all, "setting_count", wanted.count);
	json_object_set_new(all, "racks", racks);
	json_object_set_new(all, "settings", settings);
	rm_http_reply_json(request, 200, all);
}

/* ---- metrics ---- */

static void
tor_label(char label[LABEL_BYTES], const struct tor_aggregator *aggregator, size_t t)
{
	snprintf(label, LABEL_BYTES, "tor=\"%s\"", aggregator->tors[t]);
}

static void
report_settings(struct rm_metrics_out *out, const void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	char label[LABEL_BYTES], more[32];

	for (size_t t = 0; t < aggregator->rack_count; t++) {
		const struct drift_sums sums = drift_sums(aggregator->drifts[t]);

		tor_label(label, aggregator, t);
		for (int i = DRIFT_SAME; i < DRIFT_STATES; i++) {
			snprintf(more, sizeof(more), "state=\"%s\"",
			    drift_state_str((enum drift_state)i));
			rm_metrics_series(out, label, more, (double)sums.states[i]);
		}
	}
}

static void
report_rnics(struct rm_metrics_out *out, const void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	char label[LABEL_BYTES];

	for (size_t t = 0; t < aggregator->rack_count; t++) {
		tor_label(label, aggregator, t);
		rm_metrics_series(out, label, "",
		    (double)drift_sums(aggregator->drifts[t]).rnics_different);
	}
}

static void
report_ports(struct rm_metrics_out *out, const void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	char label[LABEL_BYTES];

	for (size_t t = 0; t < aggregator->rack_count; t++) {
		tor_label(label, aggregator, t);
		rm_metrics_series(out, label, "",
		    (double)drift_sums(aggregator->drifts[t]).ports_different);
	}
}

/* clang-format off */
static const struct rm_metrics_family families[] = {
	{ "rackmesh_drift_settings", "gauge", "Settings of the rack's RNICs and of its switch's ports that are compared: as expected (same), different, or not readable (unknown).", report_settings },
	{ "rackmesh_drift_rnics_different", "gauge", "RNICs with a setting that is different from what is expected.", report_rnics },
	{ "rackmesh_drift_ports_different", "gauge", "Ports of the rack's switch with a setting that is different from what is expected.", report_ports },
};
/* clang-format on */

int
drift_metrics_register(struct tor_aggregator *aggregator, struct rm_metrics *metrics)
{
	char label[LABEL_BYTES];
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(families) / sizeof(families[0]); i++)
		r = rm_metrics_family(metrics, aggregator, &families[i], aggregator);
	for (size_t t = 0; r == 0 && t < aggregator->rack_count; t++) {
		tor_label(label, aggregator, t);
		r = rm_metrics_counter(metrics, aggregator,
		    "rackmesh_drift_refused_total", label,
		    "RNICs and ports whose settings are not compared because there are "
		    "too many.",
		    drift_refused(aggregator->drifts[t]));
	}
	return r;
}
