/*
 * host_rnics - the RNICs from which the agent of this host is to probe. They come from
 * the agent, or, if it does not answer, from its config. With `rnics: auto` in the
 * config, all RDMA devices are used then.
 */
#ifndef CTL_DOCTOR_HOST_RNICS_H
#define CTL_DOCTOR_HOST_RNICS_H

#include "ctl/doctor/host.h"

struct host_rnic {
	char device[HOST_NAME]; /* name as in the config */
	char rdma[HOST_NAME];   /* name of the RNIC's RDMA device; "": none */
	char netdev[HOST_NAME]; /* "": not known */
	unsigned port;          /* port of the RDMA device */
	char tors[2][HOST_NAME];
	/* the RNIC as the agent reports it; NULL: it does not */
	const json_t *reported;
};

/* Returns their number. */
size_t host_rnics(const struct host *host, struct host_rnic rnics[HOST_MAX_LIST]);

#endif
