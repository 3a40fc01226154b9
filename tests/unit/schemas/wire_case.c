#include "wire_case.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/failing_new.h"
#include "tests/support/wire_walk.h"

#define FLIPS 20000
#define GOLDEN_MAX 65536

/* A copy of exactly this size, so that the sanitizer sees reads beyond the end. */
static uint8_t *
copy_of(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, data, len);
	return copy;
}

static struct wire_writer *
written(const struct wire_case *c, struct wire_bytes *out)
{
	struct wire_writer *writer = wire_writer_new();

	assert_non_null(writer);
	assert_int_equal(c->write(writer, out), 0);
	return writer;
}

static void
comes_back_as_it_was_written(void **state)
{
	const struct wire_case *c = *state;
	struct wire_bytes out;
	struct wire_writer *writer = written(c, &out);
	uint8_t *copy = copy_of(out.data, out.len);

	assert_int_equal(out.len % 8, 0);
	c->expect(out.data, out.len);
	c->expect(copy, out.len);
	assert_int_equal(wire_walk(c->kind, copy, out.len), 0);
	free(copy);
	wire_writer_free(writer);
}

static void
golden_path(const struct wire_case *c, char *path, size_t len)
{
	snprintf(path, len, "%s/%s.bin", WIRE_GOLDEN_DIR, c->name);
}

static void
golden_bytes_still_mean_the_same(void **state)
{
	const struct wire_case *c = *state;
	uint8_t *data = malloc(GOLDEN_MAX);
	char path[4096];
	size_t len;
	FILE *f;

	assert_non_null(data);
	golden_path(c, path, sizeof(path));
	f = fopen(path, "rb");
	assert_non_null(f);
	len = fread(data, 1, GOLDEN_MAX, f);
	fclose(f);
	assert_in_range(len, 1, GOLDEN_MAX - 1);
	c->expect(data, len);
	free(data);
}

static void
is_recognized_by_its_identifier_alone(void **state)
{
	const struct wire_case *c = *state;
	struct wire_bytes out;
	struct wire_writer *writer = written(c, &out);

	assert_int_equal(wire_kind_of(out.data, out.len), c->kind);
	for (int kind = WIRE_UNKNOWN; kind <= WIRE_COUNTER_REPORT; kind++)
		if (kind != (int)c->kind)
			assert_int_equal(wire_walk(kind, out.data, out.len), -EBADMSG);
	assert_false(wire_is_newer(out.data, out.len));
	wire_writer_free(writer);
}

static void
a_message_of_a_newer_type_is_distinguished_from_nonsense(void **state)
{
	const struct wire_case *c = *state;
	struct wire_bytes out;
	struct wire_writer *writer = written(c, &out);
	uint8_t *copy = copy_of(out.data, out.len);

	memcpy(copy + 8, "RMZ9", 4);
	assert_int_equal(wire_kind_of(copy, out.len), WIRE_UNKNOWN);
	assert_true(wire_is_newer(copy, out.len));
	assert_false(wire_is_newer(copy, 11));
	memcpy(copy + 8, "RM9Z", 4);
	assert_false(wire_is_newer(copy, out.len));
	assert_false(wire_is_newer(NULL, 0));
	free(copy);
	wire_writer_free(writer);
}

static void
every_truncation_is_refused(void **state)
{
	const struct wire_case *c = *state;
	struct wire_bytes out;
	struct wire_writer *writer = written(c, &out);

	for (size_t len = 0; len < out.len; len++) {
		uint8_t *copy = copy_of(out.data, len);

		assert_int_equal(wire_walk(c->kind, copy, len), -EBADMSG);
		free(copy);
	}
	assert_int_equal(wire_kind_of(NULL, 0), WIRE_UNKNOWN);
	assert_int_equal(wire_walk(c->kind, NULL, 0), -EBADMSG);
	wire_writer_free(writer);
}

static void
trailing_bytes_are_refused(void **state)
{
	const struct wire_case *c = *state;
	struct wire_bytes out;
	struct wire_writer *writer = written(c, &out);
	uint8_t *longer = calloc(1, out.len + 64);

	assert_non_null(longer);
	memcpy(longer, out.data, out.len);
	assert_int_equal(wire_walk(c->kind, longer, out.len), 0);
	for (size_t more = 1; more <= 64; more++)
		assert_int_equal(wire_walk(c->kind, longer, out.len + more), -EBADMSG);
	free(longer);
	wire_writer_free(writer);
}

static void
misaligned_bytes_are_refused(void **state)
{
	const struct wire_case *c = *state;
	struct wire_bytes out;
	struct wire_writer *writer = written(c, &out);
	uint8_t *room = malloc(out.len + 8);

	assert_non_null(room);
	for (size_t shift = 1; shift < 8; shift++) {
		memcpy(room + shift, out.data, out.len);
		assert_int_equal(wire_walk(c->kind, room + shift, out.len), -EINVAL);
	}
	free(room);
	wire_writer_free(writer);
}

static uint32_t
next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

static void
flipped_bits_are_refused_or_harmless(void **state)
{
	const struct wire_case *c = *state;
	struct wire_bytes out;
	struct wire_writer *writer = written(c, &out);
	unsigned refused = 0, opened = 0;
	uint64_t seed = 20260101;

	for (unsigned i = 0; i < FLIPS; i++) {
		uint8_t *copy = copy_of(out.data, out.len);
		unsigned flips = 1 + next_random(&seed) % 3;

		while (flips-- > 0) {
			uint32_t bit = next_random(&seed) % (out.len * 8);

			copy[bit / 8] ^= 1u << (bit % 8);
		}
		if (wire_walk(c->kind, copy, out.len) < 0)
			refused++;
		else
			opened++;
		free(copy);
	}
	assert_true(refused > 0); /* else the test has checked nothing */
	assert_true(opened > 0);  /* else the test has read no message */
	wire_writer_free(writer);
}

static void
a_writer_can_be_used_again(void **state)
{
	const struct wire_case *c = *state;
	struct wire_bytes out;
	struct wire_writer *writer = written(c, &out);
	uint8_t *first = copy_of(out.data, out.len);
	size_t len = out.len;

	assert_int_equal(c->write(writer, &out), 0);
	assert_int_equal(out.len, len);
	assert_memory_equal(out.data, first, len);

	failing_new_arm(
	    1); /* the second write needs no allocation, so this failure is not met */
	assert_int_equal(c->write(writer, &out), 0);
	assert_true(failing_new_disarm());
	free(first);
	wire_writer_free(writer);
}

/* Fails the n-th allocation of a write. The writer must report it, and write correctly
 * afterwards. Returns whether there were n allocations. */
static bool
fails_at_and_recovers(const struct wire_case *c, unsigned n)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes out = { NULL, 0 };
	bool spared;
	int r;

	assert_non_null(writer);
	failing_new_arm(n);
	r = c->write(writer, &out);
	spared = failing_new_disarm();
	assert_int_equal(r, spared ? 0 : -ENOMEM);
	if (!spared)
		assert_null(out.data);
	assert_int_equal(c->write(writer, &out), 0);
	c->expect(out.data, out.len);
	wire_writer_free(writer);
	return !spared;
}

static void
a_failed_allocation_is_an_error(void **state)
{
	const struct wire_case *c = *state;
	unsigned n = 1;

	failing_new_arm(1);
	assert_null(wire_writer_new());
	assert_false(failing_new_disarm());
	wire_writer_free(NULL);

	while (fails_at_and_recovers(c, n))
		n++;
	assert_true(n > 1);
}

static int
write_golden(const struct wire_case *c)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes out;
	char path[4096];
	int ret = -1;
	FILE *f;

	golden_path(c, path, sizeof(path));
	f = fopen(path, "wbx"); /* x: fail if the file exists */
	if (f == NULL) {
		perror(path);
		goto done;
	}
	if (writer != NULL && c->write(writer, &out) == 0 &&
	    fwrite(out.data, 1, out.len, f) == out.len)
		ret = 0;
	if (fclose(f) != 0)
		ret = -1;
done:
	wire_writer_free(writer);
	return ret;
}

static const struct {
	const char *name;
	CMUnitTestFunction run;
} shared[] = {
#define SHARED(fn)      \
	{               \
#fn, fn \
	}
	SHARED(comes_back_as_it_was_written),
	SHARED(golden_bytes_still_mean_the_same),
	SHARED(is_recognized_by_its_identifier_alone),
	SHARED(a_message_of_a_newer_type_is_distinguished_from_nonsense),
	SHARED(every_truncation_is_refused),
	SHARED(trailing_bytes_are_refused),
	SHARED(misaligned_bytes_are_refused),
	SHARED(flipped_bits_are_refused_or_harmless),
	SHARED(a_writer_can_be_used_again),
	SHARED(a_failed_allocation_is_an_error),
};
#define SHARED_COUNT (sizeof(shared) / sizeof(shared[0]))
#define MAX_TESTS 128

int
wire_case_main(const struct wire_case *cases, size_t case_count,
    const struct CMUnitTest *tests, size_t test_count, int argc, char **argv)
{
	struct CMUnitTest all[MAX_TESTS];
	char names[MAX_TESTS][96];
	size_t n = 0;

	if (argc == 2 && strcmp(argv[1], "--write-golden") == 0) {
		int failed = 0;

		for (size_t i = 0; i < case_count; i++)
			failed |= write_golden(&cases[i]) < 0;
		return failed;
	}
	if (case_count * SHARED_COUNT + test_count > MAX_TESTS)
		return EXIT_FAILURE;
	memset(all, 0, sizeof(all));
	for (size_t i = 0; i < case_count; i++) {
		for (size_t j = 0; j < SHARED_COUNT; j++, n++) {
			snprintf(names[n], sizeof(names[n]), "%s: %s", cases[i].name,
			    shared[j].name);
			all[n].name = names[n];
			all[n].test_func = shared[j].run;
			all[n].initial_state = (void *)&cases[i];
		}
	}
	for (size_t i = 0; i < test_count; i++)
		all[n++] = tests[i];
	/* The array has room for more tests than it holds, so cmocka's macro does not
	 * fit. */
	return _cmocka_run_group_tests("wire", all, n, NULL, NULL);
}
