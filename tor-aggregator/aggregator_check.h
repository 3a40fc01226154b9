/*
 * aggregator_check - what --check of a tor-aggregator finds beside its options.
 */
#ifndef TOR_AGGREGATOR_AGGREGATOR_CHECK_H
#define TOR_AGGREGATOR_AGGREGATOR_CHECK_H

#include <stdbool.h>

#include "rackmesh/identity/identity.h"
#include "schemas/wire.h"

struct aggregator_config;

/* Who the config says that this aggregator is; borrows, tors too. */
struct rm_identity_claim aggregator_claim(
    const struct aggregator_config *config, const char *tors[WIRE_MAX_TORS]);

/* For rm_config_start; config: a struct aggregator_config. */
unsigned aggregator_check(const void *config, bool connect);

#endif
