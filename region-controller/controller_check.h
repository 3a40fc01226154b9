/*
 * controller_check - what the region-controller checks with --check, besides its
 * options.
 */
#ifndef REGION_CONTROLLER_CONTROLLER_CHECK_H
#define REGION_CONTROLLER_CONTROLLER_CHECK_H

#include <stdbool.h>

#include "rackmesh/identity/identity.h"

struct controller_config;

/* The identity that the config claims for this controller. The result borrows from
 * config. */
struct rm_identity_claim controller_claim(const struct controller_config *config);

/* Pass it to rm_daemon_main as check. config: a struct controller_config. */
unsigned controller_check(const void *config, bool connect);

#endif
