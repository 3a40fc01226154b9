/*
 * http_socket - what an http_face listens on; private to it.
 */
#ifndef RACKMESH_HTTP_HTTP_SOCKET_H
#define RACKMESH_HTTP_HTTP_SOCKET_H

struct rm_address;

/* Of a Unix socket; NULL: it is none. */
const char *http_socket_path(const struct rm_address *address);
/* A bound socket, not yet listening: nobody can connect before the chmod of a Unix
 * one. The caller closes it. */
int http_socket_bind(const struct rm_address *address, int *ret);
int http_socket_port(int fd); /* of a TCP one */

#endif
