/*
 * listener - accepts connections, within a bound.
 */
#ifndef RACKMESH_NET_LISTENER_H
#define RACKMESH_NET_LISTENER_H

#include <stddef.h>
#include <stdint.h>

struct rm_address;
struct rm_listener;
struct rm_loop;

/* Listens at the address. on_accept takes ownership of fd; it returns 0, or < 0 after
 * it has closed fd. If no descriptors are left (EMFILE), the listener pauses for 100
 * ms. Sets SO_REUSEADDR. */
int rm_listener_new(struct rm_loop *loop, const struct rm_address *address,
    int (*on_accept)(int fd, const struct rm_address *peer, void *arg), void *arg,
    struct rm_listener **ret);
void rm_listener_free(struct rm_listener *listener);
/* Returns the real port, if the port in address was 0. */
int rm_listener_port(const struct rm_listener *listener);

#endif
