#include "tor-aggregator/services/service_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define S RM_NS_PER_S
#define MAX 8

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
	return service_table_new(MAX, &world.table);
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
	return id.guid < 100;
}

static struct wire_service_flow
flow_of(uint64_t guid, const char *service)
{
	return (struct wire_service_flow){
		.src = { guid, 1 },
		.dst = { 200, 1 },
		.peer = { 4, { 10, 0, 0, 9 }, 0 },
		.service = service,
		.comm = "trainer",
		.pid = 7,
		.qp_type = WIRE_QP_RC,
		.state = WIRE_SERVICE_PROBED,
		.dscp = 26,
		.src_port = 50000,
		.probe_port = 50000,
		.src_qpn = 17,
		.dst_qpn = 18,
		.qps = 3,
	};
}

static void
report(struct world *w, const char *host, const struct wire_service_flow *flows,
    size_t count, int64_t at_s)
{
	const struct wire_services services = { .host = host,
		.tracing = true,
		.missing = "nothing\n",
		.unresolved = 1,
		.over_cap = 2,
		.events_dropped = 3,
		.flows = flows,
		.flow_count = count };
	struct wire_services_view view;
	struct wire_bytes bytes;

	assert_int_equal(wire_write_services(w->writer, &services, &bytes), 0);
	assert_int_equal(wire_open_services(&view, bytes.data, bytes.len), 0);
	assert_int_equal(service_table_take(w->table, host, &view, owns, NULL,
			     (rm_mono_t){ at_s * S }),
	    0);
}

static const struct service_host *
host_of(struct world *w, const char *name)
{
	const struct service_host *host = NULL;

	while ((host = service_table_next(w->table, host)) != NULL)
		if (strcmp(host->host, name) == 0)
			return host;
	return NULL;
}

static void
reported_flows_are_kept(void **state)
{
	const struct wire_service_flow flow = flow_of(1, "unit:a.service");
	const struct service_host *host;
	struct world *w = *state;

	report(w, "h1", &flow, 1, 1);
	host = host_of(w, "h1");
	assert_non_null(host);
	assert_true(host->tracing);
	assert_string_equal(host->missing, "nothing?");
	assert_int_equal(host->unresolved, 1);
	assert_int_equal(host->over_cap, 2);
	assert_int_equal(host->events_dropped, 3);
	assert_int_equal(host->reported_at.ns, S);
	assert_int_equal(host->flow_count, 1);
	assert_string_equal(host->flows[0].service, "unit:a.service");
	assert_string_equal(host->flows[0].comm, "trainer");
	assert_int_equal(host->flows[0].dst.guid, 200);
	assert_int_equal(host->flows[0].peer.bytes[3], 9);
	assert_int_equal(host->flows[0].dscp, 26);
	assert_int_equal(host->flows[0].qps, 3);
	assert_int_equal(host->flows[0].src_port, 50000);
	assert_int_equal(service_table_in_state(w->table, WIRE_SERVICE_PROBED), 1);
}

static void
the_next_report_replaces_the_last_as_a_whole(void **state)
{
	struct wire_service_flow flows[] = { flow_of(1, "a"), flow_of(2, "b") };
	struct world *w = *state;

	report(w, "h1", flows, 2, 1);
	report(w, "h2", flows, 1, 1);
	flows[1].state = WIRE_SERVICE_WAITING;
	report(w, "h1", flows + 1, 1, 2);
	assert_int_equal(host_of(w, "h1")->flow_count, 1);
	assert_string_equal(host_of(w, "h1")->flows[0].service, "b");
	assert_int_equal(service_table_flows(w->table), 2);
	assert_int_equal(service_table_in_state(w->table, WIRE_SERVICE_PROBED), 1);
	assert_int_equal(service_table_in_state(w->table, WIRE_SERVICE_WAITING), 1);
	report(w, "h1", NULL, 0, 3);
	assert_int_equal(host_of(w, "h1")->flow_count, 0);
	assert_int_equal(service_table_flows(w->table), 1);
}

static void
an_agent_reports_of_its_own_rnics_only(void **state)
{
	struct wire_service_flow flows[] = { flow_of(1, "a"), flow_of(101, "b"),
		flow_of(2, "c") };
	struct world *w = *state;

	flows[2].dscp = 64;
	report(w, "h1", flows, 3, 1);
	assert_int_equal(host_of(w, "h1")->flow_count, 1);
	assert_int_equal(service_table_counts(w->table)->refused_flows, 2);
}

static void
beyond_the_bound_flows_are_dropped_and_counted(void **state)
{
	struct wire_service_flow flows[MAX];
	struct world *w = *state;

	for (size_t i = 0; i < MAX; i++)
		flows[i] = flow_of(1, "a");
	report(w, "h1", flows, MAX - 1, 1);
	report(w, "h2", flows, 3, 1);
	assert_int_equal(service_table_flows(w->table), MAX);
	assert_int_equal(host_of(w, "h2")->flow_count, 1);
	assert_int_equal(service_table_counts(w->table)->dropped_flows, 2);
	report(w, "h1", flows, 1, 2);
	report(w, "h2", flows, 3, 2);
	assert_int_equal(host_of(w, "h2")->flow_count, 3);
	assert_int_equal(service_table_counts(w->table)->dropped_flows, 2);
}

static void
a_disconnected_host_is_forgotten_unless_it_returns(void **state)
{
	const struct wire_service_flow flow = flow_of(1, "a");
	struct world *w = *state;

	report(w, "h1", &flow, 1, 1);
	report(w, "h2", &flow, 1, 1);
	service_table_gone(w->table, "h1", (rm_mono_t){ 10 * S });
	service_table_gone(w->table, "h2", (rm_mono_t){ 10 * S });
	service_table_gone(
	    w->table, "h3", (rm_mono_t){ 10 * S }); /* h3 has never reported */
	service_table_age(w->table, (rm_mono_t){ 69 * S });
	assert_non_null(host_of(w, "h1"));
	report(w, "h2", &flow, 1, 69);
	service_table_gone(w->table, "h1",
	    (rm_mono_t){ 69 * S }); /* a second call does not extend the time */
	service_table_age(w->table, (rm_mono_t){ 70 * S });
	assert_null(host_of(w, "h1"));
	assert_non_null(host_of(w, "h2"));
	assert_int_equal(service_table_flows(w->table), 1);
	assert_int_equal(service_table_counts(w->table)->aged, 1);
}

static void
hosts_come_by_name(void **state)
{
	const struct service_host *host;
	struct world *w = *state;

	report(w, "h2", NULL, 0, 1);
	report(w, "h3", NULL, 0, 1);
	report(w, "h1", NULL, 0, 1);
	host = service_table_next(w->table, NULL);
	assert_string_equal(host->host, "h1");
	host = service_table_next(w->table, host);
	assert_string_equal(host->host, "h2");
	host = service_table_next(w->table, host);
	assert_string_equal(host->host, "h3");
	assert_null(service_table_next(w->table, host));
}

static void
texts_are_cut_and_made_printable(void **state)
{
	char longer[2 * SERVICE_NAME_BYTES] = { 0 };
	struct wire_service_flow flow = flow_of(1, longer);
	struct world *w = *state;

	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	longer[3] = '\x1b';
	flow.comm = "\xff\xfe";
	report(w, "h1", &flow, 1, 1);
	assert_int_equal(
	    strlen(host_of(w, "h1")->flows[0].service), SERVICE_NAME_BYTES - 1);
	assert_memory_equal(host_of(w, "h1")->flows[0].service, "xxx?x", 5);
	assert_string_equal(host_of(w, "h1")->flows[0].comm, "??");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reported_flows_are_kept),
		TEST(the_next_report_replaces_the_last_as_a_whole),
		TEST(an_agent_reports_of_its_own_rnics_only),
		TEST(beyond_the_bound_flows_are_dropped_and_counted),
		TEST(a_disconnected_host_is_forgotten_unless_it_returns),
		TEST(hosts_come_by_name),
		TEST(texts_are_cut_and_made_printable),
	};

	return cmocka_run_group_tests_name("service_table", tests, NULL, NULL);
}
