/*
 * sonic_client - one connection to a Redis of a SONiC switch, for one reading at a
 * time.
 *
 * The password file is read for each reading. The owner looks up the address, and
 * limits the time: see tor-aggregator/collector.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SONIC_CLIENT_H
#define TOR_AGGREGATOR_SWITCH_SONIC_CLIENT_H

#include <stdbool.h>

#include "rackmesh/core/error.h"

struct rm_address;
struct rm_loop;
struct sonic;
struct sonic_client;
struct switch_counts;
struct switch_list;

struct sonic_client_options { /* all borrowed */
	struct rm_loop *loop;
	const char *password_file; /* "": no password */
	/* The address does not answer. r: a negative errno. It may dial another one. */
	void (*unreachable)(int r, void *arg);
	/* The end of a reading: 0, or a negative errno, and reason ("": r is enough).
	 * sonic: the complete reading, whose list the callee takes. It must call
	 * sonic_client_end. */
	void (*done)(int r, const char *reason, struct sonic *sonic, void *arg);
	void *arg;
};

int sonic_client_new(
    const struct sonic_client_options *options, struct sonic_client **ret);
void sonic_client_free(struct sonic_client *client); /* NULL is allowed */

/* Prepares a reading; none may be running. also, before and counts: as in sonic_new.
 * A negative errno: see *error ("": the errno is enough). */
int sonic_client_begin(struct sonic_client *client, unsigned also,
    const struct switch_list *before, struct switch_counts *counts,
    struct rm_error *error);
/* Connects to the address, instead of the one before. The callbacks are called by the
 * loop, never during this call. */
int sonic_client_dial(struct sonic_client *client, const struct rm_address *address);
bool sonic_client_is_connected(const struct sonic_client *client);
/* Closes the connection, if there is one, and deletes the password. NULL is allowed. */
void sonic_client_end(struct sonic_client *client);

#endif
