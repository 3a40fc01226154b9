/*
 * tor_choice - which ToRs an RNIC is attached to, of what several sources say. Pure.
 *
 * The first source that says something counts: what a person has configured, what LLDP
 * tells, what the controller's topology has. An RNIC must not move between racks with a
 * neighbour that flaps: other ToRs have to be said for TOR_CHOICE_MOVE_NS without a
 * break, and silence moves nobody.
 */
#ifndef HOST_AGENT_RNIC_TOR_CHOICE_H
#define HOST_AGENT_RNIC_TOR_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define TOR_NAME_BYTES 64
#define TOR_CHOICE_MOVE_NS (60 * RM_NS_PER_S)

enum tor_source { TOR_CONFIG, TOR_LLDP, TOR_CONTROLLER, TOR_SOURCES };

struct tor_set {
	char tors[WIRE_MAX_ATTACHMENTS][TOR_NAME_BYTES];
	size_t count; /* 0: the source says nothing */
};

struct tor_choice {
	struct tor_set said[TOR_SOURCES];
	struct tor_set chosen;
	enum tor_source source; /* of chosen, where that has any */
	struct tor_set next;    /* what would be chosen, if it lasts */
	rm_mono_t next_since;
};

/* Adds a ToR; one beyond the bound, or known already, is left out. */
void tor_set_add(struct tor_set *set, const char *tor);
/* In any order. */
bool tor_set_equal(const struct tor_set *a, const struct tor_set *b);
/* "tor-1 and tor-2", "none"; returns out. */
#define TOR_SET_TEXT (WIRE_MAX_ATTACHMENTS * (TOR_NAME_BYTES + 8))
const char *tor_set_text(const struct tor_set *set, char out[TOR_SET_TEXT]);

/* What this source says now. True: choice->chosen has changed. */
bool tor_choice_say(struct tor_choice *choice, enum tor_source source,
    const struct tor_set *set, rm_mono_t now);
/* LLDP tells of other ToRs than config has. */
bool tor_choice_mismatch(const struct tor_choice *choice);

const char *tor_source_str(enum tor_source source); /* "config", "lldp", ... */

#endif
