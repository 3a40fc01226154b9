#include "ctl/history/past_incident.h"

#include <string.h>

#include "ctl/output/printable.h"
#include "rackmesh/core/clock.h"

static json_t *
value_of(const json_t *answer, const json_t *row, const char *name)
{
	const json_t *column, *columns = json_object_get(answer, "columns");
	size_t i;

	json_array_foreach (columns, i, column)
		if (json_is_string(column) &&
		    strcmp(json_string_value(column), name) == 0)
			return json_array_get(row, i);
	return NULL;
}

static const char *
text_of(const json_t *answer, const json_t *row, const char *name)
{
	const char *text = json_string_value(value_of(answer, row, name));

	return text != NULL ? text : "";
}

/* The result is null if the history has no value. */
static json_t *
time_of(const json_t *answer, const json_t *row, const char *name)
{
	const json_int_t ns = json_integer_value(value_of(answer, row, name));
	char text[RM_WALL_TEXT];

	if (ns <= 0)
		return json_null();
	rm_wall_format((rm_wall_t){ ns }, text);
	return json_string(text);
}

/* The history has the evidence as text; some versions have stored the whole verdict
 * there, which contains the evidence. */
static json_t *
evidence_of(const json_t *answer, const json_t *row)
{
	json_t *all = json_loads(text_of(answer, row, "evidence"), 0, NULL);
	json_t *inner = json_object_get(all, "evidence");
	json_t *evidence = inner != NULL ? json_incref(inner) : json_incref(all);

	json_decref(all);
	if (evidence == NULL || printable_json(evidence) < 0) {
		json_decref(evidence);
		return json_object();
	}
	return evidence;
}

json_t *
past_incident_read(const json_t *answer)
{
	static const char *const copied[] = { "id", "region", "tor", "part_type",
		"part", "place", "kind", "severity", "confidence", "sentence" };
	const json_t *rows = json_object_get(answer, "rows");
	const json_t *row = json_array_get(rows, json_array_size(rows) - 1);
	json_t *incident;
	bool resolved;

	if (json_array_size(rows) == 0)
		return NULL;
	incident = json_object();
	for (size_t i = 0; i < sizeof(copied) / sizeof(copied[0]); i++) {
		json_t *value = value_of(answer, row, copied[i]);

		json_object_set_new(incident, copied[i],
		    value != NULL ? json_incref(value) : json_null());
	}
	resolved = strcmp(text_of(answer, row, "state"), "resolved") == 0;
	json_object_set_new(
	    incident, "state", json_string(resolved ? "resolved" : "open"));
	json_object_set_new(incident, "began", time_of(answer, row, "began_ns"));
	json_object_set_new(incident, "opened", time_of(answer, row, "opened_ns"));
	json_object_set_new(
	    incident, "changed", json_string(text_of(answer, row, "time")));
	json_object_set_new(incident, "resolved",
	    resolved ? json_string(text_of(answer, row, "time")) : json_null());
	json_object_set_new(
	    incident, "sources", json_pack("[s]", text_of(answer, row, "aggregator")));
	json_object_set_new(incident, "evidence", evidence_of(answer, row));
	json_object_set_new(incident, "related", json_array());
	return incident;
}

/* True: the list has the incident. VictoriaMetrics stores no ids: without an id, the
 * time of the opening decides. */
static bool
is_listed(const json_t *list, const char *id, const json_t *opened)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		if (id[0] != '\0'
			? strcmp(json_string_value(json_object_get(one, "id")), id) == 0
			: json_equal(json_object_get(one, "opened"), opened))
			return true;
	return false;
}

json_t *
past_incident_openings(const json_t *answer, const char *id)
{
	const json_t *rows = json_object_get(answer, "rows");
	json_t *list;

	if (!json_is_array(rows))
		return NULL;
	list = json_array();
	for (size_t i = json_array_size(rows); list != NULL && i-- > 0;) {
		const json_t *row = json_array_get(rows, i);
		const char *its = text_of(answer, row, "id");
		json_t *opened = time_of(answer, row, "opened_ns");

		if (strcmp(its, id) != 0 && !is_listed(list, its, opened))
			json_array_append_new(
			    list, json_pack("{s:s, s:s, s:O}", "id", its, "kind",
				      text_of(answer, row, "kind"), "opened", opened));
		json_decref(opened);
	}
	return list;
}
