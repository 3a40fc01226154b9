/*
 * switch_config - the options for reading switches: "tors[].switch." for a ToR of this
 * aggregator, and "switches[]" for other switches.
 */
#ifndef TOR_AGGREGATOR_SWITCH_CONFIG_SWITCH_CONFIG_H
#define TOR_AGGREGATOR_SWITCH_CONFIG_SWITCH_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/config/config.h"

enum switch_kind { SWITCH_NONE, SWITCH_SONIC, SWITCH_NEXUS };

struct switch_config {
	int kind;
	char *address; /* name:port or address:port */
	struct rm_list
	    asics;           /* of char *: such addresses of further ASICs, for SONiC */
	char *password_file; /* "": none */
	uint64_t interval_s, neighbors_interval_s, optics_interval_s;
	char *user, *authorities; /* for a Nexus; authorities "": the system's */
	char *system_name; /* the switch's name in LLDP; "": the name in this config */
};

enum switch_role { SWITCH_ROLE_TOR, SWITCH_ROLE_SPINE };

struct other_switch_config {
	char *name;
	int role;
	struct switch_config reading;
};

#define SWITCH_MAX_OTHERS 64
#define SWITCH_MAX_ASICS 15 /* besides the first one */

extern const struct rm_enum_name switch_kinds[], switch_roles[];
extern const struct rm_option other_switch_options[];

/* clang-format off */
/* prefix: "switch." in tors[], "" in switches[] */
#define SWITCH_OPTIONS(prefix, type, field)                                                \
	{ prefix "kind", RM_ENUM, offsetof(type, field.kind), "none", 0, 0, 0,             \
	  "how the switch's counters are read. sonic: from the Redis of SONiC; " \
	  "nexus: from the NX-API of a Cisco Nexus (https); none: they are not read",                  \
	  switch_kinds, NULL, 0 },                                                         \
	{ prefix "address", RM_STRING, offsetof(type, field.address), "", 0, 262, 0,       \
	  "name:port or address:port of the switch's Redis or NX-API", NULL, NULL, 0 },    \
	{ prefix "asics", RM_LIST, offsetof(type, field.asics), NULL, 0, SWITCH_MAX_ASICS, 0, \
	  "for SONiC with several ASICs: name:port or address:port of the Redis of each "  \
	  "further ASIC that has ports", NULL, NULL, 0 },                                  \
	{ prefix "password_file", RM_STRING, offsetof(type, field.password_file), "", 0, 1023, 0, \
	  "file with the password of the Redis or NX-API (mode 0600); \"\": it needs "     \
	  "none", NULL, NULL, 0 },                                                         \
	{ prefix "user", RM_STRING, offsetof(type, field.user), "", 0, 255, 0,             \
	  "for a Nexus: user name; the role network-operator, which may only read, is "    \
	  "enough",                                                                        \
	  NULL, NULL, 0 },                                                                 \
	{ prefix "authorities", RM_STRING, offsetof(type, field.authorities), "", 0, 1023, 0, \
	  "for a Nexus: CA bundle (PEM) that its certificate must chain to; \"\": the "    \
	  "system's", NULL, NULL, 0 },                                                     \
	{ prefix "system_name", RM_STRING, offsetof(type, field.system_name), "", 0, 63, 0, \
	  "the switch's system name in LLDP; \"\": it is the switch's name in this "      \
	  "config, with or without a domain", NULL, NULL, 0 }, \
	{ prefix "interval_s", RM_UINT, offsetof(type, field.interval_s), "10", 1, 3600, 0, \
	  "time between two readings of the switch's counters", NULL, NULL, 0 },           \
	{ prefix "neighbors_interval_s", RM_UINT, offsetof(type, field.neighbors_interval_s), \
	  "30", 1, 3600, 0, "time between two readings that include the neighbours of the " \
	  "ports (LLDP)", NULL, NULL, 0 },                              \
	{ prefix "optics_interval_s", RM_UINT, offsetof(type, field.optics_interval_s), "60", \
	  1, 3600, 0, "time between two readings that include the optical modules of the " \
	  "ports; SONiC itself reads modules once a minute",                               \
	  NULL, NULL, 0 }
#define OTHER_SWITCHES_OPTION(type, field)                                                 \
	{ "switches", RM_TABLE, offsetof(type, field), NULL, 0, SWITCH_MAX_OTHERS, 0,      \
	  "further switches whose counters are read, besides those of its ToRs: " \
	  "spines, and ToRs of other aggregators that a pause storm may cross " \
	  "(docs/counters.md)", NULL,    \
	  other_switch_options, sizeof(struct other_switch_config) }
/* clang-format on */

#define SWITCH_PASSWORD_BYTES 513

/* Checks the options of one switch. at: their place in the config, such as
 * "tors[0].switch"; path: of the config file. Files are not read, because the daemon
 * must start even if one is missing. -EINVAL, and *error. */
int switch_config_check(const struct switch_config *config, const char *at,
    const char *path, struct rm_error *error);
/* Checks the options of the switches, and that their names differ. path: of the config
 * file. -EINVAL, and *error. */
int other_switches_check(
    const struct rm_list *switches, const char *path, struct rm_error *error);
/* Checks that the password file can be used. -EINVAL, -EACCES, -ENOENT or another
 * errno, and *error. */
int switch_config_check_files(
    const struct switch_config *config, struct rm_error *error);

#endif
