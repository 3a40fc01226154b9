/*
 * controller_check - what --check of a region-controller finds beside its options.
 */
#ifndef REGION_CONTROLLER_CONTROLLER_CHECK_H
#define REGION_CONTROLLER_CONTROLLER_CHECK_H

#include <stdbool.h>

#include "rackmesh/identity/identity.h"

struct controller_config;

/* Who the config says that this controller is; borrows. */
struct rm_identity_claim controller_claim(const struct controller_config *config);

/* For rm_config_start; config: a struct controller_config. */
unsigned controller_check(const void *config, bool connect);

#endif
