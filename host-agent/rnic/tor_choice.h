/*
 * tor_choice - chooses the ToRs of an RNIC from several sources. Pure.
 *
 * The first source that names ToRs counts, in this order: the config, LLDP, the
 * controller's topology. An RNIC must not move between racks because an LLDP neighbour
 * flaps. So other ToRs are chosen only after a source has named them for
 * TOR_CHOICE_MOVE_NS without interruption; a source that names no ToR changes nothing.
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
	size_t count; /* 0: the source names none */
};

struct tor_choice {
	struct tor_set reported[TOR_SOURCES];
	struct tor_set chosen;
	/* the source that chose the ToRs; not valid while `chosen` is empty */
	enum tor_source source;
	/* the ToRs that are chosen next, if the source keeps naming them */
	struct tor_set next;
	rm_mono_t next_since;
};

/* Adds a ToR, unless it is in the set already or the set is full. */
void tor_set_add(struct tor_set *set, const char *tor);
/* True: both sets have the same ToRs, in any order. */
bool tor_set_equal(const struct tor_set *a, const struct tor_set *b);
/* Writes "tor-1 and tor-2", or "none"; returns out. */
#define TOR_SET_TEXT (WIRE_MAX_ATTACHMENTS * (TOR_NAME_BYTES + 8))
const char *tor_set_text(const struct tor_set *set, char out[TOR_SET_TEXT]);

/* Sets the ToRs that this source names now. True: choice->chosen has changed. */
bool tor_choice_report(struct tor_choice *choice, enum tor_source source,
    const struct tor_set *set, rm_mono_t now);
/* True: LLDP names other ToRs than the config. */
bool tor_choice_mismatch(const struct tor_choice *choice);

const char *tor_source_str(enum tor_source source); /* "config", "lldp", ... */

#endif
