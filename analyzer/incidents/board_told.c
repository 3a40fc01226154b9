#include "analyzer/incidents/board_told.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "analyzer/incidents/board.h"
#include "rackmesh/incident/incident.h"

/* Later than any clock of ours will ever say: the year 2262 is near. */
#define MAX_WALL_NS (INT64_MAX - 86400 * RM_NS_PER_S)

/* For names that leave for labels and logs: printable, and within their room. */
static bool
is_word(const char *text, size_t room)
{
	size_t len = 0;

	for (; text[len] != '\0'; len++)
		if (text[len] < ' ' || text[len] > '~' || text[len] == '|')
			return false;
	return len > 0 && len < room;
}

static bool
is_part_type(const char *word)
{
	for (int i = RM_PART_RNIC; i < RM_PART_TYPES; i++)
		if (strcmp(word, rm_part_type_word((enum rm_part_type)i)) == 0)
			return true;
	return false;
}

static bool
is_text(const char *text)
{
	json_t *json = json_string(text); /* NULL: not UTF-8, or no memory */
	bool good = json != NULL;

	json_decref(json);
	return good;
}

int
board_told_edge(const struct wire_incident *incident, struct board_told *ret)
{
	const size_t kind_bytes = sizeof(((struct board_entry *)0)->kind);

	if (!rm_name_valid(incident->head.region) ||
	    !rm_name_valid(incident->head.aggregator) || !rm_name_valid(incident->tor))
		return -EINVAL;
	if (!is_part_type(incident->part_type) ||
	    !is_word(incident->part, RM_PART_NAME_BYTES) ||
	    !is_word(incident->kind, kind_bytes))
		return -EINVAL;
	if (incident->place[0] != '\0' && !rm_name_valid(incident->place))
		return -EINVAL;
	/* Also false for what is no number. */
	if (!(incident->confidence >= 0 && incident->confidence <= 1))
		return -EINVAL;
	if (incident->began_wall_ns > MAX_WALL_NS ||
	    incident->opened_wall_ns > MAX_WALL_NS ||
	    incident->changed_wall_ns > MAX_WALL_NS || incident->incident_id == 0)
		return -EINVAL;
	if (!is_text(incident->sentence) || !is_text(incident->evidence_json))
		return -EINVAL;
	*ret = (struct board_told){
		.id = incident->incident_id,
		.state = incident->state,
		.region = incident->head.region,
		.source = incident->head.aggregator,
		.tor = incident->tor,
		.part_type = incident->part_type,
		.part = incident->part,
		.place = incident->place,
		.kind = incident->kind,
		.confidence = incident->confidence,
		.began = { (int64_t)incident->began_wall_ns },
		.opened = { (int64_t)incident->opened_wall_ns },
		.changed = { (int64_t)incident->changed_wall_ns },
		.sentence = incident->sentence,
		.evidence_json = incident->evidence_json,
	};
	return 0;
}

int
board_told_own(const char *region, const char *analyzer, enum wire_incident_state state,
    const struct rm_incident *incident, const char *evidence_json,
    struct board_told *ret)
{
	const struct rm_verdict *verdict = &incident->verdict;
	const struct rm_part *part = &verdict->part;
	bool of_tor = part->type == RM_PART_TOR || part->type == RM_PART_RACK;

	*ret = (struct board_told){
		.id = incident->id,
		.state = state,
		.is_own = true,
		.region = region,
		.source = analyzer,
		.tor = of_tor && strlen(part->name) < RM_NAME_BYTES ? part->name : "",
		.part_type = rm_part_type_word(part->type),
		.part = part->name,
		.place = part->place,
		.kind = rm_kind_word(verdict->kind),
		.confidence = verdict->confidence,
		.began = verdict->evidence.window_start,
		.opened = incident->opened,
		.changed =
		    state == WIRE_RESOLVED ? incident->resolved : incident->changed,
		.evidence_json = evidence_json,
	};
	rm_verdict_sentence(verdict, ret->own_sentence, sizeof(ret->own_sentence));
	ret->sentence = ret->own_sentence;
	return 0;
}
