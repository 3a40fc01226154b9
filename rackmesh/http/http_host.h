/*
 * http_host - checks whether the Host header of a request names this host. Pure.
 *
 * It prevents DNS rebinding: an attacker makes the attacker's own DNS name resolve to
 * 127.0.0.1, and the attacker's page in a browser on this host then reads the daemon's
 * answers. The Host header of such a request has the attacker's name. Nobody can
 * redirect an address, so every numeric address is accepted.
 */
#ifndef RACKMESH_HTTP_HTTP_HOST_H
#define RACKMESH_HTTP_HTTP_HOST_H

#include <stdbool.h>

struct own_names;
struct rm_list;

/* host: from the URI or the header, without the port; NULL: the request has none (it is
 * not from a browser). names: further names that are accepted; NULL: none. */
bool http_host_is_here(
    const char *host, const struct own_names *own, const struct rm_list *names);

#endif
