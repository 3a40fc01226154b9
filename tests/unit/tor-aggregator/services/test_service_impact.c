#include "tor-aggregator/services/service_impact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/judge/verdict.h"
#include "tor-aggregator/services/service_table.h"

#define MAX_FLOWS 8
#define POD "pod:0b4f7a3e-6f1d-4c2a-9d55-0c1e2f3a4b01" /* a pod whose name is known */

struct world {
	struct service_table *table;
	struct wire_writer *writer;
};

static int
setup(void **state)
{
	static struct world world;

	world.writer = wire_writer_new();
	*state = &world;
	return service_table_new(64, &world.table);
}

static int
teardown(void **state)
{
	struct world *w = *state;

	service_table_free(w->table);
	wire_writer_free(w->writer);
	return 0;
}

static bool
owns(struct wire_rnic_id id, void *arg)
{
	(void)id;
	(void)arg;
	return true;
}

/* Reports all flows of a host: one for each name, from RNIC src to RNIC 9. */
static void
report(struct world *w, const char *host, bool tracing, uint64_t src,
    const char *const *names)
{
	struct wire_service_flow flows[MAX_FLOWS] = { 0 };
	struct wire_services services = { .host = host,
		.incarnation = 1,
		.now_ns = 1,
		.tracing = tracing,
		.flows = flows };
	struct wire_services_view view;
	struct wire_bytes bytes;

	for (; names[services.flow_count] != NULL; services.flow_count++)
		flows[services.flow_count] = (struct wire_service_flow){
			.src = { src, 1 },
			.dst = { 9, 1 },
			.peer = { 4, { 10, 0, 0, 9 }, 0 },
			.service = names[services.flow_count],
			.pod = strcmp(names[services.flow_count], POD) == 0
				   ? "ml/trainer-0"
				   : "",
			.comm = "x",
			.qp_type = WIRE_QP_RC,
			.state = WIRE_SERVICE_PROBED,
			.qps = 1,
		};
	assert_int_equal(wire_write_services(w->writer, &services, &bytes), 0);
	assert_int_equal(wire_open_services(&view, bytes.data, bytes.len), 0);
	assert_int_equal(service_table_take(w->table, host, &view, owns, NULL,
			     (rm_mono_t){ RM_NS_PER_S }),
	    0);
}

static bool
is_rnic(struct wire_rnic_id id, void *arg)
{
	const struct rm_verdict *verdict = arg;

	return id.guid == verdict->rnic.guid && id.port == verdict->rnic.port;
}

static const char *
text_of(const struct rm_verdict *verdict)
{
	static char text[RM_EVIDENCE_TEXT + 16];

	rm_verdict_impact(verdict, text, sizeof(text));
	return text;
}

static const char *
impact(struct world *w, const char *host, uint64_t guid, struct rm_leg_counts probes)
{
	struct rm_verdict verdict = { .part = { .type = RM_PART_RNIC },
		.rnic = { guid, 1 },
		.kind = RM_KIND_RNIC_DOWN,
		.evidence = { .service_probes = probes } };
	const struct service_impact of = { .is_on = is_rnic,
		.arg = &verdict,
		.traced = service_impact_traced(w->table, host) };

	service_impact_fill(w->table, &of, &verdict);
	return text_of(&verdict);
}

#define NO_PROBES ((struct rm_leg_counts){ 0, 0 })

static void
the_services_that_use_the_rnic_are_named(void **state)
{
	struct world *w = *state;

	report(w, "h1", true, 1,
	    (const char *const[]){ "pod:a", "unit:b", "pod:a", NULL });
	assert_string_equal(impact(w, "h1", 1, NO_PROBES), "P1: pod:a, unit:b");
	/* The other end of the flows is affected as well, whatever its own host
	 * reports. */
	assert_string_equal(impact(w, "h9", 9, NO_PROBES), "P1: pod:a, unit:b");
}

static void
a_service_with_lost_probes_gives_p0(void **state)
{
	struct world *w = *state;

	report(w, "h1", true, 1, (const char *const[]){ "pod:a", NULL });
	assert_string_equal(
	    impact(w, "h1", 1, (struct rm_leg_counts){ 10, 9 }), "P0: pod:a");
	assert_string_equal(
	    impact(w, "h1", 1, (struct rm_leg_counts){ 10, 10 }), "P1: pod:a");
}

static void
an_rnic_is_unused_only_if_its_host_traces_services(void **state)
{
	struct world *w = *state;

	report(w, "h1", true, 1, (const char *const[]){ "pod:a", NULL });
	report(w, "h2", false, 2, (const char *const[]){ NULL });
	assert_string_equal(impact(w, "h1", 7, NO_PROBES), "P2");
	assert_string_equal(impact(w, "h2", 2, NO_PROBES), "unknown");
	assert_string_equal(impact(w, "h3", 3, NO_PROBES), "unknown");
	service_table_gone(w->table, "h1", (rm_mono_t){ 2 * RM_NS_PER_S });
	assert_string_equal(impact(w, "h1", 7, NO_PROBES), "unknown");
}

static void
many_names_are_cut(void **state)
{
	struct world *w = *state;

	report(w, "h1", true, 1,
	    (const char *const[]){ "a", "b", "c", "d", "e", "f", NULL });
	assert_string_equal(impact(w, "h1", 1, NO_PROBES), "P1: a, b, c, d, ...");
	/* The same names are shown, in whatever order they are reported. */
	report(w, "h1", true, 1,
	    (const char *const[]){ "f", "c", "b", "e", "a", "d", NULL });
	assert_string_equal(impact(w, "h1", 1, NO_PROBES), "P1: a, b, c, d, ...");
}

static void
a_pod_has_its_name_if_its_agent_knows_it(void **state)
{
	struct world *w = *state;

	report(
	    w, "h1", true, 1, (const char *const[]){ POD, "pod:another", POD, NULL });
	assert_string_equal(
	    impact(w, "h1", 1, NO_PROBES), "P1: " POD " (ml/trainer-0), pod:another");
}

static void
no_name_is_cut_in_two(void **state)
{
	static const char service[] = "unit:a-service-with-a-name-of-70-letters-"
				      "0123456789012345678901234.service";
	char names[3][sizeof(service) + 1];
	struct world *w = *state;
	char wanted[RM_EVIDENCE_TEXT];

	for (int i = 0; i < 3; i++)
		snprintf(names[i], sizeof(names[i]), "%s%d", service, i);
	report(w, "h1", true, 1,
	    (const char *const[]){ names[0], names[1], names[2], NULL });
	snprintf(wanted, sizeof(wanted), "P1: %s, %s, ...", names[0], names[1]);
	assert_string_equal(impact(w, "h1", 1, NO_PROBES), wanted);
}

static bool
is_any(struct wire_rnic_id id, void *arg)
{
	(void)id;
	(void)arg;
	return true;
}

static void
a_part_of_many_rnics_is_used_by_all_their_services(void **state)
{
	struct world *w = *state;
	struct rm_verdict verdict = { .part = { .type = RM_PART_TOR } };
	struct service_impact of = { .is_on = is_any, .traced = true };

	service_impact_fill(w->table, &of, &verdict);
	assert_string_equal(text_of(&verdict), "P2");
	report(w, "h1", true, 1, (const char *const[]){ "pod:a", NULL });
	report(w, "h2", false, 2, (const char *const[]){ "unit:b", NULL });
	service_impact_fill(w->table, &of, &verdict);
	assert_string_equal(text_of(&verdict), "P1: pod:a, unit:b");
	of.lost = true;
	service_impact_fill(w->table, &of, &verdict);
	assert_string_equal(text_of(&verdict), "P0: pod:a, unit:b");
	verdict = (struct rm_verdict){ .part = { .type = RM_PART_AGENT } };
	service_impact_fill(w->table, &of, &verdict);
	assert_string_equal(text_of(&verdict), "P2");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_services_that_use_the_rnic_are_named),
		TEST(a_service_with_lost_probes_gives_p0),
		TEST(an_rnic_is_unused_only_if_its_host_traces_services),
		TEST(a_part_of_many_rnics_is_used_by_all_their_services),
		TEST(many_names_are_cut),
		TEST(a_pod_has_its_name_if_its_agent_knows_it),
		TEST(no_name_is_cut_in_two),
	};

	return cmocka_run_group_tests_name("service_impact", tests, NULL, NULL);
}
