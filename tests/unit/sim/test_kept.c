#include "tests/sim/kept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sim/run.h"
#include "tests/sim/scenario.h"
#include "tests/sim/tuned.h"

static const char scenario_text[] =
    "name: a\nseconds: 16\nfabric: { racks: 3, rnics_per_rack: 4 }\n"
    "noise: { loss: 1e-4, path_moves_per_hour: 600, stalls_per_hour: 60, stall_s: 1 }\n"
    "faults:\n  - { kind: link-lossy, part: random, type: link, loss: 0.3, from_s: 3 "
    "}\n"
    "  - { kind: rnic-down, part: random, from_s: 6 }\n";

static const struct scheme_type *const types[] = { &scheme_ten_percent, &scheme_007,
	&scheme_pll, &scheme_flock };
#define TYPES (sizeof types / sizeof *types)
#define WINDOW_S 5 /* shorter than the run */

static void
a_stored_run_is_judged_as_during_the_run(void **state)
{
	struct kept *kept = NULL;
	struct run_options options = {
		.seed = 1, .scheme_count = TYPES, .keep = &kept
	};
	struct scenario *scenario = NULL;
	struct run_result result;
	struct rm_error error = { 0 };
	uint64_t found = 0;

	for (size_t i = 0; i < TYPES; i++) {
		options.schemes[i].type = types[i];
		tuned_values(types[i], WINDOW_S, options.schemes[i].values);
	}
	assert_int_equal(scenario_parse("s.yaml", scenario_text, strlen(scenario_text),
			     &scenario, &error),
	    0);
	assert_int_equal(run_whole(scenario, &options, &result, &error), 0);
	assert_non_null(kept);
	for (size_t i = 0; i < TYPES; i++) {
		struct score *again;

		assert_int_equal(score_new(&again), 0);
		assert_int_equal(
		    kept_judge(kept, types[i], options.schemes[i].values, again), 0);
		for (size_t class = 0; class < SCORE_CLASSES; class ++) {
			const struct score_row a = score_row(result.schemes[i], class),
					       b = score_row(again, class);

			assert_memory_equal(&a, &b, sizeof a);
			found += a.found;
		}
		assert_true(score_seconds(result.schemes[i], NULL, 1) ==
			    score_seconds(again, NULL, 1));
		score_free(again);
	}
	assert_true(found >= 4);
	run_result_clear(&result);
	kept_free(kept);
	scenario_free(scenario);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stored_run_is_judged_as_during_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
