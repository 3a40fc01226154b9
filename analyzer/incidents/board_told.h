/*
 * board_told - what somebody says of an incident, checked; private to the board.
 */
#ifndef ANALYZER_INCIDENTS_BOARD_TOLD_H
#define ANALYZER_INCIDENTS_BOARD_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/verdict.h"
#include "schemas/wire.h"

struct rm_incident;

struct board_told { /* strings are borrowed, and short enough for an entry */
	uint64_t id;
	enum wire_incident_state state;
	bool is_own;
	const char *region, *source, *tor;
	const char *part_type, *part, *place, *kind;
	double confidence;
	rm_wall_t began, opened, changed;
	const char *sentence, *evidence_json;
	char own_sentence[RM_SENTENCE_BYTES];
};

/* -EINVAL: it makes no sense. */
int board_told_edge(const struct wire_incident *incident, struct board_told *ret);
int board_told_own(const char *region, const char *analyzer,
    enum wire_incident_state state, const struct rm_incident *incident,
    const char *evidence_json, struct board_told *ret);

#endif
