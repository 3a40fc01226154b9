#include "analyzer/history/influx_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static char text[1 << 16];

/* A database that refuses every part that contains a bad line. Returns the number of
 * requests. */
static unsigned
run(size_t len, unsigned *taken, unsigned *refused)
{
	struct influx_parts parts;
	unsigned asked = 0;

	*taken = *refused = 0;
	influx_parts_init(&parts, text, len);
	for (;;) {
		size_t part_len;
		const char *part = influx_parts_text(&parts, &part_len);
		uint64_t points = influx_parts_points(&parts);

		assert_true(part_len > 0 && points > 0);
		assert_int_equal(part[part_len - 1], '\n');
		asked++;
		if (memmem(part, part_len, "bad", 3) != NULL) {
			if (influx_parts_halve(&parts))
				continue;
			*refused += (unsigned)points;
		} else
			*taken += (unsigned)points;
		if (!influx_parts_next(&parts))
			return asked;
	}
}

static size_t
fill(int lines, int bad)
{
	size_t len = 0;

	for (int i = 0; i < lines; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s f=%di %d\n",
		    i == bad ? "bad" : "m", i, i);
	return len;
}

static void
one_refused_point_loses_no_other(void **state)
{
	for (int lines = 1; lines < 40; lines++) {
		for (int bad = 0; bad < lines; bad++) {
			unsigned taken, refused;
			unsigned asked = run(fill(lines, bad), &taken, &refused);

			assert_int_equal(refused, 1);
			assert_int_equal(taken, lines - 1);
			assert_true(asked <= 16);
		}
	}
}

static void
lines_of_very_different_length_are_halved_too(void **state)
{
	unsigned taken, refused;
	size_t len = fill(3, -1);

	memset(text + len, 'x', 30000);
	text[len + 30000] = '\n';
	len += 30001;
	len += (size_t)sprintf(text + len, "bad\n");
	assert_true(run(len, &taken, &refused) < 16);
	assert_int_equal(taken, 4);
	assert_int_equal(refused, 1);
}

static void
halving_ends_if_the_database_refuses_everything(void **state)
{
	unsigned taken, refused, asked;
	size_t len = 0;

	for (int i = 0; i < 10000; i++) {
		memcpy(text + len, "bad\n", 4);
		len += 4;
	}
	asked = run(len, &taken, &refused);
	assert_int_equal(taken, 0);
	assert_int_equal(refused, 10000);
	assert_true(asked <= 2 * INFLUX_MAX_HALVES + 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_refused_point_loses_no_other),
		cmocka_unit_test(lines_of_very_different_length_are_halved_too),
		cmocka_unit_test(halving_ends_if_the_database_refuses_everything),
	};

	return cmocka_run_group_tests_name("influx_parts", tests, NULL, NULL);
}
