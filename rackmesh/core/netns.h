/*
 * netns - runs a function in another network namespace, for example a function that
 * opens sockets.
 */
#ifndef RACKMESH_CORE_NETNS_H
#define RACKMESH_CORE_NETNS_H

/* Opens the file of a namespace; the caller closes *ret. name: as in `ip netns`, or a
 * path; NULL or "": the namespace of this process. */
int rm_netns_open(const char *name, int *ret);

/* Runs fn(arg) in the namespace; only the calling thread enters it, and it returns
 * afterwards. Returns fn's result, or the error. -EPERM: no CAP_SYS_ADMIN. */
int rm_netns_call(int netns_fd, int (*fn)(void *arg), void *arg);

#endif
