#include "fabric_sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JUMP_NS (INT64_C(87600) * 3600 * RM_NS_PER_S)
#define WALL_BASE (INT64_C(1700000000) * RM_NS_PER_S)
#define ROW_INTERVAL_NS (10 * RM_NS_PER_S)
#define PATH_TEXT 96
#define SAMPLES_TEXT 400
#define TIMEOUT_MS 500
#define LATE_MS 400
#define OVERDUE_MS 1500
#define STEP_MS ((unsigned)(FABRIC_STEP_NS / RM_NS_PER_MS))
#define OVERDUE_STEPS 16 /* agents remember lost probes for 4 s */

struct flow {
	uint16_t src, dst, there, back; /* ToRs, and the spine of each direction */
	uint16_t src_rnic, dst_rnic;
	uint64_t hash;
	double due; /* number of probes that are due */
	uint32_t row;
	uint32_t sent, answered, forward, reverse; /* since the last report of rows */
	uint32_t second_lost; /* losses in the current second of this rack */
	uint32_t slow, overdue, overdue_ms;
	uint32_t late_ms;               /* delay of the replies in `coming` */
	uint16_t coming[OVERDUE_STEPS]; /* replies, by the step in which they arrive */
};

struct row {
	uint16_t dst, spine;
	char path[PATH_TEXT];
};

struct rack {
	int64_t phase_ns, rows_from_ns;
	bool was_lossy; /* after the loss has ended rows are sent once more */
	size_t first_flow, flow_count;
	struct row *rows;
	size_t row_count;
	uint64_t seq;
};

struct message {
	int64_t at_ns;
	uint8_t *data;
	size_t len;
	struct message *next;
};

struct fabric {
	struct fabric_options options;
	struct localise *localise;
	struct wire_writer *writer;
	struct rack *racks;
	struct flow *flows;
	size_t flow_count;
	struct fabric_fault faults[FABRIC_MAX_FAULTS];
	size_t fault_count;
	struct message *messages; /* sorted by time */
	struct wire_path_row *out;
	char (*samples)[SAMPLES_TEXT];
	int64_t now_ns, judge_ns;
	uint64_t random, probes, lost;
};

static uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static double
chance(struct fabric *fabric)
{
	fabric->random += UINT64_C(0x9e3779b97f4a7c15);
	return (double)(mix(fabric->random) >> 11) / (double)(UINT64_C(1) << 53);
}

static size_t
rnics_of(const struct fabric *fabric, size_t tor)
{
	return fabric->options.rnics != NULL ? fabric->options.rnics[tor] : 4;
}

static void
set_path(const struct flow *flow, struct row *row, size_t spine)
{
	row->dst = flow->dst;
	row->spine = (uint16_t)spine;
	snprintf(row->path, sizeof row->path,
	    "tor%u@10.0.%u.1 s%zu@10.1.%u.%zu tor%u@10.2.%zu.%u", flow->src + 1u,
	    flow->src + 1u, spine + 1, flow->src + 1u, spine + 1, flow->dst + 1u,
	    spine + 1, flow->dst + 1u);
}

static void
place_flow(struct fabric *fabric, struct flow *flow)
{
	struct rack *rack = &fabric->racks[flow->src];

	for (flow->row = 0; flow->row < rack->row_count; flow->row++)
		if (rack->rows[flow->row].dst == flow->dst &&
		    rack->rows[flow->row].spine == flow->there)
			return;
	set_path(flow, &rack->rows[rack->row_count++], flow->there);
}

static void
add_flows(struct fabric *fabric, size_t src, size_t dst)
{
	const struct fabric_options *o = &fabric->options;

	for (size_t i = 0; i < o->flows; i++) {
		struct flow *flow = &fabric->flows[fabric->flow_count++];

		*flow = (struct flow){ .src = (uint16_t)src,
			.dst = (uint16_t)dst,
			.hash = mix(o->seed * 1000003 + (src * 2048 + dst) * 512 + i),
			.due = chance(fabric),
			.src_rnic = (uint16_t)(i / o->spines % rnics_of(fabric, src)) };
		/* Flow labels are chosen so that all spines get equally many flows. */
		flow->there = (uint16_t)(i % o->spines);
		flow->back = o->same_back ? flow->there
					  : (uint16_t)(mix(flow->hash + 7) % o->spines);
		flow->dst_rnic =
		    (uint16_t)(mix(flow->hash + 3) % rnics_of(fabric, dst));
		place_flow(fabric, flow);
	}
}

int
fabric_new(const struct fabric_options *options, struct fabric **ret)
{
	const struct localise_options judged = { "r1", ROW_INTERVAL_NS };
	struct fabric *fabric = calloc(1, sizeof *fabric);
	const size_t tors = options->tors;
	const size_t peers = options->peers != 0 ? options->peers : tors - 1;

	if (fabric == NULL)
		return -ENOMEM;
	fabric->options = *options;
	fabric->random = options->seed;
	fabric->writer = wire_writer_new();
	fabric->racks = calloc(tors, sizeof *fabric->racks);
	fabric->flows = calloc(tors * peers * options->flows, sizeof *fabric->flows);
	fabric->out = calloc(peers * options->spines * 2, sizeof *fabric->out);
	fabric->samples = calloc(peers * options->spines * 2, sizeof *fabric->samples);
	if (fabric->writer == NULL || fabric->racks == NULL || fabric->flows == NULL ||
	    fabric->out == NULL || fabric->samples == NULL ||
	    localise_new(&judged, &fabric->localise) < 0) {
		fabric_free(fabric);
		return -ENOMEM;
	}
	for (size_t i = 0; i < tors; i++) {
		struct rack *rack = &fabric->racks[i];

		rack->phase_ns = (int64_t)(mix(options->seed + i) % 4) * FABRIC_STEP_NS;
		rack->first_flow = fabric->flow_count;
		rack->rows = calloc(peers * options->spines * 2, sizeof *rack->rows);
		if (rack->rows == NULL) {
			fabric_free(fabric);
			return -ENOMEM;
		}
		for (size_t k = 1; k <= peers; k++)
			add_flows(fabric, i, (i + k) % tors);
		rack->flow_count = fabric->flow_count - rack->first_flow;
	}
	*ret = fabric;
	return 0;
}

void
fabric_free(struct fabric *fabric)
{
	if (fabric == NULL)
		return;
	while (fabric->messages != NULL) {
		struct message *message = fabric->messages;

		fabric->messages = message->next;
		free(message->data);
		free(message);
	}
	for (size_t i = 0; fabric->racks != NULL && i < fabric->options.tors; i++)
		free(fabric->racks[i].rows);
	localise_free(fabric->localise);
	wire_writer_free(fabric->writer);
	free(fabric->racks);
	free(fabric->flows);
	free(fabric->out);
	free(fabric->samples);
	free(fabric);
}

void
fabric_add_fault(struct fabric *fabric, struct fabric_fault fault)
{
	fabric->faults[fabric->fault_count++] = fault;
}

void
fabric_avoid(struct fabric *fabric, size_t spine)
{
	for (size_t i = 0; i < fabric->flow_count; i++) {
		struct flow *flow = &fabric->flows[i];
		const uint16_t next = (uint16_t)((spine + 1) % fabric->options.spines);

		if (flow->there == spine)
			flow->there = next;
		if (flow->back == spine)
			flow->back = next;
		place_flow(fabric, flow);
	}
}

/* True: the fault drops the packet, a probe or (reply) its reply. */
static bool
swallows(struct fabric *fabric, const struct fabric_fault *f, const struct flow *flow,
    size_t from, size_t to, size_t spine, bool reply)
{
	/* Each port drops other flows: a hash selects them. */
	const double place =
	    (double)(mix(flow->hash + (reply ? 99 : 0) + f->spine + 17 * f->tor) %
		     1000) /
	    1000;

	switch (f->kind) {
	case FABRIC_DOWN_PORT:
		return spine == f->spine && to == f->tor && place < f->share;
	case FABRIC_UP_PORT:
		return spine == f->spine && from == f->tor && place < f->share;
	case FABRIC_LINK:
	case FABRIC_OVERDUE_LINK:
		return spine == f->spine && (from == f->tor || to == f->tor);
	case FABRIC_SPINE:
		return spine == f->spine && place < f->share;
	case FABRIC_TOR:
		return from == f->tor || to == f->tor;
	case FABRIC_LOSSY:
		return spine == f->spine && to == f->tor && chance(fabric) < f->share;
	case FABRIC_REPLIES:
		return reply && from == f->tor && to == f->spine && place < f->share;
	case FABRIC_LATE:
	case FABRIC_OVERDUE:
		return spine == f->spine && to == f->tor;
	case FABRIC_LATE_SPINE:
		return spine == f->spine;
	case FABRIC_LATE_RNIC:
		return reply ? to == f->tor && flow->src_rnic == 0
			     : to == f->tor && flow->dst_rnic == 0;
	case FABRIC_RNIC:
		return ((flow->src == f->tor && flow->src_rnic == 0) ||
			(flow->dst == f->tor && flow->dst_rnic == 0));
	default:
		return false;
	}
}

void
fabric_flows(struct fabric *fabric, const struct fabric_fault *fault, size_t *dead,
    size_t *alive)
{
	struct fabric_fault all = *fault;

	all.share = 1;
	*dead = *alive = 0;
	for (size_t i = 0; i < fabric->flow_count; i++) {
		const struct flow *flow = &fabric->flows[i];

		if (swallows(
			fabric, fault, flow, flow->src, flow->dst, flow->there, false))
			++*dead;
		else if (swallows(fabric, &all, flow, flow->src, flow->dst, flow->there,
			     false))
			++*alive;
	}
}

static bool
is_delay(enum fabric_fault_kind kind)
{
	return kind == FABRIC_LATE || kind == FABRIC_OVERDUE ||
	       kind == FABRIC_OVERDUE_LINK || kind == FABRIC_LATE_SPINE ||
	       kind == FABRIC_LATE_RNIC;
}

static bool
is_lost(struct fabric *fabric, const struct flow *flow, bool reply)
{
	const size_t from = reply ? flow->dst : flow->src,
		     to = reply ? flow->src : flow->dst;
	const size_t spine = reply ? flow->back : flow->there;

	if (chance(fabric) < fabric->options.loss)
		return true;
	for (size_t i = 0; i < fabric->fault_count; i++) {
		const struct fabric_fault *f = &fabric->faults[i];

		if (!is_delay(f->kind) && fabric->now_ns >= f->from_ns &&
		    fabric->now_ns < f->to_ns &&
		    swallows(fabric, f, flow, from, to, spine, reply))
			return true;
	}
	return false;
}

/* Returns the delay of the round trip in ms; *out: the part of it on the way to the
 * responder. */
static unsigned
late_ms(struct fabric *fabric, const struct flow *flow, unsigned *out)
{
	unsigned ms = 0;

	*out = 0;
	for (size_t i = 0; i < fabric->fault_count; i++) {
		const struct fabric_fault *f = &fabric->faults[i];
		const unsigned each =
		    f->kind == FABRIC_OVERDUE || f->kind == FABRIC_OVERDUE_LINK
			? OVERDUE_MS
			: LATE_MS;

		if (!is_delay(f->kind) || fabric->now_ns < f->from_ns ||
		    fabric->now_ns >= f->to_ns)
			continue;
		if (swallows(fabric, f, flow, flow->src, flow->dst, flow->there, false))
			*out += each;
		if (swallows(fabric, f, flow, flow->dst, flow->src, flow->back, true))
			ms += each;
	}
	return *out + ms;
}

/* The probe arrives. True: its reply arrives in time. A probe that itself is late is
 * not in the receive counts that later replies contain. */
static bool
is_answered(struct fabric *fabric, struct flow *flow)
{
	unsigned out;
	const unsigned ms = late_ms(fabric, flow, &out);
	const size_t step = (size_t)(fabric->now_ns / FABRIC_STEP_NS);

	if (ms > TIMEOUT_MS) {
		flow->coming[(step + ms / STEP_MS) % OVERDUE_STEPS]++;
		flow->late_ms = ms;
		if (out > 0)
			flow->forward++;
		else
			flow->reverse++;
		return false;
	}
	flow->slow += ms > 0;
	return true;
}

static void
probe(struct fabric *fabric, struct flow *flow)
{
	uint16_t *coming =
	    &flow->coming[(size_t)(fabric->now_ns / FABRIC_STEP_NS) % OVERDUE_STEPS];

	flow->overdue += *coming;
	flow->overdue_ms += *coming * flow->late_ms;
	flow->second_lost += *coming;
	*coming = 0;
	flow->due += fabric->options.flow_rate * (double)FABRIC_STEP_NS / 1e9;
	for (; flow->due >= 1; flow->due -= 1) {
		fabric->probes++;
		flow->sent++;
		if (is_lost(fabric, flow, false))
			flow->forward++;
		else if (is_lost(fabric, flow, true))
			flow->reverse++;
		else if (is_answered(fabric, flow)) {
			flow->answered++;
			continue;
		}
		fabric->lost++;
		flow->second_lost++;
	}
}

static void
add_sample(const struct flow *flow, char samples[SAMPLES_TEXT])
{
	const size_t len = strlen(samples);

	if (len < SAMPLES_TEXT - 60)
		snprintf(samples + len, SAMPLES_TEXT - len, "%sh%u/r%u>h%u/r%u:%u",
		    len > 0 ? " " : "", flow->src + 1u, flow->src_rnic, flow->dst + 1u,
		    flow->dst_rnic, (unsigned)(flow->hash % 16000) + 49152);
}

/* True: at least one reply of the pair arrived, so receive counts show in which
 * direction the other packets were lost. */
static bool
pair_is_counted(const struct fabric *fabric, const struct rack *rack, size_t dst)
{
	for (size_t i = 0; i < rack->flow_count; i++) {
		const struct flow *flow = &fabric->flows[rack->first_flow + i];

		if (flow->dst == dst && flow->answered > 0)
			return true;
	}
	return false;
}

static void
count_flow(struct fabric *fabric, const struct rack *rack, struct flow *flow)
{
	struct wire_path_row *row = &fabric->out[flow->row];

	row->sent += flow->sent;
	row->timed += flow->answered;
	row->slow += flow->slow;
	row->overdue += flow->overdue;
	row->slow_ns += (uint64_t)flow->slow * LATE_MS * RM_NS_PER_MS +
			(uint64_t)flow->overdue_ms * RM_NS_PER_MS;
	row->flows++;
	row->flows_dead += flow->sent >= 2 && flow->answered == 0;
	row->flows_partial += flow->answered > 0 && flow->answered < flow->sent;
	row->flows_silent += flow->sent > 0 && flow->answered == 0;
	if (pair_is_counted(fabric, rack, flow->dst)) {
		row->lost_forward += flow->forward;
		row->lost_reverse += flow->reverse;
	} else {
		row->lost_unknown += flow->forward + flow->reverse;
	}
	if (flow->forward + flow->reverse + flow->slow > 0)
		add_sample(flow, fabric->samples[flow->row]);
}

static void
fill_rows(
    struct fabric *fabric, size_t tor, struct wire_summary *summary, char (*names)[16])
{
	struct rack *rack = &fabric->racks[tor];

	for (size_t i = 0; i < rack->row_count; i++) {
		snprintf(names[rack->rows[i].dst], 16, "tor%u", rack->rows[i].dst + 1u);
		fabric->samples[i][0] = '\0';
		fabric->out[i] =
		    (struct wire_path_row){ .dst_tor = names[rack->rows[i].dst],
			    .path = rack->rows[i].path,
			    .samples = fabric->samples[i] };
	}
	for (size_t i = 0; i < rack->flow_count; i++)
		count_flow(fabric, rack, &fabric->flows[rack->first_flow + i]);
	for (size_t i = 0; i < rack->flow_count; i++) {
		struct flow *flow = &fabric->flows[rack->first_flow + i];

		flow->sent = flow->answered = flow->forward = flow->reverse = 0;
		flow->slow = flow->overdue = flow->overdue_ms = 0;
	}
	for (size_t i = 0; i < rack->row_count; i++)
		if (fabric->out[i].sent > 0)
			fabric->out[summary->path_count++] = fabric->out[i];
	summary->paths = fabric->out;
	rack->rows_from_ns = fabric->now_ns;
}

static void
post(struct fabric *fabric, struct wire_bytes bytes)
{
	struct message *message = calloc(1, sizeof *message), **at = &fabric->messages;

	if (message == NULL)
		abort();
	message->at_ns = fabric->now_ns + 600 * RM_NS_PER_MS +
			 (int64_t)(chance(fabric) * 800) * RM_NS_PER_MS;
	message->data = malloc(bytes.len);
	if (message->data == NULL)
		abort();
	memcpy(message->data, bytes.data, bytes.len);
	message->len = bytes.len;
	while (*at != NULL && (*at)->at_ns <= message->at_ns)
		at = &(*at)->next;
	message->next = *at;
	*at = message;
}

/* True: there is such a fault of the ToR now; once begun, it does not end. */
static bool
is_from_now_on(const struct fabric *fabric, enum fabric_fault_kind kind, size_t tor)
{
	for (size_t i = 0; i < fabric->fault_count; i++)
		if (fabric->faults[i].kind == kind && fabric->faults[i].tor == tor &&
		    fabric->now_ns >= fabric->faults[i].from_ns)
			return true;
	return false;
}

static void
summarise(struct fabric *fabric, size_t tor)
{
	static char names[FABRIC_MAX_TORS][16];
	struct rack *rack = &fabric->racks[tor];
	const int64_t jump_ns = is_from_now_on(fabric, FABRIC_CLOCK, tor) ? JUMP_NS : 0;
	const uint64_t end = (uint64_t)(WALL_BASE + jump_ns + fabric->now_ns);
	char name[32];
	struct wire_summary summary = {
		.head = { "agg", "r1", 77 + tor, ++rack->seq },
		.tor = name,
		.start_wall_ns = end - (uint64_t)RM_NS_PER_S,
		.end_wall_ns = end,
		.paths_start_wall_ns =
		    (uint64_t)(WALL_BASE + jump_ns + rack->rows_from_ns),
	};
	const bool paused = is_from_now_on(fabric, FABRIC_PAUSED, tor);
	struct wire_bytes bytes;
	uint64_t lost = 0;

	snprintf(name, sizeof name, "tor%zu", tor + 1);
	for (size_t i = 0; i < rack->flow_count; i++) {
		lost += fabric->flows[rack->first_flow + i].second_lost +
			fabric->flows[rack->first_flow + i].slow;
		fabric->flows[rack->first_flow + i].second_lost = 0;
	}
	if (lost > 0 || rack->was_lossy ||
	    fabric->now_ns - rack->rows_from_ns >= ROW_INTERVAL_NS)
		fill_rows(fabric, tor, &summary, names);
	rack->was_lossy = lost > 0;
	if (is_from_now_on(fabric, FABRIC_MUTE, tor))
		return;
	if (is_from_now_on(fabric, FABRIC_NO_HOSTS, tor) || paused) {
		summary.path_count = 0;
		summary.has_state = true;
		summary.state = (struct wire_rack_state){
			.rnics = 4, .hosts = 4, .hosts_paused = paused ? 4 : 0
		};
	}
	if (wire_write_summary(fabric->writer, &summary, &bytes) < 0)
		abort();
	post(fabric, bytes);
}

static void
deliver(struct fabric *fabric)
{
	while (fabric->messages != NULL && fabric->messages->at_ns <= fabric->now_ns) {
		struct message *message = fabric->messages;
		struct wire_summary_view view;

		fabric->messages = message->next;
		if (wire_open_summary(&view, message->data, message->len) < 0 ||
		    localise_summary(fabric->localise, &view,
			(rm_mono_t){ message->at_ns + RM_NS_PER_S }) < 0)
			abort();
		free(message->data);
		free(message);
	}
}

int
fabric_step(struct fabric *fabric, const struct rm_verdict **verdicts)
{
	rm_mono_t before;
	int r;

	for (size_t i = 0; i < fabric->flow_count; i++)
		probe(fabric, &fabric->flows[i]);
	fabric->now_ns += FABRIC_STEP_NS;
	for (size_t i = 0; i < fabric->options.tors; i++)
		if (fabric->now_ns % RM_NS_PER_S == fabric->racks[i].phase_ns)
			summarise(fabric, i);
	deliver(fabric);
	before = rm_mono_now();
	r = localise_judge(fabric->localise,
	    (rm_mono_t){ fabric->now_ns + RM_NS_PER_S },
	    (rm_wall_t){ WALL_BASE + fabric->now_ns }, verdicts);
	fabric->judge_ns = rm_mono_since(rm_mono_now(), before);
	return r;
}

int64_t
fabric_now(const struct fabric *fabric)
{
	return fabric->now_ns;
}

struct localise *
fabric_localise(struct fabric *fabric)
{
	return fabric->localise;
}

uint64_t
fabric_probes(const struct fabric *fabric)
{
	return fabric->probes;
}

uint64_t
fabric_lost(const struct fabric *fabric)
{
	return fabric->lost;
}

int64_t
fabric_judge_ns(const struct fabric *fabric)
{
	return fabric->judge_ns;
}
