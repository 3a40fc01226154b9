#include "tor-aggregator/redis/redis_command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <event2/buffer.h>
#include <string.h>

static void
commands_are_appended_with_the_lengths_of_their_arguments(void **state)
{
	static const char expected[] =
	    "*2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n*2\r\n$7\r\nHGETALL\r\n$3\r\na b\r\n";
	const char *const select[] = { "SELECT", "2" }, *const get[] = { "HGETALL",
		"a b" };
	struct evbuffer *out = evbuffer_new();

	assert_non_null(out);
	assert_int_equal(redis_command(out, select, 2), 0);
	assert_int_equal(redis_command(out, get, 2), 0);
	assert_int_equal(evbuffer_get_length(out), strlen(expected));
	assert_memory_equal(evbuffer_pullup(out, -1), expected, strlen(expected));
	evbuffer_free(out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    commands_are_appended_with_the_lengths_of_their_arguments),
	};

	return cmocka_run_group_tests_name("redis_command", tests, NULL, NULL);
}
