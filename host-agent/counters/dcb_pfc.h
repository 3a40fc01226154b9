/*
 * dcb_pfc - priority flow control by DCB: for which priorities it is on, the number of
 * its frames, and what decides a packet's priority, for any driver.
 */
#ifndef HOST_AGENT_COUNTERS_DCB_PFC_H
#define HOST_AGENT_COUNTERS_DCB_PFC_H

#include <stdbool.h>
#include <stdint.h>

#define DCB_PRIORITIES 8
#define DCB_DSCPS 64
#define DCB_NO_PRIORITY 255

struct counter_kernel;

struct dcb_pfc { /* without .there: none */
	bool there;
	uint8_t enabled; /* a bit for each priority */
	bool dscp;       /* some DSCP has a priority; else the VLAN tag decides */
	uint8_t dscps[DCB_DSCPS]; /* the priority of each, or DCB_NO_PRIORITY */
	uint64_t tx[DCB_PRIORITIES], rx[DCB_PRIORITIES];
};

/* -EOPNOTSUPP: the driver has no DCB. */
int dcb_pfc_read(
    struct dcb_pfc *ret, const struct counter_kernel *kernel, const char *netdev);

/* By the names "pfc_rx_3", "pfc_tx_3", "pfc_enabled_3". The index of such a value,
 * or -ENOENT. */
int dcb_pfc_find(const struct dcb_pfc *pfc, const char *name);
uint64_t dcb_pfc_value(const struct dcb_pfc *pfc, unsigned i);

#endif
