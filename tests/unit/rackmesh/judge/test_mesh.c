#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/judge/mesh.h"

#define MAX_N 64

static size_t
slots_of(size_t n, size_t peers)
{
	return peers < n - 1 ? peers : n - 1;
}

static void
rotations_cover_every_ordered_pair_from_any_start(void **state)
{
	static const uint64_t starts[] = { 0, 5, 1000003, UINT64_MAX - 100 };

	(void)state;
	for (size_t n = 2; n <= MAX_N; n++)
		for (size_t peers = 1; peers <= 12; peers++)
			for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
				const size_t slots = slots_of(n, peers);
				const size_t rounds = (n - 1 + slots - 1) / slots;
				static bool seen[MAX_N][MAX_N];
				size_t covered = 0;

				memset(seen, 0, sizeof seen);
				for (uint64_t t = 0; t < rounds; t++)
					for (size_t i = 0; i < n; i++)
						for (size_t k = 0; k < slots; k++)
							seen[i][rm_mesh_target(n, peers,
							    starts[s] + t, i, k)] =
							    true;
				for (size_t i = 0; i < n; i++) {
					assert_false(seen[i][i]);
					for (size_t j = 0; j < n; j++)
						covered += seen[i][j];
				}
				assert_int_equal(covered, n * (n - 1));
			}
}

static void
at_any_time_all_probe_and_are_probed_equally_often(void **state)
{
	(void)state;
	for (size_t n = 2; n <= MAX_N; n++)
		for (size_t peers = 1; peers <= 12; peers += 3)
			for (uint64_t t = 0; t < 7; t++) {
				const size_t slots = slots_of(n, peers);
				size_t probed[MAX_N] = { 0 };

				for (size_t i = 0; i < n; i++) {
					bool mine[MAX_N] = { false };

					for (size_t k = 0; k < slots; k++) {
						const size_t j =
						    rm_mesh_target(n, peers, t, i, k);

						assert_true(
						    j < n && j != i && !mine[j]);
						mine[j] = true;
						probed[j]++;
					}
				}
				for (size_t j = 0; j < n; j++)
					assert_int_equal(probed[j], slots);
			}
}

static void
a_lone_rnic_has_no_other_target(void **state)
{
	(void)state;
	assert_int_equal(rm_mesh_target(1, 10, 3, 0, 0), 0);
	assert_int_equal(rm_mesh_target(0, 10, 3, 0, 0), 0);
}

static void
both_aggregators_agree_on_the_rotation(void **state)
{
	(void)state;
	assert_int_equal(rm_mesh_rotation(0, 60), 0);
	assert_int_equal(rm_mesh_rotation(59, 60), 0);
	assert_int_equal(rm_mesh_rotation(60, 60), 1);
	assert_int_equal(rm_mesh_rotation(1800000000, 60), 30000000);
	assert_int_equal(rm_mesh_rotation(100, 0), 0);
	assert_int_equal(rm_mesh_rotation(-1, 60), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rotations_cover_every_ordered_pair_from_any_start),
		cmocka_unit_test(at_any_time_all_probe_and_are_probed_equally_often),
		cmocka_unit_test(a_lone_rnic_has_no_other_target),
		cmocka_unit_test(both_aggregators_agree_on_the_rotation),
	};

	return cmocka_run_group_tests_name("mesh", tests, NULL, NULL);
}
