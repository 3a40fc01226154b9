/*
 * http_host - is a request's Host this one? Pure.
 *
 * Whoever makes a name of his own lead to 127.0.0.1 has a browser there ask us for his
 * page, and read the answers. Its Host is that name. An address cannot be made to lead
 * anywhere else, so every address is let in.
 */
#ifndef RACKMESH_HTTP_HTTP_HOST_H
#define RACKMESH_HTTP_HTTP_HOST_H

#include <stdbool.h>

struct own_names;
struct rm_list;

/* host: of the URI or the header, without the port; NULL: none came (no browser).
 * names: others, NULL: none. */
bool http_host_is_here(
    const char *host, const struct own_names *own, const struct rm_list *names);

#endif
