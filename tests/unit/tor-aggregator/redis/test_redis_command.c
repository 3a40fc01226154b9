#include "tor-aggregator/redis/redis_command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define SECRET "the password of a switch"

/* ---- memory that is freed while it has the password ---- */

static unsigned leaked;

static void
look_and_free(void *memory)
{
	if (memory != NULL &&
	    memmem(memory, malloc_usable_size(memory), SECRET, strlen(SECRET)) != NULL)
		leaked++;
	free(memory);
}

static void *
look_and_realloc(void *memory, size_t size)
{
	const size_t old = memory == NULL ? 0 : malloc_usable_size(memory);
	void *grown = malloc(size);

	if (grown != NULL && memory != NULL) {
		memcpy(grown, memory, old < size ? old : size);
		look_and_free(memory);
	}
	return grown;
}

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

/* The command is sent in two parts, and further ones make the buffer grow. */
static void
no_password_stays_in_freed_memory(void **state)
{
	const char *const auth[] = { "AUTH", SECRET }, *const get[] = { "GET", "key" };
	struct evbuffer *out = evbuffer_new();

	(void)state;
	assert_non_null(out);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(redis_command(out, get, 2), 0);
		assert_int_equal(redis_command(out, auth, 2), 0);
	}
	assert_int_equal(evbuffer_drain(out, 50), 0);
	assert_int_equal(redis_command(out, get, 2), 0);
	assert_int_equal(evbuffer_drain(out, 100), 0);
	evbuffer_free(out);
	assert_int_equal(leaked, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    commands_are_appended_with_the_lengths_of_their_arguments),
		cmocka_unit_test(no_password_stays_in_freed_memory),
	};

	event_set_mem_functions(malloc, look_and_realloc, look_and_free);

	return cmocka_run_group_tests_name("redis_command", tests, NULL, NULL);
}
