/* Simulates the reports of agents: batches, receive counts and heartbeats, in the order
 * of a session. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/run_state.h"

#define BATCH_RESULTS 512
/* a batch is sent at this age, because one more slice would be too late */
#define BATCH_AGE_NS (150 * RM_NS_PER_MS)
#define BEAT_NS (250 * RM_NS_PER_MS)
/* delay of the management network, to which a random time up to this length is added */
#define DELAY_NS 300000
/* time until an agent reports the state of a port */
#define PORT_STATE_NS (200 * RM_NS_PER_MS)

/* ---- in flight ------------------------------------------------------------------- */

static int
queue(struct sim_lane *lane, enum wire_kind kind, struct wire_bytes bytes,
    int64_t arrival_ns)
{
	struct sim_message *message = malloc(sizeof *message + bytes.len);

	if (message == NULL)
		return -ENOMEM;
	*message = (struct sim_message){ NULL, arrival_ns, kind, bytes.len };
	if (bytes.len > 0)
		memcpy(message->data, bytes.data, bytes.len);
	if (lane->last != NULL)
		lane->last->next = message;
	else
		lane->first = message;
	lane->last = message;
	return 0;
}

int
agents_post(struct run *run, struct sim_lane *lane, enum wire_kind kind,
    struct wire_bytes bytes, int64_t now_ns)
{
	const double *noise = run->draw.noise;
	struct sim_rack *rack = &run->rack[lane->rack];
	int64_t arrival_ns =
	    now_ns + DELAY_NS + (int64_t)dice_below(&run->dice, DELAY_NS);

	if (kind == WIRE_BATCH && noise[NOISE_LATE_BATCHES] > 0 &&
	    dice_share(&run->dice) < noise[NOISE_LATE_BATCHES])
		arrival_ns +=
		    (int64_t)(scenario_pick(
				  &run->scenario->noise[NOISE_LATE_MS], &run->dice) *
			      1e6);
	if (arrival_ns < lane->last_arrival_ns)
		arrival_ns = lane->last_arrival_ns;
	lane->last_arrival_ns = arrival_ns;
	/* No message waits, and this one is not delayed: it is read at once. */
	if (lane->first == NULL && arrival_ns < now_ns + RM_NS_PER_MS &&
	    rack->rack != NULL &&
	    life_at(run->life, lane->host, LIFE_CUT, now_ns) == NULL)
		return sim_rack_take(
		    rack, lane, kind, bytes.data, bytes.len, arrival_ns);
	return queue(lane, kind, bytes, arrival_ns);
}

static int
deliver(struct run *run, struct sim_lane *lane, int64_t now_ns)
{
	struct sim_rack *rack = &run->rack[lane->rack];
	int r = 0;

	if (lane->first == NULL || rack->rack == NULL ||
	    life_at(run->life, lane->host, LIFE_CUT, now_ns) != NULL)
		return 0;
	while (r == 0 && lane->first != NULL && lane->first->arrival_ns <= now_ns) {
		struct sim_message *message = lane->first;

		lane->first = message->next;
		if (lane->first == NULL)
			lane->last = NULL;
		r = sim_rack_take(
		    rack, lane, message->kind, message->data, message->len, now_ns);
		free(message);
	}
	return r;
}

/* ---- batches --------------------------------------------------------------------- */

static int
post_batch(
    struct run *run, struct sim_lane *lane, size_t first, size_t count, int64_t now_ns)
{
	const double *noise = run->draw.noise;
	const struct sim_host *host = &run->host[lane->host];
	char name[RM_PART_NAME_BYTES];
	struct wire_batch_head head = { .host = name,
		.incarnation = host->incarnation,
		.seq = ++lane->seq,
		.now_ns = host_mono(host, now_ns),
		.dropped_batches = lane->dropped_batches,
		.dropped_results = lane->dropped_results };
	struct wire_bytes bytes;
	int r;

	clos_name(run->clos, run->rnics + lane->host, name);
	if (noise[NOISE_MISSING_BATCHES] > 0 &&
	    dice_share(&run->dice) < noise[NOISE_MISSING_BATCHES]) {
		lane->dropped_batches++;
		lane->dropped_results += count;
		return 0;
	}
	r = wire_write_batch(run->writer, &head, lane->results + first, count, &bytes);
	if (r == 0)
		r = agents_post(run, lane, WIRE_BATCH, bytes, now_ns);
	if (r == 0 && noise[NOISE_DUPLICATED_BATCHES] > 0 &&
	    dice_share(&run->dice) < noise[NOISE_DUPLICATED_BATCHES])
		r = agents_post(run, lane, WIRE_BATCH, bytes, now_ns);
	return r;
}

static int
flush(struct run *run, struct sim_lane *lane, int64_t now_ns)
{
	size_t left = 0;
	int r = 0;

	for (size_t i = 0; i < lane->waiting_count && r == 0; i++) {
		if (lane->waiting[i].known_ns <= now_ns)
			r = probing_add_result(
			    run, lane, &lane->waiting[i].result, now_ns);
		else
			lane->waiting[left++] = lane->waiting[i];
	}
	lane->waiting_count = left;
	/* Replaces the send times of the results by their ages. */
	for (size_t i = 0; i < lane->result_count; i++)
		lane->results[i].sent_age_ns =
		    (uint64_t)now_ns - lane->results[i].sent_age_ns;
	for (size_t i = 0; i < lane->result_count && r == 0; i += BATCH_RESULTS) {
		const size_t rest = lane->result_count - i;

		r = post_batch(
		    run, lane, i, rest < BATCH_RESULTS ? rest : BATCH_RESULTS, now_ns);
	}
	lane->result_count = 0;
	return r;
}

/* ---- counts, heartbeats ---------------------------------------------------------- */

static int
post_counts(struct run *run, struct sim_lane *lane, int64_t now_ns)
{
	const struct sim_host *host = &run->host[lane->host];
	struct wire_count rows[1024];
	struct wire_counts counts = { host->incarnation, host_mono(host, now_ns), rows,
		0 };
	struct wire_bytes bytes;
	int r = 0;

	for (size_t i = 0; i < lane->pair_count && r == 0; i++) {
		struct sim_pair *pair = &run->pairs[lane->pairs[i]];

		for (uint8_t c = 0; c < pair->dscp_count; c++) {
			if (pair->received[c] == pair->reported[c] &&
			    !(lane->wants_all_counts && pair->received[c] > 0))
				continue;
			pair->reported[c] = pair->received[c];
			rows[counts.row_count++] =
			    (struct wire_count){ .own_guid = RUN_GUID + pair->dst,
				    .prober_guid = RUN_GUID + pair->src,
				    .received = pair->received[c],
				    .dscp = pair->dscps[c] };
		}
		if (counts.row_count <= 1024 - RUN_CLASSES)
			continue;
		r = wire_write_counts(run->writer, &counts, &bytes);
		if (r == 0)
			r = agents_post(run, lane, WIRE_COUNTS, bytes, now_ns);
		counts.row_count = 0;
	}
	lane->wants_all_counts = false;
	if (r == 0)
		r = wire_write_counts(run->writer, &counts, &bytes);
	return r == 0 ? agents_post(run, lane, WIRE_COUNTS, bytes, now_ns) : r;
}

static int
post_beat(struct run *run, struct sim_lane *lane, int64_t now_ns)
{
	const struct sim_host *host = &run->host[lane->host];
	const struct life_span *spans;
	const size_t count = life_spans(run->life, lane->host, &spans);
	struct wire_stall stalls[WIRE_MAX_STALLS];
	struct wire_heartbeat beat = { .incarnation = host->incarnation,
		.seq = ++lane->beats,
		.now_ns = host_mono(host, now_ns),
		.stalls = stalls };
	struct wire_bytes bytes;
	int r;

	for (size_t i = 0; i < count && beat.stall_count < WIRE_MAX_STALLS; i++)
		if (spans[i].kind == LIFE_STALL && spans[i].to_ns <= now_ns &&
		    spans[i].to_ns > lane->last_beat_ns)
			stalls[beat.stall_count++] =
			    (struct wire_stall){ host_mono(host, spans[i].from_ns),
				    host_mono(host, spans[i].to_ns) };
	beat.results_through_ns = beat.now_ns;
	lane->last_beat_ns = now_ns;
	r = wire_write_heartbeat(run->writer, &beat, &bytes);
	return r == 0 ? agents_post(run, lane, WIRE_HEARTBEAT, bytes, now_ns) : r;
}

/* ---- sessions -------------------------------------------------------------------- */

static int
post_registration(struct run *run, struct sim_lane *lane, int64_t now_ns)
{
	struct wire_rnic rnics[WIRE_MAX_HOST_RNICS];
	struct run_names names[WIRE_MAX_HOST_RNICS];
	struct wire_register reg = { .incarnation = run->host[lane->host].incarnation,
		.rnics = rnics,
		.rnic_count = lane->rnic_count };
	struct wire_bytes bytes;
	int r;

	lane->links_down = false;
	for (size_t i = 0; i < lane->rnic_count; i++) {
		const bool down = fate_port_is_down(
		    run->fate, lane->rnics[i], now_ns - PORT_STATE_NS);

		rnics[i] = run_rnic(run, lane->rnics[i], down, &names[i]);
		lane->links_down |= down;
	}
	reg.host = names[0].host;
	r = wire_write_register(run->writer, &reg, &bytes);
	return r == 0 ? agents_post(run, lane, WIRE_REGISTER, bytes, now_ns) : r;
}

static int
begin_session(struct run *run, struct sim_lane *lane, int64_t now_ns)
{
	const struct sim_host *host = &run->host[lane->host];
	char name[RM_PART_NAME_BYTES];
	const struct wire_hello hello = { .role = WIRE_ROLE_AGENT,
		.version_min = WIRE_VERSION,
		.version_max = WIRE_VERSION,
		.region = RUN_REGION,
		.id = name,
		.incarnation = host->incarnation,
		.now_ns = host_mono(host, now_ns) };
	struct wire_bytes bytes;
	int r;

	clos_name(run->clos, run->rnics + lane->host, name);
	r = wire_write_hello(run->writer, &hello, &bytes);
	if (r == 0)
		r = agents_post(run, lane, WIRE_HELLO, bytes, now_ns);
	lane->connected = true;
	lane->wants_all_counts = true;
	lane->last_seen_ns = now_ns;
	if (r == 0)
		r = post_registration(run, lane, now_ns);
	return r == 0 ? agents_retell(run, lane, now_ns) : r;
}

static bool
ports_changed(struct run *run, const struct sim_lane *lane, int64_t now_ns)
{
	bool down = false;

	for (size_t i = 0; i < lane->rnic_count; i++)
		down |= fate_port_is_down(
		    run->fate, lane->rnics[i], now_ns - PORT_STATE_NS);
	return down != lane->links_down;
}

static void
forget_reports(struct sim_lane *lane)
{
	lane->result_count = lane->waiting_count = 0;
	lane->seq = lane->beats = 0;
	lane->dropped_batches = lane->dropped_results = 0;
	while (lane->first != NULL) {
		struct sim_message *message = lane->first;

		lane->first = message->next;
		free(message);
	}
	lane->last = NULL;
}

/* The agent's process has ended, or a new one has started. */
static void
host_lives(struct run *run, uint32_t number, int64_t now_ns)
{
	struct sim_host *host = &run->host[number];
	const bool gone = life_at(run->life, number, LIFE_GONE, now_ns) != NULL;
	const bool alive =
	    !gone && life_at(run->life, number, LIFE_DOWN, now_ns) == NULL;

	if (alive == host->alive)
		return;
	host->alive = alive;
	host->incarnation += alive;
	for (uint32_t l = 0; l < host->lane_count; l++) {
		struct sim_lane *lane = &run->lanes[host->first_lane + l];

		forget_reports(lane);
		agents_forget_suspects(run, lane);
		if (alive)
			probing_forget(run, lane);
		else if (!gone && lane->connected)
			sim_rack_ended(&run->rack[lane->rack], lane, true, now_ns);
		lane->connected = false;
	}
}

static int
report(struct run *run, struct sim_lane *lane, int64_t now_ns)
{
	const bool beat = now_ns >= lane->next_beat_ns;
	int r = 0;

	if (!lane->connected && run->rack[lane->rack].rack != NULL &&
	    life_at(run->life, lane->host, LIFE_CUT, now_ns) == NULL)
		r = begin_session(run, lane, now_ns);
	if (r == 0 && lane->connected && ports_changed(run, lane, now_ns))
		r = post_registration(run, lane, now_ns);
	if (r == 0 && (beat || (lane->result_count > 0 &&
				   now_ns - lane->oldest_ns >= BATCH_AGE_NS)))
		r = flush(run, lane, now_ns);
	if (r == 0)
		r = agents_trace_suspects(run, lane, now_ns);
	if (r < 0 || !beat)
		return r;
	while (lane->next_beat_ns <= now_ns)
		lane->next_beat_ns += BEAT_NS;
	r = post_counts(run, lane, now_ns);
	if (r == 0)
		r = post_beat(run, lane, now_ns);
	if (r == 0 && (now_ns >= lane->next_trace_ns ||
			  (lane->all_again_ns > 0 && now_ns >= lane->all_again_ns)))
		r = agents_trace(run, lane, now_ns);
	return r;
}

int
agents_report(struct run *run, int64_t now_ns)
{
	int r = 0;

	for (uint32_t h = 0; h < run->hosts; h++)
		if (life_spans(run->life, h, &(const struct life_span *){ NULL }) > 0)
			host_lives(run, h, now_ns);
	for (size_t i = 0; i < run->lane_count && r == 0; i++) {
		struct sim_lane *lane = &run->lanes[i];

		r = deliver(run, lane, now_ns);
		if (r == 0 && run->host[lane->host].alive &&
		    life_runs(run->life, lane->host, now_ns))
			r = report(run, lane, now_ns);
	}
	return r;
}
