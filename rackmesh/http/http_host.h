/*
 * http_host - tells whether a request's Host header names this host. Pure.
 *
 * It prevents DNS rebinding: an attacker lets a DNS name of his own resolve to
 * 127.0.0.1, and his page in a browser on this host then reads the daemon's answers.
 * The Host header of such a request has the attacker's name. Nobody can redirect an
 * address, so every numeric address is accepted.
 */
#ifndef RACKMESH_HTTP_HTTP_HOST_H
#define RACKMESH_HTTP_HTTP_HOST_H

#include <stdbool.h>

struct own_names;
struct rm_list;

/* host: from the URI or the header, without the port; NULL: there was none (not a
 * browser). names: further names to accept, NULL: none. */
bool http_host_is_here(
    const char *host, const struct own_names *own, const struct rm_list *names);

#endif
