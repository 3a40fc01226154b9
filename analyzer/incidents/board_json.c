/* An entry of the board as JSON; docs/api.md describes it. */
#include <inttypes.h>
#include <stdio.h>

#include "analyzer/incidents/board.h"

static json_t *
wall_json(rm_wall_t wall)
{
	char text[RM_WALL_TEXT];

	if (wall.ns == 0)
		return json_null();
	rm_wall_format(wall, text);
	return json_string(text);
}

static json_t *
sources_json(const struct board_entry *entry)
{
	json_t *list = json_array();

	for (size_t i = 0; i < entry->source_count; i++)
		json_array_append_new(list, json_string(entry->sources[i]));
	return list;
}

/* A racks's whole verdict travels; here only its evidence is new. */
static json_t *
evidence_json(const struct board_entry *entry)
{
	json_t *all = json_loads(entry->evidence_json, 0, NULL);
	json_t *evidence = json_incref(json_object_get(all, "evidence"));

	if (evidence == NULL)
		return all != NULL ? all : json_null();
	json_decref(all);
	return evidence;
}

/* NULL into json_object_set_new is refused, and the key then missing: better than no
 * answer. */
json_t *
board_json(const struct board_entry *entry)
{
	json_t *json = json_object();
	char id[17];

	snprintf(id, sizeof(id), "%016" PRIx64, entry->id);
	json_object_set_new(json, "id", json_string(id));
	json_object_set_new(json, "number", json_integer((json_int_t)entry->changes));
	json_object_set_new(
	    json, "state", json_string(entry->is_open ? "open" : "resolved"));
	json_object_set_new(json, "region", json_string(entry->region));
	json_object_set_new(json, "tor", json_string(entry->tor));
	json_object_set_new(json, "sources", sources_json(entry));
	json_object_set_new(json, "part_type", json_string(entry->part_type));
	json_object_set_new(json, "part", json_string(entry->part));
	json_object_set_new(json, "place", json_string(entry->place));
	json_object_set_new(json, "kind", json_string(entry->kind));
	json_object_set_new(json, "confidence", json_real(entry->confidence));
	json_object_set_new(json, "began", wall_json(entry->began));
	json_object_set_new(json, "opened", wall_json(entry->opened));
	json_object_set_new(json, "changed", wall_json(entry->changed));
	json_object_set_new(json, "resolved", wall_json(entry->resolved));
	json_object_set_new(json, "sentence", json_string(entry->sentence));
	json_object_set_new(json, "evidence", evidence_json(entry));
	return json;
}
