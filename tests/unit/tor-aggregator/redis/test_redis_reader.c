#include "tor-aggregator/redis/redis_reader.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int
setup(void **state)
{
	*state = redis_reader_new();
	return *state == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	redis_reader_free(*state);
	return 0;
}

static int
read_text(struct redis_reader *reader, const char *text, redisReply **ret)
{
	int r = redis_reader_feed(reader, text, strlen(text));

	return r < 0 ? r : redis_reader_next(reader, ret);
}

static void
an_answer_may_come_byte_by_byte(void **state)
{
	static const char text[] = "*2\r\n$3\r\nabc\r\n$-1\r\n";
	redisReply *reply;

	for (size_t i = 0; i + 2 < sizeof(text); i++) {
		assert_int_equal(redis_reader_feed(*state, text + i, 1), 0);
		assert_int_equal(redis_reader_next(*state, &reply), 0);
	}
	assert_int_equal(read_text(*state, "\n", &reply), 1);
	assert_int_equal(reply->elements, 2);
	assert_int_equal(reply->element[1]->type, REDIS_REPLY_NIL);
	freeReplyObject(reply);
}

static void
an_absurd_count_is_refused_at_once(void **state)
{
	redisReply *reply;

	assert_int_equal(read_text(*state, "*2147483647\r\n", &reply), -EMSGSIZE);
}

static void
arrays_within_arrays_count_together(void **state)
{
	redisReply *reply;

	assert_int_equal(read_text(*state, "*2\r\n*40000\r\n", &reply), 0);
	assert_int_equal(read_text(*state, "*40000\r\n", &reply), -EMSGSIZE);
}

static void
an_absurd_length_ends_at_the_limit(void **state)
{
	static const char piece[65536];
	redisReply *reply;
	int r = read_text(*state, "$99999999999\r\n", &reply), pieces = 0;

	for (; r == 0 && pieces < 1000; pieces++) {
		r = redis_reader_feed(*state, piece, sizeof(piece));
		if (r == 0)
			r = redis_reader_next(*state, &reply);
	}
	assert_int_equal(r, -EMSGSIZE);
	assert_true((size_t)pieces <= REDIS_MAX_BYTES / sizeof(piece) + 1);
}

static void
another_protocol_is_refused(void **state)
{
	redisReply *reply;

	assert_int_equal(read_text(*state, "HTTP/1.1 400\r\n", &reply), -EBADMSG);
}

static void
many_answers_may_be_larger_than_one(void **state)
{
	char *text = malloc(100000 + 32);
	redisReply *reply;

	memset(text, 'x', 100000 + 31);
	memcpy(text, "$100000\r\n", 9);
	memcpy(text + 9 + 100000, "\r\n", 3);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(read_text(*state, text, &reply), 1);
		freeReplyObject(reply);
	}
	free(text);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_answer_may_come_byte_by_byte),
		TEST(an_absurd_count_is_refused_at_once),
		TEST(arrays_within_arrays_count_together),
		TEST(an_absurd_length_ends_at_the_limit),
		TEST(another_protocol_is_refused),
		TEST(many_answers_may_be_larger_than_one),
	};

	return cmocka_run_group_tests_name("redis_reader", tests, NULL, NULL);
}
