#include "rack_run.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/trials.h"

#define AFTERGLOW_NS                                                    \
	(1000 * RM_NS_PER_MS) /* a window that still includes the fault \
			       */
#define WELL_WINDOWS 8
#define BACKGROUND_LOSS 1e-3
#define MAX_LATENCIES 20000

static double latencies[MAX_LATENCIES];
static size_t latency_count;

unsigned
run_seeds(unsigned base)
{
	const char *factor = getenv("RACKMESH_SEEDS");

	return factor != NULL ? base * (unsigned)atoi(factor) : trials_of(base);
}

struct run
run_new(const char *what, size_t members, uint64_t seed)
{
	struct run run = {
		.what = what,
		.options = {
			.members = members,
			.rnics_per_host = 1,
			.witnesses = members < 4 ? 3 : 0,
			.loss = BACKGROUND_LOSS,
			.count_noise = 1,
			.seed = seed * 1000003 + members,
		},
	};

	return run;
}

void
run_begin(struct run *run)
{
	assert_int_equal(sim_new(&run->options, &run->sim), 0);
}

/* A random time within a bin, so that the fault is not in step with the bins. */
int64_t
run_random_time(struct run *run, int64_t after_ns)
{
	return after_ns + (int64_t)(sim_random(run->sim) % (uint64_t)RM_NS_PER_S);
}

static const struct {
	enum rm_part_type type;
	enum rm_kind kind;
	enum rm_direction direction;
} verdict_of[] = {
	[SIM_RNIC_BOTH] = { RM_PART_RNIC, RM_KIND_RNIC_DOWN },
	[SIM_RNIC_SEND] = { RM_PART_RNIC, RM_KIND_RNIC_SEND_DEAD, RM_DIRECTION_SEND },
	[SIM_RNIC_RECEIVE] = { RM_PART_RNIC, RM_KIND_RNIC_RECEIVE_DEAD,
	    RM_DIRECTION_RECEIVE },
	[SIM_RNIC_LINK_DOWN] = { RM_PART_RNIC, RM_KIND_RNIC_DOWN },
	[SIM_RNIC_LOSSY] = { RM_PART_RNIC, RM_KIND_RNIC_LOSSY },
	[SIM_RNIC_LOSES_SENT] = { RM_PART_RNIC, RM_KIND_RNIC_LOSSY, RM_DIRECTION_SEND },
	[SIM_RNIC_LOSES_RECEIVED] = { RM_PART_RNIC, RM_KIND_RNIC_LOSSY,
	    RM_DIRECTION_RECEIVE },
	[SIM_RNIC_LOSES_BOTH] = { RM_PART_RNIC, RM_KIND_RNIC_LOSSY, RM_DIRECTION_BOTH },
	[SIM_RNIC_MTU] = { RM_PART_RNIC, RM_KIND_RNIC_MTU, RM_DIRECTION_BOTH },
	[SIM_RNIC_MTU_RECEIVE] = { RM_PART_RNIC, RM_KIND_RNIC_MTU,
	    RM_DIRECTION_RECEIVE },
	[SIM_RNIC_MTU_SEND] = { RM_PART_RNIC, RM_KIND_RNIC_MTU, RM_DIRECTION_SEND },
	[SIM_RNIC_UNABLE] = { RM_PART_RNIC, RM_KIND_RNIC_SEND_FAILED,
	    RM_DIRECTION_SEND },
	[SIM_RNIC_REFUSES] = { RM_PART_RNIC, RM_KIND_RNIC_RECEIVE_DEAD,
	    RM_DIRECTION_RECEIVE },
	[SIM_RNIC_LATE] = { RM_PART_RNIC, RM_KIND_RNIC_LATE },
	[SIM_RNIC_TOO_LATE] = { RM_PART_RNIC, RM_KIND_RNIC_LATE },
	[SIM_RNIC_PORT_DOWN] = { RM_PART_RNIC, RM_KIND_RNIC_DOWN, RM_DIRECTION_BOTH },
	[SIM_TOR] = { RM_PART_TOR, RM_KIND_TOR_DOWN },
	[SIM_TOR_LATE] = { RM_PART_TOR, RM_KIND_SWITCH_LATE },
	[SIM_UPLINKS] = { 0, 0 },
	[SIM_REMOTE] = { 0, 0 },
	[SIM_AGENT_KILLED] = { RM_PART_AGENT, RM_KIND_AGENT_DOWN },
	[SIM_AGENT_FROZEN] = { RM_PART_AGENT, RM_KIND_AGENT_FROZEN },
	[SIM_HOST_GONE] = { RM_PART_HOST, RM_KIND_HOST_DOWN },
	[SIM_MANAGEMENT_DOWN] = { RM_PART_HOST, RM_KIND_MANAGEMENT_DOWN },
};

/* Adds the fault, and the verdict that it must cause, if any. */
struct run_expected *
run_break(struct run *run, enum sim_fault_kind kind, size_t index, int64_t from_ns,
    int64_t for_ns)
{
	const struct rack *rack = sim_rack(run->sim);
	struct run_expected *e = &run->expected[run->expected_count];

	sim_add_fault(run->sim,
	    (struct sim_fault){ kind, index, from_ns, from_ns + for_ns, run->share });
	if (verdict_of[kind].type == 0)
		return NULL;
	run->expected_count++;
	*e = (struct run_expected){ .type = verdict_of[kind].type,
		.kind = verdict_of[kind].kind,
		.direction = verdict_of[kind].direction,
		.from_ns = from_ns,
		.to_ns = from_ns + for_ns,
		.deadline_ns =
		    kind >= SIM_AGENT_KILLED ? RUN_HOST_DEADLINE_NS : RUN_DEADLINE_NS };
	/* These faults need a whole window. */
	if (kind == SIM_RNIC_REFUSES || kind == SIM_RNIC_LATE)
		e->deadline_ns += RM_NS_PER_S;
	if (kind == SIM_RNIC_PORT_DOWN)
		e->from_ns -= SIM_REPORT_AHEAD_NS;
	if (e->type == RM_PART_RNIC)
		snprintf(e->name, sizeof e->name, "%s/%s", rack->members[index].host,
		    rack->members[index].device);
	else
		snprintf(e->name, sizeof e->name, "%s",
		    e->type == RM_PART_TOR ? rack->tor : rack->hosts[index].name);
	return e;
}

static void
fail_run(const struct run *run, int64_t now_ns, const char *reason, const char *name,
    const char *detail)
{
	print_error("%s, %zu members, seed %llu, at %.2f s: %s %s %s\n", run->what,
	    run->options.members, (unsigned long long)run->options.seed,
	    (double)now_ns / 1e9, reason, name, detail);
	for (size_t i = 0; i < run->expected_count; i++)
		print_error("  expected %s %s from %.2f to %.2f s\n",
		    run->expected[i].name, rm_kind_str(run->expected[i].kind),
		    (double)run->expected[i].from_ns / 1e9,
		    (double)run->expected[i].to_ns / 1e9);
	fail();
}

static void
check_verdict(struct run *run, int64_t now_ns, const struct rm_verdict *verdict)
{
	const enum rm_direction direction = verdict->evidence.direction;
	char sentence[RM_SENTENCE_BYTES];

	for (size_t i = 0; i < run->expected_count; i++) {
		struct run_expected *e = &run->expected[i];

		if (verdict->part.type != e->type ||
		    strcmp(verdict->part.name, e->name) != 0 ||
		    verdict->kind != e->kind ||
		    (direction != RM_DIRECTION_UNKNOWN &&
			e->direction != RM_DIRECTION_UNKNOWN &&
			direction != e->direction) ||
		    now_ns < e->from_ns ||
		    now_ns > e->to_ns + (run->afterglow_ns != 0 ? run->afterglow_ns
								: AFTERGLOW_NS))
			continue;
		if (e->named_ns == 0)
			e->named_ns = now_ns;
		if (direction == e->direction && e->direction_reported_ns == 0)
			e->direction_reported_ns = now_ns;
		return;
	}
	rm_verdict_sentence(verdict, sentence, sizeof sentence);
	fail_run(run, now_ns, "wrong verdict:", rm_kind_str(verdict->kind), sentence);
}

static void
check_deadlines(const struct run *run, int64_t now_ns)
{
	for (size_t i = 0; i < run->expected_count; i++) {
		const struct run_expected *e = &run->expected[i];

		if (e->named_ns == 0 && now_ns - e->from_ns > e->deadline_ns)
			fail_run(run, now_ns, "not named in time:", e->name, "");
		if (e->direction != RM_DIRECTION_UNKNOWN &&
		    e->direction_reported_ns == 0 &&
		    now_ns - e->from_ns > (e->deadline_ns > RUN_DIRECTION_NS
						  ? e->deadline_ns
						  : RUN_DIRECTION_NS))
			fail_run(run, now_ns, "no direction in time:", e->name, "");
	}
}

/* The first part that is not healthy; NULL: all are. */
static const char *
first_unwell(const struct rack *rack, const struct rack_judgement *judgement)
{
	for (size_t i = 0; i < rack->member_count; i++)
		if (judgement->members[i] != RM_HEALTH_GOOD)
			return rack->members[i].host;
	for (size_t i = 0; i < rack->host_count; i++)
		if (judgement->hosts[i] != RM_HEALTH_GOOD)
			return rack->hosts[i].name;
	return NULL;
}

static void
check_recovery(struct run *run, int64_t now_ns, int64_t well_by_ns,
    const struct rack_judgement *judgement)
{
	const char *unwell = first_unwell(sim_rack(run->sim), judgement);

	if (run->well_windows >= WELL_WINDOWS)
		return;
	run->well_windows = unwell == NULL ? run->well_windows + 1 : 0;
	if (now_ns > well_by_ns && run->well_windows < WELL_WINDOWS)
		fail_run(
		    run, now_ns, "not well again:", unwell != NULL ? unwell : "", "");
}

void
run_until(struct run *run, int64_t end_ns, int64_t well_by_ns)
{
	int64_t broken_until_ns = 0;

	for (size_t i = 0; i < run->expected_count; i++)
		if (run->expected[i].to_ns > broken_until_ns)
			broken_until_ns = run->expected[i].to_ns;
	for (int64_t now_ns = 0; now_ns < end_ns;) {
		struct rack_judgement judgement;
		const int r = sim_step(run->sim, &now_ns, &judgement);

		if (r == -EAGAIN)
			continue;
		assert_int_equal(r, 0);
		for (size_t i = 0; i < judgement.verdict_count; i++)
			check_verdict(run, now_ns, &judgement.verdicts[i]);
		check_deadlines(run, now_ns);
		if (well_by_ns != 0 && now_ns > broken_until_ns)
			check_recovery(run, now_ns, well_by_ns, &judgement);
	}
}

void
run_end(struct run *run)
{
	for (size_t i = 0; i < run->expected_count; i++)
		if (latency_count < MAX_LATENCIES)
			latencies[latency_count++] =
			    (double)(run->expected[i].named_ns -
				     run->expected[i].from_ns) /
			    1e9;
	sim_free(run->sim);
	run->sim = NULL;
}

static int
by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void
run_print_latencies(const char *what, unsigned runs)
{
	if (latency_count > 0) {
		qsort(latencies, latency_count, sizeof *latencies, by_value);
		print_message(
		    "%s: %u runs, named after p50 %.2f s, p95 %.2f s, worst %.2f s\n",
		    what, runs, latencies[latency_count / 2],
		    latencies[latency_count * 95 / 100], latencies[latency_count - 1]);
	} else {
		print_message("%s: %u runs\n", what, runs);
	}
	latency_count = 0;
}
