/*
 * tor_choice - chooses the ToRs of an RNIC from several sources. Pure.
 *
 * The first source that names ToRs counts, in this order: the config, LLDP, the
 * controller's topology. An RNIC must not move between racks because an LLDP neighbour
 * flaps: a source has to name other ToRs for TOR_CHOICE_MOVE_NS without interruption,
 * and a source that names none moves no RNIC.
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
	enum tor_source source; /* source of chosen, unless that is empty */
	struct tor_set next;    /* the ToRs that will be chosen if they stay */
	rm_mono_t next_since;
};

/* Adds a ToR; one beyond the limit, or a known one, is left out. */
void tor_set_add(struct tor_set *set, const char *tor);
/* The order does not matter. */
bool tor_set_equal(const struct tor_set *a, const struct tor_set *b);
/* "tor-1 and tor-2", "none"; returns out. */
#define TOR_SET_TEXT (WIRE_MAX_ATTACHMENTS * (TOR_NAME_BYTES + 8))
const char *tor_set_text(const struct tor_set *set, char out[TOR_SET_TEXT]);

/* Sets the ToRs that this source names now. True: choice->chosen has changed. */
bool tor_choice_report(struct tor_choice *choice, enum tor_source source,
    const struct tor_set *set, rm_mono_t now);
/* True: LLDP names other ToRs than the config. */
bool tor_choice_mismatch(const struct tor_choice *choice);

const char *tor_source_str(enum tor_source source); /* "config", "lldp", ... */

#endif
