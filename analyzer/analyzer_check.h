/*
 * analyzer_check - what --check of an analyzer finds beside its options.
 */
#ifndef ANALYZER_ANALYZER_CHECK_H
#define ANALYZER_ANALYZER_CHECK_H

#include <stdbool.h>

#include "rackmesh/identity/identity.h"

/* Who an analyzer's peers want it to be: of any name, and of a region of theirs. */
struct rm_identity_claim analyzer_claim(void);

/* For rm_config_start; config: a struct analyzer_config. */
unsigned analyzer_check(const void *config, bool connect);

#endif
