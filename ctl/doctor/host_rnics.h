/*
 * host_rnics - the RNICs from which the agent of this host is to probe: as the agent
 * reports them, else as its config names them; with `rnics: auto` and no agent every
 * RDMA device.
 */
#ifndef CTL_DOCTOR_HOST_RNICS_H
#define CTL_DOCTOR_HOST_RNICS_H

#include "ctl/doctor/host.h"

struct host_rnic {
	char device[HOST_NAME]; /* as in the config */
	char rdma[HOST_NAME];   /* its RDMA device, "": none */
	char netdev[HOST_NAME]; /* "": not known */
	unsigned port;          /* of the RDMA device */
	char tors[2][HOST_NAME];
	const json_t *reported; /* as the agent reports it; NULL: none */
};

/* Returns how many. */
size_t host_rnics(const struct host *host, struct host_rnic rnics[HOST_MAX_LIST]);

#endif
