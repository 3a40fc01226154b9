/*
 * Arrivals at a verbs port: GRHs and messages of any bytes, completions with wrong
 * lengths, flags, owners and types, and queue pairs that break. No more bytes are
 * handed over than the buffer has, and no buffer is ever lost: after some turns of the
 * loop the device has all of them again. The port is closed after an input with
 * made-up completions, so that a finding depends on its input alone.
 */
#include <event2/event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/packet/grh.h"
#include "host-agent/probe/port.h"
#include "host-agent/verbs/port_verbs.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "tests/support/fake_verbs.h"

#define BUFFERS 16
#define HEAD 14 /* op, status, flags, byte_len 16 bits, src_qp, wr_id 64 bits */
#define RECORDS 64
/* Turns of the loop: for the repair, the drained completions, and what they report. */
#define TURNS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct rm_loop *loop;
static struct fake_device *device;
static struct port *port;
static struct port_verbs_facts facts;
static unsigned touched;
static bool made_up; /* a completion, or the error state of the queue pair */

static void
on_arrivals(struct port_arrival *arrivals, size_t count, void *arg)
{
	size_t most = *(size_t *)arg;

	if (count == 0 || count > PORT_BURST)
		abort();
	for (size_t i = 0; i < count; i++) {
		const struct port_arrival *a = &arrivals[i];

		if (a->len > most || a->from.port != WIRE_ROCE_PORT || a->dscp > 63 ||
		    a->ecn > 3 || (a->from.family != 4 && a->from.family != 6))
			abort();
		for (size_t j = 0; j < a->len; j++)
			touched += a->data[j]++;
	}
}

static void
on_departures(const struct port_departure *departures, size_t count, void *arg)
{
	abort(); /* nothing was sent */
}

static void
no_log(enum rm_log_level level, const char *line, void *arg)
{
}

static void
start(void)
{
	rm_log_set_sink(no_log, NULL);
	device = fake_verbs_add("fuzz", 1);
	if (rm_loop_new(&loop) < 0)
		abort();
}

static void
open_port(void)
{
	static size_t most = 4096;
	static const struct port_verbs_events events;
	struct port_verbs_options options = { .device = "fuzz",
		.port_num = 1,
		.driver = "rxe",
		.flow_qps = 1,
		.small_receives = BUFFERS,
		.large_receives = BUFFERS,
		.max_handles = 1,
		.calls = &fake_verbs_calls };
	struct port_events listener = { on_arrivals, on_departures, &most };

	options.gids[0].address.family = 4;
	memcpy(options.gids[0].gid, device->gids[0], 16);
	if (port_verbs_new(loop, &options, &events, &port) < 0)
		abort();
	port_verbs_facts(port, &facts);
	port_listen(port, PORT_PROBER, &listener);
	port_listen(port, PORT_REFLECTOR, &listener);
}

static void
close_port(void)
{
	port_free(port);
	port = NULL;
	if (fake_verbs_objects() > 0 || fake_verbs_violation() != NULL)
		abort();
}

/* Returns how many bytes of the input it used. */
static size_t
one_record(const uint8_t *data, size_t len)
{
	struct ibv_wc wc = { .wc_flags = data[2] & 1 ? IBV_WC_GRH : data[2],
		.byte_len = (uint32_t)data[3] << 8 | data[4],
		.src_qp = data[5],
		.opcode = (enum ibv_wc_opcode)data[2] };
	uint32_t qpn = data[0] & 1 ? facts.large_qpn : facts.qpn;
	size_t most = len - HEAD;

	memcpy(&wc.wr_id, data + 6, sizeof(wc.wr_id));
	if (data[0] & 2)
		made_up = true;
	if ((data[0] & 18) == 18) {
		fake_verbs_break(device, qpn);
		return HEAD;
	}
	if (data[0] & 2) {
		wc.status = data[1] % 24;
		if (data[1] & 0x80) /* a posted id, but of an earlier use */
			wc.wr_id ^= fake_verbs_next_receive(device, qpn);
		if (wc.wr_id != fake_verbs_next_receive(device, qpn))
			fake_verbs_complete(device, qpn, &wc);
		return HEAD;
	}
	if (data[0] & 4) /* mostly a true length */
		wc.byte_len = wc.byte_len % (GRH_BYTES + 300);
	if (most > wc.byte_len)
		most = wc.byte_len;
	fake_verbs_arrive(device, qpn, data + HEAD, most, &wc);
	return HEAD + most;
}

/* A queue whose completions fail is checked before it gets buffers again; the first
 * time at once. */
static void
let_it_turn(void)
{
	for (int i = 0; i < TURNS; i++)
		event_base_loop(rm_loop_base(loop), EVLOOP_NONBLOCK);
	port_verbs_facts(port, &facts);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (loop == NULL)
		start();
	if (port == NULL)
		open_port();
	made_up = false;
	for (int i = 0; i < RECORDS && len >= HEAD; i++) {
		size_t used = one_record(data, len);

		data += used;
		len -= used;
		if (i % 8 == 7)
			port_drain(port, PORT_REFLECTOR);
	}
	port_drain(port, PORT_REFLECTOR);
	port_drain(port, PORT_PROBER);
	let_it_turn();
	if (fake_verbs_posted(device, facts.qpn) != BUFFERS ||
	    fake_verbs_posted(device, facts.large_qpn) != BUFFERS)
		abort();
	if (made_up)
		close_port();
	return 0;
}
