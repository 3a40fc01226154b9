/* The parsing of a Nexus' answers on the worker. The exchange is replaced. */
#include "tor-aggregator/switch/nexus_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/file.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "tor-aggregator/switch/config/switch_config.h"
#include "tor-aggregator/switch/nexus.h"

#define CLIENTS 3

struct world {
	char password[32];
	struct switch_config config;
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct nexus_client *clients[CLIENTS];
	int gate[2]; /* the first job waits until a byte can be read */
	unsigned done;
};

static struct rm_http_exchange asked;
static atomic_uint parsed;

int __wrap_rm_http_client_start(struct rm_http_client *client,
    const struct rm_http_exchange *exchange, struct rm_http_call **call);
int __wrap_nexus_parse(const char *text, size_t len, unsigned also,
    struct nexus_values **ret, struct rm_error *error);

int
__wrap_rm_http_client_start(struct rm_http_client *client,
    const struct rm_http_exchange *exchange, struct rm_http_call **call)
{
	asked = *exchange;
	return 0;
}

int
__wrap_nexus_parse(const char *text, size_t len, unsigned also,
    struct nexus_values **ret, struct rm_error *error)
{
	atomic_fetch_add(&parsed, 1);
	return -EBADMSG;
}

static void
on_parsed(int r, const char *reason, struct nexus_values *values, void *arg)
{
	struct world *w = arg;

	assert_int_equal(r, -EBADMSG);
	w->done++;
}

static int
wait_for_gate(void *job)
{
	struct world *w = job;
	char byte;

	return read(w->gate[0], &byte, 1) == 1 ? 0 : -EIO;
}

static void
on_opened(void *job, int r)
{
	assert_int_equal(r, 0);
}

static int
nothing(void *job)
{
	return 0;
}

/* The worker has answered all jobs before this one. */
static void
on_last(void *job, int r)
{
	rm_loop_stop(((struct world *)job)->loop);
}

static int
setup(void **state)
{
	static struct world w;

	static char address[] = "192.0.2.1:443", user[] = "monitor", none[] = "";

	w = (struct world){ .password = "/tmp/nexus-client-XXXXXX" };
	w.config = (struct switch_config){ .kind = SWITCH_NEXUS,
		.address = address,
		.user = user,
		.password_file = w.password,
		.authorities = none };
	close(mkstemp(w.password));
	assert_int_equal(
	    rm_file_replace(w.password, (const uint8_t *)"secret\n", 7), 0);
	assert_int_equal(chmod(w.password, 0600), 0);
	assert_int_equal(rm_loop_new(&w.loop), 0);
	assert_int_equal(rm_worker_new(w.loop, 8, &w.worker), 0);
	assert_int_equal(pipe(w.gate), 0);
	for (int i = 0; i < CLIENTS; i++)
		assert_int_equal(
		    nexus_client_new(&(struct nexus_client_options){ .worker = w.worker,
					 .config = &w.config,
					 .done = on_parsed,
					 .arg = &w },
			&w.clients[i]),
		    0);
	atomic_store(&parsed, 0);
	*state = &w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < CLIENTS; i++)
		nexus_client_free(w->clients[i]);
	rm_worker_free(w->worker);
	rm_loop_free(w->loop);
	close(w->gate[0]);
	close(w->gate[1]);
	return unlink(w->password);
}

static void
answer(struct world *w, int client)
{
	const struct rm_http_answer text = {
		.status = 200, .body = "{}", .body_len = 2, .reason = ""
	};
	struct rm_error error = { .text = "" };

	assert_int_equal(
	    nexus_client_ask(w->clients[client], 0, RM_NS_PER_S, &error), 0);
	asked.done(&text, asked.arg);
}

/* A worker that parses for many switches falls behind, and their readings end. */
static void
an_answer_of_a_request_that_was_canceled_is_not_parsed(void **state)
{
	struct world *w = *state;

	assert_int_equal(rm_worker_submit(w->worker, wait_for_gate, on_opened, w), 0);
	for (int i = 0; i < CLIENTS; i++)
		answer(w, i);
	nexus_client_cancel(w->clients[0]);
	nexus_client_free(w->clients[1]);
	w->clients[1] = NULL;
	assert_int_equal(write(w->gate[1], "x", 1), 1);
	assert_int_equal(rm_worker_submit(w->worker, nothing, on_last, w), 0);
	assert_int_equal(rm_loop_run(w->loop), 0);
	assert_int_equal(atomic_load(&parsed), 1);
	assert_int_equal(w->done, 1);
	/* The client can be asked again. */
	answer(w, 0);
	assert_int_equal(rm_worker_submit(w->worker, nothing, on_last, w), 0);
	assert_int_equal(rm_loop_run(w->loop), 0);
	assert_int_equal(atomic_load(&parsed), 2);
	assert_int_equal(w->done, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    an_answer_of_a_request_that_was_canceled_is_not_parsed, setup,
		    teardown),
	};

	return cmocka_run_group_tests_name("nexus_client", tests, NULL, NULL);
}
