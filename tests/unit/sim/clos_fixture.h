/* clos_fixture - fabrics that more than one test file uses. */
#ifndef TESTS_UNIT_SIM_CLOS_FIXTURE_H
#define TESTS_UNIT_SIM_CLOS_FIXTURE_H

#include "tests/sim/clos.h"

static const struct clos_options two_tiers = { .tiers = 2,
	.racks = 6,
	.middle = 3,
	.cables = 2,
	.rnics_per_rack = 4,
	.rnics_per_host = 2 };

static inline struct clos *
fat_tree(uint32_t k)
{
	struct clos *clos = NULL;

	assert_int_equal(clos_new(&(struct clos_options){ .tiers = 3,
				      .pods = k,
				      .racks = k * k / 2,
				      .middle = k / 2,
				      .cores = k * k / 4,
				      .rnics_per_rack = k / 2 },
			     &clos),
	    0);
	return clos;
}

static inline struct clos *
fabric(const struct clos_options *options)
{
	struct clos *clos = NULL;

	assert_int_equal(clos_new(options, &clos), 0);
	return clos;
}

#endif
