#include "services_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/probe/flow_label.h"

uint32_t
services_label(uint16_t n)
{
	uint32_t label = flow_label_for_sport((uint16_t)(0xc000 + n));

	assert_int_equal(flow_label_sport(label, 1, 1), 0xc000 + n);
	return label;
}

struct qp_event
services_qp(unsigned owner, uint32_t qpn, unsigned peer, uint16_t port, uint32_t pid)
{
	struct qp_event event = { .kind = QP_EVENT_CONNECTED,
		.qp_type = QP_EVENT_RC,
		.qpn = qpn,
		.dest_qpn = qpn + 1000,
		.port = 1,
		.flow_label = services_label((uint16_t)(port - 0xc000)),
		.traffic_class = 26 << 2,
		.tgid = pid,
		.pid = pid,
		.address_type = QP_EVENT_ADDRESS_ROCE };
	const uint8_t gid[16] = { [10] = 0xff, 0xff, 10, 0, 1, (uint8_t)peer };

	memcpy(event.dgid, gid, sizeof(gid));
	snprintf(event.device, sizeof(event.device), "rxe%u", owner);
	snprintf(event.comm, sizeof(event.comm), "app%u", pid);
	return event;
}

struct qp_event
services_end(unsigned owner, uint32_t qpn)
{
	struct qp_event event = {
		.kind = QP_EVENT_DESTROYED, .qp_type = QP_EVENT_RC, .qpn = qpn
	};

	snprintf(event.device, sizeof(event.device), "rxe%u", owner);
	return event;
}

struct qp_list_row
services_row(uint32_t qpn, uint32_t dst_qpn, unsigned peer)
{
	struct qp_list_row row = { .type = QP_EVENT_RC,
		.state = 3,
		.port = 1,
		.qpn = qpn,
		.dst_qpn = dst_qpn,
		.pid = 77 };

	if (peer != 0) {
		row.dst = (struct wire_address){ 4, { 10, 0, 1, (uint8_t)peer }, 7174 };
		row.src = (struct wire_address){ 4, { 10, 0, 0, 1 }, 40000 };
	}
	return row;
}

bool
services_own(struct services *services, unsigned n, const uint16_t *ports, size_t count)
{
	const struct wire_address address = { 4, { 10, 0, 0, (uint8_t)n }, 0 };
	char device[16];
	const struct services_rnic rnic = { .id = { OWN_GUID + n, 1 },
		.device = device,
		.port = 1,
		.verbs = true,
		.tors = { "tor1" },
		.tor_count = 1,
		.addresses = &address,
		.address_count = 1,
		.ports = ports,
		.port_count = count,
		.large_bytes = 4096 };

	snprintf(device, sizeof(device), "rxe%u", n);
	return services_set_rnic(services, n, &rnic);
}

struct wire_rnic
services_peer_rnic(unsigned n, const char *tor)
{
	return (struct wire_rnic){ .id = { PEER_GUID + n, 1 },
		.tors = { tor },
		.tor_count = 1,
		.addresses = { { 4, { 10, 0, 1, (uint8_t)n }, 0 } },
		.address_count = 1,
		.qpn = 4000 + n,
		.large_qpn = 5000 + n,
		.mtu_bytes = 1024 };
}

size_t
services_answer_all(struct services *services, rm_mono_t now)
{
	struct services_ask asks[64];
	size_t count = services_asks(services, now, asks, 64);

	for (size_t i = 0; i < count; i++) {
		struct wire_rnic rnic =
		    services_peer_rnic(asks[i].address.bytes[3], "tor2");

		services_answer(services, asks[i].token,
		    asks[i].address.bytes[3] < 200 ? &rnic : NULL, now);
	}
	return count;
}

rm_mono_t
services_at(int64_t ms)
{
	return (rm_mono_t){ ms * RM_NS_PER_MS };
}

uint64_t
services_no_path(size_t owner, struct wire_rnic_id dst, uint16_t src_port, void *arg)
{
	return 0;
}

struct wire_service_flow
services_flow(const struct services *services, uint32_t qpn)
{
	static struct wire_service_flow flows[SERVICES_MAX_FLOWS];
	size_t count = services_flows(services, flows, SERVICES_MAX_FLOWS);

	for (size_t i = 0; i < count; i++)
		if (flows[i].src_qpn == qpn)
			return flows[i];
	fail_msg("no flow of QP %u", qpn);
	return flows[0];
}
