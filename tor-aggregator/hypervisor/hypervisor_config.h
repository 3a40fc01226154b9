/*
 * hypervisor_config - the option "hypervisors": the ESXi hosts whose counters are read.
 */
#ifndef TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_CONFIG_H
#define TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/config/config.h"

struct rm_endpoint;

#define HYPERVISOR_MAX_HOSTS 64
#define HYPERVISOR_KEY_BYTES 16384 /* size of a private key's file */

struct hypervisor_config {
	char *name;
	char *address; /* a name, or numeric; without a port */
	uint64_t port;
	char *user, *key, *known_hosts;
	uint64_t interval_s;
	char *tor; /* the ToR of its rack; "": the only ToR */
};

extern const struct rm_option hypervisor_options[];

/* clang-format off */
#define HYPERVISORS_OPTION(type, field)                                                    \
	{ "hypervisors", RM_TABLE, offsetof(type, field), NULL, 0, HYPERVISOR_MAX_HOSTS, 0, \
	  "ESXi hosts of its racks whose counters are read over SSH; empty: none", NULL,  \
	  hypervisor_options, sizeof(struct hypervisor_config) }
/* clang-format on */

/* Checks the options of all hosts. Files are not read, because the daemon must start
 * even if one is missing. -EINVAL, and *error. */
int hypervisors_check(
    const struct rm_list *hypervisors, const char *path, struct rm_error *error);
/* Checks that the files of the key and of the known hosts can be used. -EINVAL,
 * -EACCES, -ENOENT or another errno, and *error. */
int hypervisor_check_files(
    const struct hypervisor_config *config, struct rm_error *error);

/* The address and port of a host. -EINVAL: the address is malformed. */
int hypervisor_endpoint(
    const struct hypervisor_config *config, struct rm_endpoint *ret);

#endif
