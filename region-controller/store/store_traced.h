/*
 * store_traced - a traced link as it stands in etcd, below
 * topology/traced/<from>/<to>. Pure; foreign bytes.
 */
#ifndef REGION_CONTROLLER_STORE_STORE_TRACED_H
#define REGION_CONTROLLER_STORE_STORE_TRACED_H

#include <stddef.h>

struct rm_why;
struct traced_link;

#define STORE_KEY_TRACED "topology/traced/"

/* *text is malloc'd. -ENOMEM. */
int store_traced_write(const struct traced_link *link, char **text);
/* name: of the key, "<from>/<to>". -EBADMSG: and why says what is wrong. */
int store_traced_read(const char *name, const char *text, size_t len,
    struct traced_link *ret, struct rm_why *why);

#endif
