#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "forge.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

static const struct wire_service_flow flows[] = {
	{
	    .src = { 0x4142434445464748, 1 },
	    .dst = { 701, 2 },
	    .peer = { 6, { 0xfe, 0x80, [15] = 9 }, WIRE_ROCE_PORT },
	    .service = "pod:0f3c",
	    .comm = "trainer",
	    .pid = 702,
	    .qp_type = WIRE_QP_UC,
	    .state = WIRE_SERVICE_PROBED,
	    .dscp = 26,
	    .older = true,
	    .src_port = 65535,
	    .probe_port = 49152,
	    .src_qpn = 0xffffff,
	    .dst_qpn = 0xfffffe,
	    .qps = 703,
	},
	{
	    .src = { 704, 255 },
	    .peer = { 4, { 10, 1, 2, 3 }, 0 },
	    .service = "",
	    .comm = "",
	    .qp_type = WIRE_QP_RC,
	    .state = WIRE_SERVICE_UNRESOLVED,
	},
};

#define FLOWS (sizeof(flows) / sizeof(flows[0]))

static const struct wire_services services = {
	.host = "node-a",
	.incarnation = 711,
	.now_ns = 712,
	.tracing = true,
	.missing = "rdma netlink tells no destination QPNs",
	.unresolved = 713,
	.over_cap = 714,
	.events_dropped = 715,
	.flows = flows,
	.flow_count = FLOWS,
};

static int
write_services(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_services(writer, &services, out);
}

static void
expect_flow(const struct wire_service_flow *got, const struct wire_service_flow *want)
{
	assert_int_equal(got->src.guid, want->src.guid);
	assert_int_equal(got->src.port, want->src.port);
	assert_int_equal(got->dst.guid, want->dst.guid);
	assert_int_equal(got->dst.port, want->dst.port);
	assert_int_equal(got->peer.family, want->peer.family);
	assert_int_equal(got->peer.port, want->peer.port);
	assert_memory_equal(got->peer.bytes, want->peer.bytes, 16);
	assert_string_equal(got->service, want->service);
	assert_string_equal(got->comm, want->comm);
	assert_string_equal(got->pod, want->pod == NULL ? "" : want->pod);
	assert_int_equal(got->pid, want->pid);
	assert_int_equal(got->qp_type, want->qp_type);
	assert_int_equal(got->state, want->state);
	assert_int_equal(got->dscp, want->dscp);
	assert_int_equal(got->older, want->older);
	assert_int_equal(got->src_port, want->src_port);
	assert_int_equal(got->probe_port, want->probe_port);
	assert_int_equal(got->src_qpn, want->src_qpn);
	assert_int_equal(got->dst_qpn, want->dst_qpn);
	assert_int_equal(got->qps, want->qps);
}

static void
expect_flows(const uint8_t *data, size_t len, const struct wire_service_flow *wanted)
{
	struct wire_services_view view;

	assert_int_equal(wire_open_services(&view, data, len), 0);
	assert_string_equal(view.services.host, "node-a");
	assert_int_equal(view.services.incarnation, 711);
	assert_int_equal(view.services.now_ns, 712);
	assert_true(view.services.tracing);
	assert_string_equal(view.services.missing, services.missing);
	assert_int_equal(view.services.unresolved, 713);
	assert_int_equal(view.services.over_cap, 714);
	assert_int_equal(view.services.events_dropped, 715);
	assert_null(view.services.flows);
	assert_int_equal(view.services.flow_count, FLOWS);
	for (size_t i = 0; i < FLOWS; i++) {
		struct wire_service_flow flow;

		memset(&flow, 0xee, sizeof(flow));
		wire_services_flow(&view, i, &flow);
		expect_flow(&flow, &wanted[i]);
	}
}

static void
expect_services(const uint8_t *data, size_t len)
{
	expect_flows(data, len, flows);
}

/* An agent that knows the names of pods. */
static void
name_pod(struct wire_service_flow named[FLOWS])
{
	memcpy(named, flows, sizeof(flows));
	named[0].pod = "ml/trainer-0";
}

static int
write_services_pod(struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_service_flow named[FLOWS];
	struct wire_services reported = services;

	name_pod(named);
	reported.flows = named;
	return wire_write_services(writer, &reported, out);
}

static void
expect_services_pod(const uint8_t *data, size_t len)
{
	struct wire_service_flow named[FLOWS];

	name_pod(named);
	expect_flows(data, len, named);
}

enum { SERVICES_FLOWS = 8, SERVICES_FIELDS };
enum {
	FLOW_SRC,
	FLOW_PEER = 2,
	FLOW_TYPE = 6,
	FLOW_STATE,
	FLOW_SRC_QPN = 12,
	FLOW_DST_QPN,
	FLOW_FIELDS = 15
};
#define ADDRESS_FAMILY_AT 18

struct shape { /* the shape of forged services: `flows` times the same flow */
	size_t flows;
	uint8_t family, type, state;
	uint32_t src_qpn, dst_qpn;
	int without; /* index of the flow's field to leave out; -1: none */
};

static const struct shape usual = { 2, 4, WIRE_QP_RC, WIRE_SERVICE_RESOLVING, 1, 2,
	-1 };

static int
open_shape(const struct shape *shape)
{
	size_t root, all, flow;
	struct forge forge;
	int r;

	forge_init(&forge, "RMU1", 1 << 20);
	root = forge_table(&forge, SERVICES_FIELDS);
	all = forge_vector(&forge, shape->flows, 4, 4);
	forge_refer(&forge, root, SERVICES_FLOWS, all);
	flow = forge_table(&forge, FLOW_FIELDS);
	forge_refer_all(&forge, all, shape->flows, flow);
	if (shape->without != FLOW_SRC)
		forge_struct(&forge, flow, FLOW_SRC);
	if (shape->without != FLOW_PEER)
		forge_struct(&forge, flow, FLOW_PEER)[ADDRESS_FAMILY_AT] =
		    shape->family;
	forge_number(&forge, flow, FLOW_TYPE, shape->type);
	forge_number(&forge, flow, FLOW_STATE, shape->state);
	forge_number(&forge, flow, FLOW_SRC_QPN, shape->src_qpn);
	forge_number(&forge, flow, FLOW_DST_QPN, shape->dst_qpn);
	forge_finish(&forge);
	r = wire_walk(WIRE_SERVICES, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static void
more_flows_than_the_limit_are_refused(void **state)
{
	struct shape shape = usual;

	shape.flows = 0;
	assert_int_equal(open_shape(&shape), 0);
	shape.flows = WIRE_MAX_SERVICES;
	assert_int_equal(open_shape(&shape), 0);
	shape.flows = WIRE_MAX_SERVICES + 1;
	assert_int_equal(open_shape(&shape), -EMSGSIZE);
}

static void
a_flow_has_its_own_rnic_and_a_peer(void **state)
{
	struct shape shape = usual;

	shape.without = FLOW_SRC;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape.without = FLOW_PEER;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape = usual;
	shape.family = 5;
	assert_int_equal(open_shape(&shape), -EBADMSG);
}

static void
types_and_states_must_be_known(void **state)
{
	struct shape shape = usual;

	shape.type = 0;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape.type = WIRE_QP_XRC + 1;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape = usual;
	shape.state = 0;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape.state = WIRE_SERVICE_UNRESOLVED;
	assert_int_equal(open_shape(&shape), 0);
	shape.state = WIRE_SERVICE_UNRESOLVED + 1;
	assert_int_equal(open_shape(&shape), -EBADMSG);
}

static void
numbers_of_qps_have_24_bits(void **state)
{
	struct shape shape = usual;

	shape.src_qpn = shape.dst_qpn = 0xffffff;
	assert_int_equal(open_shape(&shape), 0);
	shape.src_qpn = 0x1000000;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape = usual;
	shape.dst_qpn = 0x1000000;
	assert_int_equal(open_shape(&shape), -EBADMSG);
}

static int
write_one(const struct wire_service_flow *flow)
{
	const struct wire_services one = { .flows = flow, .flow_count = 1 };
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes out = { NULL, 0 };
	int r = wire_write_services(writer, &one, &out);

	assert_int_equal(out.data != NULL, r == 0);
	wire_writer_free(writer);
	return r;
}

static void
a_writer_refuses_messages_that_an_opener_refuses(void **state)
{
	struct wire_service_flow flow = flows[0];
	char text[WIRE_MAX_STRING + 1];

	assert_int_equal(write_one(&flow), 0);
	flow.peer.family = 0;
	assert_int_equal(write_one(&flow), -EINVAL);
	flow = flows[0];
	flow.qp_type = 0;
	assert_int_equal(write_one(&flow), -EINVAL);
	flow = flows[0];
	flow.state = WIRE_SERVICE_UNRESOLVED + 1;
	assert_int_equal(write_one(&flow), -EINVAL);
	flow = flows[0];
	flow.dst_qpn = 0x1000000;
	assert_int_equal(write_one(&flow), -EINVAL);
	flow = flows[0];
	memset(text, 'x', sizeof(text));
	text[WIRE_MAX_STRING] = 0;
	flow.service = text;
	assert_int_equal(write_one(&flow), -EMSGSIZE);
	flow = flows[0];
	flow.pod = text;
	assert_int_equal(write_one(&flow), -EMSGSIZE);
}

static void
the_largest_number_of_flows_fits(void **state)
{
	struct wire_service_flow *many = calloc(WIRE_MAX_SERVICES + 1, sizeof(*many));
	struct wire_writer *writer = wire_writer_new();
	struct wire_services all = { .flows = many };
	struct wire_bytes out = { NULL, 0 };

	assert_non_null(many);
	for (size_t i = 0; i <= WIRE_MAX_SERVICES; i++) {
		many[i] = flows[0];
		many[i].pod = "a-namespace/a-pod-of-a-usual-length-0";
	}
	all.flow_count = WIRE_MAX_SERVICES + 1;
	assert_int_equal(wire_write_services(writer, &all, &out), -EMSGSIZE);
	assert_null(out.data);
	all.flow_count = WIRE_MAX_SERVICES;
	assert_int_equal(wire_write_services(writer, &all, &out), 0);
	assert_int_equal(wire_walk(WIRE_SERVICES, out.data, out.len), 0);
	free(many);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_SERVICES, "services", write_services, expect_services },
		{ WIRE_SERVICES, "services_pod", write_services_pod,
		    expect_services_pod },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_flows_than_the_limit_are_refused),
		cmocka_unit_test(a_flow_has_its_own_rnic_and_a_peer),
		cmocka_unit_test(types_and_states_must_be_known),
		cmocka_unit_test(numbers_of_qps_have_24_bits),
		cmocka_unit_test(a_writer_refuses_messages_that_an_opener_refuses),
		cmocka_unit_test(the_largest_number_of_flows_fits),
	};

	return wire_case_main(
	    cases, 2, tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
