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
/* Names with another first label are stored only up to this number. The other places
 * are kept for names whose first label is the host's short name. */
#define OWN_NAMES_MAX_OTHERS 48
#define OWN_NAMES_BYTES 256

struct ifaddrs;

struct own_names {
	char host[OWN_NAMES_BYTES]; /* short or long; "": not known */
	char others[OWN_NAMES_MAX][OWN_NAMES_BYTES];
	size_t count;
};

/* Reads the names of the process's host, from a small file. Files that cannot be read
 * are ignored. */
void own_names_read(struct own_names *names);

/*
 * Stores the names of one line of /etc/hosts; `host` must be set before. From a line
 * for loopback: names without a dot, "localhost.localdomain" and the like, and names
 * whose first label is the host's short name. Other names are not stored, because lists
 * of blocked sites point to loopback, too. From a line for another address of the host:
 * all names. From a line for an address of another host: no names. line: the function
 * overwrites it. addresses: the host's addresses.
 */
void own_names_hosts_line(
    struct own_names *names, const struct ifaddrs *addresses, char *line);

bool own_names_have(const struct own_names *names, const char *name);

#endif
