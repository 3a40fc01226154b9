/*
 * host_rnics - the RNICs from which the agent of this host is to probe. They come from
 * the agent, or, if it does not answer, from its config; with `rnics: auto` all RDMA
 * devices are taken then.
 */
#ifndef CTL_DOCTOR_HOST_RNICS_H
#define CTL_DOCTOR_HOST_RNICS_H

#include "ctl/doctor/host.h"

struct host_rnic {
	char device[HOST_NAME]; /* name as in the config */
	char rdma[HOST_NAME];   /* name of its RDMA device; "": none */
	char netdev[HOST_NAME]; /* "": not known */
	unsigned port;          /* port of the RDMA device */
	char tors[2][HOST_NAME];
	const json_t *reported; /* as the agent reports it; NULL: none */
};

/* Returns their number. */
size_t host_rnics(const struct host *host, struct host_rnic rnics[HOST_MAX_LIST]);

#endif
