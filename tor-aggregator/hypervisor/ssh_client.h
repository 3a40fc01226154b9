/*
 * ssh_client - runs one command on one host by SSH, and passes on its output.
 *
 * The one file that knows libssh. Nothing in it blocks: it connects, checks the host's
 * key against a file of known hosts before it shows its own, runs the command and reads
 * until that ends. It has no deadline of its own: whoever has enough frees it.
 */
#ifndef TOR_AGGREGATOR_HYPERVISOR_SSH_CLIENT_H
#define TOR_AGGREGATOR_HYPERVISOR_SSH_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/address.h"

struct rm_loop;
struct rm_error;
struct ssh_client;

struct ssh_client_options { /* all borrowed, for as long as the client lives */
	struct rm_loop *loop;
	struct rm_address address;
	const char *host; /* as known_hosts calls it, with port if that is not 22 */
	unsigned port;
	const char *user;
	const char *key; /* text of the private key; only until the client is made */
	const char *known_hosts;
	const char *command;
};

struct ssh_client_callbacks {
	/* error: of the command's errors. < 0 ends it, and comes back in on_end. */
	int (*on_output)(const void *data, size_t len, bool error, void *arg);
	/* Once, and last: the client may be freed in it. 0: the command has ended;
	 * -EKEYREJECTED: the host has refused the key, and may have counted that
	 * against the user.
	 * reason: "" where r says it. */
	void (*on_end)(int r, const char *reason, void *arg);
	void *arg;
};

/* Callbacks come from the loop, never from within. -EINVAL: the key is none that works
 * without a passphrase; error says it. */
int ssh_client_new(const struct ssh_client_options *options,
    const struct ssh_client_callbacks *callbacks, struct rm_error *error,
    struct ssh_client **ret);
void ssh_client_free(struct ssh_client *client); /* NULL is fine */

/* It got as far as to the host's SSH. */
bool ssh_client_is_connected(const struct ssh_client *client);
/* What it is at, for an error: "no connection", "not logged in" ... */
const char *ssh_client_stage(const struct ssh_client *client);

#endif
