/*
 * crowd - many connections to one door that want nothing good: silent ones, half a TLS
 * greeting, garbage, a whole handshake of a certificate that has no business there and
 * then silence, and a greeting that comes a byte a second. Whoever is closed comes
 * back.
 *
 *   crowd ADDRESS PORT COUNT PER-SECOND CERTIFICATE KEY
 *
 * opens COUNT as fast as it can, and then so many a second in the place of those that
 * were closed; SIGTERM ends it, and it says in one line of JSON what it did.
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
	int fd; /* -1: not there */
	enum kind kind;
	bool connected;
	SSL *ssl; /* SEALED */
	bool shaken;
	size_t dribbled;
};

struct crowd {
	struct sockaddr_in door;
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
caller_ends(struct crowd *crowd, struct caller *caller)
{
	SSL_free(caller->ssl);
	close(caller->fd);
	caller->ssl = NULL;
	caller->fd = -1;
	crowd->standing--;
	crowd->ended++;
}

/* False: nobody can open any more just now. */
static bool
caller_comes(struct crowd *crowd, struct caller *caller, enum kind kind)
{
	struct epoll_event event = { EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		{ .ptr = caller } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	*caller = (struct caller){ .fd = fd, .kind = kind };
	if (fd < 0)
		return false;
	if ((connect(fd, (const struct sockaddr *)&crowd->door, sizeof(crowd->door)) <
		    0 &&
		errno != EINPROGRESS) ||
	    epoll_ctl(crowd->poll, EPOLL_CTL_ADD, fd, &event) < 0) {
		close(fd);
		caller->fd = -1;
		crowd->failed++;
		return false;
	}
	if (kind == SEALED) {
		caller->ssl = SSL_new(crowd->ctx);
		SSL_set_fd(caller->ssl, fd);
		SSL_set_connect_state(caller->ssl);
	}
	crowd->opened++;
	if (++crowd->standing > crowd->most)
		crowd->most = crowd->standing;
	return true;
}

static void
caller_speaks(struct crowd *crowd, const struct caller *caller)
{
	uint8_t garbage[HALF_BYTES];

	if (caller->kind == HALF)
		send(caller->fd, crowd->greeting, HALF_BYTES, MSG_NOSIGNAL);
	if (caller->kind != GARBAGE)
		return;
	for (size_t i = 0; i < sizeof(garbage); i++)
		garbage[i] = (uint8_t)rand();
	send(caller->fd, garbage, sizeof(garbage), MSG_NOSIGNAL);
}

/* False: the other side has ended it. */
static bool
caller_hears(struct crowd *crowd, struct caller *caller)
{
	char bytes[4096];
	ssize_t n;
	int r;

	if (caller->ssl == NULL) {
		while ((n = recv(caller->fd, bytes, sizeof(bytes), 0)) > 0)
			continue;
		return n < 0 && errno == EAGAIN;
	}
	r = SSL_read(caller->ssl, bytes, sizeof(bytes)); /* and its handshake */
	if (!caller->shaken && SSL_is_init_finished(caller->ssl)) {
		caller->shaken = true;
		crowd->handshakes++;
	}
	if (r > 0)
		return true;
	r = SSL_get_error(caller->ssl, r);
	return r == SSL_ERROR_WANT_READ || r == SSL_ERROR_WANT_WRITE;
}

static void
on_event(struct crowd *crowd, const struct epoll_event *event)
{
	struct caller *caller = event->data.ptr;

	if (caller->fd < 0)
		return;
	if (event->events & (EPOLLHUP | EPOLLERR)) {
		caller_ends(crowd, caller);
		return;
	}
	if (!caller->connected && event->events & EPOLLOUT) {
		caller->connected = true;
		caller_speaks(crowd, caller);
	}
	if (caller->connected && !caller_hears(crowd, caller))
		caller_ends(crowd, caller);
}

/* A few at a time: the queue between two namespaces holds 1,000 packets of all their
 * traffic, and what it drops of others comes again after 200 ms. */
static void
crowd_grows(struct crowd *crowd, size_t *at)
{
	unsigned long most = crowd->opened + TURN_OPENS;

	for (size_t looked = 0;
	     looked < crowd->count && crowd->credit >= 1 && crowd->opened < most;
	     looked++) {
		struct caller *caller = &crowd->callers[*at];

		*at = (*at + 1) % crowd->count;
		if (caller->fd >= 0)
			continue;
		if (!caller_comes(crowd, caller, (enum kind)(crowd->opened % KINDS)))
			return;
		crowd->credit--;
	}
}

static void
crowd_dribbles(struct crowd *crowd)
{
	for (size_t i = 0; i < crowd->count; i++) {
		struct caller *caller = &crowd->callers[i];

		if (caller->fd < 0 || !caller->connected || caller->kind != DRIBBLE)
			continue;
		send(caller->fd, &crowd->greeting[caller->dribbled++ % GREETING_BYTES],
		    1, MSG_NOSIGNAL);
	}
}

static void
crowd_hears(struct crowd *crowd, int patience_ms)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(crowd->poll, events, EVENTS, patience_ms);

	for (int i = 0; i < n; i++)
		on_event(crowd, &events[i]);
}

static void
crowd_stands(struct crowd *crowd)
{
	int64_t last, dribbled = now_ns();
	size_t at = 0;

	crowd->credit = (double)crowd->count;
	while (!over && crowd->credit >= 1) {
		crowd_grows(crowd, &at);
		crowd_hears(crowd, 1);
	}
	for (last = now_ns(); !over; crowd_hears(crowd, TURN_MS)) {
		int64_t now = now_ns();

		crowd->credit +=
		    crowd->per_second * (double)(now - last) / (double)NS_PER_S;
		if (crowd->credit > crowd->per_second / 10)
			crowd->credit = crowd->per_second / 10;
		last = now;
		crowd_grows(crowd, &at);
		if (now - dribbled >= NS_PER_S) {
			dribbled = now;
			crowd_dribbles(crowd);
		}
	}
}

/* What a client says first, as far as a server can tell before it is whole. */
static void
greeting_make(uint8_t greeting[GREETING_BYTES])
{
	static const uint8_t head[] = { 0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3 };

	for (size_t i = 0; i < GREETING_BYTES; i++)
		greeting[i] = (uint8_t)rand();
	memcpy(greeting, head, sizeof(head));
}

static int
crowd_open(struct crowd *crowd, char **argv)
{
	crowd->door = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(argv[2])) };
	crowd->count = (size_t)atol(argv[3]);
	crowd->per_second = atof(argv[4]);
	crowd->callers = calloc(crowd->count, sizeof(*crowd->callers));
	crowd->poll = epoll_create1(EPOLL_CLOEXEC);
	crowd->ctx = SSL_CTX_new(TLS_client_method());
	if (inet_pton(AF_INET, argv[1], &crowd->door.sin_addr) != 1 ||
	    crowd->count == 0 || crowd->callers == NULL || crowd->poll < 0 ||
	    crowd->ctx == NULL ||
	    SSL_CTX_use_certificate_chain_file(crowd->ctx, argv[5]) != 1 ||
	    SSL_CTX_use_PrivateKey_file(crowd->ctx, argv[6], SSL_FILETYPE_PEM) != 1)
		return -1;
	for (size_t i = 0; i < crowd->count; i++)
		crowd->callers[i].fd = -1;
	greeting_make(crowd->greeting);
	return 0;
}

int
main(int argc, char **argv)
{
	struct crowd crowd = { .poll = -1 };

	if (argc != 7) {
		fprintf(stderr,
		    "usage: %s ADDRESS PORT COUNT PER-SECOND CERTIFICATE KEY\n",
		    argv[0]);
		return EXIT_FAILURE;
	}
	signal(SIGTERM, on_term);
	signal(SIGPIPE, SIG_IGN);
	if (crowd_open(&crowd, argv) < 0) {
		fprintf(stderr, "crowd: these arguments cannot be used\n");
		return EXIT_FAILURE;
	}
	crowd_stands(&crowd);
	printf(
	    "{\"opened\": %lu, \"ended\": %lu, \"failed\": %lu, \"handshakes\": %lu, "
	    "\"most\": %zu}\n",
	    crowd.opened, crowd.ended, crowd.failed, crowd.handshakes, crowd.most);
	for (size_t i = 0; i < crowd.count; i++)
		if (crowd.callers[i].fd >= 0)
			caller_ends(&crowd, &crowd.callers[i]);
	free(crowd.callers);
	SSL_CTX_free(crowd.ctx);
	close(crowd.poll);
	return EXIT_SUCCESS;
}
