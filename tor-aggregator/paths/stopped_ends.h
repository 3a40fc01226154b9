/*
 * stopped_ends - finds RNICs of other racks that answered nothing for a while because
 * their host was stopped. Pure.
 *
 * Packets wait in the sockets of such a host. When it continues, it answers all, and
 * its replies report how long their probes waited: the newest probes a short time,
 * older ones for almost the time-out. Probes that are older still were reported as lost
 * before; no path has lost them. So a loss is explained if the next probe to the RNIC
 * that was answered had to wait at the host.
 */
#ifndef TOR_AGGREGATOR_PATHS_STOPPED_ENDS_H
#define TOR_AGGREGATOR_PATHS_STOPPED_ENDS_H

#include <stdint.h>

struct flow_second;
struct stopped_ends;

int stopped_ends_new(struct stopped_ends **ret);
void stopped_ends_free(struct stopped_ends *ends);

/* Marks the flows to such RNICs as left out, if nearly all losses of the RNIC are
 * explained. Flows that are marked already are not used as evidence. next: the second
 * after this one, as far as it is known; or NULL. */
void stopped_ends_judge(struct stopped_ends *ends, struct flow_second *second,
    const struct flow_second *next);

/* Returns the number of probes that were left out so far. */
uint64_t stopped_ends_left_out(const struct stopped_ends *ends);

#endif
