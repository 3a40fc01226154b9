#include "port_verbs_fixture.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/verbs/priority_pool.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"

#define PATIENCE_NS (60 * RM_NS_PER_S)

static void
on_deadline(void *arg)
{
	struct verbs_fixture *fixture = arg;

	fixture->late = true;
}

static void
no_log(enum rm_log_level level, const char *line, void *arg)
{
}

int
verbs_setup(void **state)
{
	struct verbs_fixture *fixture = calloc(1, sizeof(*fixture));
	const char *names[2] = { "fake0", "fake1" };

	rm_log_set_sink(no_log, NULL);
	if (rm_loop_new(&fixture->loop) < 0 ||
	    priority_pool_new(fixture->loop, PRIORITY_POOL_MIN, &fixture->pool) < 0 ||
	    rm_timer_new(fixture->loop, on_deadline, fixture, &fixture->deadline) < 0)
		return -1;
	for (uint8_t i = 0; i < 2; i++) {
		struct verbs_side *side = &fixture->sides[i];

		side->device = fake_verbs_add(names[i], (uint8_t)(i + 1));
		side->address = (struct wire_address){ .family = 4,
			.bytes = { 10, 0, 0, (uint8_t)(i + 1) },
			.port = WIRE_ROCE_PORT };
		side->options =
		    (struct port_verbs_options){ .device = side->device->name,
			    .port_num = 1,
			    .driver = "rxe",
			    .small_receives = 64,
			    .large_receives = 16,
			    .flow_qps = 4,
			    .calls = &fake_verbs_calls,
			    .pool = fixture->pool };
		side->options.gids[0].address = side->address;
		memcpy(side->options.gids[0].gid, side->device->gids[0], 16);
	}
	*state = fixture;
	return 0;
}

int
verbs_teardown(void **state)
{
	struct verbs_fixture *fixture = *state;
	const char *violation;
	size_t left;

	for (int i = 0; i < 2; i++)
		side_close(&fixture->sides[i]);
	priority_pool_free(fixture->pool);
	rm_timer_free(fixture->deadline);
	rm_loop_free(fixture->loop);
	free(fixture);
	violation = fake_verbs_violation();
	left = fake_verbs_clear();
	if (violation != NULL)
		print_error("violation: %s\n", violation);
	if (left > 0)
		print_error("%zu objects were left\n", left);
	return violation != NULL || left > 0 ? -1 : 0;
}

static void
keep_arrivals(struct verbs_side *side, enum port_role role,
    const struct port_arrival *arrivals, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t n = side->arrived[role]++;

		if (n >= KEPT)
			continue;
		side->arrivals[role][n] = arrivals[i];
		memcpy(side->bytes[role][n], arrivals[i].data,
		    arrivals[i].len < KEPT_BYTES ? arrivals[i].len : KEPT_BYTES);
	}
}

static void
keep_departures(struct verbs_side *side, enum port_role role,
    const struct port_departure *departures, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (side->departed[role] < KEPT)
			side->departures[role][side->departed[role]++] = departures[i];
}

/* Answers in place, then overwrites the buffer as its next user would. */
static void
answer(struct verbs_side *side, struct port_arrival *arrivals, size_t count)
{
	struct port_packet packets[PORT_BURST];

	for (size_t i = 0; i < count; i++) {
		arrivals[i].data[4] = 'R';
		packets[i] = (struct port_packet){ .to = &arrivals[i].from,
			.qpn = arrivals[i].qpn,
			.lid = arrivals[i].lid,
			.label = side->label,
			.data = arrivals[i].data,
			.len = (uint16_t)arrivals[i].len,
			.dscp = arrivals[i].dscp,
			.token = arrivals[i].data[0] };
	}
	port_send(side->port, PORT_REFLECTOR, packets, count);
	for (size_t i = 0; i < count; i++) {
		side->answered += packets[i].error == 0;
		side->refused += packets[i].error != 0;
		memset(arrivals[i].data, 0xee, arrivals[i].len);
	}
}

static void
on_replies(struct port_arrival *arrivals, size_t count, void *arg)
{
	keep_arrivals(arg, PORT_PROBER, arrivals, count);
}

static void
on_probes(struct port_arrival *arrivals, size_t count, void *arg)
{
	struct verbs_side *side = arg;

	keep_arrivals(side, PORT_REFLECTOR, arrivals, count);
	if (side->answer)
		answer(side, arrivals, count);
}

static void
on_sent_probes(const struct port_departure *departures, size_t count, void *arg)
{
	keep_departures(arg, PORT_PROBER, departures, count);
}

static void
on_sent_replies(const struct port_departure *departures, size_t count, void *arg)
{
	keep_departures(arg, PORT_REFLECTOR, departures, count);
}

static void
on_link(bool up, void *arg)
{
	struct verbs_side *side = arg;

	side->links++;
	side->link_up = up;
}

static void
on_renumbered(void *arg)
{
	struct verbs_side *side = arg;

	side->renumbered++;
}

static void
on_gone(int reason, void *arg)
{
	struct verbs_side *side = arg;

	side->gone++;
	side->gone_reason = reason;
	if (side->free_on_signal)
		side_close(side);
}

void
side_open(struct verbs_fixture *fixture, int i)
{
	struct verbs_side *side = &fixture->sides[i];
	struct port_verbs_events events = { on_link, on_renumbered, on_gone, side };

	assert_int_equal(
	    port_verbs_new(fixture->loop, &side->options, &events, &side->port), 0);
	port_verbs_facts(side->port, &side->facts);
	port_listen(side->port, PORT_PROBER,
	    &(struct port_events){ on_replies, on_sent_probes, side });
	port_listen(side->port, PORT_REFLECTOR,
	    &(struct port_events){ on_probes, on_sent_replies, side });
}

void
side_close(struct verbs_side *side)
{
	port_free(side->port);
	side->port = NULL;
}

struct port_packet
side_packet(struct verbs_fixture *fixture, int to, uint32_t token, uint16_t len)
{
	static uint8_t data[4096];
	const struct verbs_side *side = &fixture->sides[to];
	const struct verbs_side *from = &fixture->sides[1 - to];

	memset(data, 0, sizeof(data));
	memcpy(data, &token, sizeof(token));
	return (struct port_packet){ .to = &side->address,
		.qpn = len > WIRE_ROCE_SMALL_BYTES ? side->facts.large_qpn
						   : side->facts.qpn,
		.data = data,
		.len = len < 96 ? len : 96,
		.zeros = len < 96 ? 0 : (uint16_t)(len - 96),
		.src_port = port_flow(from->port, 50000),
		.dscp = 26,
		.token = token };
}

int
side_send(struct verbs_fixture *fixture, int from, enum port_role role,
    struct port_packet *packet)
{
	start_waiting(fixture);
	do {
		port_send(fixture->sides[from].port, role, packet, 1);
		if (packet->error != -EAGAIN)
			break;
		turn(fixture);
	} while (in_time(fixture));
	return packet->error;
}

void
start_waiting(struct verbs_fixture *fixture)
{
	fixture->late = false;
	rm_timer_after(fixture->deadline, PATIENCE_NS);
}

bool
in_time(struct verbs_fixture *fixture)
{
	return !fixture->late;
}

void
turn(struct verbs_fixture *fixture)
{
	struct timeval wait = { .tv_usec = 1000 };

	event_base_loopexit(rm_loop_base(fixture->loop), &wait);
	event_base_loop(rm_loop_base(fixture->loop), EVLOOP_ONCE);
}

void
turn_for(struct verbs_fixture *fixture, int64_t ns)
{
	rm_mono_t end = rm_mono_add(rm_mono_now(), ns);

	while (rm_mono_since(end, rm_mono_now()) > 0)
		turn(fixture);
}
