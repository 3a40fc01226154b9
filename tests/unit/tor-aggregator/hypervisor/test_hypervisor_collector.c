/* Against a server that does not speak SSH, or does not answer; tests/fabric uses a
 * real one. */
#include "tor-aggregator/hypervisor/hypervisor_collector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <libssh/libssh.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "tor-aggregator/hypervisor/hypervisor_config.h"

#define SHORT_NS (100 * RM_NS_PER_MS)
#define LONG_NS (60 * RM_NS_PER_S) /* longer than any server here needs */

struct world {
	struct rm_loop *loop;
	struct evconnlistener *listener;
	struct bufferevent *peer; /* the last connection, while it is open */
	struct hypervisor_collector *collector;
	struct hypervisor_config config;
	struct rm_timer *look, *deadline;
	char folder[32], key[64], known_hosts[64], log[4096];
	const char *answer; /* sent to each connection; "": nothing is sent */
	bool again;         /* the answer is sent again and again */
	unsigned wanted;    /* number of failed readings to wait for */
	bool late;          /* the deadline has passed */
};

static void
send_again(struct bufferevent *peer, void *arg)
{
	struct world *w = arg;

	if (w->again)
		bufferevent_write(peer, w->answer, strlen(w->answer));
}

static void
on_peer_event(struct bufferevent *peer, short events, void *arg)
{
	struct world *w = arg;

	if (w->peer == peer)
		w->peer = NULL;
	bufferevent_free(peer);
}

static void
on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
    int len, void *arg)
{
	struct world *w = arg;
	struct bufferevent *peer =
	    bufferevent_socket_new(rm_loop_base(w->loop), fd, BEV_OPT_CLOSE_ON_FREE);

	w->peer = peer;
	bufferevent_setcb(peer, NULL, send_again, on_peer_event, w);
	bufferevent_enable(peer, EV_READ | EV_WRITE);
	bufferevent_write(peer, w->answer, strlen(w->answer));
}

static void
on_look(void *arg)
{
	struct world *w = arg;

	if (collector_counts(hypervisor_collector_reading(w->collector))->failed >=
	    w->wanted)
		rm_loop_stop(w->loop);
	rm_timer_after(w->look, RM_NS_PER_MS);
}

static void
on_late(void *arg)
{
	struct world *w = arg;

	w->late = true;
	rm_loop_stop(w->loop);
}

static void
on_line(enum rm_log_level level, const char *line, void *arg)
{
	struct world *w = arg;
	const size_t used = strlen(w->log);

	snprintf(w->log + used, sizeof(w->log) - used, "%s\n", line);
}

/* Runs until so many readings have failed. Returns the last error. */
static const char *
run(struct world *w, const char *answer, bool again, unsigned wanted)
{
	const struct hypervisor_collector_options options = { .loop = w->loop,
		.config = &w->config,
		.interval_ns = wanted > 1 ? SHORT_NS : LONG_NS };

	w->answer = answer;
	w->again = again;
	w->wanted = wanted;
	assert_int_equal(hypervisor_collector_new(&options, &w->collector), 0);
	rm_timer_after(w->look, RM_NS_PER_MS);
	rm_timer_after(w->deadline, 120 * RM_NS_PER_S);
	rm_loop_run(w->loop);
	assert_false(w->late);
	assert_false(hypervisor_collector_shown(w->collector).reading.up);
	return hypervisor_collector_shown(w->collector).reading.error;
}

static void
make_key(const char *path)
{
	ssh_key key;

	assert_int_equal(ssh_pki_generate(SSH_KEYTYPE_ED25519, 0, &key), SSH_OK);
	assert_int_equal(
	    ssh_pki_export_privkey_file(key, NULL, NULL, NULL, path), SSH_OK);
	ssh_key_free(key);
	assert_int_equal(chmod(path, 0600), 0);
}

static void
write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int
setup(void **state)
{
	static struct world w;
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);

	w = (struct world){ .folder = "/tmp/rm-esxi-XXXXXX" };
	w.config = (struct hypervisor_config){ .name = (char *)"esx1",
		.address = (char *)"127.0.0.1",
		.user = (char *)"root",
		.key = w.key,
		.known_hosts = w.known_hosts };
	assert_non_null(mkdtemp(w.folder));
	snprintf(w.key, sizeof(w.key), "%s/key", w.folder);
	snprintf(w.known_hosts, sizeof(w.known_hosts), "%s/known_hosts", w.folder);
	make_key(w.key);
	write_text(w.known_hosts, "");
	rm_log_set_sink(on_line, &w);
	assert_int_equal(rm_loop_new(&w.loop), 0);
	assert_int_equal(rm_timer_new(w.loop, on_look, &w, &w.look), 0);
	assert_int_equal(rm_timer_new(w.loop, on_late, &w, &w.deadline), 0);
	w.listener = evconnlistener_new_bind(rm_loop_base(w.loop), on_accept, &w,
	    LEV_OPT_CLOSE_ON_FREE, 16, (struct sockaddr *)&address, sizeof(address));
	assert_non_null(w.listener);
	getsockname(
	    evconnlistener_get_fd(w.listener), (struct sockaddr *)&address, &len);
	w.config.port = ntohs(address.sin_port);
	*state = &w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	hypervisor_collector_free(w->collector);
	if (w->peer != NULL)
		bufferevent_free(w->peer);
	evconnlistener_free(w->listener);
	rm_timer_free(w->look);
	rm_timer_free(w->deadline);
	rm_loop_free(w->loop);
	rm_log_set_sink(NULL, NULL);
	unlink(w->key);
	unlink(w->known_hosts);
	rmdir(w->folder);
	return 0;
}

static void
a_silent_host_is_abandoned_and_read_more_rarely(void **state)
{
	struct world *w = *state;

	assert_string_equal(run(w, "", false, 3), "no SSH greeting in time");
	assert_non_null(strstr(w->log, "hypervisor esx1: cannot read its counters"));
	assert_true(
	    hypervisor_collector_shown(w->collector).reading.wait_ns == 4 * SHORT_NS);
}

static void
a_server_without_ssh_is_reported_as_such(void **state)
{
	const char *error = run(*state, "HTTP/1.0 400 Bad Request\r\n\r\n", true, 1);

	/* long before the time of a reading is over */
	assert_string_equal(error, "no SSH greeting: it sends data without end");
}

static void
a_broken_ssh_connection_is_reported(void **state)
{
	const char *error =
	    run(*state, "SSH-2.0-OpenSSH_9.2\r\n\x01\x02\x03\x04\xff\xff", true, 1);

	assert_non_null(strstr(error, "no SSH greeting"));
}

static void
a_host_without_a_server_is_reported(void **state)
{
	struct world *w = *state;

	evconnlistener_disable(w->listener);
	w->config.port = 1;
	assert_non_null(strstr(run(w, "", false, 1), "refused"));
}

static void
a_key_that_others_can_read_is_not_used(void **state)
{
	struct world *w = *state;

	assert_int_equal(chmod(w->key, 0644), 0);
	assert_non_null(strstr(run(w, "", false, 1), w->key));
	assert_null(w->peer); /* the collector has not connected */
}

static void
missing_files_are_named_and_looked_for_again(void **state)
{
	struct world *w = *state;

	unlink(w->known_hosts);
	assert_non_null(strstr(run(w, "", false, 2), w->known_hosts));
	assert_null(w->peer);
	assert_int_equal(
	    collector_counts(hypervisor_collector_reading(w->collector))->failed, 2);
	hypervisor_collector_free(w->collector);
	write_text(w->known_hosts, "");
	unlink(w->key);
	assert_non_null(strstr(run(w, "", false, 2), w->key));
}

static void
an_invalid_key_is_reported(void **state)
{
	struct world *w = *state;

	write_text(w->key, "no key\n");
	assert_non_null(strstr(run(w, "", false, 1), "without a passphrase"));
}

static size_t
open_files(void)
{
	size_t count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void
no_reading_leaves_a_file_open(void **state)
{
	struct world *w = *state;
	const size_t before = open_files();

	run(w, "", false, 3);
	if (w->peer != NULL)
		bufferevent_free(w->peer);
	w->peer = NULL;
	/* Closed connections are only noticed by running the loop once more. */
	rm_loop_run(w->loop);
	assert_in_range(open_files(), before, before + 1);
}

/* libssh fails before it takes over the socket if it cannot build this path. */
static void
a_socket_that_libssh_does_not_take_is_closed(void **state)
{
	struct world *w = *state;
	const size_t before = open_files();

	strcat(w->known_hosts, "%z");
	write_text(w->known_hosts, "");
	assert_non_null(strstr(run(w, "", false, 3), "options"));
	if (w->peer != NULL)
		bufferevent_free(w->peer);
	w->peer = NULL;
	/* Closed connections are only noticed by running the loop once more. */
	rm_loop_run(w->loop);
	assert_in_range(open_files(), before, before + 1);
	unlink(w->known_hosts);
	w->known_hosts[strlen(w->known_hosts) - 2] = '\0';
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_silent_host_is_abandoned_and_read_more_rarely),
		TEST(a_server_without_ssh_is_reported_as_such),
		TEST(a_broken_ssh_connection_is_reported),
		TEST(a_host_without_a_server_is_reported),
		TEST(a_key_that_others_can_read_is_not_used),
		TEST(missing_files_are_named_and_looked_for_again),
		TEST(an_invalid_key_is_reported),
		TEST(no_reading_leaves_a_file_open),
		TEST(a_socket_that_libssh_does_not_take_is_closed),
	};

	return cmocka_run_group_tests_name("hypervisor_collector", tests, NULL, NULL);
}
