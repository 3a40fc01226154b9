/*
 * device_events - calls back when a network or RDMA device, or an address, changed.
 *
 * Reads the kernel's netlink sockets, which need no privilege: links and addresses of a
 * network namespace, and added or removed RDMA devices, which the kernel reports to the
 * whole system but not to containers. The callback does not get what changed: the owner
 * has to search again. Events may be missing, so the owner should also search from time
 * to time.
 */
#ifndef HOST_AGENT_RNIC_DEVICE_EVENTS_H
#define HOST_AGENT_RNIC_DEVICE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device_events;
struct rm_loop;

/* netns: as for rm_netns_open. on_change is called from the loop, once for all messages
 * read together. */
int device_events_new(struct rm_loop *loop, const char *netns,
    void (*on_change)(void *arg), void *arg, struct device_events **ret);
void device_events_free(struct device_events *events); /* NULL is allowed */

/* Number of messages about a change so far. */
const uint64_t *device_events_count(const struct device_events *events);

/* data: a message of the kernel about a device ("add@/devices/...", then KEY=VALUE,
 * each with a terminating 0 byte). True: the device is an RDMA device. */
bool device_events_is_rdma(const char *data, size_t len);

#endif
