/*
 * aggregator_check - the checks of a tor-aggregator's --check besides its options.
 */
#ifndef TOR_AGGREGATOR_AGGREGATOR_CHECK_H
#define TOR_AGGREGATOR_AGGREGATOR_CHECK_H

#include <stdbool.h>

#include "rackmesh/identity/identity.h"
#include "schemas/wire.h"

struct aggregator_config;

/* The identity that the config claims for this aggregator; borrows, tors too. */
struct rm_identity_claim aggregator_claim(
    const struct aggregator_config *config, const char *tors[WIRE_MAX_TORS]);

/* For rm_daemon_main; config: a struct aggregator_config. */
unsigned aggregator_check(const void *config, bool connect);

#endif
