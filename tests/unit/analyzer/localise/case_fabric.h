/* case_fabric - a map and a case of localise_case for tests that fill both with rows of
 * one second, with the replies of probes. */
#ifndef TESTS_CASE_FABRIC_H
#define TESTS_CASE_FABRIC_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/finding/localise_case.h"
#include "analyzer/paths/localise_map.h"

#define BEGAN_NS (100 * RM_NS_PER_S)

struct fabric {
	struct localise_map map;
	struct localise_case c;
};

static int
setup(void **state)
{
	static struct fabric fabric;

	fabric = (struct fabric){ .map = { .row_interval_ns = RM_NS_PER_S } };
	assert_int_equal(localise_case_init(&fabric.c, false), 0);
	fabric.c.with_replies = true;
	*state = &fabric;
	return 0;
}

static int
teardown(void **state)
{
	struct fabric *fabric = *state;

	localise_case_release(&fabric->c);
	localise_map_release(&fabric->map);
	return 0;
}

/* Begins the rows of a rack in this second. */
static struct localise_rack *
begin_rack(struct fabric *fabric, const char *tor)
{
	struct localise_rack *rack;

	assert_int_equal(localise_map_rack(&fabric->map, tor, &rack), 0);
	localise_map_frame(rack, (rm_wall_t){ BEGAN_NS }, 0, (rm_mono_t){ BEGAN_NS });
	return rack;
}

static void
add_path_row(
    struct fabric *fabric, struct localise_rack *rack, const struct wire_path_row *row)
{
	struct localise_path *path;

	assert_int_equal(localise_map_path(&fabric->map, rack, row, &path), 0);
	assert_int_equal(localise_map_row(&fabric->map, path, row, RM_NS_PER_S,
			     RM_NS_PER_S, (rm_mono_t){ BEGAN_NS }),
	    0);
}

#endif
