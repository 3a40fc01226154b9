/*
 * registry_hosts - the RNICs of a host. Pure; private to the registry.
 */
#ifndef REGION_CONTROLLER_REGISTRY_REGISTRY_HOSTS_H
#define REGION_CONTROLLER_REGISTRY_REGISTRY_HOSTS_H

#include "region-controller/registry/registry_rnic.h"

struct registry_hosts;

int registry_hosts_new(struct registry_hosts **ret);
void registry_hosts_free(struct registry_hosts *hosts); /* NULL is fine */

/* Adds an RNIC, which is borrowed until it is dropped; until then its host must not
 * change. -ENOMEM: the RNIC cannot be found later. */
int registry_hosts_add(struct registry_hosts *hosts, struct registry_rnic *rnic);
/* Does nothing for an RNIC that was not added. */
void registry_hosts_drop(struct registry_hosts *hosts, struct registry_rnic *rnic);

/* Returns the first RNIC of a host; .next_of_host leads to the others. NULL: the host
 * has none. */
struct registry_rnic *registry_hosts_rnics(
    const struct registry_hosts *hosts, const char *host);

#endif
