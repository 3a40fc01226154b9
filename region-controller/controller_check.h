/*
 * controller_check - the checks of a region-controller's --check besides its options.
 */
#ifndef REGION_CONTROLLER_CONTROLLER_CHECK_H
#define REGION_CONTROLLER_CONTROLLER_CHECK_H

#include <stdbool.h>

#include "rackmesh/identity/identity.h"

struct controller_config;

/* The identity that the config claims for this controller; borrows. */
struct rm_identity_claim controller_claim(const struct controller_config *config);

/* For rm_daemon_main; config: a struct controller_config. */
unsigned controller_check(const void *config, bool connect);

#endif
