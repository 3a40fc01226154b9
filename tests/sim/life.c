#include "tests/sim/life.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_FLAPS 4096 /* most spans of time of one fault */

struct host {
	struct life_span *spans;
	size_t count, room;
};

struct life {
	uint32_t count;
	struct host hosts[];
};

static int
add(struct life *life, uint32_t number, struct life_span span)
{
	struct host *host = &life->hosts[number];

	if (host->count == host->room) {
		const size_t room = host->room == 0 ? 4 : 2 * host->room;
		struct life_span *grown =
		    realloc(host->spans, room * sizeof *host->spans);

		if (grown == NULL)
			return -ENOMEM;
		host->spans = grown;
		host->room = room;
	}
	host->spans[host->count++] = span;
	return 0;
}

static bool
is_of_hosts(enum fault_kind kind, enum life_kind *ret)
{
	switch (kind) {
	case FAULT_HOST_STALL:
	case FAULT_AGENT_FROZEN:
		*ret = LIFE_STALL;
		return true;
	case FAULT_AGENT_DOWN:
		*ret = LIFE_DOWN;
		return true;
	case FAULT_HOST_DOWN:
		*ret = LIFE_GONE;
		return true;
	case FAULT_MANAGEMENT_DOWN:
		*ret = LIFE_CUT;
		return true;
	default:
		return false;
	}
}

/* A flapping fault has many spans. */
static int
add_fault(struct life *life, uint32_t host, const struct fault *fault, int64_t end_ns)
{
	struct life_span span = { .kernel = fault->kernel };
	const int64_t to_ns = fault->to_ns < end_ns ? fault->to_ns : INT64_MAX;
	int r = 0;

	if (!is_of_hosts(fault->kind, &span.kind))
		return 0;
	span.from_ns = fault->from_ns;
	for (int i = 0; i < MAX_FLAPS && r == 0; i++) {
		span.to_ns = fault->on_ns == 0 ? to_ns : span.from_ns + fault->on_ns;
		if (span.to_ns > to_ns)
			span.to_ns = to_ns;
		r = add(life, host, span);
		if (fault->on_ns == 0)
			break;
		span.from_ns += fault->on_ns + fault->off_ns;
		if (span.from_ns >= to_ns || span.from_ns >= end_ns)
			break;
	}
	return r;
}

static int
add_noise(struct life *life, enum life_kind kind, double per_hour,
    const struct scenario_choice *length_s, double seconds, struct dice *dice)
{
	int r = 0;

	for (uint32_t h = 0; h < life->count && per_hour > 0; h++) {
		double at = dice_exponential(dice, 3600 / per_hour);

		while (at < seconds && r == 0) {
			const double length = scenario_pick(length_s, dice);

			r = add(life, h,
			    (struct life_span){ kind, (int64_t)(at * 1e9),
				(int64_t)((at + length) * 1e9), true, true });
			at += length + dice_exponential(dice, 3600 / per_hour);
		}
	}
	return r;
}

static int
by_time(const void *a, const void *b)
{
	const struct life_span *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

int
life_new(const struct clos *clos, const struct fault *faults, size_t count,
    const struct scenario *scenario, const struct scenario_draw *draw,
    struct dice *dice, struct life **ret)
{
	const uint32_t hosts = clos_hosts(clos), first = clos_first(clos, CLOS_HOST);
	struct life *life = calloc(1, sizeof *life + hosts * sizeof life->hosts[0]);
	int r = 0;

	if (life == NULL)
		return -ENOMEM;
	life->count = hosts;
	for (size_t i = 0; i < count && r == 0; i++)
		if (clos_part(clos, faults[i].part)->type == CLOS_HOST)
			r = add_fault(life, faults[i].part - first, &faults[i],
			    (int64_t)(draw->seconds * 1e9));
	if (r == 0)
		r = add_noise(life, LIFE_STALL, draw->noise[NOISE_STALLS_PER_HOUR],
		    &scenario->noise[NOISE_STALL_S], draw->seconds, dice);
	if (r == 0)
		r = add_noise(life, LIFE_DOWN,
		    draw->noise[NOISE_AGENT_RESTARTS_PER_HOUR],
		    &scenario->noise[NOISE_AGENT_RESTART_S], draw->seconds, dice);
	if (r < 0) {
		life_free(life);
		return r;
	}
	for (uint32_t h = 0; h < hosts; h++)
		if (life->hosts[h].count > 1)
			qsort(life->hosts[h].spans, life->hosts[h].count,
			    sizeof *life->hosts[h].spans, by_time);
	*ret = life;
	return 0;
}

void
life_free(struct life *life)
{
	if (life == NULL)
		return;
	for (uint32_t h = 0; h < life->count; h++)
		free(life->hosts[h].spans);
	free(life);
}

size_t
life_spans(const struct life *life, uint32_t host, const struct life_span **ret)
{
	*ret = life->hosts[host].spans;
	return life->hosts[host].count;
}

const struct life_span *
life_at(const struct life *life, uint32_t host, enum life_kind kind, int64_t now_ns)
{
	for (size_t i = 0; i < life->hosts[host].count; i++) {
		const struct life_span *span = &life->hosts[host].spans[i];

		if (span->kind == kind && now_ns >= span->from_ns &&
		    now_ns < span->to_ns)
			return span;
	}
	return NULL;
}

bool
life_runs(const struct life *life, uint32_t host, int64_t now_ns)
{
	return life->hosts[host].count == 0 ||
	       life_resumes(life, host, now_ns) == now_ns;
}

int64_t
life_resumes(const struct life *life, uint32_t host, int64_t now_ns)
{
	for (size_t i = 0; i < life->hosts[host].count; i++) {
		const struct life_span *span = &life->hosts[host].spans[i];

		if (now_ns < span->from_ns || now_ns >= span->to_ns ||
		    span->kind == LIFE_CUT)
			continue;
		if (span->kind != LIFE_STALL)
			return INT64_MAX;
		now_ns = span->to_ns;
	}
	return now_ns;
}

bool
life_stood_still(const struct life *life, uint32_t host, int64_t from_ns, int64_t to_ns,
    int64_t min_ns)
{
	for (size_t i = 0; i < life->hosts[host].count; i++) {
		const struct life_span *span = &life->hosts[host].spans[i];

		if (span->kind == LIFE_STALL && span->from_ns < to_ns &&
		    span->to_ns > from_ns && span->to_ns - span->from_ns >= min_ns)
			return true;
	}
	return false;
}

bool
life_kernel_answers(const struct life *life, uint32_t host, int64_t now_ns)
{
	for (size_t i = 0; i < life->hosts[host].count; i++) {
		const struct life_span *span = &life->hosts[host].spans[i];

		if (now_ns >= span->from_ns && now_ns < span->to_ns &&
		    (span->kind == LIFE_GONE || span->kind == LIFE_CUT ||
			(span->kind == LIFE_STALL && !span->kernel)))
			return false;
	}
	return true;
}
