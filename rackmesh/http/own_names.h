/*
 * own_names - the names by which this host is known to itself.
 *
 * Its host name, the long form of a short one, and what /etc/hosts gives to this host
 * or to loopback. Only root writes those files. No name server is asked: somebody who
 * answers for a name of his own must not get it in here. All but own_names_read is
 * pure.
 */
#ifndef RACKMESH_HTTP_OWN_NAMES_H
#define RACKMESH_HTTP_OWN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define OWN_NAMES_MAX 64 /* lists of blocked names lead to loopback, too */
#define OWN_NAMES_MAX_LOOPBACK 48
#define OWN_NAMES_BYTES 256

struct own_names {
	char host[OWN_NAMES_BYTES]; /* short or long; "": not known */
	char others[OWN_NAMES_MAX][OWN_NAMES_BYTES];
	size_t count;
};

/* Of this process's host; what cannot be read says nothing. Reads two small files. */
void own_names_read(struct own_names *names);

/* A line of /etc/hosts, and one of /etc/resolv.conf: a short host name is one of the
 * domains searched. Once host is set. line: is taken apart. */
void own_names_hosts_line(struct own_names *names, char *line);
void own_names_resolver_line(struct own_names *names, char *line);

bool own_names_have(const struct own_names *names, const char *name);

#endif
