#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rnic_sample.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

static const struct wire_responder_key responders[] = {
	{ .guid = 601, .port = 1, .epoch = 6, .key = { 1, 2, 3, 4, 5, 6, 7, 8 } },
	{ .guid = 601, .port = 1, .epoch = 7, .key = { [15] = 0xff } },
	{ .guid = 602, .port = 0, .epoch = 8, .key = { [0] = 0xfe } },
};

static const struct wire_pair_key pairs[] = {
	{ .src_guid = 601,
	    .dst_guid = 0x8182838485868788,
	    .src_port = 1,
	    .dst_port = 2,
	    .epoch = 7,
	    .key = { 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24 } },
};

static const struct wire_rnic_id plain[] = { { 701, 1 }, { 702, 255 } };

static const struct wire_keys keys = {
	.tor = "tor-a1",
	.epoch = 7,
	.version = 0x0102030405060708,
	.responders = responders,
	.responder_count = 3,
	.pairs = pairs,
	.pair_count = 1,
	.plain = plain,
	.plain_count = 2,
};

static int
write_keys(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_keys(writer, &keys, out);
}

static void
expect_keys(const uint8_t *data, size_t len)
{
	struct wire_keys view;

	assert_int_equal(wire_open_keys(&view, data, len), 0);
	assert_string_equal(view.tor, "tor-a1");
	assert_int_equal(view.epoch, 7);
	assert_int_equal(view.version, 0x0102030405060708);
	assert_int_equal(view.responder_count, 3);
	assert_memory_equal(view.responders, responders, sizeof(responders));
	assert_int_equal(view.pair_count, 1);
	assert_memory_equal(view.pairs, pairs, sizeof(pairs));
	assert_null(view.plain);
	assert_int_equal(view.plain_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(wire_keys_plain(&view, i).guid, plain[i].guid);
		assert_int_equal(wire_keys_plain(&view, i).port, plain[i].port);
	}
}

static const struct wire_resolve resolve = {
	.token = 501,
	.address = { .family = 4, .bytes = { 10, 0, 0, 9 } },
	.prober = { 601, 1 },
};

static int
write_resolve(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_resolve(writer, &resolve, out);
}

static void
expect_resolve(const uint8_t *data, size_t len)
{
	struct wire_resolve view;

	assert_int_equal(wire_open_resolve(&view, data, len), 0);
	assert_int_equal(view.token, 501);
	assert_int_equal(view.prober.guid, 601);
	assert_int_equal(view.prober.port, 1);
}

static int
write_resolved(struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_resolve_answer answer = {
		.token = 511, .found = true, .rnic = rnic_samples[0], .key = pairs[0]
	};

	answer.rnic.authenticates = true;
	return wire_write_resolved(writer, &answer, out);
}

static void
expect_resolved(const uint8_t *data, size_t len)
{
	struct wire_resolve_answer view;

	assert_int_equal(wire_open_resolved(&view, data, len), 0);
	assert_true(view.found);
	assert_true(view.rnic.authenticates);
	assert_memory_equal(&view.key, &pairs[0], sizeof(view.key));
}

static void
an_agent_without_a_request_gets_no_key(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_resolve_answer answer = { .token = 1 };
	struct wire_resolve asked = { .token = 1, .address = resolve.address };
	struct wire_resolve_answer answer_view;
	struct wire_resolve view;
	struct wire_bytes bytes;

	assert_int_equal(wire_write_resolve(writer, &asked, &bytes), 0);
	assert_int_equal(wire_open_resolve(&view, bytes.data, bytes.len), 0);
	assert_int_equal(view.prober.guid, 0);
	answer.key = pairs[0]; /* without a prober's GUID the key is not written */
	assert_int_equal(wire_write_resolved(writer, &answer, &bytes), 0);
	assert_int_equal(wire_open_resolved(&answer_view, bytes.data, bytes.len), 0);
	assert_int_equal(answer_view.key.epoch, 0);
	wire_writer_free(writer);
}

static void
as_many_as_the_limits_allow_fit_and_no_more(void **state)
{
	size_t most = WIRE_KEY_EPOCHS * WIRE_MAX_MEMBERS;
	struct wire_responder_key *many = calloc(most + 1, sizeof(*many));
	struct wire_writer *writer = wire_writer_new();
	struct wire_keys full = {
		.tor = "t", .epoch = 1, .responders = many, .responder_count = most
	};
	struct wire_bytes bytes;

	assert_non_null(many);
	assert_int_equal(wire_write_keys(writer, &full, &bytes), 0);
	assert_int_equal(wire_walk(WIRE_KEYS, bytes.data, bytes.len), 0);
	full.responder_count++;
	assert_int_equal(wire_write_keys(writer, &full, &bytes), -EMSGSIZE);
	full.responder_count = 0;
	assert_int_equal(wire_write_keys(writer, &full, &bytes), 0);
	wire_writer_free(writer);
	free(many);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_KEYS, "keys", write_keys, expect_keys },
		{ WIRE_RESOLVE, "resolve_keys", write_resolve, expect_resolve },
		{ WIRE_RESOLVE_ANSWER, "resolve_answer_keys", write_resolved,
		    expect_resolved },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_agent_without_a_request_gets_no_key),
		cmocka_unit_test(as_many_as_the_limits_allow_fit_and_no_more),
	};

	return wire_case_main(
	    cases, 3, tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
