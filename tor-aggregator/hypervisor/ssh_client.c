#include "tor-aggregator/hypervisor/ssh_client.h"

#include <errno.h>
#include <event2/event.h>
#include <libssh/libssh.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"

#define PIECE_BYTES 16384
#define PIECES_PER_WAKEUP 8
#define ERROR_BYTES 160
/* libssh may have read a packet without handling it. Therefore it is called again after
 * this time, even if no more data arrive. */
#define LOOK_AGAIN_US 100000
#define KNOWN_HOSTS_BYTES (1024 * 1024)
/* Limit on the wake-ups for reading before the command runs; a login needs some dozens.
 * Without the limit, a server that sends lines without end would keep the loop busy
 * until the deadline. */
#define MOST_WAKEUPS 1000

/* Only key exchanges whose CPU cost the server cannot raise: no group exchange, and no
 * large groups. */
#define KEY_EXCHANGES                                                        \
	"curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256," \
	"ecdh-sha2-nistp384,ecdh-sha2-nistp521,diffie-hellman-group14-sha256"

enum stage { DIAL, KEX, LOGIN, OPEN, EXEC, READ };

struct ssh_client {
	struct ssh_client_options options;
	struct ssh_client_callbacks callbacks;
	enum stage stage;
	int fd;              /* -1 once libssh uses it */
	struct stat socket;  /* identifies the socket */
	bool taken;          /* libssh owns the socket */
	unsigned wakeups;    /* number of wake-ups before the stage READ */
	struct event *event; /* for the socket */
	ssh_session session;
	ssh_channel channel;
	ssh_key key;
};

static void on_dialed(evutil_socket_t fd, short what, void *arg);

/* ---- start and end ---- */

static int
dial(struct ssh_client *client)
{
	const struct rm_address *address = &client->options.address;

	client->fd = socket(
	    address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (client->fd < 0)
		return -errno;
	if (fstat(client->fd, &client->socket) < 0)
		return -errno;
	if (connect(client->fd, (const struct sockaddr *)&address->storage,
		address->len) < 0 &&
	    errno != EINPROGRESS)
		return -errno;
	client->event = event_new(rm_loop_base(client->options.loop), client->fd,
	    EV_WRITE, on_dialed, client);
	if (client->event == NULL || event_add(client->event, NULL) < 0)
		return -ENOMEM;
	return 0;
}

static int
set_options(struct ssh_client *client)
{
	const struct ssh_client_options *options = &client->options;
	const int quiet = SSH_LOG_NOLOG, no = 0;
	ssh_session session = client->session;
	int r = 0;

	/* The files of the system and of the user are not read. */
	r |= ssh_options_set(session, SSH_OPTIONS_LOG_VERBOSITY, &quiet);
	r |= ssh_options_set(session, SSH_OPTIONS_PROCESS_CONFIG, &no);
	r |= ssh_options_set(session, SSH_OPTIONS_SSH_DIR, "/nonexistent");
	r |= ssh_options_set(session, SSH_OPTIONS_HOST, options->host);
	r |= ssh_options_set(session, SSH_OPTIONS_PORT, &options->port);
	r |= ssh_options_set(session, SSH_OPTIONS_USER, options->user);
	r |= ssh_options_set(session, SSH_OPTIONS_KNOWNHOSTS, options->known_hosts);
	r |= ssh_options_set(
	    session, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, options->known_hosts);
	r |= ssh_options_set(session, SSH_OPTIONS_KEY_EXCHANGE, KEY_EXCHANGES);
	ssh_set_blocking(session, 0);
	return r == 0 ? 0 : -ENOMEM;
}

int
ssh_client_new(const struct ssh_client_options *options,
    const struct ssh_client_callbacks *callbacks, struct rm_error *error,
    struct ssh_client **ret)
{
	struct ssh_client *client = calloc(1, sizeof(*client));
	int r = -ENOMEM;

	if (client == NULL)
		return r;
	client->options = *options;
	client->callbacks = *callbacks;
	client->fd = -1;
	client->session = ssh_new();
	if (client->session != NULL)
		r = set_options(client);
	if (r == 0 && ssh_pki_import_privkey_base64(
			  options->key, NULL, NULL, NULL, &client->key) != SSH_OK)
		r = rm_error_set(error, -EINVAL,
		    "expected a private key of SSH without a passphrase");
	client->options.key = NULL;
	if (r == 0)
		r = dial(client);
	if (r < 0)
		ssh_client_free(client);
	else
		*ret = client;
	return r;
}

void
ssh_client_free(struct ssh_client *client)
{
	if (client == NULL)
		return;
	if (client->event != NULL)
		event_free(client->event);
	if (client->channel != NULL)
		ssh_channel_free(client->channel);
	/* ssh_free closes the socket of its connection, unless ssh_disconnect was
	 * called. */
	ssh_free(client->session);
	ssh_key_free(client->key);
	if (client->fd >= 0)
		close(client->fd);
	free(client);
}

bool
ssh_client_is_connected(const struct ssh_client *client)
{
	return client->stage != DIAL;
}

const char *
ssh_client_stage(const struct ssh_client *client)
{
	static const char *const names[] = {
		[DIAL] = "no connection",
		[KEX] = "no SSH greeting",
		[LOGIN] = "not logged in",
		[OPEN] = "no answer after the login",
		[EXEC] = "its command was not started",
		[READ] = "its command has not ended",
	};

	return names[client->stage];
}

/* ---- the stages return 1: the next one may begin; 0: wait; < 0 and error ---- */

static int
failed(struct ssh_client *client, struct rm_error *failure)
{
	const char *error =
	    ssh_get_error(client->session); /* this text may come from the peer */
	char quoted[ERROR_BYTES];

	return rm_error_set(failure, -EPROTO, "%s: %s", ssh_client_stage(client),
	    rm_log_quote(quoted, sizeof(quoted), error, strlen(error)));
}

/* True: the connection has ended. libssh returns "again" for ever in that case. */
static bool
is_gone(const struct ssh_client *client)
{
	return (ssh_get_status(client->session) & (SSH_CLOSED | SSH_CLOSED_ERROR)) != 0;
}

/* Checks the result of a libssh function that is called again until it is done. */
static int
progress(struct ssh_client *client, int r, struct rm_error *error)
{
	if (r == SSH_AGAIN && !is_gone(client))
		return 0;
	return r == SSH_OK ? 1 : failed(client, error);
}

/* True: a line of known_hosts revokes this key. The host in the line does not matter:
 * others have the private key, so the key does not prove the identity of any host. */
static bool
line_revokes(const char *line, size_t len, const char *key)
{
	static const char marker[] = "@revoked";
	const size_t blank = strspn(line, " \t");

	return blank + sizeof(marker) <= len &&
	       strncmp(line + blank, marker, sizeof(marker) - 1) == 0 &&
	       memmem(line, len, key, strlen(key)) != NULL;
}

/* Searches lines that revoke the key, which libssh ignores. 1: there is one; 0: there
 * is none. */
static int
search_revoked(const char *path, const char *key)
{
	const char *line;
	uint8_t *data;
	size_t len;
	int r = rm_file_read(path, KNOWN_HOSTS_BYTES, &data, &len);

	if (r < 0)
		return r;
	for (line = (const char *)data; r == 0 && *line != '\0';) {
		len = strcspn(line, "\n");
		r = line_revokes(line, len, key);
		line += len + (line[len] == '\n');
	}
	free(data);
	return r;
}

static int
check_revoked(struct ssh_client *client, struct rm_error *error)
{
	const char *path = client->options.known_hosts;
	ssh_key host_key = NULL;
	char *key = NULL;
	int r = -ENOMEM;

	if (ssh_get_server_publickey(client->session, &host_key) == SSH_OK &&
	    ssh_pki_export_pubkey_base64(host_key, &key) == SSH_OK)
		r = search_revoked(path, key);
	ssh_string_free_char(key);
	ssh_key_free(host_key);
	if (r > 0)
		return rm_error_set(error, -EACCES,
		    "its host key is revoked in %s: other hosts may have the key, so "
		    "the host needs a new one",
		    path);
	return r < 0 ? rm_error_set(error, r, "%s: %s", path, strerror(-r)) : 0;
}

static int
check_host(struct ssh_client *client, struct rm_error *error)
{
	const char *path = client->options.known_hosts;
	const int r = check_revoked(client, error);

	if (r < 0)
		return r;
	switch (ssh_session_is_known_server(client->session)) {
	case SSH_KNOWN_HOSTS_OK:
		return 1;
	case SSH_KNOWN_HOSTS_CHANGED:
		return rm_error_set(error, -EACCES,
		    "its host key is not the one in %s: it is another host, or was "
		    "installed again",
		    path);
	case SSH_KNOWN_HOSTS_OTHER:
		return rm_error_set(error, -EACCES,
		    "its host key is of a type that %s does not have for it: check the "
		    "key, then add it",
		    path);
	case SSH_KNOWN_HOSTS_NOT_FOUND:
	case SSH_KNOWN_HOSTS_UNKNOWN:
		return rm_error_set(error, -EACCES,
		    "its host key is not in %s: check the key, then add it", path);
	default:
		return failed(client, error);
	}
}

/* Finds out who closes the socket. Once libssh has taken over the socket, libssh closes
 * it. If libssh fails before that, the fd still refers to the same socket, and this
 * module closes it. */
static void
see_if_taken(struct ssh_client *client)
{
	struct stat now;

	if (ssh_get_fd(client->session) != client->fd && fstat(client->fd, &now) == 0 &&
	    now.st_dev == client->socket.st_dev && now.st_ino == client->socket.st_ino)
		return;
	client->taken = true;
	client->fd = -1;
}

static int
greet(struct ssh_client *client, struct rm_error *error)
{
	int r = ssh_connect(client->session);

	if (!client->taken)
		see_if_taken(client);
	r = progress(client, r, error);
	return r <= 0 ? r : check_host(client, error);
}

/* True: the server has refused the key by disconnecting, instead of an answer: after
 * too many failures, or because no method is left (RFC 4253, 11.1, reason 14). Other
 * errors, and the end of the connection, do not mean that the key was refused. */
static bool
is_refusal(const char *error)
{
	return strstr(error, "Too many authentication failures") != NULL ||
	       strstr(error, "SSH_MSG_DISCONNECT: 14:") != NULL;
}

static int
login_failed(struct ssh_client *client, struct rm_error *error)
{
	const bool refusal = is_refusal(ssh_get_error(client->session));
	const int r = failed(client, error);

	return refusal ? -EKEYREJECTED : r;
}

static int
login(struct ssh_client *client, struct rm_error *error)
{
	switch (ssh_userauth_publickey(client->session, NULL, client->key)) {
	case SSH_AUTH_SUCCESS:
		return 1;
	case SSH_AUTH_AGAIN:
		return is_gone(client) ? login_failed(client, error) : 0;
	case SSH_AUTH_DENIED:
	case SSH_AUTH_PARTIAL:
		return rm_error_set(error, -EKEYREJECTED,
		    "it refuses the key of user %s", client->options.user);
	default:
		return login_failed(client, error);
	}
}

static int
open_channel(struct ssh_client *client, struct rm_error *error)
{
	if (client->channel == NULL)
		client->channel = ssh_channel_new(client->session);
	if (client->channel == NULL)
		return -ENOMEM;
	return progress(client, ssh_channel_open_session(client->channel), error);
}

static int
exec(struct ssh_client *client, struct rm_error *error)
{
	return progress(client,
	    ssh_channel_request_exec(client->channel, client->options.command), error);
}

/* Reads a part of the output. 1: there may be more; 0: there is nothing now; -ENODATA:
 * the output has ended. */
static int
read_piece(struct ssh_client *client, bool error, struct rm_error *failure)
{
	char piece[PIECE_BYTES];
	const int n =
	    ssh_channel_read_nonblocking(client->channel, piece, sizeof(piece), error);
	int r;

	if (n == 0 || n == SSH_AGAIN)
		return ssh_channel_is_eof(client->channel) ? -ENODATA : 0;
	if (n == SSH_EOF)
		return -ENODATA;
	if (n < 0)
		return failed(client, failure);
	r = client->callbacks.on_output(piece, (size_t)n, error, client->callbacks.arg);
	return r < 0 ? r : 1;
}

/* Reads the error output first: it may explain the end. */
static int
read_some(struct ssh_client *client, struct rm_error *error)
{
	int r = 1;

	for (int i = 0; i < PIECES_PER_WAKEUP && r > 0; i++) {
		r = read_piece(client, true, error);
		if (r == 0 || r == -ENODATA)
			r = read_piece(client, false, error);
	}
	if (r > 0) /* let other events of the loop run first */
		event_active(client->event, EV_TIMEOUT, 0);
	return r > 0 ? 0 : r;
}

static int
step(struct ssh_client *client, struct rm_error *error)
{
	static int (*const stages[])(struct ssh_client *, struct rm_error *) = {
		[KEX] = greet,
		[LOGIN] = login,
		[OPEN] = open_channel,
		[EXEC] = exec,
		[READ] = read_some,
	};
	int r;

	while ((r = stages[client->stage](client, error)) == 1)
		client->stage++;
	return r;
}

/* ---- events ---- */

static void
end(struct ssh_client *client, int r, const char *reason)
{
	event_del(client->event);
	client->callbacks.on_end(r, reason, client->callbacks.arg); /* last use */
}

static void
on_ready(evutil_socket_t fd, short what, void *arg)
{
	struct ssh_client *client = arg;
	struct rm_error error = { .text = "" };
	int r;

	if (client->stage < READ && what & EV_READ && ++client->wakeups > MOST_WAKEUPS)
		r = rm_error_set(&error, -EPROTO, "%s: it sends data without end",
		    ssh_client_stage(client));
	else
		r = step(client, &error);
	if (r == -ENODATA)
		end(client, 0, "");
	else if (r < 0)
		end(client, r, error.text);
}

static int
hand_over(struct ssh_client *client)
{
	const struct timeval again = { 0, LOOK_AGAIN_US };
	int r = event_assign(client->event, rm_loop_base(client->options.loop),
	    client->fd, EV_READ | EV_PERSIST, on_ready, client);

	if (r == 0)
		r = event_add(client->event, &again);
	if (r == 0)
		r = ssh_options_set(client->session, SSH_OPTIONS_FD, &client->fd);
	if (r < 0)
		return -ENOMEM;
	client->stage = KEX;
	event_active(client->event, EV_READ, 0);
	return 0;
}

static void
on_dialed(evutil_socket_t fd, short what, void *arg)
{
	struct ssh_client *client = arg;
	int error = 0, r;
	socklen_t len = sizeof(error);

	if (getsockopt(client->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	r = error != 0 ? -error : hand_over(client);
	if (r < 0)
		end(client, r, "");
}
