/*
 * analyzer_check - what `analyzer --check` checks beside the values of the options.
 */
#ifndef ANALYZER_ANALYZER_CHECK_H
#define ANALYZER_ANALYZER_CHECK_H

#include <stdbool.h>

#include "rackmesh/identity/identity.h"

/* The identity that an analyzer's certificate must have: any name, and a region that
 * includes the region of each peer. */
struct rm_identity_claim analyzer_claim(void);

/* Pass it to rm_daemon_main. config: a struct analyzer_config. connect: also connects
 * to other servers. Returns the number of errors. */
unsigned analyzer_check(const void *config, bool connect);

#endif
