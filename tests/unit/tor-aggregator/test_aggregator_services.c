/* Agents' reports of services and their requests, through the whole daemon over real
 * links. */
#include "tor-aggregator/tor_aggregator_events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>

#include "controller_requests_fixture.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_server.h"
#include "tor-aggregator/api/aggregator_show.h"
#include "tor-aggregator/controller_requests.h"
#include "tor-aggregator/services/service_table.h"
#include "tor-aggregator/window/roster.h"

#define PEER 0x7777

static struct wire_service_flow
flow_to(uint64_t guid)
{
	return (struct wire_service_flow){
		.src = { 0x100, 1 },
		.dst = { guid, guid == 0 ? 0 : 1 },
		.peer = { 4, { 192, 0, 2, 9 }, WIRE_ROCE_PORT },
		.service = "unit:train.service",
		.comm = "trainer",
		.pid = 4711,
		.qp_type = WIRE_QP_RC,
		.state = guid == 0 ? WIRE_SERVICE_UNRESOLVED : WIRE_SERVICE_PROBED,
		.dscp = 26,
		.src_port = 50000,
		.probe_port = guid == 0 ? 0 : 50000,
		.src_qpn = 17,
		.dst_qpn = 18,
		.qps = 2,
	};
}

static void
report(struct world *w, const struct wire_service_flow *flows, size_t count)
{
	const struct wire_services services = { .host = "h0",
		.incarnation = 7,
		.tracing = true,
		.missing = "",
		.flows = flows,
		.flow_count = count };
	const struct service_table_counts *counts =
	    service_table_counts(w->aggregator->services);
	uint64_t before = counts->reports;
	struct wire_bytes bytes = { 0 };

	send_frame(w->agent, wire_write_services(w->writer, &services, &bytes), &bytes);
	LOOPBACK_WAIT(w->loop, counts->reports == before + 1);
}

static void
ask_join(struct world *w, uint64_t token, uint64_t guid)
{
	const struct wire_join join = { token, { guid, 1 }, 17, 18, WIRE_QP_RC };
	struct wire_bytes bytes = { 0 };

	send_frame(w->agent, wire_write_join(w->writer, &join, &bytes), &bytes);
}

/* The controller's answer: it knows the requested RNIC. */
static void
report_peer(struct world *w, uint64_t token)
{
	struct wire_resolve_answer answer = { .token = token, .found = true };
	struct wire_bytes bytes = { 0 };

	answer.rnic = fixture_rnic(PEER, "far", "t9");
	send_frame(
	    w->controller, wire_write_resolved(w->writer, &answer, &bytes), &bytes);
}

static const struct roster_rnic *
peer_in_roster(const struct world *w)
{
	return roster_find(
	    tor_rack_roster(w->aggregator->racks[0]), (struct wire_rnic_id){ PEER, 1 });
}

static void
the_controller_is_asked_for_the_other_end_of_a_qp(void **state)
{
	struct world *w = *state;

	agent_join(w);
	ask_join(w, 11, 0x100);
	LOOPBACK_WAIT(w->loop, w->joins == 1);
	assert_int_not_equal(w->up_join.token, 11); /* the aggregator's own token */
	assert_int_equal(w->up_join.rnic.guid, 0x100);
	assert_int_equal(w->up_join.qpn, 17);
	assert_int_equal(w->up_join.dst_qpn, 18);
	assert_int_equal(w->up_join.qp_type, WIRE_QP_RC);
	report_peer(w, w->up_join.token);
	LOOPBACK_WAIT(w->loop, w->answers == 1);
	assert_int_equal(w->token, 11);
	assert_true(w->found);
	assert_string_equal(w->host, "far");
	assert_non_null(peer_in_roster(w)); /* in the roster before the first probe */
}

static void
an_agent_cannot_ask_for_qps_of_others(void **state)
{
	struct world *w = *state;

	agent_join(w);
	ask_join(w, 12, 0x101);
	LOOPBACK_WAIT(w->loop, w->answers == 1);
	assert_int_equal(w->token, 12);
	assert_false(w->found);
	assert_int_equal(w->joins, 0);
	assert_int_equal(controller_requests_counts(w->aggregator->controller_requests)
			     ->unauthorized,
	    1);
}

static void
send_result(struct world *w, uint64_t seq)
{
	const uint64_t now_ns = (uint64_t)rm_mono_now().ns;
	const struct wire_batch_head head = {
		.host = "h0", .incarnation = 7, .seq = seq, .now_ns = now_ns
	};
	const struct wire_result result = { .src_guid = 0x100,
		.dst_guid = PEER,
		.src_port_num = 1,
		.dst_port_num = 1,
		.sent_age_ns = RM_NS_PER_MS,
		.outcome = WIRE_OK,
		.kind = WIRE_SERVICE,
		.src_port = 50000,
		.dscp = 26 };
	const struct ingest_counts *counts = &w->aggregator->ingest.counts;
	uint64_t before = counts->batches;
	struct wire_bytes bytes = { 0 };

	send_frame(
	    w->agent, wire_write_batch(w->writer, &head, &result, 1, &bytes), &bytes);
	LOOPBACK_WAIT(w->loop, counts->batches == before + 1);
}

static void
a_services_peer_is_known_before_its_probes_count(void **state)
{
	const struct wire_service_flow flow = flow_to(PEER);
	struct world *w = *state;
	const struct ingest_counts *counts = &w->aggregator->ingest.counts;

	agent_join(w);
	send_result(w, 1);
	assert_int_equal(counts->invalid[INGEST_UNKNOWN_DST], 1);
	/* The aggregator was restarted, and has lost what the agent still knows. */
	report(w, &flow, 1);
	LOOPBACK_WAIT(w->loop, w->resolves == 1);
	assert_memory_equal(w->up_address.bytes, flow.peer.bytes, 16);
	report_peer(w, w->up_token);
	LOOPBACK_WAIT(w->loop, peer_in_roster(w) != NULL);
	assert_int_equal(w->answers, 0); /* the agent did not ask */
	send_result(w, 2);
	assert_int_equal(counts->service, 1);
	assert_int_equal(counts->invalid[INGEST_UNKNOWN_DST], 1);
	report(w, &flow, 1);
	assert_int_equal(w->resolves, 1); /* the aggregator asks once */
}

struct answer {
	bool done;
	long status;
	json_t *json;
};

static void
on_answer(const struct rm_http_answer *from, void *arg)
{
	struct answer *answer = arg;

	assert_int_equal(from->r, 0);
	answer->done = true;
	answer->status = from->status;
	answer->json = json_loads(from->body, 0, NULL);
}

static json_t *
get(struct world *w, const char *path)
{
	struct rm_http_client *client = NULL;
	struct answer answer = { 0 };
	char url[256];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s",
	    rm_http_server_port(w->aggregator->server), path);
	assert_int_equal(rm_http_client_new(w->loop, &client), 0);
	assert_int_equal(rm_http_client_send(client, url, "text/plain", NULL, 0,
			     8 * RM_NS_PER_S, on_answer, &answer),
	    0);
	LOOPBACK_WAIT(w->loop, answer.done);
	rm_http_client_free(client);
	assert_int_equal(answer.status, 200);
	assert_non_null(answer.json);
	return answer.json;
}

static const char *
text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static json_int_t
number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void
services_are_shown_with_their_peers_and_ports(void **state)
{
	struct wire_service_flow flows[] = { flow_to(FIXTURE_REMOTE), flow_to(0) };
	struct world *w = *state;
	const json_t *flow;
	json_t *all;

	flows[0].pod = "ml/trainer-0";
	agent_join(w);
	report(w, flows, 2);
	all = get(w, "/v1/services?host=h0&service=unit:train.service");
	assert_int_equal(json_integer_value(json_object_get(all, "flow_count")), 2);
	flow = json_array_get(json_object_get(all, "services"), 0);
	assert_string_equal(text(flow, "service"), "unit:train.service");
	assert_string_equal(text(flow, "pod"), "ml/trainer-0");
	assert_string_equal(text(flow, "host"), "h0");
	assert_string_equal(text(flow, "rnic"), "h0/r0");
	assert_string_equal(text(flow, "peer"), "x0/r0");
	assert_string_equal(text(flow, "peer_address"), "192.0.2.9");
	assert_string_equal(text(flow, "state"), "probed");
	assert_string_equal(text(flow, "qp_type"), "rc");
	assert_int_equal(json_integer_value(json_object_get(flow, "src_port")), 50000);
	assert_int_equal(
	    json_integer_value(json_object_get(flow, "probe_port")), 50000);
	assert_true(
	    json_is_null(json_object_get(flow, "path"))); /* the flow is not traced */
	flow = json_array_get(json_object_get(all, "services"), 1);
	assert_string_equal(text(flow, "peer"), "192.0.2.9");
	assert_string_equal(text(flow, "state"), "unresolved");
	assert_true(json_is_null(json_object_get(flow, "pod")));
	assert_true(json_is_null(json_object_get(flow, "peer_id")));
	assert_true(json_is_null(json_object_get(flow, "probe_port")));
	json_decref(all);
	all = get(w, "/v1/services?limit=1&offset=1");
	assert_int_equal(json_array_size(json_object_get(all, "services")), 1);
	assert_int_equal(json_integer_value(json_object_get(all, "flow_count")), 2);
	json_decref(all);
	all = get(w, "/v1/services?host=h9");
	assert_int_equal(json_array_size(json_object_get(all, "hosts")), 0);
	json_decref(all);
}

static void
a_traced_flow_is_shown_with_its_path(void **state)
{
	const struct wire_service_flow flow = flow_to(FIXTURE_REMOTE);
	const struct wire_path path = { .src_guid = 0x100,
		.dst_guid = FIXTURE_REMOTE,
		.src_port = 50000,
		.src_port_num = 1,
		.dst_port_num = 1,
		.family = 4,
		.flags = WIRE_PATH_COMPLETE,
		.hop_count = 1,
		.hops = { { 10, 0, 0, 1 } } };
	const struct wire_paths paths = { .host = "h0",
		.incarnation = 7,
		.now_ns = (uint64_t)rm_mono_now().ns,
		.paths = &path,
		.path_count = 1 };
	struct world *w = *state;
	struct wire_bytes bytes = { 0 };
	json_t *all;

	agent_join(w);
	send_frame(w->agent, wire_write_paths(w->writer, &paths, &bytes), &bytes);
	report(w, &flow, 1);
	all = get(w, "/v1/services");
	assert_string_equal(
	    text(json_array_get(json_object_get(all, "services"), 0), "path"),
	    "?@10.0.0.1");
	json_decref(all);
}

static void
services_of_a_rack_are_summed(void **state)
{
	const struct wire_service_flow flows[] = { flow_to(FIXTURE_REMOTE), flow_to(0),
		flow_to(PEER) };
	struct wire_service_flow reported[3];
	struct world *w = *state;
	json_t *all, *list;

	memcpy(reported, flows, sizeof(reported));
	reported[2].service = "unit:other.service";
	agent_join(w);
	report(w, reported, 3);
	all = show_services(w->aggregator, w->aggregator->racks[0]);
	list = json_object_get(all, "services");
	assert_int_equal(number(all, "service_count"), 2);
	assert_int_equal(number(all, "hosts_tracing"), 1);
	assert_string_equal(
	    text(json_array_get(list, 0), "service"), "unit:train.service");
	assert_int_equal(number(json_array_get(list, 0), "flows"), 2);
	assert_int_equal(number(json_array_get(list, 0), "flows_probed"), 1);
	assert_int_equal(number(json_array_get(list, 0), "qps"), 4);
	assert_int_equal(number(json_array_get(list, 0), "rnics"), 1);
	assert_int_equal(number(json_array_get(list, 0), "hosts"), 1);
	assert_string_equal(
	    text(json_array_get(list, 1), "service"), "unit:other.service");
	json_decref(all);
}

static void
a_disconnected_host_is_shown_for_a_while(void **state)
{
	const struct wire_service_flow flow = flow_to(FIXTURE_REMOTE);
	struct world *w = *state;
	const struct service_host *host;

	agent_join(w);
	report(w, &flow, 1);
	host = service_table_find(w->aggregator->services, "h0");
	assert_int_equal(host->gone.ns, 0);
	rm_link_free(w->agent);
	w->agent = NULL;
	LOOPBACK_WAIT(w->loop, host->gone.ns != 0);
	tor_aggregator_services_tick(
	    w->aggregator, rm_mono_add(rm_mono_now(), SERVICE_TABLE_GRACE_NS));
	assert_null(service_table_find(w->aggregator->services, "h0"));
}

static void
services_of_another_host_close_the_link(void **state)
{
	const struct wire_services services = { .host = "h1", .incarnation = 7 };
	struct world *w = *state;
	struct wire_bytes bytes = { 0 };

	agent_join(w);
	send_frame(w->agent, wire_write_services(w->writer, &services, &bytes), &bytes);
	LOOPBACK_WAIT(w->loop, agent_server_counts(w->aggregator->links)
				       ->refused[AGENT_SERVER_NOT_ITSELF] == 1);
	assert_int_equal(service_table_flows(w->aggregator->services), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_controller_is_asked_for_the_other_end_of_a_qp),
		TEST(an_agent_cannot_ask_for_qps_of_others),
		TEST(a_services_peer_is_known_before_its_probes_count),
		TEST(services_are_shown_with_their_peers_and_ports),
		TEST(a_traced_flow_is_shown_with_its_path),
		TEST(services_of_a_rack_are_summed),
		TEST(a_disconnected_host_is_shown_for_a_while),
		TEST(services_of_another_host_close_the_link),
	};

	return cmocka_run_group_tests_name("aggregator_services", tests, NULL, NULL);
}
