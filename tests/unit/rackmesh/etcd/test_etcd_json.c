/* Requests to etcd's gateway and its answers. The samples are from etcd 3.4.23. */
#include "rackmesh/etcd/etcd_json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/etcd/base64.h"
#include "rackmesh/etcd/line_splitter.h"

#define HEADER                                                 \
	"\"header\":{\"cluster_id\":\"14841639068965178418\"," \
	"\"member_id\":\"1\",\"revision\":\"42\",\"raft_term\":\"2\"}"

static void
base64_is_read_as_it_was_written(void **state)
{
	uint8_t data[64], back[64];
	char text[96 + 1];

	for (size_t len = 0; len < sizeof(data); len++) {
		size_t got = 0;

		for (size_t i = 0; i < len; i++)
			data[i] = (uint8_t)(i * 37 + len * 101);
		assert_int_equal(rm_base64_encode(data, len, text), 0);
		assert_int_equal(
		    rm_base64_decode(text, rm_base64_size(len), back, &got), 0);
		assert_int_equal(got, len);
		assert_memory_equal(back, data, len);
	}
	assert_int_equal(rm_base64_encode("me:it is", 8, text), 0);
	assert_string_equal(text, "bWU6aXQgaXM=");
}

static void
malformed_base64_is_refused(void **state)
{
	static const char *const bad[] = { "a", "ab", "abc", "====", "a===", "=abc",
		"ab=c", "ab c", "ab\nc", "abc=abcd", "ab-_", "YWJj    ", "    YWJj",
		"YWJjZA==YWJj", "YWJjYWJ\n" };
	uint8_t data[16];
	size_t len;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(
		    rm_base64_decode(bad[i], strlen(bad[i]), data, &len), -EINVAL);
}

static void
expect_range(const char *key, const char *text)
{
	struct rm_etcd_range_request request = {
		.key = key,
		.key_len = strlen(key),
		.prefix = true,
		.prefix_len = strlen(key),
	};
	char *got = NULL;

	assert_int_equal(rm_etcd_json_range(&request, &got), 0);
	assert_string_equal(got, text);
	free(got);
}

static void
a_prefix_ends_where_its_last_byte_is_raised(void **state)
{
	expect_range("a/", "{\"key\":\"YS8=\",\"range_end\":\"YTA=\"}");
	expect_range("a\xff", "{\"key\":\"Yf8=\",\"range_end\":\"Yg==\"}");
	expect_range("\xff\xff", "{\"key\":\"//8=\",\"range_end\":\"AA==\"}");
	expect_range("", "{\"key\":\"AA==\",\"range_end\":\"AA==\"}");
}

static void
a_transaction_is_written(void **state)
{
	struct rm_etcd_compare compares[] = {
		{ "k", RM_ETCD_CREATE_REVISION, 0 },
		{ "k", RM_ETCD_MOD_REVISION, INT64_C(9007199254740993) },
		{ "k", RM_ETCD_LEASE, INT64_C(7587848390000000001) },
	};
	struct rm_etcd_op ops[] = {
		{ "k", "v", 1, INT64_C(7587848390000000001) },
		{ "k", NULL, 0, 0 },
	};
	char *got = NULL;

	assert_int_equal(rm_etcd_json_txn(compares, 3, ops, 2, &got), 0);
	assert_string_equal(got,
	    "{\"compare\":[{\"key\":\"aw==\",\"target\":\"CREATE\",\"result\":"
	    "\"EQUAL\","
	    "\"create_revision\":\"0\"},{\"key\":\"aw==\",\"target\":\"MOD\","
	    "\"result\":\"EQUAL\",\"mod_revision\":\"9007199254740993\"},"
	    "{\"key\":\"aw==\",\"target\":\"LEASE\",\"result\":\"EQUAL\","
	    "\"lease\":\"7587848390000000001\"}],"
	    "\"success\":[{\"request_put\":{\"key\":\"aw==\",\"value\":\"dg==\","
	    "\"lease\":\"7587848390000000001\"}},"
	    "{\"request_delete_range\":{\"key\":\"aw==\"}}]}");
	free(got);
}

static void
requests_that_etcd_would_refuse_are_not_sent(void **state)
{
	static struct rm_etcd_op ops[RM_ETCD_MAX_OPS + 1];
	char *big = calloc(1, RM_ETCD_MAX_VALUE_BYTES + 2), *got;

	assert_non_null(big);
	for (size_t i = 0; i < RM_ETCD_MAX_OPS + 1; i++)
		ops[i] = (struct rm_etcd_op){ "k", "v", 1, 0 };
	assert_int_equal(
	    rm_etcd_json_txn(NULL, 0, ops, RM_ETCD_MAX_OPS + 1, &got), -EMSGSIZE);
	ops[0] = (struct rm_etcd_op){ "k", big, RM_ETCD_MAX_VALUE_BYTES + 1, 0 };
	assert_int_equal(rm_etcd_json_txn(NULL, 0, ops, 1, &got), -EMSGSIZE);
	ops[0].value_len = ops[1].value_len = RM_ETCD_MAX_VALUE_BYTES;
	ops[1].value = big;
	assert_int_equal(rm_etcd_json_txn(NULL, 0, ops, 2, &got), -EMSGSIZE);
	assert_int_equal(rm_etcd_json_txn(NULL, 0, ops, 1, &got), 0);
	free(got);
	ops[0] = (struct rm_etcd_op){ "", "v", 1, 0 };
	assert_int_equal(rm_etcd_json_txn(NULL, 0, ops, 1, &got), -EINVAL);
	free(big);
}

static void
parse(long status, const char *text, struct rm_etcd_reply *reply)
{
	rm_etcd_json_answer(status, text, strlen(text), reply);
}

static void
absent_fields_are_zero(void **state)
{
	struct rm_etcd_reply reply;

	parse(200,
	    "{" HEADER ",\"kvs\":[{\"key\":\"YQ==\",\"create_revision\":\"2\","
	    "\"mod_revision\":\"3\",\"version\":\"1\"}],\"count\":\"1\"}",
	    &reply);
	assert_int_equal(reply.answer.r, 0);
	assert_true(reply.answer.cluster_id == UINT64_C(14841639068965178418));
	assert_int_equal(reply.answer.revision, 42);
	assert_int_equal(reply.answer.count, 1);
	assert_string_equal(reply.answer.values[0].key, "a");
	assert_string_equal(reply.answer.values[0].value, "");
	assert_int_equal(reply.answer.values[0].value_len, 0);
	assert_int_equal(reply.answer.values[0].mod_revision, 3);
	assert_int_equal(reply.answer.values[0].lease, 0);
	assert_false(reply.answer.succeeded);
	rm_etcd_reply_clear(&reply);
	/* A lease that no longer exists. */
	parse(
	    200, "{\"result\":{" HEADER ",\"ID\":\"7587848390000000001\"}}\n", &reply);
	assert_int_equal(reply.answer.r, 0);
	assert_true(reply.answer.lease == INT64_C(7587848390000000001));
	assert_int_equal(reply.answer.ttl_s, 0);
	rm_etcd_reply_clear(&reply);
}

static void
values_may_hold_any_byte_and_keys_no_zero(void **state)
{
	struct rm_etcd_reply reply;

	parse(200,
	    "{" HEADER ",\"kvs\":[{\"key\":\"AGE=\"},"
	    "{\"key\":\"YQ==\",\"value\":\"AAEA\"}]}",
	    &reply);
	assert_int_equal(reply.answer.r, 0);
	assert_int_equal(reply.answer.count, 1);
	assert_int_equal(reply.left_out, 1);
	assert_int_equal(reply.answer.values[0].value_len, 3);
	assert_memory_equal(reply.answer.values[0].value, "\0\1\0", 4);
	rm_etcd_reply_clear(&reply);
}

static void
a_malformed_answer_is_refused(void **state)
{
	static const char *const bad[] = { "", "x", "[]", "{}", "{\"header\":{}}",
		"{\"header\":{\"cluster_id\":\"x\",\"revision\":\"1\"}}",
		"{\"header\":{\"cluster_id\":\"1\",\"revision\":\"-1\"}}",
		"{\"header\":{\"cluster_id\":\"1\",\"revision\":\"1e3\"}}",
		"{\"header\":{\"cluster_id\":\"1\",\"revision\":1.5}}",
		"{\"header\":{\"cluster_id\":\"1\",\"revision\":"
		"\"9223372036854775808\"}}",
		"{" HEADER ",\"kvs\":{}}", "{" HEADER ",\"kvs\":[1]}",
		"{" HEADER ",\"kvs\":[{\"key\":\"!\"}]}",
		"{" HEADER ",\"kvs\":[{\"key\":7}]}",
		"{" HEADER ",\"kvs\":[{\"mod_revision\":\"-4\"}]}" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rm_etcd_reply reply;

		parse(200, bad[i], &reply);
		assert_int_equal(reply.answer.r, -EPROTO);
		assert_string_not_equal(reply.answer.error, "");
		rm_etcd_reply_clear(&reply);
	}
}

static void
errors_are_distinguished(void **state)
{
	static const struct {
		long status;
		int code;
		const char *message;
		int r;
		bool token_refused, rotate;
	} cases[] = {
		{ 400, 3, "etcdserver: user name is empty", -EACCES, true, false },
		{ 400, 3, "etcdserver: revision of auth store is old", -EACCES, true,
		    false },
		{ 401, 16, "etcdserver: invalid auth token", -EACCES, true, false },
		{ 403, 7, "etcdserver: permission denied", -EACCES, false, false },
		{ 400, 3,
		    "etcdserver: authentication failed, invalid user ID or "
		    "password",
		    -EACCES, false, false },
		{ 400, 3, "etcdserver: request is too large", -EMSGSIZE, false, false },
		{ 400, 3, "etcdserver: too many operations in txn request", -EMSGSIZE,
		    false, false },
		{ 400, 11, "etcdserver: mvcc: required revision has been compacted",
		    -ESTALE, false, false },
		{ 400, 11, "etcdserver: mvcc: required revision is a future revision",
		    -EAGAIN, false, true },
		{ 404, 5, "etcdserver: requested lease not found", -ENOENT, false,
		    false },
		{ 429, 8, "etcdserver: mvcc: database space exceeded", -ENOSPC, false,
		    false },
		{ 429, 8, "grpc: received message larger than max (2 vs. 1)", -EMSGSIZE,
		    false, false },
		{ 429, 8, "etcdserver: too many requests", -EAGAIN, false, true },
		{ 503, 14, "etcdserver: no leader", -EAGAIN, false, true },
		{ 503, 14, "etcdserver: request timed out", -ETIMEDOUT, false, true },
		{ 503, 14, "transport is closing", -EIO, false, true },
		{ 500, 2, "context deadline exceeded", -ETIMEDOUT, false, true },
		{ 500, 2, "etcdserver: something else", -EIO, false, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rm_etcd_reply reply;
		char text[512];

		snprintf(text, sizeof(text),
		    "{\"error\":\"%s\",\"message\":\"%s\",\"code\":%d}",
		    cases[i].message, cases[i].message, cases[i].code);
		parse(cases[i].status, text, &reply);
		assert_int_equal(reply.answer.r, cases[i].r);
		assert_int_equal(reply.token_refused, cases[i].token_refused);
		assert_int_equal(reply.rotate, cases[i].rotate);
		assert_string_equal(reply.answer.error, cases[i].message);
		rm_etcd_reply_clear(&reply);
	}
}

static void
errors_without_a_text_of_etcd_are_reported_by_their_status(void **state)
{
	struct rm_etcd_reply reply;

	parse(404, "Not Found\n", &reply);
	assert_int_equal(reply.answer.r, -EPROTO);
	parse(400,
	    "CommonName of client sending a request against gateway will be "
	    "ignored\n\x1b[31m",
	    &reply);
	assert_int_equal(reply.answer.r, -EACCES);
	assert_null(strchr(reply.answer.error, 0x1b));
	parse(502, "", &reply);
	assert_int_equal(reply.answer.r, -EIO);
	assert_string_equal(reply.answer.error, "HTTP status 502");
}

static void
lines_of_a_watch_are_read(void **state)
{
	static const char events[] =
	    "{\"result\":{" HEADER ",\"events\":[{\"kv\":{\"key\":\"YQ==\","
	    "\"mod_revision\":\"41\"}},{\"type\":\"DELETE\",\"kv\":{\"key\":\"Yg==\","
	    "\"mod_revision\":\"42\"}}]}}";
	static const char created[] = "{\"result\":{" HEADER ",\"created\":true}}";
	struct rm_etcd_line line;

	assert_int_equal(rm_etcd_json_line(created, strlen(created), &line), 0);
	assert_true(line.created);
	assert_int_equal(line.count, 0);
	rm_etcd_line_clear(&line);
	assert_int_equal(rm_etcd_json_line(events, strlen(events), &line), 0);
	assert_int_equal(line.r, 0);
	assert_int_equal(line.count, 2);
	assert_int_equal(line.last, 42);
	assert_false(line.events[0].is_delete);
	assert_true(line.events[1].is_delete);
	assert_string_equal(line.events[1].value.key, "b");
	rm_etcd_line_clear(&line);
}

static void
ends_of_a_watch_are_distinguished(void **state)
{
	static const struct {
		const char *text;
		int r;
	} cases[] = {
		{ "{\"result\":{" HEADER ",\"canceled\":true,"
		  "\"compact_revision\":\"10\"}}",
		    -ESTALE },
		{ "{\"result\":{" HEADER ",\"created\":true,\"canceled\":true,"
		  "\"cancel_reason\":\"rpc error: code = PermissionDenied desc = "
		  "etcdserver: permission denied\"}}",
		    -EACCES },
		{ "{\"result\":{" HEADER ",\"canceled\":true}}", -ECANCELED },
		{ "{\"error\":{\"grpc_code\":14,\"http_code\":503,\"message\":"
		  "\"transport is closing\",\"http_status\":\"x\"}}",
		    -EIO },
	};
	struct rm_etcd_line line;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
		    rm_etcd_json_line(cases[i].text, strlen(cases[i].text), &line), 0);
		assert_int_equal(line.r, cases[i].r);
		assert_string_not_equal(line.error, "");
		rm_etcd_line_clear(&line);
	}
	assert_int_equal(rm_etcd_json_line("{\"result\":{}}", 13, &line), -EPROTO);
	assert_int_equal(rm_etcd_json_line("{", 1, &line), -EPROTO);
}

static bool
on_line(const char *text, size_t len, void *arg)
{
	char *lines = arg;

	strncat(lines, text, len);
	strcat(lines, "|");
	return true;
}

static void
lines_are_cut_wherever_the_pieces_end(void **state)
{
	static const char text[] = "one\n\ntwo and more\nx\nrest";

	for (size_t first = 0; first < sizeof(text); first++) {
		for (size_t second = first; second < sizeof(text); second++) {
			struct rm_line_splitter splitter = { 0 };
			char lines[64] = "";
			size_t all = strlen(text), b = second < all ? second : all;
			size_t a = first < b ? first : b;

			rm_line_splitter_feed(&splitter, text, a, on_line, lines);
			rm_line_splitter_feed(
			    &splitter, text + a, b - a, on_line, lines);
			rm_line_splitter_feed(
			    &splitter, text + b, all - b, on_line, lines);
			assert_string_equal(lines, "one|two and more|x|");
			assert_int_equal(splitter.len, 4);
			rm_line_splitter_clear(&splitter);
		}
	}
}

static void
a_line_beyond_the_bound_is_refused(void **state)
{
	struct rm_line_splitter splitter = { 0 };
	char *piece = malloc(1 << 20), lines[8];
	int r = 0;

	assert_non_null(piece);
	memset(piece, 'x', 1 << 20);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(
		    rm_line_splitter_feed(&splitter, piece, 1 << 20, on_line, lines),
		    0);
	r = rm_line_splitter_feed(&splitter, piece, 1, on_line, lines);
	assert_int_equal(r, -ENOBUFS);
	rm_line_splitter_clear(&splitter);
	free(piece);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base64_is_read_as_it_was_written),
		cmocka_unit_test(malformed_base64_is_refused),
		cmocka_unit_test(a_prefix_ends_where_its_last_byte_is_raised),
		cmocka_unit_test(a_transaction_is_written),
		cmocka_unit_test(requests_that_etcd_would_refuse_are_not_sent),
		cmocka_unit_test(absent_fields_are_zero),
		cmocka_unit_test(values_may_hold_any_byte_and_keys_no_zero),
		cmocka_unit_test(a_malformed_answer_is_refused),
		cmocka_unit_test(errors_are_distinguished),
		cmocka_unit_test(
		    errors_without_a_text_of_etcd_are_reported_by_their_status),
		cmocka_unit_test(lines_of_a_watch_are_read),
		cmocka_unit_test(ends_of_a_watch_are_distinguished),
		cmocka_unit_test(lines_are_cut_wherever_the_pieces_end),
		cmocka_unit_test(a_line_beyond_the_bound_is_refused),
	};

	return cmocka_run_group_tests_name("etcd_json", tests, NULL, NULL);
}
