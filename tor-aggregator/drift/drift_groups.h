/*
 * drift_groups - the option "expected": groups of RNICs and of switches' ports, and the
 * settings expected of them. Pure.
 *
 * If an RNIC belongs to several groups, each expected setting is taken from the first
 * group that declares it.
 */
#ifndef TOR_AGGREGATOR_DRIFT_DRIFT_GROUPS_H
#define TOR_AGGREGATOR_DRIFT_DRIFT_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/config/config.h"
#include "tor-aggregator/drift/drift_settings.h"

#define DRIFT_MAX_GROUPS 64
#define DRIFT_MAX_PATTERNS 64 /* per group */

struct drift_group_config {          /* 0, "": not declared */
	struct rm_list rnics, ports; /* char * */
	uint64_t mtu_bytes, roce_mtu_bytes, speed_gbps;
	char *pfc, *firmware, *traffic_class, *dscp;
	int trust; /* enum wire_trust + 1; 0: any */
	int fec;   /* enum wire_fec */
	int gid_types;
};

extern const struct rm_option drift_group_options[];

/* clang-format off */
#define DRIFT_OPTION(type, field)                                                          \
	{ "expected", RM_TABLE, offsetof(type, field), NULL, 0, DRIFT_MAX_GROUPS, RM_RELOAD, \
	  "expected settings of RNICs and of switches' ports, in groups; rackmeshctl drift shows the " \
	  "settings that differ", NULL, drift_group_options, sizeof(struct drift_group_config) }
/* clang-format on */

/* Checks the option's value. path: of the config file. -EINVAL, and *error. */
int drift_groups_check(
    const struct rm_list *groups, const char *path, struct rm_error *error);

struct drift_groups;

/* groups: checked before; copied. -ENOMEM. */
int drift_groups_new(const struct rm_list *groups, struct drift_groups **ret);
void drift_groups_free(struct drift_groups *groups); /* NULL is allowed */

size_t drift_groups_count(const struct drift_groups *groups);
/* port: host and device are the names of a switch and of its port. */
void drift_groups_find(const struct drift_groups *groups, bool port, const char *host,
    const char *device, struct drift_settings *ret);

#endif
