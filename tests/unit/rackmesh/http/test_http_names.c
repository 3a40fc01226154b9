/* URLs by name, while no name server answers: see tests/support/resolver.h. Needs root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "rackmesh/http/http_client.h"
#include "tests/support/loopback.h"
#include "tests/support/resolver.h"

#define SHORT_NS (100 * RM_NS_PER_MS)

struct fixture {
	struct rm_loop *loop;
	struct rm_http_client *client;
	int server;
	unsigned answers;
	int r;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (f == NULL || rm_loop_new(&f->loop) < 0)
		return -1;
	f->server = resolver_silent();
	return rm_http_client_new(f->loop, &f->client);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_http_client_free(f->client);
	rm_loop_free(f->loop);
	close(f->server);
	free(f);
	return 0;
}

static void
on_done(const struct rm_http_answer *answer, void *arg)
{
	struct fixture *f = arg;

	f->answers++;
	f->r = answer->r;
}

/* Those that wait for the name server do so for half a minute, and then end. */
static size_t
threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	size_t count = 0;

	assert_non_null(folder);
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

static void
get(struct fixture *f, int64_t timeout_ns)
{
	assert_int_equal(rm_http_client_send(f->client, "http://sink.invalid/", NULL,
			     NULL, 0, timeout_ns, on_done, f),
	    0);
}

static void
a_timeout_does_not_wait_for_the_name(void **state)
{
	struct fixture *f = *state;
	const size_t before = threads();

	get(f, SHORT_NS);
	LOOPBACK_WAIT(f->loop, f->answers == 1);
	assert_int_equal(f->r, -ETIMEDOUT);
	assert_int_equal(threads(), before + 1);
}

static void
the_end_of_the_client_does_not_wait_for_the_name(void **state)
{
	struct fixture *f = *state;
	const size_t before = threads();

	get(f, 60 * RM_NS_PER_S);
	LOOPBACK_WAIT(f->loop, resolver_asked(f->server));
	rm_http_client_free(f->client);
	f->client = NULL;
	assert_int_equal(f->r, -ECANCELED);
	assert_int_equal(threads(), before + 1);
}

static void
the_last_words_do_not_wait_for_the_name(void **state)
{
	struct fixture *f = *state;
	const struct rm_http_exchange exchange = {
		.url = "http://sink.invalid/",
		.timeout_ns = SHORT_NS,
	};
	const size_t before = threads();

	assert_int_equal(rm_http_client_now(f->client, &exchange), -ETIMEDOUT);
	assert_int_equal(threads(), before + 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_timeout_does_not_wait_for_the_name),
		TEST(the_end_of_the_client_does_not_wait_for_the_name),
		TEST(the_last_words_do_not_wait_for_the_name),
	};

	return resolver_own()
		   ? cmocka_run_group_tests_name("http_names", tests, NULL, NULL)
		   : 77;
}
