/*
 * device_events - tells that a network or RDMA device, or an address, has changed.
 *
 * From the kernel's netlink sockets, which need no privilege: links and addresses of a
 * network namespace, and the coming and going of RDMA devices, of which the kernel
 * tells the whole system or, in a container, nobody. What has changed is not told: who
 * listens looks for himself, and looks now and then in any case.
 */
#ifndef HOST_AGENT_RNIC_DEVICE_EVENTS_H
#define HOST_AGENT_RNIC_DEVICE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device_events;
struct rm_loop;

/* netns: as for rm_netns_open. on_change comes from the loop, once for all that has
 * come together. */
int device_events_new(struct rm_loop *loop, const char *netns,
    void (*on_change)(void *arg), void *arg, struct device_events **ret);
void device_events_free(struct device_events *events); /* NULL is fine */

/* Messages so far that told of a change. */
const uint64_t *device_events_count(const struct device_events *events);

/* Whether a message of the kernel's about a device, "add@/devices/...", then
 * KEY=VALUE, each with its 0, is about one of RDMA. */
bool device_events_is_rdma(const char *data, size_t len);

#endif
