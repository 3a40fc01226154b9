#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rackmesh/judge/hypothesis.h"

#define ELEMENTS 12
#define OBSERVATIONS 40
#define ROUNDS 200

static const struct rm_judge_options options = {
	.base_loss = 0.001,
	.max_parts = ELEMENTS,
	.least_loss = 0.003,
	.siblings_relief = 9,
};

struct drawn {
	struct rm_observation observations[OBSERVATIONS];
	struct rm_candidate candidates[ELEMENTS];
};

/* Paths of one to four elements with loss from none to total; the last ones may be
 * spread. */
static void
draw(struct drawn *d, unsigned int *seed)
{
	for (uint32_t i = 0; i < OBSERVATIONS; i++) {
		struct rm_observation *o = &d->observations[i];
		const uint32_t first = (uint32_t)rand_r(seed) % ELEMENTS;

		*o = (struct rm_observation){ .sent = 1 + (uint32_t)rand_r(seed) % 99,
			.element_count = 1 + (uint32_t)rand_r(seed) % 4 };
		o->lost = (uint32_t)rand_r(seed) % (o->sent + 1);
		if (rand_r(seed) % 2 == 0)
			o->lost = o->lost > 0;
		for (uint32_t k = 0; k < o->element_count; k++)
			o->elements[k] = (first + k * k) % ELEMENTS;
		if (rand_r(seed) % 4 == 0) {
			o->spread = o->element_count / 2;
			for (uint32_t k = 0; k < o->spread; k++)
				o->shares[k] = 0.5F;
		}
	}
	for (uint32_t i = 0; i < ELEMENTS; i++)
		d->candidates[i] =
		    (struct rm_candidate){ .elements = { i, (i + 1) % ELEMENTS },
			    .element_count = 1 + i % 2,
			    .log_prior = -4,
			    .within = { i / 4 },
			    .within_count = 1 };
}

static void
check_all(struct rm_hypothesis *h)
{
	for (size_t i = 0; i < ELEMENTS; i++) {
		const double bound = rm_hypothesis_gain_bound(h, i);

		if (rm_hypothesis_blames(h, i))
			continue;
		assert_true(rm_hypothesis_fit(h, i).gain <=
			    rm_hypothesis_max_gain(h, i) + 1e-6);
		assert_true(rm_hypothesis_fit(h, i).gain <= bound + 1e-6);
	}
}

static void
no_part_explains_more_beside_others_than_alone(void **state)
{
	struct rm_hypothesis h;
	unsigned int seed = 1;

	assert_int_equal(rm_hypothesis_init(&h, &options), 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct drawn d;

		draw(&d, &seed);
		assert_int_equal(rm_hypothesis_begin(&h, ELEMENTS, d.observations,
				     OBSERVATIONS, d.candidates, ELEMENTS),
		    0);
		for (int i = 0; i < 4; i++) {
			const size_t c = (size_t)rand_r(&seed) % ELEMENTS;

			if (rm_hypothesis_blames(&h, c) ||
			    rm_hypothesis_fit(&h, c).loss <= 0)
				continue;
			rm_hypothesis_add(&h, rm_hypothesis_fit(&h, c));
			check_all(&h);
		}
		if (h.count > 0)
			rm_hypothesis_remove(&h, 0);
		check_all(&h);
	}
	rm_hypothesis_release(&h);
}

static void
a_cleared_hypothesis_evaluates_each_part_alone_again(void **state)
{
	struct rm_hypothesis h;
	unsigned int seed = 2;
	double gains[ELEMENTS];
	struct drawn d;

	draw(&d, &seed);
	assert_int_equal(rm_hypothesis_init(&h, &options), 0);
	assert_int_equal(rm_hypothesis_begin(&h, ELEMENTS, d.observations, OBSERVATIONS,
			     d.candidates, ELEMENTS),
	    0);
	for (size_t i = 0; i < ELEMENTS; i++)
		gains[i] = rm_hypothesis_fit(&h, i).gain;
	rm_hypothesis_add(&h, rm_hypothesis_fit(&h, 3));
	rm_hypothesis_clear(&h);
	for (size_t i = 0; i < ELEMENTS; i++) {
		assert_true(rm_hypothesis_fit(&h, i).gain == gains[i]);
		assert_false(rm_hypothesis_blames(&h, i));
	}
	rm_hypothesis_release(&h);
}

/* Computes all gains again, without the cached ones. */
static void
add_all_anew(struct rm_hypothesis *h, double gains[static ELEMENTS])
{
	for (size_t i = 0; i < ELEMENTS; i++) {
		h->stale[i] = true;
		gains[i] =
		    rm_hypothesis_blames(h, i) ? 0 : rm_hypothesis_fit(h, i).gain;
	}
}

static void
removing_a_part_restores_the_former_values(void **state)
{
	struct rm_hypothesis h;
	unsigned int seed = 3;

	assert_int_equal(rm_hypothesis_init(&h, &options), 0);
	for (int round = 0; round < ROUNDS; round++) {
		double before[ELEMENTS], after[ELEMENTS];
		struct rm_suspect lifted;
		struct drawn d;

		draw(&d, &seed);
		assert_int_equal(rm_hypothesis_begin(&h, ELEMENTS, d.observations,
				     OBSERVATIONS, d.candidates, ELEMENTS),
		    0);
		for (size_t c = 0; c < 6; c += 2)
			rm_hypothesis_add(&h, rm_hypothesis_fit(&h, c));
		add_all_anew(&h, before);
		lifted = rm_hypothesis_lift(&h, 0);
		check_all(&h);
		rm_hypothesis_put_down(
		    &h, lifted, rm_hypothesis_fit(&h, lifted.candidate));
		for (size_t i = 0; i < ELEMENTS; i++)
			if (!rm_hypothesis_blames(&h, i))
				before[i] = rm_hypothesis_fit(&h, i).gain;
		add_all_anew(&h, after);
		for (size_t i = 0; i < ELEMENTS; i++)
			assert_true(
			    before[i] == after[i] || fabs(before[i] - after[i]) < 1e-6);
	}
	rm_hypothesis_release(&h);
}

static void
add_all(struct rm_hypothesis *h, double gains[static ELEMENTS])
{
	for (size_t i = 0; i < ELEMENTS; i++)
		gains[i] =
		    rm_hypothesis_blames(h, i) ? 0 : rm_hypothesis_fit(h, i).gain;
}

static void
the_cheaper_hypothesis_is_found_although_another_part_explains_more_alone(void **state)
{
	struct rm_hypothesis h;
	unsigned int seed = 4;
	struct drawn d;

	(void)state;
	assert_int_equal(rm_hypothesis_init(&h, &options), 0);
	for (int round = 0; round < ROUNDS; round++) {
		draw(&d, &seed);
		assert_int_equal(rm_hypothesis_begin(&h, ELEMENTS, d.observations,
				     OBSERVATIONS, d.candidates, ELEMENTS),
		    0);
		rm_hypothesis_relieve(&h, 0);
		rm_hypothesis_relieve(&h, 2);
		check_all(&h);
		for (size_t c = 1; c < 6; c += 3)
			rm_hypothesis_add(&h, rm_hypothesis_fit(&h, c));
		check_all(&h);
		for (size_t n = 0; n < ELEMENTS; n++)
			for (size_t m = n; m < ELEMENTS; m++) {
				const size_t c = rm_hypothesis_by_rank(&h, m);

				assert_true(
				    rm_hypothesis_blames(&h, c) ||
				    rm_hypothesis_fit(&h, c).gain <=
					rm_hypothesis_max_gain_from(&h, n) + 1e-6);
			}
	}
	rm_hypothesis_release(&h);
}

static void
a_restored_hypothesis_has_its_former_cost(void **state)
{
	struct rm_hypothesis h;
	struct rm_snapshot snapshot;
	unsigned int seed = 5;

	(void)state;
	assert_int_equal(rm_hypothesis_init(&h, &options), 0);
	assert_int_equal(rm_snapshot_init(&snapshot, &options), 0);
	for (int round = 0; round < ROUNDS; round++) {
		double before[ELEMENTS], after[ELEMENTS], score;
		struct drawn d;

		draw(&d, &seed);
		assert_int_equal(rm_hypothesis_begin(&h, ELEMENTS, d.observations,
				     OBSERVATIONS, d.candidates, ELEMENTS),
		    0);
		rm_hypothesis_relieve(&h, 1);
		rm_hypothesis_add(&h, rm_hypothesis_fit(&h, 5));
		score = rm_hypothesis_score(&h);
		add_all(&h, before);
		rm_hypothesis_save(&h, &snapshot);
		rm_hypothesis_remove(&h, 0);
		rm_hypothesis_relieve(&h, 0);
		rm_hypothesis_add(&h, rm_hypothesis_fit(&h, 2));
		rm_hypothesis_restore(&h, &snapshot);
		assert_true(fabs(rm_hypothesis_score(&h) - score) < 1e-6);
		add_all(&h, after);
		for (size_t i = 0; i < ELEMENTS; i++)
			assert_true(
			    before[i] == after[i] || fabs(before[i] - after[i]) < 1e-6);
	}
	rm_snapshot_release(&snapshot);
	rm_hypothesis_release(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_part_explains_more_beside_others_than_alone),
		cmocka_unit_test(removing_a_part_restores_the_former_values),
		cmocka_unit_test(a_cleared_hypothesis_evaluates_each_part_alone_again),
		cmocka_unit_test(
		    the_cheaper_hypothesis_is_found_although_another_part_explains_more_alone),
		cmocka_unit_test(a_restored_hypothesis_has_its_former_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
