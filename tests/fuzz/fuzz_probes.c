/*
 * A prober and a reflector with a network between them that loses, duplicates, delays,
 * damages and redirects, by a script; STAMP or RoCE, with or without keys.
 *
 * Each probe sent has exactly one result; no probe is answered by more bytes or packets
 * than it has; no value is used that was not in an answer, and with keys not even an
 * answer with one wrong bit; every packet that arrives is counted once.
 *
 * Input: the kinds of both, then events, each a byte and its parameters.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/packet/key_ring.h"
#include "host-agent/probe/prober.h"
#include "host-agent/probe/rate_limit.h"
#include "host-agent/reflector/reflector.h"
#include "rackmesh/loop/loop.h"
#include "tests/fuzz/probes_run.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/fake_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define MAX_EVENTS 120
#define TIMEOUT_NS (500 * RM_NS_PER_MS)
#define ROW_MAX 8

static void
on_result(const struct wire_result *result, rm_mono_t sent, void *arg)
{
	struct run *run = arg;

	run->results++;
	if (result->outcome >= WIRE_OUTCOMES ||
	    result->invalid_reason >= WIRE_INVALID_REASONS ||
	    (result->outcome == WIRE_INVALID) != (result->invalid_reason != 0))
		abort();
	if (result->outcome == WIRE_OK || result->outcome == WIRE_LATE_REPLY ||
	    result->outcome == WIRE_INVALID)
		run->answered++;
	if (result->flags & WIRE_SPLIT && result->outcome != WIRE_OK)
		abort();
	/* Only the reflector itself can have counted it. */
	if (run->verifies && result->flags & WIRE_COUNTED &&
	    result->responder_count > reflector_counts(run->reflector)->received)
		abort();
}

static uint64_t
choose(const struct wire_target *wire, void *arg)
{
	return *(const uint8_t *)arg;
}

/* ---- events ---- */

static void
set_port_errors(struct run *run)
{
	static const int errors[] = { 0, 0, -ENOBUFS, -EMFILE, -EAGAIN, -ENETUNREACH };
	uint8_t what = fuzz_u8(&run->bytes);

	run->near.counts.overruns += what & 1;
	run->near.error = errors[what / 2 % 6];
	run->far.error = errors[what / 12 % 6];
}

static void
new_keys(struct run *run)
{
	uint8_t how = fuzz_u8(&run->bytes);

	if (!run->keyed) {
		report_roster(run, how);
		return;
	}
	run->epoch += how & 3;
	report_keys(run, how & 0x80);
	if (how & 0x40)
		note_seen(run, how & 0x20);
	prober_set_keys(run->prober, run->ring);
	report_targets(run);
	report_roster(run, how >> 2);
}

static void
look_at_counts(struct run *run)
{
	struct wire_count rows[ROW_MAX];
	uint64_t sum = 0;

	if (fuzz_u8(&run->bytes) & 1)
		reflector_report_all(run->reflector);
	for (size_t n = ROW_MAX; n == ROW_MAX;) {
		n = reflector_changed_counts(run->reflector, rows, ROW_MAX);
		for (size_t i = 0; i < n; i++)
			sum += rows[i].received;
	}
	if (sum > reflector_counts(run->reflector)->received)
		abort();
}

static void
control_prober(struct run *run)
{
	uint8_t what = fuzz_u8(&run->bytes);

	switch (what % 8) {
	case 0:
		prober_focus(run->prober, reflector_id,
		    (uint32_t)fuzz_number(&run->bytes),
		    (uint32_t)fuzz_number(&run->bytes));
		break;
	case 1:
		prober_pause(run->prober, what & 0x80);
		break;
	case 2:
		prober_set_permille(run->prober, (uint32_t)fuzz_number(&run->bytes));
		break;
	case 3:
		prober_choose_flows(run->prober, choose, &what);
		break;
	case 4:
		fake_world_freeze(what * RM_NS_PER_MS);
		break;
	case 5:
		failing_malloc_arm(1 + what / 8);
		break;
	case 6:
		prober_pause(run->prober, true);
		fake_world_pass(what * RM_NS_PER_S);
		prober_pause(run->prober, false);
		break;
	default:
		set_port_errors(run);
	}
}

static void
event(struct run *run)
{
	switch (fuzz_u8(&run->bytes) % 13) {
	case 0:
	case 1:
		fake_world_pass(fuzz_u8(&run->bytes) * RM_NS_PER_MS);
		break;
	case 2:
	case 3:
		network_probe(run);
		break;
	case 4:
	case 5:
		network_reply(run);
		break;
	case 6:
		network_stamp(run, PORT_PROBER);
		break;
	case 7:
		network_stamp(run, PORT_REFLECTOR);
		break;
	case 8:
		if (fuzz_u8(&run->bytes) & 1)
			report_any_targets(run);
		else
			report_targets(run);
		break;
	case 9:
		new_keys(run);
		break;
	case 10:
		network_raw(run);
		break;
	case 11:
		look_at_counts(run);
		break;
	default:
		control_prober(run);
	}
}

static void
check(const struct run *run)
{
	const struct reflector_counts *far = reflector_counts(run->reflector);
	const struct prober_counts *near = prober_counts(run->prober);
	uint64_t outcomes = 0;

	for (int i = 0; i < WIRE_OUTCOMES; i++)
		outcomes += near->outcomes[i];
	if (outcomes != run->results || outcomes > near->sent + near->send_failed ||
	    near->due != near->skipped + near->sent + near->send_failed ||
	    run->answered > run->genuine || near->split_replies > run->answered)
		abort();
	if (far->received != far->replied + far->send_failed + far->refused_unknown +
				 far->refused_port + far->refused_malformed +
				 far->refused_full + far->refused_mac +
				 far->refused_plain + far->refused_replayed ||
	    far->authenticated > far->received)
		abort();
	if (!run->keyed && far->authenticated + far->refused_plain > 0)
		abort();
	(void)prober_behind_ns(run->prober, rm_mono_now());
}

/* Every probe has ended. */
static void
settle(struct run *run)
{
	const struct prober_counts *near = prober_counts(run->prober);

	prober_pause(run->prober, true);
	fake_world_pass(2 * TIMEOUT_NS);
	check(run);
	if (run->results != near->sent + near->send_failed)
		abort();
}

static void
begin(struct run *run)
{
	struct prober_options options = { .timeout_ns = TIMEOUT_NS,
		.random_seed = 1,
		.own_rnic = { .id = prober_id,
		    .addresses = { prober_at },
		    .prefix_bits = { 24 } } };
	static struct rate_limit rate_limit;
	uint8_t what = fuzz_u8(&run->bytes);

	run->roce = what & 1;
	run->keyed = what & 2;
	run->verifies = run->keyed && !(what & 0x40);
	if (run->roce) {
		fake_port_init_roce(&run->near, (enum port_flows)(what >> 4 & 3));
		fake_port_init_roce(&run->far, PORT_FLOWS_LABEL);
	} else {
		fake_port_init(&run->near);
		fake_port_init(&run->far);
	}
	rate_limit_init(
	    &rate_limit, RATE_LIMIT_HOST_PACKETS_PER_S, RATE_LIMIT_HOST_BYTES_PER_S);
	if (what & 8)
		options.host_rate_limit = &rate_limit;
	options.max_rate_per_s = what & 4 ? 100 : 0;
	run->epoch = 5;
	if (rm_loop_new(&run->loop) < 0 || (run->writer = wire_writer_new()) == NULL ||
	    key_ring_new(&run->ring) < 0 || key_ring_add_tor(run->ring, "t") < 0 ||
	    prober_new(run->loop, &run->near.port, &options, on_result, run,
		&run->prober) < 0 ||
	    reflector_new(&run->far.port, reflector_id, 2, &run->reflector) < 0)
		abort();
	if (run->keyed) {
		report_keys(run, false);
		reflector_set_keys(run->reflector, run->ring, RM_NS_PER_S);
	}
	if (run->verifies)
		prober_set_keys(run->prober, run->ring);
	report_roster(run, 0);
	report_targets(run);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct run run;

	memset(&run, 0, sizeof(run));
	run.bytes = (struct fuzz_bytes){ data, len };
	fake_world_begin();
	begin(&run);
	for (int i = 0; i < MAX_EVENTS && run.bytes.left > 0; i++) {
		event(&run);
		check(&run);
	}
	(void)failing_malloc_disarm();
	settle(&run);
	prober_free(run.prober);
	reflector_free(run.reflector);
	key_ring_free(run.ring);
	wire_writer_free(run.writer);
	rm_loop_free(run.loop);
	fake_world_end();
	return 0;
}
