/*
 * netns - sockets in another network namespace than their process.
 */
#ifndef RACKMESH_CORE_NETNS_H
#define RACKMESH_CORE_NETNS_H

/* name: as in `ip netns`, or a path. The caller closes *ret. NULL or "": this
 * process's own namespace. */
int rm_netns_open(const char *name, int *ret);

/* Runs fn(arg) inside the namespace and comes back. Only the calling thread
 * moves. -EPERM without CAP_SYS_ADMIN. Returns fn's value, or the error. */
int rm_netns_call(int netns_fd, int (*fn)(void *arg), void *arg);

#endif
