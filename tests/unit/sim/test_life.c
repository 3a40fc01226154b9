#include "tests/sim/life.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/core/clock.h"
#include "tests/sim/truth.h"

#define S RM_NS_PER_S

struct fixture {
	struct scenario *scenario;
	struct scenario_draw draw;
	struct clos *clos;
	struct life *life;
	struct fault faults[4];
};

static int
setup(void **state)
{
	static const char text[] =
	    "name: a\nseconds: 3600\nnoise: { stalls_per_hour: 20, stall_s: 1 }\n";
	static struct fixture f;
	struct dice dice = dice_of(1, 1);

	f = (struct fixture){ 0 };
	*state = &f;
	if (scenario_parse("s", text, strlen(text), &f.scenario, NULL) < 0)
		return -1;
	scenario_draw(f.scenario, &dice, &f.draw);
	return clos_new(&f.draw.fabric, &f.clos);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	life_free(f->life);
	clos_free(f->clos);
	scenario_free(f->scenario);
	return 0;
}

static struct fault
fault(const struct fixture *f, enum fault_kind kind, uint32_t host, int64_t from_s,
    int64_t to_s)
{
	return (struct fault){ .kind = kind,
		.part = clos_first(f->clos, CLOS_HOST) + host,
		.dscp = -1,
		.from_ns = from_s * S,
		.to_ns = to_s * S,
		.rerouted_ns = INT64_MAX };
}

static void
begin(struct fixture *f, size_t faults, bool noise)
{
	struct dice dice = dice_of(1, 2);

	if (!noise)
		f->draw.noise[NOISE_STALLS_PER_HOUR] = 0;
	assert_int_equal(life_new(f->clos, f->faults, faults, f->scenario, &f->draw,
			     &dice, &f->life),
	    0);
}

static void
a_stalled_agent_continues_and_an_ended_one_does_not(void **state)
{
	struct fixture *f = *state;

	f->faults[0] = fault(f, FAULT_HOST_STALL, 0, 5, 8);
	f->faults[1] = fault(f, FAULT_AGENT_DOWN, 1, 5, 8);
	f->faults[2] = fault(f, FAULT_MANAGEMENT_DOWN, 2, 5, 8);
	begin(f, 3, false);
	assert_true(life_runs(f->life, 0, 5 * S - 1));
	assert_false(life_runs(f->life, 0, 5 * S));
	assert_int_equal(life_resumes(f->life, 0, 6 * S), 8 * S);
	assert_true(life_runs(f->life, 0, 8 * S));
	assert_int_equal(life_resumes(f->life, 1, 6 * S), INT64_MAX);
	assert_true(life_runs(f->life, 2, 6 * S));
	assert_false(life_kernel_answers(f->life, 0, 6 * S));
	assert_true(life_kernel_answers(f->life, 1, 6 * S));
	assert_false(life_kernel_answers(f->life, 2, 6 * S));
	assert_true(life_stood_still(f->life, 0, 7 * S, 9 * S, 3 * S));
	assert_false(life_stood_still(f->life, 0, 7 * S, 9 * S, 3 * S + 1));
	assert_false(life_stood_still(f->life, 0, 8 * S, 9 * S, 1));
}

static void
a_flapping_agent_runs_between_its_faults(void **state)
{
	struct fixture *f = *state;

	f->faults[0] = fault(f, FAULT_AGENT_DOWN, 3, 10, 20);
	f->faults[0].on_ns = 2 * S;
	f->faults[0].off_ns = 1 * S;
	begin(f, 1, false);
	assert_false(life_runs(f->life, 3, 11 * S));
	assert_true(life_runs(f->life, 3, 12 * S));
	assert_false(life_runs(f->life, 3, 13 * S));
	assert_false(life_runs(f->life, 3, 19 * S));
	assert_true(life_runs(f->life, 3, 20 * S));
}

static void
noise_has_its_frequency_and_need_not_be_found(void **state)
{
	struct fixture *f = *state;
	struct truth *truths = NULL;
	size_t count = 0;

	f->faults[0] = fault(f, FAULT_HOST_STALL, 0, 5, 8);
	f->faults[1] = fault(f, FAULT_AGENT_DOWN, 1, 5, 6);
	f->faults[2] = fault(f, FAULT_AGENT_DOWN, 1, 10, 20);
	begin(f, 3, true);
	assert_int_equal(truth_of(f->clos, f->faults, 3, f->life, &truths, &count), 0);
	assert_in_range(
	    count, 3 + 250, 3 + 390); /* 16 hosts with about 20 stalls each */
	assert_false(truths[0].counts);
	assert_false(truths[1].counts); /* it ends before its absence is noticed */
	assert_true(truths[2].counts);
	for (size_t i = 3; i < count; i++) {
		assert_false(truths[i].counts);
		assert_string_equal(truths[i].kind, "stall");
		assert_int_equal(truths[i].to_ns - truths[i].from_ns, S);
	}
	free(truths);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stalled_agent_continues_and_an_ended_one_does_not),
		TEST(a_flapping_agent_runs_between_its_faults),
		TEST(noise_has_its_frequency_and_need_not_be_found),
	};

	return cmocka_run_group_tests_name("life", tests, NULL, NULL);
}
