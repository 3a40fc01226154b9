/*
 * own_names - the names of this host: its host name, short and long, and its names in
 * /etc/hosts, which only root writes.
 *
 * /etc/resolv.conf is not used, since DHCP, VPNs and router advertisements write it. No
 * name server is asked, since an attacker may control the answer for a name of his own.
 * All but own_names_read is pure.
 */
#ifndef RACKMESH_HTTP_OWN_NAMES_H
#define RACKMESH_HTTP_OWN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define OWN_NAMES_MAX 64
/* The rest has room for those alone whose first label is the host's short name. */
#define OWN_NAMES_MAX_OTHERS 48
#define OWN_NAMES_BYTES 256

struct ifaddrs;

struct own_names {
	char host[OWN_NAMES_BYTES]; /* short or long; "": not known */
	char others[OWN_NAMES_MAX][OWN_NAMES_BYTES];
	size_t count;
};

/* Names of the process's host. Files that cannot be read are ignored. Reads a small
 * file. */
void own_names_read(struct own_names *names);

/*
 * A line of /etc/hosts; once host is set. Of one for loopback: names without a dot,
 * "localhost.localdomain" and the like, and those whose first label is the host's short
 * name; lists of blocked names lead to loopback, too. Of one for another of the host's
 * addresses: all names. Of others: none. line: is taken apart. addresses: the host's.
 */
void own_names_hosts_line(
    struct own_names *names, const struct ifaddrs *addresses, char *line);

bool own_names_have(const struct own_names *names, const char *name);

#endif
