/* Incidents in the HTTP API; docs/api.md describes it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "analyzer/analyzer_config.h"
#include "analyzer/analyzer_state.h"
#include "analyzer/api/analyzer_api.h"
#include "analyzer/incidents/part_names.h"
#include "analyzer/intake/intake.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/identity/sight.h"

#define LIMIT 1000
#define MAX_LIMIT (INCIDENT_TABLE_MAX_OPEN + INCIDENT_TABLE_MAX_CLOSED)
#define MAX_RELATED 50

/* True: none of the incident's sources is connected, so its state cannot change. */
static bool
is_silent(const struct analyzer *analyzer, const struct incident_table_entry *entry)
{
	for (size_t i = 0; i < entry->source_count; i++)
		if (strcmp(entry->sources[i], analyzer->config->name) == 0 ||
		    intake_find(analyzer->intake, entry->region, entry->sources[i]) !=
			NULL)
			return false;
	return entry->is_open;
}

static json_t *
entry_json(const struct analyzer *analyzer, const struct incident_table_entry *entry,
    const struct rm_sight *sight)
{
	json_t *json = incident_table_json(entry);

	json_object_set_new(json, "number",
	    json_integer(
		(json_int_t)incident_table_number_in(analyzer->table, entry, sight)));
	json_object_set_new(
	    json, "source_silent", json_boolean(is_silent(analyzer, entry)));
	return json;
}

static int
by_change(const void *a, const void *b)
{
	const struct incident_table_entry *const *one = a, *const *other = b;

	return (*one)->changes < (*other)->changes ? -1 : 1;
}

/* Returns the incidents that the query asks for, in the order of the table of
 * incidents. */
static size_t
choose(const struct analyzer *analyzer, const struct rm_http_request *request,
    const struct rm_sight *sight, uint64_t since,
    const struct incident_table_entry **chosen)
{
	const char *tor = rm_http_query(request, "tor");
	bool open_only = rm_http_query(request, "open") != NULL;
	const struct incident_table_entry *entry;
	size_t count = 0;

	for (size_t i = 0; (entry = incident_table_get(analyzer->table, i)) != NULL;
	     i++)
		if (incident_table_number_in(analyzer->table, entry, sight) > since &&
		    (!open_only || entry->is_open) &&
		    rm_sight_shows(sight, entry->region) &&
		    (tor == NULL || strcmp(tor, entry->tor) == 0))
			chosen[count++] = entry;
	return count;
}

/* Returns the number of open incidents of all regions that the client may see, whatever
 * the other filters are. */
static size_t
open_in(const struct analyzer *analyzer, struct rm_sight sight)
{
	size_t count = 0;

	sight.asked = NULL;
	for (size_t i = 0; i < incident_table_open(analyzer->table); i++)
		count += rm_sight_shows(
		    &sight, incident_table_get(analyzer->table, i)->region);
	return count;
}

/* With since= the answer begins with the oldest change, so that a client can continue
 * after a truncated answer. */
void
analyzer_api_incidents(struct rm_http_request *request, void *arg)
{
	const struct analyzer *analyzer = arg;
	uint64_t since = 0, limit = LIMIT, changes;
	const struct incident_table_entry **chosen;
	struct rm_sight sight;
	json_t *list, *all;
	size_t count;

	if (!rm_http_query_number(request, "since", 0, INT64_MAX, &since) ||
	    !rm_http_query_number(request, "limit", 1, MAX_LIMIT, &limit))
		return;
	chosen = calloc(MAX_LIMIT + 1, sizeof(*chosen));
	if (chosen == NULL) {
		rm_http_reply_error(request, 500, "out of memory");
		return;
	}
	rm_sight_of(&sight, request);
	changes = incident_table_changes_in(analyzer->table, &sight);
	count = choose(analyzer, request, &sight, since, chosen);
	if (rm_http_query(request, "since") != NULL) {
		qsort(chosen, count, sizeof(*chosen), by_change);
		if (count > limit)
			changes = incident_table_number_in(
			    analyzer->table, chosen[limit - 1], &sight);
	}
	all = json_object();
	list = json_array();
	for (size_t i = 0; i < count && i < limit; i++)
		json_array_append_new(list, entry_json(analyzer, chosen[i], &sight));
	free(chosen);
	json_object_set_new(all, "changes", json_integer((json_int_t)changes));
	json_object_set_new(
	    all, "open", json_integer((json_int_t)open_in(analyzer, sight)));
	json_object_set_new(all, "incidents", list);
	rm_http_reply_json(request, 200, all);
}

/* ---- one incident ---------------------------------------------------------------- */

static bool
share_a_name(const char *part, const char *other)
{
	char names[PART_NAMES_MAX][RM_NAME_BYTES],
	    others[PART_NAMES_MAX][RM_NAME_BYTES];
	size_t count = part_names_of(part, names);
	size_t other_count = part_names_of(other, others);

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < other_count; k++)
			if (strcmp(names[i], others[k]) == 0)
				return true;
	return false;
}

/* Returns true for incidents of the same rack, and for parts that have a switch in
 * common. */
static bool
is_related(
    const struct incident_table_entry *entry, const struct incident_table_entry *other)
{
	if (entry == other || strcmp(entry->region, other->region) != 0)
		return false;
	if (entry->tor[0] != '\0' && strcmp(entry->tor, other->tor) == 0)
		return true;
	if (other->tor[0] != '\0' && share_a_name(entry->part, other->tor))
		return true;
	if (entry->tor[0] != '\0' && share_a_name(other->part, entry->tor))
		return true;
	return share_a_name(entry->part, other->part);
}

static json_t *
related_json(const struct analyzer *analyzer, const struct incident_table_entry *entry,
    const struct rm_sight *sight)
{
	json_t *list = json_array();

	for (size_t i = 0; i < incident_table_open(analyzer->table) &&
			   json_array_size(list) < MAX_RELATED;
	     i++) {
		const struct incident_table_entry *other =
		    incident_table_get(analyzer->table, i);

		if (is_related(entry, other))
			json_array_append_new(list, entry_json(analyzer, other, sight));
	}
	return list;
}

void
analyzer_api_incident(struct rm_http_request *request, void *arg)
{
	const struct analyzer *analyzer = arg;
	const char *text = rm_http_path_rest(request);
	const struct incident_table_entry *entry = NULL;
	size_t len = strlen(text);
	struct rm_sight sight;
	json_t *json;

	rm_sight_of(&sight, request);
	if (len > 0 && len <= 16 && strspn(text, "0123456789abcdefABCDEF") == len)
		entry = incident_table_find(analyzer->table, strtoull(text, NULL, 16));
	if (entry == NULL || !rm_sight_shows(&sight, entry->region)) {
		rm_http_reply_error(
		    request, 404, "no such incident: give its id, see /v1/incidents");
		return;
	}
	json = entry_json(analyzer, entry, &sight);
	json_object_set_new(json, "related", related_json(analyzer, entry, &sight));
	rm_http_reply_json(request, 200, json);
}
