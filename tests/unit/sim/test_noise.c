#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sim/noise_fabric.h"
#include "tests/sim/noise_rack.h"

#define ALL (NOISE_STRETCH_S)

/* Number of openings in one stretch, in which this place loses this share from second
 * 30 on. */
static int
openings(const struct noise_subject *subject, uint32_t place, double loss)
{
	const struct noise_worse worse = { place, 30, ALL, loss };
	struct dice dice = dice_of(7, 1);
	const int n = subject->run(subject->arg, &worse, 0, &dice);

	assert_true(n >= 0);
	return n;
}

static int
openings_of_rack(uint32_t rnics, uint32_t place, double loss)
{
	struct noise_rack *rack = NULL;
	struct noise_subject subject;
	int n;

	assert_int_equal(noise_rack_new(rnics, 1e-5, &rack), 0);
	subject = noise_rack_subject(rack);
	n = openings(&subject, place, loss);
	noise_rack_free(rack);
	return n;
}

static int
openings_of_fabric(uint32_t place, double loss)
{
	struct noise_fabric *fabric = NULL;
	struct noise_subject subject;
	int n;

	assert_int_equal(noise_fabric_new(4, 4, 10, 1e-5, &fabric), 0);
	subject = noise_fabric_subject(fabric);
	n = openings(&subject, place, loss);
	noise_fabric_free(fabric);
	return n;
}

static void
judges_name_no_part_for_noise_and_one_for_a_fault(void **state)
{
	assert_int_equal(openings_of_rack(8, 0, 0), 0);
	assert_int_equal(openings_of_rack(2, 0, 0), 0);
	assert_true(openings_of_rack(8, NOISE_RACK_SIDES * 1 + 2, 1) > 0);
	assert_true(openings_of_rack(3, NOISE_RACK_SIDES * 1 + 2, 1) > 0);
	assert_true(openings_of_rack(8, 0, 0.3) > 0);
	assert_int_equal(openings_of_fabric(0, 0), 0);
	assert_true(openings_of_fabric(0, 1) > 0);
	assert_true(openings_of_fabric(2 * 4 * 4, 1) > 0);
}

static void
the_packets_of_a_place_are_counted_for_its_time(void **state)
{
	const uint32_t receives = NOISE_RACK_SIDES * 2 + 1;
	const struct noise_worse worse = { receives, 100, 200, 1 };
	struct dice dice = dice_of(7, 1);
	struct noise_rack *rack = NULL;
	struct noise_subject subject;
	uint64_t tried, lost, both;

	assert_int_equal(noise_rack_new(4, 1e-9, &rack), 0);
	subject = noise_rack_subject(rack);
	assert_true(subject.run(subject.arg, &worse, 0, &dice) >= 0);
	/* Three peers send it ten probes a second each; it receives none of them. */
	subject.met(subject.arg, receives, 100, 200, &tried, &lost);
	assert_int_equal(tried, lost);
	assert_in_range(tried, 5990, 6010);
	subject.met(subject.arg, receives, 200, ALL, &tried, &lost);
	assert_int_equal(lost, 0);
	/* It sends its own probes, but replies to none. */
	subject.met(subject.arg, receives - 1, 100, 200, &tried, &lost);
	assert_in_range(tried, 2990, 3010);
	assert_int_equal(lost, 0);
	subject.met(subject.arg, receives + 1, 100, 200, &both, &lost);
	assert_in_range(both, tried + 5990, tried + 6010);
	noise_rack_free(rack);
}

static void
weights_correct_for_increased_losses(void **state)
{
	const struct noise_options options = {
		.loss = 3e-4, .stretches = 150, .seed = 2, .plainly = 0.2
	};
	struct noise_found found, again;
	struct noise_rack *rack = NULL;
	struct noise_subject subject;

	assert_int_equal(noise_rack_new(3, options.loss, &rack), 0);
	subject = noise_rack_subject(rack);
	assert_int_equal(noise_estimate(&subject, &options, &found), 0);
	assert_true(fabs(found.mean_weight - 1) < 0.15);
	assert_true(found.named > 0);
	assert_int_equal(noise_estimate(&subject, &options, &again), 0);
	assert_true(again.rate == found.rate);
	noise_rack_free(rack);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judges_name_no_part_for_noise_and_one_for_a_fault),
		cmocka_unit_test(the_packets_of_a_place_are_counted_for_its_time),
		cmocka_unit_test(weights_correct_for_increased_losses),
	};

	return cmocka_run_group_tests_name("noise", tests, NULL, NULL);
}
