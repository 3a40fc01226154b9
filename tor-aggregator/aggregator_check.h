/*
 * aggregator_check - what `tor-aggregator --check` checks beside the values of the
 * options: certificates, addresses, and files; with --connect the peers, too.
 */
#ifndef TOR_AGGREGATOR_AGGREGATOR_CHECK_H
#define TOR_AGGREGATOR_AGGREGATOR_CHECK_H

#include <stdbool.h>

#include "rackmesh/identity/identity.h"
#include "schemas/wire.h"

struct aggregator_config;

/* The identity that this aggregator must have, by its config. The result borrows from
 * config and tors. */
struct rm_identity_claim aggregator_claim(
    const struct aggregator_config *config, const char *tors[WIRE_MAX_TORS]);

/* Pass it to rm_daemon_main. config: a struct aggregator_config. connect: also connects
 * to the peers. Returns the number of errors. */
unsigned aggregator_check(const void *config, bool connect);

#endif
