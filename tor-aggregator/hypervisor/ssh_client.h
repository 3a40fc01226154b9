/*
 * ssh_client - runs one command on one host by SSH, and passes on its output.
 *
 * Only this module uses libssh, and it never blocks. It connects, checks the host's key
 * against a file of known hosts, logs in only after that, runs the command, and reads
 * its output to the end. There is no deadline: the owner frees the client to stop it.
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

struct ssh_client_options { /* all members are borrowed for the life of the client */
	struct rm_loop *loop;
	struct rm_address address;
	/* the name as in known_hosts, with the port if that is not 22 */
	const char *host;
	unsigned port;
	const char *user;
	/* Text of the private key; used only until the client is made. */
	const char *key;
	const char *known_hosts;
	const char *command;
};

struct ssh_client_callbacks {
	/* Gets output of the command; error: it is error output. If it returns < 0, the
	 * command is ended, and on_end gets this value. */
	int (*on_output)(const void *data, size_t len, bool error, void *arg);
	/* Called once, as the last callback: the client may be freed in it. r 0: the
	 * command has ended; -EKEYREJECTED: the host has refused the key, and may count
	 * that as a failed login of the user; else another negative errno. reason: a
	 * text; "" if r is enough. */
	void (*on_end)(int r, const char *reason, void *arg);
	void *arg;
};

/* Begins to connect. Callbacks are called by the loop, never during this call. -EINVAL:
 * key is no private key, or needs a passphrase, see *error. */
int ssh_client_new(const struct ssh_client_options *options,
    const struct ssh_client_callbacks *callbacks, struct rm_error *error,
    struct ssh_client **ret);
void ssh_client_free(struct ssh_client *client); /* NULL is allowed */

/* True: the host's SSH server has answered. */
bool ssh_client_is_connected(const struct ssh_client *client);
/* Text for the step at which the client waits, such as "no connection" or "not logged
 * in". */
const char *ssh_client_stage(const struct ssh_client *client);

#endif
