/*
 * registry_hosts - the RNICs of a host. Pure; private to the registry.
 */
#ifndef REGION_CONTROLLER_REGISTRY_REGISTRY_HOSTS_H
#define REGION_CONTROLLER_REGISTRY_REGISTRY_HOSTS_H

#include "region-controller/registry/registry_rnic.h"

struct registry_hosts;

int registry_hosts_new(struct registry_hosts **ret);
void registry_hosts_free(struct registry_hosts *hosts); /* NULL is fine */

/* Borrows the RNIC until it is dropped; its host must not change meanwhile. -ENOMEM: it
 * is not found. */
int registry_hosts_add(struct registry_hosts *hosts, struct registry_rnic *rnic);
/* One that was not added is fine. */
void registry_hosts_drop(struct registry_hosts *hosts, struct registry_rnic *rnic);

/* The first; the others follow by .next_of_host. NULL: it has none. */
struct registry_rnic *registry_hosts_rnics(
    const struct registry_hosts *hosts, const char *host);

#endif
