/*
 * switch_config - the options "switch." of a ToR: where its switch tells its counters.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SWITCH_CONFIG_H
#define TOR_AGGREGATOR_SWITCH_SWITCH_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/config/config.h"

enum switch_kind { SWITCH_NONE, SWITCH_SONIC, SWITCH_NEXUS };

struct switch_config {
	int kind;
	char *address;       /* name:port or address:port */
	char *password_file; /* "": none */
	uint64_t interval_s;
	char *user, *authorities; /* of a Nexus; authorities "": the system's */
};

extern const struct rm_word switch_kinds[];

/* clang-format off */
#define SWITCH_OPTIONS(type, field)                                                        \
	{ "switch.kind", RM_ENUM, offsetof(type, field.kind), "none", 0, 0, 0,             \
	  "how the switch tells its counters; sonic: by the Redis of SONiC; nexus: by the " \
	  "NX-API of a Cisco Nexus (https)", switch_kinds, NULL, 0 }, \
	{ "switch.address", RM_STRING, offsetof(type, field.address), "", 0, 262, 0,       \
	  "name:port or address:port of that", NULL, NULL, 0 },                            \
	{ "switch.password_file", RM_STRING, offsetof(type, field.password_file), "", 0, 1023, 0, \
	  "file with its password (mode 0600); \"\": it asks for none", NULL, NULL, 0 },   \
	{ "switch.user", RM_STRING, offsetof(type, field.user), "", 0, 255, 0,             \
	  "of a Nexus: who asks; a user who may only look (network-operator) will do",     \
	  NULL, NULL, 0 },                                                                 \
	{ "switch.authorities", RM_STRING, offsetof(type, field.authorities), "", 0, 1023, 0, \
	  "of a Nexus: CA bundle (PEM) that its certificate must chain to; \"\": the "     \
	  "system's", NULL, NULL, 0 },                                                     \
	{ "switch.interval_s", RM_UINT, offsetof(type, field.interval_s), "10", 1, 3600, 0, \
	  "time between two readings of the switch's counters", NULL, NULL, 0 }
/* clang-format on */

#define SWITCH_PASSWORD_BYTES 513

/* at: the ToR's number. No file is read: a missing one must not keep the daemon from
 * starting. -EINVAL and why. */
int switch_config_check(const struct switch_config *config, size_t at, const char *path,
    struct rm_why *why);
/* Would a reading find its password? -EINVAL, -EACCES, -ENOENT ... and why. */
int switch_config_check_files(const struct switch_config *config, struct rm_why *why);

#endif
