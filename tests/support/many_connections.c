/*
 * many_connections - hostile connections to one listener: silent ones, half a TLS
 * greeting, garbage, a whole handshake with a certificate that is not allowed there and
 * then silence, and a greeting at one byte a second. A connection that the server
 * closes is opened again.
 *
 *     many_connections ADDRESS PORT COUNT PER-SECOND CERTIFICATE KEY
 *
 * opens COUNT connections as fast as possible, then PER-SECOND a second in place of
 * closed ones. SIGTERM ends it, and it prints one line of JSON with what it did.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <openssl/ssl.h>

#define NS_PER_S 1000000000LL
#define TURN_MS 10
#define EVENTS 256
#define TURN_OPENS 100
#define GREETING_BYTES 517
#define HALF_BYTES 100

enum kind { SILENT, HALF, GARBAGE, SEALED, DRIBBLE, KINDS };

struct caller {
	int fd; /* -1: closed */
	enum kind kind;
	bool connected;
	SSL *ssl; /* for SEALED only */
	bool shaken;
	size_t dribbled;
};

struct flood {
	struct sockaddr_in server;
	SSL_CTX *ctx;
	int poll;
	struct caller *callers;
	size_t count, standing, most;
	unsigned long opened, ended, handshakes, failed;
	double per_second, credit;
	uint8_t greeting[GREETING_BYTES];
};

static volatile sig_atomic_t over;

static void
on_term(int number)
{
	over = 1;
}

static int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static void
caller_ends(struct flood *flood, struct caller *caller)
{
	SSL_free(caller->ssl);
	close(caller->fd);
	caller->ssl = NULL;
	caller->fd = -1;
	flood->standing--;
	flood->ended++;
}

/* Opens a connection. False: no further one can be opened now. */
static bool
caller_comes(struct flood *flood, struct caller *caller, enum kind kind)
{
	struct epoll_event event = { EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		{ .ptr = caller } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	*caller = (struct caller){ .fd = fd, .kind = kind };
	if (fd < 0)
		return false;
	if ((connect(fd, (const struct sockaddr *)&flood->server,
		 sizeof(flood->server)) < 0 &&
		errno != EINPROGRESS) ||
	    epoll_ctl(flood->poll, EPOLL_CTL_ADD, fd, &event) < 0) {
		close(fd);
		caller->fd = -1;
		flood->failed++;
		return false;
	}
	if (kind == SEALED) {
		caller->ssl = SSL_new(flood->ctx);
		SSL_set_fd(caller->ssl, fd);
		SSL_set_connect_state(caller->ssl);
	}
	flood->opened++;
	if (++flood->standing > flood->most)
		flood->most = flood->standing;
	return true;
}

static void
caller_reports(struct flood *flood, const struct caller *caller)
{
	uint8_t garbage[HALF_BYTES];

	if (caller->kind == HALF)
		send(caller->fd, flood->greeting, HALF_BYTES, MSG_NOSIGNAL);
	if (caller->kind != GARBAGE)
		return;
	for (size_t i = 0; i < sizeof(garbage); i++)
		garbage[i] = (uint8_t)rand();
	send(caller->fd, garbage, sizeof(garbage), MSG_NOSIGNAL);
}

/* False: the server has closed the connection. */
static bool
caller_receives(struct flood *flood, struct caller *caller)
{
	char bytes[4096];
	ssize_t n;
	int r;

	if (caller->ssl == NULL) {
		while ((n = recv(caller->fd, bytes, sizeof(bytes), 0)) > 0)
			continue;
		return n < 0 && errno == EAGAIN;
	}
	/* the handshake is complete, too */
	r = SSL_read(caller->ssl, bytes, sizeof(bytes));
	if (!caller->shaken && SSL_is_init_finished(caller->ssl)) {
		caller->shaken = true;
		flood->handshakes++;
	}
	if (r > 0)
		return true;
	r = SSL_get_error(caller->ssl, r);
	return r == SSL_ERROR_WANT_READ || r == SSL_ERROR_WANT_WRITE;
}

static void
on_event(struct flood *flood, const struct epoll_event *event)
{
	struct caller *caller = event->data.ptr;

	if (caller->fd < 0)
		return;
	if (event->events & (EPOLLHUP | EPOLLERR)) {
		caller_ends(flood, caller);
		return;
	}
	if (!caller->connected && event->events & EPOLLOUT) {
		caller->connected = true;
		caller_reports(flood, caller);
	}
	if (caller->connected && !caller_receives(flood, caller))
		caller_ends(flood, caller);
}

/* A few at a time: the queue between two namespaces holds 1,000 packets of all
 * traffic, and TCP repeats what it drops of other connections after 200 ms. */
static void
flood_grows(struct flood *flood, size_t *at)
{
	unsigned long most = flood->opened + TURN_OPENS;

	for (size_t looked = 0;
	     looked < flood->count && flood->credit >= 1 && flood->opened < most;
	     looked++) {
		struct caller *caller = &flood->callers[*at];

		*at = (*at + 1) % flood->count;
		if (caller->fd >= 0)
			continue;
		if (!caller_comes(flood, caller, (enum kind)(flood->opened % KINDS)))
			return;
		flood->credit--;
	}
}

static void
flood_dribbles(struct flood *flood)
{
	for (size_t i = 0; i < flood->count; i++) {
		struct caller *caller = &flood->callers[i];

		if (caller->fd < 0 || !caller->connected || caller->kind != DRIBBLE)
			continue;
		send(caller->fd, &flood->greeting[caller->dribbled++ % GREETING_BYTES],
		    1, MSG_NOSIGNAL);
	}
}

static void
flood_receives(struct flood *flood, int patience_ms)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(flood->poll, events, EVENTS, patience_ms);

	for (int i = 0; i < n; i++)
		on_event(flood, &events[i]);
}

static void
flood_stands(struct flood *flood)
{
	int64_t last, dribbled = now_ns();
	size_t at = 0;

	flood->credit = (double)flood->count;
	while (!over && flood->credit >= 1) {
		flood_grows(flood, &at);
		flood_receives(flood, 1);
	}
	for (last = now_ns(); !over; flood_receives(flood, TURN_MS)) {
		int64_t now = now_ns();

		flood->credit +=
		    flood->per_second * (double)(now - last) / (double)NS_PER_S;
		if (flood->credit > flood->per_second / 10)
			flood->credit = flood->per_second / 10;
		last = now;
		flood_grows(flood, &at);
		if (now - dribbled >= NS_PER_S) {
			dribbled = now;
			flood_dribbles(flood);
		}
	}
}

/* The first bytes of a client, which a server cannot refuse before the message is
 * complete. */
static void
greeting_make(uint8_t greeting[GREETING_BYTES])
{
	static const uint8_t head[] = { 0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3 };

	for (size_t i = 0; i < GREETING_BYTES; i++)
		greeting[i] = (uint8_t)rand();
	memcpy(greeting, head, sizeof(head));
}

static int
flood_open(struct flood *flood, char **argv)
{
	flood->server = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(argv[2])) };
	flood->count = (size_t)atol(argv[3]);
	flood->per_second = atof(argv[4]);
	flood->callers = calloc(flood->count, sizeof(*flood->callers));
	flood->poll = epoll_create1(EPOLL_CLOEXEC);
	flood->ctx = SSL_CTX_new(TLS_client_method());
	if (inet_pton(AF_INET, argv[1], &flood->server.sin_addr) != 1 ||
	    flood->count == 0 || flood->callers == NULL || flood->poll < 0 ||
	    flood->ctx == NULL ||
	    SSL_CTX_use_certificate_chain_file(flood->ctx, argv[5]) != 1 ||
	    SSL_CTX_use_PrivateKey_file(flood->ctx, argv[6], SSL_FILETYPE_PEM) != 1)
		return -1;
	for (size_t i = 0; i < flood->count; i++)
		flood->callers[i].fd = -1;
	greeting_make(flood->greeting);
	return 0;
}

int
main(int argc, char **argv)
{
	struct flood flood = { .poll = -1 };

	if (argc != 7) {
		fprintf(stderr,
		    "usage: %s ADDRESS PORT COUNT PER-SECOND CERTIFICATE KEY\n",
		    argv[0]);
		return EXIT_FAILURE;
	}
	signal(SIGTERM, on_term);
	signal(SIGPIPE, SIG_IGN);
	if (flood_open(&flood, argv) < 0) {
		fprintf(stderr, "many_connections: these arguments cannot be used\n");
		return EXIT_FAILURE;
	}
	flood_stands(&flood);
	printf(
	    "{\"opened\": %lu, \"ended\": %lu, \"failed\": %lu, \"handshakes\": %lu, "
	    "\"most\": %zu}\n",
	    flood.opened, flood.ended, flood.failed, flood.handshakes, flood.most);
	for (size_t i = 0; i < flood.count; i++)
		if (flood.callers[i].fd >= 0)
			caller_ends(&flood, &flood.callers[i]);
	free(flood.callers);
	SSL_CTX_free(flood.ctx);
	close(flood.poll);
	return EXIT_SUCCESS;
}
