#include "tor-aggregator/services/service_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/metrics/sketch.h"
#include "tor-aggregator/services/service_table.h"

#define INTERVAL (10 * RM_NS_PER_S)
#define WALL (1000 * RM_NS_PER_S)

struct world {
	struct service_table *table;
	struct service_rows *rows;
	struct wire_writer *writer;
};

static int
setup(void **state)
{
	static struct world world;

	world.writer = wire_writer_new();
	*state = &world;
	return service_table_new(1024, &world.table) == 0 &&
		       service_rows_new(
			   world.table, (rm_wall_t){ WALL }, &world.rows) == 0
		   ? 0
		   : -1;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	service_rows_free(w->rows);
	service_table_free(w->table);
	wire_writer_free(w->writer);
	return 0;
}

static bool
owns(struct wire_rnic_id id, void *arg)
{
	return true;
}

/* Reports all flows of a host, one for each name, probed from ports 49152 and up. */
static void
report_of(struct world *w, const char *host, uint64_t src, const char *const *names,
    size_t count)
{
	static struct wire_service_flow flows[512];
	const struct wire_services services = { .host = host,
		.incarnation = 1,
		.now_ns = 1,
		.tracing = true,
		.flows = flows,
		.flow_count = count };
	struct wire_services_view view;
	struct wire_bytes bytes;

	for (size_t i = 0; i < count; i++)
		flows[i] = (struct wire_service_flow){ .src = { src, 1 },
			.dst = { 9, 1 },
			.peer = { 4, { 10, 0, 0, 9 }, 0 },
			.service = names[i],
			.comm = "x",
			.qp_type = WIRE_QP_RC,
			.state = WIRE_SERVICE_PROBED,
			.probe_port = (uint16_t)(49152 + i),
			.qps = 1 };
	assert_int_equal(wire_write_services(w->writer, &services, &bytes), 0);
	assert_int_equal(wire_open_services(&view, bytes.data, bytes.len), 0);
	assert_int_equal(
	    service_table_take(w->table, host, &view, owns, NULL, (rm_mono_t){ 1 }), 0);
}

static void
report(struct world *w, uint64_t src, const char *const *names, size_t count)
{
	report_of(w, "h1", src, names, count);
}

static void
probe(struct world *w, uint64_t src, uint16_t port, enum wire_probe_kind kind,
    enum wire_outcome outcome)
{
	const struct wire_result result = { .src_guid = src,
		.dst_guid = 9,
		.src_port_num = 1,
		.dst_port_num = 1,
		.src_port = port,
		.dscp = 26,
		.kind = (uint8_t)kind,
		.outcome = (uint8_t)outcome,
		.rtt_ns = 10000,
		.flags = WIRE_SPLIT };

	service_rows_add(w->rows, &result);
}

static size_t
take(struct world *w, int64_t now, struct wire_summary *summary)
{
	*summary = (struct wire_summary){ 0 };
	service_rows_take(w->rows, (rm_wall_t){ WALL + now }, summary);
	return summary->service_count;
}

static const char *const two[] = { "train", "storage" };

static void
probes_of_services_are_counted_by_service(void **state)
{
	struct world *w = *state;
	struct rm_sketch *rtt = rm_sketch_new();
	struct wire_summary s;

	report(w, 1, two, 2);
	for (int i = 0; i < 5; i++)
		probe(w, 1, 49152, WIRE_SERVICE, i < 4 ? WIRE_OK : WIRE_NO_REPLY);
	probe(w, 1, 49153, WIRE_SERVICE, WIRE_OK);
	probe(w, 1, 49152, WIRE_TOR_MESH,
	    WIRE_OK); /* not a probe that follows a service */
	probe(
	    w, 1, 49160, WIRE_SERVICE, WIRE_OK); /* no service has this flow any more */
	probe(w, 2, 49152, WIRE_SERVICE,
	    WIRE_OK); /* no service has a flow from this RNIC */
	assert_int_equal(take(w, INTERVAL, &s), 2);
	assert_int_equal(s.services_start_wall_ns, WALL);
	assert_string_equal(s.services[0].service, "train");
	assert_int_equal(s.services[0].dscp, 26);
	assert_int_equal(s.services[0].sent, 5);
	assert_int_equal(s.services[0].outcomes[WIRE_OK], 4);
	assert_int_equal(s.services[0].outcomes[WIRE_NO_REPLY], 1);
	assert_int_equal(
	    rm_sketch_decode(rtt, s.services[0].rtt.data, s.services[0].rtt.len), 0);
	assert_int_equal(rm_sketch_count(rtt), 4);
	assert_int_equal(s.services[1].sent, 1);
	rm_sketch_free(rtt);
}

static void
rows_count_from_zero_after_they_were_reported(void **state)
{
	struct world *w = *state;
	struct wire_summary s;

	report(w, 1, two, 2);
	probe(w, 1, 49152, WIRE_SERVICE, WIRE_OK);
	assert_int_equal(take(w, INTERVAL, &s), 1);
	assert_int_equal(take(w, 2 * INTERVAL, &s), 0);
	probe(w, 1, 49152, WIRE_SERVICE, WIRE_OK);
	assert_int_equal(take(w, 3 * INTERVAL, &s), 1);
	assert_int_equal(s.services[0].sent, 1);
	assert_int_equal(s.services_start_wall_ns, WALL + 2 * INTERVAL);
}

static void
a_flow_no_longer_reported_belongs_to_no_service(void **state)
{
	static const char *const other[] = { "other" };
	struct world *w = *state;
	struct wire_summary s;

	report(w, 1, two, 2);
	report(w, 1, other, 1);
	probe(w, 1, 49152, WIRE_SERVICE, WIRE_OK);
	probe(w, 1, 49153, WIRE_SERVICE, WIRE_OK);
	assert_int_equal(take(w, INTERVAL, &s), 1);
	assert_string_equal(s.services[0].service, "other");
	assert_int_equal(s.services[0].sent, 1);
}

static void
a_service_that_comes_again_is_reported_by_its_name(void **state)
{
	static const char *const other[] = { "other" };
	struct world *w = *state;
	struct wire_summary s;

	report(w, 1, two, 2);
	probe(w, 1, 49152, WIRE_SERVICE, WIRE_OK);
	report(w, 1, other, 1);
	probe(w, 1, 49152, WIRE_SERVICE, WIRE_OK);
	report(w, 1, two, 2);
	probe(w, 1, 49152, WIRE_SERVICE, WIRE_OK);
	assert_int_equal(take(w, INTERVAL, &s), 2);
	assert_string_equal(s.services[0].service, "train");
	assert_int_equal(s.services[0].sent, 2);
	assert_string_equal(s.services[1].service, "other");
}

static void
services_of_one_name_on_two_hosts_are_one(void **state)
{
	struct world *w = *state;
	struct wire_summary s;

	report_of(w, "h1", 1, two, 1);
	report_of(w, "h2", 2, two, 1);
	probe(w, 1, 49152, WIRE_SERVICE, WIRE_OK);
	probe(w, 2, 49152, WIRE_SERVICE, WIRE_OK);
	report_of(w, "h1", 1, NULL,
	    0); /* the service goes on with its flow on the other host */
	probe(w, 1, 49152, WIRE_SERVICE, WIRE_OK);
	probe(w, 2, 49152, WIRE_SERVICE, WIRE_OK);
	assert_int_equal(take(w, INTERVAL, &s), 1);
	assert_int_equal(s.services[0].sent, 3);
}

static void
an_rnic_that_moves_counts_for_its_new_host(void **state)
{
	static const char *const other[] = { "other" };
	struct world *w = *state;
	struct wire_summary s;

	report_of(w, "h1", 1, two, 1);
	report_of(w, "h2", 1, other, 1);
	probe(w, 1, 49152, WIRE_SERVICE, WIRE_OK);
	report_of(w, "h1", 1, NULL, 0);
	probe(w, 1, 49152, WIRE_SERVICE, WIRE_OK);
	assert_int_equal(take(w, INTERVAL, &s), 1);
	assert_string_equal(s.services[0].service, "other");
	assert_int_equal(s.services[0].sent, 2);
}

static void
more_services_than_there_are_rows_are_counted_as_refused(void **state)
{
	struct world *w = *state;
	static char names[WIRE_MAX_SERVICE_ROWS + 2][16];
	const char *reported[WIRE_MAX_SERVICE_ROWS + 2];
	struct wire_summary s;

	for (size_t i = 0; i < WIRE_MAX_SERVICE_ROWS + 2; i++) {
		snprintf(names[i], sizeof(names[i]), "job-%zu", i);
		reported[i] = names[i];
	}
	report(w, 1, reported, WIRE_MAX_SERVICE_ROWS + 2);
	for (uint16_t i = 0; i < WIRE_MAX_SERVICE_ROWS + 2; i++)
		probe(w, 1, (uint16_t)(49152 + i), WIRE_SERVICE, WIRE_OK);
	assert_int_equal(*service_rows_refused(w->rows), 2);
	assert_int_equal(take(w, INTERVAL, &s), WIRE_MAX_SERVICE_ROWS);
	assert_string_equal(s.services[WIRE_MAX_SERVICE_ROWS - 1].service, "job-255");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(probes_of_services_are_counted_by_service),
		TEST(rows_count_from_zero_after_they_were_reported),
		TEST(a_flow_no_longer_reported_belongs_to_no_service),
		TEST(a_service_that_comes_again_is_reported_by_its_name),
		TEST(services_of_one_name_on_two_hosts_are_one),
		TEST(an_rnic_that_moves_counts_for_its_new_host),
		TEST(more_services_than_there_are_rows_are_counted_as_refused),
	};

	return cmocka_run_group_tests_name("service_rows", tests, NULL, NULL);
}
