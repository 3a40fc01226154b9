/* Peers by name, through the real getaddrinfo: see tests/support/resolver.h. Needs
 * root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "rackmesh/net/dialer.h"
#include "rackmesh/net/listener.h"
#include "tests/support/loopback.h"
#include "tests/support/resolver.h"

#define MS RM_NS_PER_MS

/* Listens at 127.0.0.<host>, at the same port as the others, and keeps the last
 * connection. */
struct peer {
	struct rm_listener *listener;
	unsigned accepted;
	int fd;
};

struct fixture {
	struct rm_loop *loop;
	struct rm_dialer *dialer;
	struct peer peers[5]; /* number of the host; 0: none */
	int port;
	unsigned ups, downs;
	int reason;
	char cause[256];
};

static int
on_accept(int fd, const struct rm_address *address, void *arg)
{
	struct peer *peer = arg;

	peer->accepted++;
	if (peer->fd >= 0)
		close(peer->fd);
	peer->fd = fd;
	return 0;
}

static void
listens(struct fixture *f, uint8_t host)
{
	struct rm_address address = loopback_address(f->port);
	struct peer *peer = &f->peers[host];

	((struct sockaddr_in *)&address.storage)->sin_addr.s_addr =
	    htonl(UINT32_C(0x7f000000) + host);
	assert_int_equal(
	    rm_listener_new(f->loop, &address, on_accept, peer, &peer->listener), 0);
	f->port = rm_listener_port(peer->listener);
}

static void
leaves(struct fixture *f, uint8_t host)
{
	struct peer *peer = &f->peers[host];

	rm_listener_free(peer->listener);
	peer->listener = NULL;
	if (peer->fd >= 0)
		close(peer->fd);
	peer->fd = -1;
}

static int
on_up(struct rm_link *link, void *arg)
{
	struct fixture *f = arg;

	f->ups++;
	rm_dialer_settled(f->dialer);
	return 0;
}

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	return 0;
}

static void
on_down(int reason, void *arg)
{
	struct fixture *f = arg;

	f->downs++;
	f->reason = reason;
	snprintf(f->cause, sizeof(f->cause), "%s", rm_dialer_error(f->dialer));
}

/* Dials names at our port; each step may take patience_ns. */
static void
dial(struct fixture *f, const char *const *names, size_t count, int64_t patience_ns)
{
	static const struct rm_dialer_callbacks callbacks = { on_up, on_frame, on_down,
		NULL };
	struct rm_endpoint peers[2];
	struct rm_dialer_options options = {
		.peers = peers,
		.peer_count = count,
		.connect_timeout_ns = patience_ns,
		.backoff_base_ns = 5 * MS,
		.backoff_cap_ns = 20 * MS,
		.limits = { 4096, 4096 },
	};

	for (size_t i = 0; i < count; i++) {
		char text[RM_ENDPOINT_TEXT];

		snprintf(text, sizeof(text), "%s:%d", names[i], f->port);
		assert_int_equal(rm_endpoint_parse(text, &peers[i]), 0);
	}
	assert_int_equal(
	    rm_dialer_new(f->loop, &options, &callbacks, f, &f->dialer), 0);
}

static void
dial_agg(struct fixture *f, int64_t patience_ns)
{
	static const char *const agg[] = { "agg" };

	dial(f, agg, 1, patience_ns);
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL || rm_loop_new(&f->loop) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(f->peers) / sizeof(f->peers[0]); i++)
		f->peers[i].fd = -1;
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_dialer_free(f->dialer);
	for (size_t i = 0; i < sizeof(f->peers) / sizeof(f->peers[0]); i++)
		leaves(f, (uint8_t)i);
	rm_loop_free(f->loop);
	free(f);
	return 0;
}

static void
all_addresses_of_a_name_are_tried_in_order(void **state)
{
	struct fixture *f = *state;

	listens(f, 3);
	listens(f, 4);
	resolver_hosts("127.0.0.2 agg\n127.0.0.3 agg\n127.0.0.4 agg\n");
	dial_agg(f, 10000 * MS);
	assert_int_equal(f->ups, 0);
	LOOPBACK_WAIT(f->loop, f->ups == 1 && f->peers[3].fd >= 0);
	assert_int_equal(f->downs, 1); /* 127.0.0.2 refused the connection */
	leaves(f, 3);
	LOOPBACK_WAIT(f->loop, f->ups == 2 && f->peers[4].fd >= 0);
}

static void
after_a_loss_the_name_is_looked_up_again(void **state)
{
	struct fixture *f = *state;

	listens(f, 2);
	listens(f, 3);
	resolver_hosts("127.0.0.2 agg\n");
	dial_agg(f, 10000 * MS);
	LOOPBACK_WAIT(f->loop, f->ups == 1 && f->peers[2].fd >= 0);
	resolver_hosts("127.0.0.3 agg\n");
	leaves(f, 2);
	LOOPBACK_WAIT(f->loop, f->ups == 2 && f->peers[3].fd >= 0);
}

static void
a_name_that_appears_later_is_found(void **state)
{
	struct fixture *f = *state;

	listens(f, 2);
	resolver_hosts("");
	dial_agg(f, 10000 * MS);
	LOOPBACK_WAIT(f->loop, f->downs >= 3);
	assert_int_equal(f->reason, -EAGAIN);
	assert_string_equal(
	    f->cause, "cannot resolve agg: Temporary failure in name resolution");
	assert_int_equal(f->ups, 0);
	resolver_hosts("127.0.0.2 agg\n");
	LOOPBACK_WAIT(f->loop, f->ups == 1);
}

static void
the_next_peer_serves_while_a_name_has_no_address(void **state)
{
	static const char *const names[] = { "agg", "localhost" };
	struct fixture *f = *state;

	listens(f, 1);
	resolver_hosts("127.0.0.1 localhost\n");
	dial(f, names, 2, 10000 * MS);
	LOOPBACK_WAIT(f->loop, f->ups == 1);
	assert_int_equal(rm_dialer_peer(f->dialer), 1);
}

static void
the_last_addresses_serve_while_no_server_answers(void **state)
{
	struct fixture *f = *state;
	int server = resolver_silent();

	listens(f, 2);
	resolver_hosts("127.0.0.2 agg\n");
	dial_agg(f, 100 * MS);
	LOOPBACK_WAIT(f->loop, f->ups == 1 && f->peers[2].fd >= 0);
	resolver_hosts("");
	close(f->peers[2].fd);
	f->peers[2].fd = -1;
	LOOPBACK_WAIT(f->loop, f->ups == 2 && resolver_asked(server));
	close(server);
}

static void
a_name_that_no_server_answers_is_a_timeout(void **state)
{
	struct fixture *f = *state;
	int server = resolver_silent();

	listens(f, 2);
	resolver_hosts("");
	dial_agg(f, 100 * MS);
	LOOPBACK_WAIT(f->loop, f->downs >= 1);
	assert_int_equal(f->reason, -ETIMEDOUT);
	assert_string_equal(f->cause, "cannot resolve agg: no answer yet");
	close(server);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_addresses_of_a_name_are_tried_in_order),
		TEST(after_a_loss_the_name_is_looked_up_again),
		TEST(a_name_that_appears_later_is_found),
		TEST(the_next_peer_serves_while_a_name_has_no_address),
		TEST(the_last_addresses_serve_while_no_server_answers),
		TEST(a_name_that_no_server_answers_is_a_timeout),
	};

	return resolver_own()
		   ? cmocka_run_group_tests_name("dialer_names", tests, NULL, NULL)
		   : 77;
}
