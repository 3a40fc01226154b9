/*
 * dcb_pfc - priority flow control (PFC) as DCB shows it for any driver: the priorities
 * for which PFC is on, the number of PFC frames, and the mapping of packets to
 * priorities.
 */
#ifndef HOST_AGENT_COUNTERS_DCB_PFC_H
#define HOST_AGENT_COUNTERS_DCB_PFC_H

#include <stdbool.h>
#include <stdint.h>

#define DCB_PRIORITIES 8
#define DCB_DSCPS 64
#define DCB_NO_PRIORITY 255

struct counter_kernel;

/* all zeros: nothing was read; there: true after a successful reading */
struct dcb_pfc {
	bool there;
	uint8_t enabled; /* a bit for each priority */
	bool dscp;       /* packets get their priority by DSCP; else by the VLAN tag */
	uint8_t dscps[DCB_DSCPS]; /* the priority of each DSCP, or DCB_NO_PRIORITY */
	uint64_t tx[DCB_PRIORITIES], rx[DCB_PRIORITIES];
};

/* -EOPNOTSUPP: the driver has no DCB. */
int dcb_pfc_read(
    struct dcb_pfc *ret, const struct counter_kernel *kernel, const char *netdev);

/* name: "pfc_rx_3", "pfc_tx_3" or "pfc_enabled_3". Returns the index of the value, or
 * -ENOENT. */
int dcb_pfc_find(const struct dcb_pfc *pfc, const char *name);
uint64_t dcb_pfc_value(const struct dcb_pfc *pfc, unsigned i);

#endif
