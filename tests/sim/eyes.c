/* The input of the other schemes, from the same batches: the packets of every flow per
 * second. And the parts that these schemes name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/eyes_marks.h"
#include "tests/sim/kept.h"
#include "tests/sim/run_state.h"

#define SECONDS 8                     /* most seconds that may be open at a time */
#define LATE_NS (750 * RM_NS_PER_MS)  /* wait this long for the results of a second */
#define STALL_NS (200 * RM_NS_PER_MS) /* shorter stalls do not excuse lost probes */

struct eye { /* counts of one flow and size, in one second */
	uint16_t sent, answered, forward, reverse, unknown, slow;
};

struct eyes {
	struct run *run;
	struct eye *eyes; /* indexed by second modulo SECONDS, flow, size */
	size_t flows;     /* number of flows for which there is room */
	uint64_t *seqs;   /* for each lane: number of the newest batch */
	uint64_t *incarnations;
	struct seen_flow *seen;
	size_t seen_room;
	size_t count;
	struct scheme *schemes[RUN_MAX_SCHEMES];
};

int
eyes_new(struct run *run, const struct run_options *options, struct eyes **ret)
{
	struct eyes *eyes = calloc(1, sizeof *eyes);
	int r = 0;

	if (eyes == NULL)
		return -ENOMEM;
	eyes->run = run;
	eyes->seqs = calloc(run->lane_count, sizeof *eyes->seqs);
	eyes->incarnations = calloc(run->lane_count, sizeof *eyes->incarnations);
	if (eyes->seqs == NULL || eyes->incarnations == NULL)
		r = -ENOMEM;
	for (size_t i = 0; i < options->scheme_count && r == 0; i++) {
		const struct run_scheme *of = &options->schemes[i];

		r = of->type->new (run->clos, of->values, &eyes->schemes[eyes->count]);
		if (r == 0)
			eyes->count++;
	}
	if (r < 0) {
		eyes_free(eyes);
		return r;
	}
	*ret = eyes;
	return 0;
}

void
eyes_free(struct eyes *eyes)
{
	if (eyes == NULL)
		return;
	for (size_t i = 0; i < eyes->count; i++)
		eyes->schemes[i]->type->free(eyes->schemes[i]);
	free(eyes->eyes);
	free(eyes->seqs);
	free(eyes->incarnations);
	free(eyes->seen);
	free(eyes);
}

/* ---- input ----------------------------------------------------------------------- */

static struct eye *
eye_at(struct eyes *eyes, int64_t second, size_t flow, bool large)
{
	return &eyes->eyes[((size_t)(second % SECONDS) * eyes->flows + flow) * 2 +
			   large];
}

/* Flows are never removed from this table. */
static bool
make_room(struct eyes *eyes)
{
	const size_t flows = eyes->run->flow_room;
	struct eye *grown;

	if (flows == eyes->flows)
		return true;
	grown = calloc(flows * SECONDS * 2, sizeof *grown);
	if (grown == NULL)
		return false;
	for (size_t s = 0; s < SECONDS && eyes->flows > 0; s++)
		memcpy(&grown[s * flows * 2], &eyes->eyes[s * eyes->flows * 2],
		    eyes->flows * 2 * sizeof *grown);
	free(eyes->eyes);
	eyes->eyes = grown;
	eyes->flows = flows;
	return true;
}

static void
see(struct eyes *eyes, const struct wire_result *result, int64_t sent_ns)
{
	const int64_t second = sent_ns / RM_NS_PER_S;
	struct eye *eye;

	if (sent_ns < 0 || second >= eyes->run->now_ns / RM_NS_PER_S + SECONDS / 2)
		return;
	eye = eye_at(eyes, second, result->flow_label,
	    result->size_bytes > WIRE_ROCE_SMALL_BYTES);
	if (result->outcome == WIRE_OK) {
		eye->sent++;
		eye->answered++;
		eye->slow +=
		    result->rtt_ns > eyes->run->draw.noise[NOISE_SLOW_US] * 1e3;
	} else if (result->outcome == WIRE_NO_REPLY) {
		eye->sent++;
		eye->forward += result->reserved == EYES_FORWARD;
		eye->reverse += result->reserved == EYES_REVERSE;
		eye->unknown += result->reserved == 0;
	}
}

void
eyes_batch(struct eyes *eyes, const struct sim_lane *lane, const uint8_t *data,
    size_t len, int64_t now_ns)
{
	const struct sim_host *host = &eyes->run->host[lane->host];
	const size_t number = (size_t)(lane - eyes->run->lanes);
	struct wire_batch_view view;
	int64_t made_ns;

	if (wire_open_batch(&view, data, len) < 0 || !make_room(eyes))
		return;
	if (eyes->incarnations[number] != view.head.incarnation)
		eyes->seqs[number] = 0;
	eyes->incarnations[number] = view.head.incarnation;
	if (view.head.seq <= eyes->seqs[number])
		return;
	eyes->seqs[number] = view.head.seq;
	made_ns = (int64_t)((double)((int64_t)view.head.now_ns - RUN_MONO_NS -
				     host->clock_ns) /
			    (1 + host->drift));
	for (size_t i = 0; i < view.count; i++) {
		const int64_t sent_ns = made_ns - (int64_t)view.results[i].sent_age_ns;

		/* Results for a second that was already passed to the schemes are too
		 * late. */
		if (sent_ns / RM_NS_PER_S >= (now_ns - LATE_NS) / RM_NS_PER_S)
			see(eyes, &view.results[i], sent_ns);
	}
}

/* ---- output ---------------------------------------------------------------------- */

static bool
is_excused(const struct run *run, uint32_t rnic, int64_t start_ns)
{
	const uint32_t host = run_host_of(run, rnic);
	const int64_t through_ns = start_ns + RM_NS_PER_S + RUN_TIMEOUT_NS;

	return life_stood_still(run->life, host, start_ns, through_ns, STALL_NS) ||
	       life_resumes(run->life, host, start_ns) == INT64_MAX ||
	       life_resumes(run->life, host, through_ns) == INT64_MAX;
}

static int
add_seen(struct eyes *eyes, struct seen *seen, const struct sim_target *target,
    const struct sim_flow *flow, const struct eye *eye, bool large, int64_t start_ns)
{
	const bool in_rack = target->kind == WIRE_TOR_MESH;
	struct seen_flow *to;
	int r = run_grow(
	    (void **)&eyes->seen, seen->count, &eyes->seen_room, sizeof *eyes->seen);

	if (r < 0)
		return r;
	to = &eyes->seen[seen->count++];
	*to = (struct seen_flow){ .src = target->src,
		.dst = target->dst,
		.port = flow->port,
		.dscp = target->dscps[0],
		.large = large,
		.traced = in_rack || flow->traced != 0,
		.out_count = flow->path.out_count,
		.back_count = flow->path.back_count,
		.sent = eye->sent,
		.forward = eye->forward,
		.reverse = eye->reverse,
		.unknown = eye->unknown,
		.slow = eye->slow,
		.src_stalled = is_excused(eyes->run, target->src, start_ns),
		.dst_stalled = is_excused(eyes->run, target->dst, start_ns) };
	memcpy(to->out, flow->path.out, sizeof to->out);
	memcpy(to->back, flow->path.back, sizeof to->back);
	/* Between racks only the counts in a reply show the direction. */
	if (!in_rack && eye->answered == 0) {
		to->unknown += to->forward + to->reverse;
		to->forward = to->reverse = 0;
	}
	return 0;
}

static int
gather(struct eyes *eyes, int64_t end_ns, struct seen *seen)
{
	const struct run *run = eyes->run;
	const int64_t second = end_ns / RM_NS_PER_S - 1;
	int r = 0;

	for (size_t t = 0; t < run->target_count && r == 0; t++) {
		const struct sim_target *target = &run->targets[t];

		for (uint8_t f = 0; target->first_flow != UINT32_MAX &&
				    f < target->flow_count && r == 0;
		     f++) {
			const size_t number = target->first_flow + f;

			for (int large = 0; large < 2 && r == 0; large++) {
				struct eye *eye = eye_at(eyes, second, number, large);

				if (eye->sent > 0)
					r = add_seen(eyes, seen, target,
					    &run->flows[number], eye, large,
					    end_ns - RM_NS_PER_S);
				*eye = (struct eye){ 0 };
			}
		}
	}
	seen->flows = eyes->seen;
	return r;
}

int
eyes_close(struct eyes *eyes, int64_t end_ns)
{
	struct seen seen = { .end_ns = end_ns };
	int r = make_room(eyes) ? gather(eyes, end_ns, &seen) : -ENOMEM;

	if (r >= 0 && eyes->run->keep != NULL)
		r = kept_report(eyes->run->keep, &seen, eyes->run->now_ns);
	for (size_t i = 0; i < eyes->count && r >= 0; i++) {
		struct scheme *scheme = eyes->schemes[i];
		const struct scheme_named *named = NULL;

		r = scheme->type->report(scheme, &seen);
		if (r >= 0)
			r = scheme->type->judge(scheme, &named);
		if (r >= 0)
			r = score_report(eyes->run->result.schemes[i],
			    eyes->run->now_ns, named, (size_t)r);
	}
	return r < 0 ? r : 0;
}
