/*
 * nexus_client - sends one request at a time to a Nexus' NX-API, over https, and parses
 * its answer on a worker.
 *
 * The password is read for each request. The certificate and name of the switch are
 * always checked.
 */
#ifndef TOR_AGGREGATOR_SWITCH_NEXUS_CLIENT_H
#define TOR_AGGREGATOR_SWITCH_NEXUS_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/error.h"

struct nexus_client;
struct nexus_values;
struct rm_http_client;
struct rm_worker;
struct switch_config;

struct nexus_client_options { /* all borrowed */
	struct rm_http_client *http;
	struct rm_worker *worker;
	const struct switch_config *config;
	/* values: owned by the callee; NULL when r < 0, which reason explains ("": r
	 * is enough). */
	void (*done)(int r, const char *reason, struct nexus_values *values, void *arg);
	void *arg;
};

int nexus_client_new(
    const struct nexus_client_options *options, struct nexus_client **ret);
void nexus_client_free(struct nexus_client *client); /* NULL is allowed; cancels */

/* also: bits of NEXUS_*. No request may be running. done is called once, from the
 * loop, unless it is canceled. */
int nexus_client_ask(struct nexus_client *client, unsigned also, int64_t timeout_ns,
    struct rm_error *error);
/* NULL is allowed, and so is a client without a request. */
void nexus_client_cancel(struct nexus_client *client);

#endif
