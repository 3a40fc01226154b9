/* Simulates every probe of the fabric: when it is due, what happens to it, and how it
 * is reported. */
#include "host-agent/probe/prober_target.h"
#include "tests/sim/arrivals.h"
#include "tests/sim/eyes_marks.h"
#include "tests/sim/run_state.h"

#define MAKE_UP_NS (50 * RM_NS_PER_MS) /* the same value as in host-agent's pacer */
/* the same value as in host-agent's prober */
#define STALL_NS (RUN_TIMEOUT_NS - 150 * RM_NS_PER_MS)
#define SOCKET_ROOM 400 /* number of packets that the socket of one RNIC can hold */
#define REPLY_NS 15000  /* delay inside a responder, and inside a prober */
/* the prober remembers a probe for this time, as in host-agent */
#define OVERDUE_NS (8 * RM_NS_PER_S)
/* a probe that is later than this may be overtaken by other probes */
#define LATE_NS RM_NS_PER_MS
#define LATE_MIN_NS (2 * RM_NS_PER_MS) /* the same value as in host-agent's pacer */
#define LATE_MAX_NS (50 * RM_NS_PER_MS)
/* sending a burst takes this part of the duration of the stall */
#define BURST_PART 10000

int
probing_add_result(struct run *run, struct sim_lane *lane,
    const struct wire_result *result, int64_t known_ns)
{
	int r;

	if (known_ns > run->now_ns) {
		r = run_grow((void **)&lane->waiting, lane->waiting_count,
		    &lane->waiting_room, sizeof *lane->waiting);
		if (r == 0)
			lane->waiting[lane->waiting_count++] =
			    (struct sim_waiting){ *result, known_ns };
		return r;
	}
	r = run_grow((void **)&lane->results, lane->result_count, &lane->result_room,
	    sizeof *lane->results);
	if (r < 0)
		return r;
	if (lane->result_count == 0 || known_ns < lane->oldest_ns)
		lane->oldest_ns = known_ns;
	lane->results[lane->result_count++] = *result;
	return 0;
}

static uint32_t
class_of(struct sim_pair *pair, uint8_t dscp)
{
	for (uint32_t i = 0; i < pair->dscp_count; i++)
		if (pair->dscps[i] == dscp)
			return i;
	if (pair->dscp_count == RUN_CLASSES)
		return RUN_CLASSES - 1;
	pair->dscps[pair->dscp_count] = dscp;
	return pair->dscp_count++;
}

/* While a host is stalled, its sockets fill. */
static bool
finds_room(struct run *run, uint32_t rnic, const struct life_span *stall)
{
	struct sim_queue *queue = &run->queues[rnic];

	if (stall == NULL)
		return true;
	if (queue->since_ns != stall->from_ns)
		*queue = (struct sim_queue){ stall->from_ns, 0 };
	return queue->count++ < SOCKET_ROOM;
}

struct trip {
	int64_t rtt_ns; /* time until the reply arrives */
	/* the part of rtt_ns in which the responder's host was stalled */
	int64_t stood_ns;
	/* time until the probe arrives, if that is unusually long; else 0 */
	int64_t late_ns;
	/* the responder's receive count; not known yet for a late probe */
	uint32_t count;
};

/* Simulates what the network and the responder do with the probe. */
static enum fate_end
send(struct run *run, const struct sim_target *target, const struct sim_flow *flow,
    const struct fate_packet *packet, int64_t now_ns, struct trip *trip)
{
	const uint32_t host = run_host_of(run, target->dst);
	struct sim_pair *pair = &run->pairs[target->pair];
	const uint32_t class = class_of(pair, packet->dscp);
	enum fate_end end = fate_round_trip(
	    run->fate, &flow->path, packet, now_ns, &trip->rtt_ns, &trip->late_ns);
	const int64_t resumes = life_resumes(run->life, host, now_ns);

	if (end == FATE_LOST_FORWARD || resumes == INT64_MAX ||
	    !finds_room(run, target->dst,
		resumes == now_ns ? NULL
				  : life_at(run->life, host, LIFE_STALL, now_ns)))
		return FATE_LOST_FORWARD;
	if (trip->late_ns < LATE_NS)
		trip->late_ns = 0;
	if (trip->late_ns == 0)
		trip->count = ++pair->received[class];
	trip->stood_ns = resumes - now_ns;
	trip->rtt_ns += trip->stood_ns;
	return end;
}

static void
answered(struct run *run, struct wire_result *result, const struct trip *trip)
{
	result->outcome = WIRE_OK;
	result->rtt_ns = (uint32_t)(trip->rtt_ns - trip->stood_ns);
	result->prober_delay_ns = REPLY_NS + trip->count % 1024;
	result->responder_delay_ns =
	    REPLY_NS + trip->count % 512 + (uint32_t)trip->stood_ns;
	result->round_trip_ns = result->rtt_ns + result->responder_delay_ns;
	result->responder_count = trip->count;
	result->arrived_dscp = result->dscp;
	result->arrived_ttl = 64;
	result->stamp_source = WIRE_STAMP_KERNEL;
	result->flags |= WIRE_SPLIT | WIRE_COUNTED | WIRE_ARRIVAL;
}

/* The reply arrives after its probe was reported as lost: the agent reports the reply.
 */
static int
remember(struct run *run, struct sim_lane *lane, const struct wire_result *result,
    int64_t now_ns, const struct trip *trip)
{
	const int64_t known_ns =
	    life_resumes(run->life, lane->host, now_ns + trip->rtt_ns);
	const int64_t took_ns = trip->rtt_ns - trip->stood_ns;
	struct wire_result overdue = *result;

	if (took_ns <= RUN_TIMEOUT_NS || trip->rtt_ns > OVERDUE_NS ||
	    known_ns == INT64_MAX)
		return 0;
	overdue.outcome = WIRE_OVERDUE;
	overdue.stamp_source = WIRE_STAMP_KERNEL;
	wire_result_overdue(&overdue, (uint64_t)took_ns);
	return probing_add_result(run, lane, &overdue, known_ns);
}

/* target NULL: the probe was not lost. */
static int
conclude(struct run *run, struct sim_lane *lane, const struct sim_target *target,
    struct wire_result *result, enum fate_end end, int64_t now_ns,
    const struct trip *trip)
{
	int64_t known_ns = now_ns + RUN_TIMEOUT_NS;
	int r = 0;

	if (end == FATE_ANSWERED && trip->rtt_ns <= RUN_TIMEOUT_NS) {
		answered(run, result, trip);
		known_ns = now_ns + trip->rtt_ns;
	} else {
		run->result.lost++;
		result->outcome = WIRE_NO_REPLY;
		result->reserved = end == FATE_LOST_FORWARD   ? EYES_FORWARD
				   : end == FATE_LOST_REVERSE ? EYES_REVERSE
							      : 0;
		if (life_stood_still(run->life, lane->host, now_ns, known_ns, STALL_NS))
			result->outcome = WIRE_SELF_LOSS;
		else if (result->flags & WIRE_LATE_SEND)
			result->outcome = WIRE_SENT_LATE;
	}
	known_ns = life_resumes(run->life, lane->host, known_ns);
	if (known_ns != INT64_MAX)
		r = probing_add_result(run, lane, result, known_ns);
	if (r == 0 && known_ns != INT64_MAX && target != NULL &&
	    result->outcome == WIRE_NO_REPLY)
		r = agents_lost(run, target, result->flow_label, known_ns);
	if (r == 0 && end == FATE_ANSWERED && result->outcome == WIRE_NO_REPLY)
		r = remember(run, lane, result, now_ns, trip);
	return r;
}

/* The probe is in flight for a long time: its responder counts it when it arrives. */
static int
travel(struct run *run, const struct sim_target *target, uint8_t dscp,
    const struct wire_result *result, enum fate_end end, int64_t now_ns,
    const struct trip *trip)
{
	const struct arrival arrival = { .due_ns = now_ns + trip->late_ns,
		.pair = target->pair,
		.class = class_of(&run->pairs[target->pair], dscp),
		.lane = run->lane_of[target->src],
		.is_awaited = end == FATE_ANSWERED && trip->rtt_ns <= RUN_TIMEOUT_NS,
		.sent_ns = now_ns,
		.rtt_ns = trip->rtt_ns,
		.stood_ns = trip->stood_ns,
		.result = *result };
	struct wire_result lost = *result;
	int r = arrivals_put(&run->arrivals, &arrival);

	if (r == 0 && !arrival.is_awaited)
		r = conclude(
		    run, &run->lanes[arrival.lane], target, &lost, end, now_ns, trip);
	return r;
}

static int
arrive(struct run *run, int64_t until_ns)
{
	struct arrival arrival;
	int r = 0;

	while (r == 0 && arrivals_take(&run->arrivals, until_ns, &arrival)) {
		const struct trip trip = { .rtt_ns = arrival.rtt_ns,
			.stood_ns = arrival.stood_ns,
			.count = ++run->pairs[arrival.pair].received[arrival.class] };

		if (arrival.is_awaited)
			r = conclude(run, &run->lanes[arrival.lane], NULL,
			    &arrival.result, FATE_ANSWERED, arrival.sent_ns, &trip);
	}
	return r;
}

static int
probe(struct run *run, struct sim_target *target, bool late, int64_t now_ns)
{
	const bool pair_goes_on = target->second;
	const uint32_t lane = run->lane_of[target->src];
	const uint32_t turn = pair_goes_on ? target->turn - 1 : target->turn++;
	const struct prober_places at = prober_places(
	    turn, target->kept_count, target->dscp_count, target->size_count);
	const uint32_t number =
	    target->first_flow + run->flows[target->first_flow + at.flow].kept;
	struct sim_flow *flow = &run->flows[number];
	struct fate_packet packet = { target->src, target->dst, flow->port, 0, 0 };
	struct wire_result result;
	enum fate_end end;
	struct trip trip = { 0 };

	packet.dscp = target->dscps[at.dscp];
	packet.bytes = target->sizes[at.size];
	if (flow->epoch != fate_epoch(run->fate)) {
		fate_path(run->fate, &packet, &flow->path);
		flow->epoch = fate_epoch(run->fate);
	}
	run->result.probes++;
	result = (struct wire_result){ .src_guid = RUN_GUID + target->src,
		.dst_guid = RUN_GUID + target->dst,
		.sent_age_ns = (uint64_t)now_ns,
		.seq = target->turn,
		.flow_label = number,
		.src_port = flow->port,
		.size_bytes = (uint16_t)packet.bytes,
		.kind = target->kind,
		.dscp = packet.dscp,
		.flags = late ? WIRE_LATE_SEND : 0 };
	end = send(run, target, flow, &packet, now_ns, &trip);
	if (trip.late_ns > 0 && end != FATE_LOST_FORWARD)
		return travel(run, target, packet.dscp, &result, end, now_ns, &trip);
	return conclude(run, &run->lanes[lane], target, &result, end, now_ns, &trip);
}

static int64_t
interval_of(const struct sim_target *target)
{
	return target->focus_ns > 0 && target->focus_ns < target->interval_ns &&
		       target->due_ns < target->focus_until_ns
		   ? target->focus_ns
		   : target->interval_ns;
}

static void
pace(struct sim_target *target)
{
	const int64_t interval_ns = interval_of(target);

	if (target->paired && interval_ns > 2 * RUN_PAIR_GAP_NS) {
		target->second = !target->second;
		target->due_ns +=
		    target->second ? RUN_PAIR_GAP_NS : interval_ns - RUN_PAIR_GAP_NS;
		return;
	}
	target->second = false;
	target->due_ns += interval_ns;
}

/* Skips all probes that are too old, except the latest of those due, as host-agent's
 * pacer does. */
static void
skip(struct sim_target *target, int64_t now_ns)
{
	const int64_t interval_ns = interval_of(target);
	int64_t behind_ns = now_ns - target->due_ns, periods;

	if (behind_ns > MAKE_UP_NS && target->second) {
		if (behind_ns < interval_ns - RUN_PAIR_GAP_NS)
			return;
		pace(target);
		behind_ns = now_ns - target->due_ns;
	}
	if (behind_ns <= MAKE_UP_NS)
		return;
	periods = (behind_ns - MAKE_UP_NS - 1) / interval_ns + 1;
	if (periods > behind_ns / interval_ns)
		periods = behind_ns / interval_ns;
	target->due_ns += periods * interval_ns;
}

/* As host-agent's pacer. */
static bool
is_late(const struct sim_target *target, int64_t now_ns)
{
	int64_t allowed_ns = interval_of(target) / 2;

	if (allowed_ns < LATE_MIN_NS)
		allowed_ns = LATE_MIN_NS;
	if (allowed_ns > LATE_MAX_NS)
		allowed_ns = LATE_MAX_NS;
	return now_ns - target->due_ns > allowed_ns;
}

/* Returns when the agent sends the next probe. If the agent is stalled when probes are
 * due, it sends all of them when it continues, in the order in which they were due. An
 * agent that does not run sends nothing; then *runs is false. */
static int64_t
leaves_at(struct run *run, const struct sim_target *target, bool *runs)
{
	const uint32_t host = run_host_of(run, target->src);
	const int64_t due_ns = target->due_ns;
	const int64_t resumes = life_resumes(run->life, host, due_ns);
	const struct life_span *stall;

	*runs = resumes != INT64_MAX;
	if (!*runs || resumes == due_ns)
		return due_ns;
	stall = life_at(run->life, host, LIFE_STALL, due_ns);
	return stall == NULL ? resumes
			     : resumes + (due_ns - stall->from_ns) / BURST_PART;
}

/* Sends the target's next probe if that is due before the end. *next_ns: when the probe
 * after it is due. */
static int
send_due(struct run *run, struct sim_target *target, int64_t end_ns, int64_t *next_ns)
{
	int64_t now_ns;
	bool runs;
	int r = 0;

	now_ns = *next_ns = leaves_at(run, target, &runs);
	if (now_ns >= end_ns)
		return 0;
	skip(target, now_ns);
	r = arrive(run, now_ns);
	if (r == 0 && runs && !fate_port_is_down(run->fate, target->src, now_ns))
		r = probe(run, target, is_late(target, now_ns), now_ns);
	pace(target);
	*next_ns = leaves_at(run, target, &runs);
	return r;
}

/* Sends the probes in the order of time: a responder counts them in the order in which
 * they arrive, and the aggregator takes the losses' directions from these counts. */
int
probing_slice(struct run *run, int64_t end_ns)
{
	uint32_t number;
	int r = 0;

	while (r == 0 && (r = wheel_take(run->wheel, end_ns, &number)) == 0 &&
	       number != WHEEL_NONE) {
		int64_t next_ns;

		r = send_due(run, &run->targets[number], end_ns, &next_ns);
		if (r == 0)
			r = wheel_put(run->wheel, number, next_ns);
	}
	return r == 0 ? arrive(run, end_ns) : r;
}
