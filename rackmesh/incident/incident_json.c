#include "rackmesh/incident/incident.h"

#include <inttypes.h>
#include <stdio.h>

static int
set_time(json_t *json, const char *key, rm_wall_t t)
{
	char text[RM_WALL_TEXT];

	if (t.ns == 0)
		return json_object_set_new(json, key, json_null());
	rm_wall_format(t, text);
	return json_object_set_new(json, key, json_string(text));
}

void
rm_incident_flapping(
    const struct rm_incident *incident, char ret[RM_INCIDENT_FLAP_TEXT])
{
	const int64_t span_ns = incident->returned.ns - incident->flaps_since.ns;

	ret[0] = '\0';
	if (incident->flaps_since.ns != 0)
		snprintf(ret, RM_INCIDENT_FLAP_TEXT,
		    "it came back %" PRIu64 " times within %" PRId64 " s",
		    incident->returns, span_ns > 0 ? span_ns / RM_NS_PER_S : 0);
}

static json_t *
flapping_json(const struct rm_incident *incident)
{
	const int64_t span_ns = incident->returned.ns - incident->flaps_since.ns;
	char since[RM_WALL_TEXT];

	if (incident->flaps_since.ns == 0)
		return json_null();
	rm_wall_format(incident->flaps_since, since);
	return json_pack("{s:s, s:I, s:f}", "since", since, "returns",
	    (json_int_t)incident->returns, "per_minute",
	    span_ns > 0
		? (double)incident->returns * 60 * (double)RM_NS_PER_S / (double)span_ns
		: 0.0);
}

json_t *
rm_incident_json(const struct rm_incident *incident)
{
	json_t *json = rm_verdict_json(&incident->verdict);
	char id[17];

	if (json == NULL)
		return NULL;
	snprintf(id, sizeof id, "%016" PRIx64, incident->id);
	if (json_object_set_new(json, "id", json_string(id)) < 0 ||
	    json_object_set_new(json, "state",
		json_string(incident->resolved.ns == 0 ? "open" : "resolved")) < 0 ||
	    json_object_set_new(
		json, "reopened", json_integer((json_int_t)incident->reopened)) < 0 ||
	    json_object_set_new(json, "flapping", flapping_json(incident)) < 0 ||
	    set_time(json, "opened", incident->opened) < 0 ||
	    set_time(json, "changed", incident->changed) < 0 ||
	    set_time(json, "resolved", incident->resolved) < 0) {
		json_decref(json);
		return NULL;
	}
	return json;
}
