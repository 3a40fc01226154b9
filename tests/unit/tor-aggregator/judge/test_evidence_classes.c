#include "tor-aggregator/judge/evidence_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rackmesh/judge/verdict.h"
#include "tor-aggregator/window/ring.h"

#define END (100 * RM_NS_PER_S)
#define MS RM_NS_PER_MS

static int
setup(void **state)
{
	return ring_new(1 << 20, (struct ring **)state);
}

static int
teardown(void **state)
{
	ring_free(*state);
	return 0;
}

/* Adds probes from RNIC src to RNIC 9, one each millisecond, the last just before END +
 * ahead. */
static void
put(struct ring *ring, uint64_t src, uint8_t dscp, uint8_t kind, int lost, int answered,
    int64_t ahead_ns)
{
	for (int i = 0; i < lost + answered; i++) {
		const struct wire_result result = { .src_guid = src,
			.src_port_num = 1,
			.dst_guid = 9,
			.dst_port_num = 1,
			.outcome = i < lost ? WIRE_NO_REPLY : WIRE_OK,
			.dscp = dscp,
			.kind = kind };

		ring_put(
		    ring, (rm_mono_t){ END + ahead_ns - (i + 1) * MS }, false, &result);
	}
}

static struct rm_verdict
lossy(uint64_t guid)
{
	return (struct rm_verdict){
		.part = { .type = RM_PART_RNIC },
		.rnic = { guid, 1 },
		.kind = RM_KIND_RNIC_LOSSY,
		.evidence = { .window_ns = RM_NS_PER_S },
	};
}

static struct rm_evidence
fill(const struct ring *ring, uint64_t guid)
{
	struct rm_verdict verdict = lossy(guid);

	evidence_classes_fill(&verdict, 1, ring, (rm_mono_t){ END });
	return verdict.evidence;
}

static void
loss_of_one_class_alone_is_reported_with_it(void **state)
{
	struct ring *ring = *state;
	struct rm_evidence evidence;

	put(ring, 1, 26, WIRE_TOR_MESH, 20, 20, 0);
	put(ring, 1, 0, WIRE_TOR_MESH, 0, 40, 0);
	evidence = fill(ring, 1);
	assert_true(evidence.one_class);
	assert_int_equal(evidence.dscp, 26);
	evidence = fill(ring, 9); /* the same at the other end */
	assert_true(evidence.one_class);
	evidence = fill(ring, 2);
	assert_false(evidence.one_class);
}

static void
loss_in_all_classes_names_no_class(void **state)
{
	struct ring *ring = *state;

	put(ring, 1, 26, WIRE_TOR_MESH, 20, 20, 0);
	put(ring, 1, 0, WIRE_TOR_MESH, 15, 20, 0);
	assert_false(fill(ring, 1).one_class);
}

static void
probes_of_only_one_class_name_no_class(void **state)
{
	struct ring *ring = *state;

	put(ring, 1, 26, WIRE_TOR_MESH, 20, 20, 0);
	put(ring, 1, 0, WIRE_TOR_MESH, 0, 5, 0);
	assert_false(fill(ring, 1).one_class);
}

static void
only_results_in_the_verdicts_window_count(void **state)
{
	struct ring *ring = *state;

	put(ring, 1, 26, WIRE_TOR_MESH, 20, 20, -1000 * MS);
	put(ring, 1, 0, WIRE_TOR_MESH, 0, 40, 0);
	put(ring, 1, 26, WIRE_TOR_MESH, 20, 0, 500 * MS);
	assert_false(fill(ring, 1).one_class);
}

static void
probes_of_services_are_counted_apart(void **state)
{
	struct ring *ring = *state;
	struct rm_evidence evidence;

	put(ring, 1, 26, WIRE_TOR_MESH, 20, 20, 0);
	put(ring, 1, 26, WIRE_SERVICE, 2, 5, 0);
	evidence = fill(ring, 1);
	assert_int_equal(evidence.service_probes.sent, 7);
	assert_int_equal(evidence.service_probes.arrived, 5);
}

static void
verdicts_not_about_one_rnic_are_not_changed(void **state)
{
	struct ring *ring = *state;
	struct rm_verdict verdict = lossy(1);

	put(ring, 1, 26, WIRE_SERVICE, 20, 0, 0);
	put(ring, 1, 0, WIRE_TOR_MESH, 0, 40, 0);
	verdict.part.type = RM_PART_TOR;
	evidence_classes_fill(&verdict, 1, ring, (rm_mono_t){ END });
	assert_int_equal(verdict.evidence.service_probes.sent, 0);
	verdict = lossy(0);
	evidence_classes_fill(&verdict, 1, ring, (rm_mono_t){ END });
	assert_int_equal(verdict.evidence.service_probes.sent, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(loss_of_one_class_alone_is_reported_with_it),
		TEST(loss_in_all_classes_names_no_class),
		TEST(probes_of_only_one_class_name_no_class),
		TEST(only_results_in_the_verdicts_window_count),
		TEST(probes_of_services_are_counted_apart),
		TEST(verdicts_not_about_one_rnic_are_not_changed),
	};

	return cmocka_run_group_tests_name("evidence_classes", tests, NULL, NULL);
}
