/*
 * analyzer_check - the checks of an analyzer's --check besides its options.
 */
#ifndef ANALYZER_ANALYZER_CHECK_H
#define ANALYZER_ANALYZER_CHECK_H

#include <stdbool.h>

#include "rackmesh/identity/identity.h"

/* The identity that an analyzer's peers require: any name, and a region that includes
 * theirs. */
struct rm_identity_claim analyzer_claim(void);

/* For rm_daemon_main; config: a struct analyzer_config. */
unsigned analyzer_check(const void *config, bool connect);

#endif
