/*
 * nexus_client - one request to a Nexus' NX-API at a time, over https, and what it
 * answers cut into values on a worker.
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
	/* values: now the callee's; NULL when r < 0, which why explains ("": r does).
	 */
	void (*done)(int r, const char *reason, struct nexus_values *values, void *arg);
	void *arg;
};

int nexus_client_new(
    const struct nexus_client_options *options, struct nexus_client **ret);
void nexus_client_free(struct nexus_client *client); /* NULL is fine; cancels */

/* also: bits of NEXUS_*. None may be under way. done is called once, from the loop,
 * unless it is canceled. */
int nexus_client_ask(struct nexus_client *client, unsigned also, int64_t timeout_ns,
    struct rm_error *error);
/* NULL, and nothing under way, are fine. */
void nexus_client_cancel(struct nexus_client *client);

#endif
