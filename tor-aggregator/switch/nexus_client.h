/*
 * nexus_client - sends one request at a time to a Nexus' NX-API, over https, and parses
 * its answer on a worker.
 *
 * The password file is read for each request. The certificate and the name of the
 * switch are always checked.
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
	/* The end of a request. values: owned by the callee. On failure r is a negative
	 * errno, values is NULL, and reason explains it ("": r is enough). */
	void (*done)(int r, const char *reason, struct nexus_values *values, void *arg);
	void *arg;
};

int nexus_client_new(
    const struct nexus_client_options *options, struct nexus_client **ret);
/* cancels a running request; NULL is allowed */
void nexus_client_free(struct nexus_client *client);

/* Sends a request; none may be running. also: bits of NEXUS_*. Then done is called
 * once, from the loop, unless the request is canceled. < 0: done is not called, see
 * *error. */
int nexus_client_ask(struct nexus_client *client, unsigned also, int64_t timeout_ns,
    struct rm_error *error);
/* Cancels the request, if one is running. NULL is allowed. */
void nexus_client_cancel(struct nexus_client *client);

#endif
