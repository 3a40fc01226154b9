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

/*
 * on_accept takes fd and returns 0, or < 0 having closed it. At EMFILE the
 * listener pauses 100 ms instead of spinning. SO_REUSEADDR is set.
 */
int rm_listener_new(struct rm_loop *loop, const struct rm_address *address,
    int (*on_accept)(int fd, const struct rm_address *peer, void *arg), void *arg,
    struct rm_listener **ret);
void rm_listener_free(struct rm_listener *listener);
int rm_listener_port(const struct rm_listener *listener); /* the real one, for port 0 */

#endif
