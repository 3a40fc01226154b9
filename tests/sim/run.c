#include "tests/sim/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/kept.h"
#include "tests/sim/record.h"
#include "tests/sim/run_state.h"
#include "tests/sim/truth.h"
#include "tor-aggregator/plan/pinglist_builder.h"

#define JUDGE_NS (250 * RM_NS_PER_MS)
/* after this time, the results of a second have arrived */
#define SEEN_AFTER_NS (750 * RM_NS_PER_MS)
#define CLOCKS_APART_NS (250 * RM_NS_PER_MS)
#define FIRST_TRACE_NS (500 * RM_NS_PER_MS)
#define TRACES_APART_NS RM_NS_PER_S

int
run_grow(void **items, size_t count, size_t *room, size_t bytes)
{
	const size_t more = *room == 0 ? 16 : 2 * *room;
	void *grown;

	if (count < *room)
		return 0;
	grown = realloc(*items, more * bytes);
	if (grown == NULL)
		return -ENOMEM;
	*items = grown;
	*room = more;
	return 0;
}

/* ---- racks, hosts ---------------------------------------------------------------- */

static void
make_hosts(struct run *run)
{
	const double *noise = run->draw.noise;

	for (uint32_t h = 0; h < run->hosts; h++) {
		struct sim_host *host = &run->host[h];

		host->incarnation = 1 + dice_next(&run->dice) % 1000000;
		host->alive = true;
		host->clock_ns = (int64_t)(dice_share(&run->dice) *
					   noise[NOISE_CLOCK_OFFSET_S] * 1e9);
		host->drift = (2 * dice_share(&run->dice) - 1) *
			      noise[NOISE_CLOCK_DRIFT_PPM] * 1e-6;
	}
}

static int
make_racks(struct run *run)
{
	const double wall_ns = run->draw.noise[NOISE_WALL_OFFSET_MS] * 1e6;

	for (uint32_t i = 0; i < run->racks; i++) {
		struct sim_rack *rack = &run->rack[i];
		char name[RM_PART_NAME_BYTES];

		rack->run = run;
		rack->number = i;
		rack->tor = clos_first(run->clos, CLOS_TOR) + i;
		clos_name(run->clos, rack->tor, name);
		snprintf(rack->name, sizeof rack->name, "%.63s", name);
		snprintf(rack->aggregator, sizeof rack->aggregator, "agg-%.50s", name);
		rack->clock_ns = (int64_t)dice_below(&run->dice, CLOCKS_APART_NS);
		rack->wall_ns = (int64_t)((2 * dice_share(&run->dice) - 1) * wall_ns);
		rack->lanes = calloc(run->draw.fabric.rnics_per_rack, sizeof(uint32_t));
		if (rack->lanes == NULL)
			return -ENOMEM;
	}
	return 0;
}

/* The host of an RNIC, in the table of its ToR's aggregator. */
static void
place_rnic(struct run *run, uint32_t rnic)
{
	const uint32_t number = run_host_of(run, rnic);
	const uint32_t rack =
	    clos_part(run->clos, rnic)->to - clos_first(run->clos, CLOS_TOR);
	struct sim_host *host = &run->host[number];
	struct sim_lane *lane = NULL;

	for (uint32_t l = 0; l < host->lane_count && lane == NULL; l++)
		if (run->lanes[host->first_lane + l].rack == rack)
			lane = &run->lanes[host->first_lane + l];
	if (lane == NULL) {
		if (host->lane_count++ == 0)
			host->first_lane = (uint32_t)run->lane_count;
		lane = &run->lanes[run->lane_count];
		*lane = (struct sim_lane){ .host = number, .rack = rack };
		lane->next_beat_ns =
		    (int64_t)(1 + dice_below(&run->dice, 5)) * RUN_SLICE_NS;
		lane->next_trace_ns =
		    FIRST_TRACE_NS + (int64_t)dice_below(&run->dice, TRACES_APART_NS);
		run->rack[rack].lanes[run->rack[rack].lane_count++] =
		    (uint32_t)run->lane_count++;
	}
	run->lane_of[rnic] = (uint32_t)(lane - run->lanes);
	lane->rnics[lane->rnic_count++] = rnic;
}

static int
make_fleet(struct run *run)
{
	int r;

	run->rnics = clos_rnics(run->clos);
	run->hosts = clos_hosts(run->clos);
	run->racks = run->draw.fabric.racks;
	run->host = calloc(run->hosts, sizeof *run->host);
	run->rack = calloc(run->racks, sizeof *run->rack);
	run->lanes = calloc(run->rnics, sizeof *run->lanes);
	run->lane_of = calloc(run->rnics, sizeof *run->lane_of);
	run->queues = calloc(run->rnics, sizeof *run->queues);
	run->writer = wire_writer_new();
	run->rack_writer = wire_writer_new();
	if (run->host == NULL || run->rack == NULL || run->lanes == NULL ||
	    run->lane_of == NULL || run->queues == NULL || run->writer == NULL ||
	    run->rack_writer == NULL)
		return -ENOMEM;
	make_hosts(run);
	r = make_racks(run);
	for (uint32_t i = 0; i < run->rnics && r == 0; i++)
		place_rnic(run, i);
	return r;
}

/* ---- before it begins ------------------------------------------------------------ */

static int
draw_faults(struct run *run, struct rm_error *error)
{
	struct dice dice = dice_of(run->seed, 2 + ((uint64_t)run->number << 8));
	int r = scenario_faults(
	    run->scenario, run->clos, &dice, &run->faults, &run->fault_count, error);

	if (r == 0)
		r = fate_add_bursts(run->scenario, &run->draw, run->clos, &dice,
		    &run->faults, &run->fault_count);
	if (r == 0)
		r = life_new(run->clos, run->faults, run->fault_count, run->scenario,
		    &run->draw, &dice, &run->life);
	if (r == 0)
		r = fate_new(run->clos, run->faults, run->fault_count, &run->draw,
		    dice_next(&dice), &run->fate);
	if (r == 0)
		r = truth_of(run->clos, run->faults, run->fault_count, run->life,
		    &run->truths, &run->truth_count);
	if (r < 0)
		return r;
	run->result.truth = truth_line(run->scenario, &run->draw, run->seed,
	    run->number, run->clos, run->faults, run->fault_count, run->life);
	return run->result.truth != NULL ? 0 : -ENOMEM;
}

static int
start_racks(struct run *run)
{
	int r = 0;

	for (uint32_t i = 0; i < run->racks && r == 0; i++) {
		struct sim_rack *rack = &run->rack[i];
		const uint64_t rotation = pinglist_builder_rotation(
		    &rack->view.plan, rack_wall(rack, 0).ns / RM_NS_PER_S);

		r = sim_rack_start(rack, 0);
		for (size_t l = 0; l < rack->lane_count && r == 0; l++)
			r = probing_expand(run, &run->lanes[rack->lanes[l]], rotation);
	}
	return r;
}

static int
begin_scores(struct run *run, const struct run_options *options)
{
	int r = score_new(&run->result.own);

	if (r == 0)
		r = score_begin(
		    run->result.own, run->clos, run->truths, run->truth_count);
	for (size_t i = 0; i < options->scheme_count && r == 0; i++) {
		r = score_new(&run->result.schemes[i]);
		if (r == 0)
			r = score_begin(run->result.schemes[i], run->clos, run->truths,
			    run->truth_count);
	}
	if (r == 0 && options->keep != NULL)
		r = kept_new(
		    &run->draw.fabric, run->truths, run->truth_count, &run->keep);
	if (r == 0 && (options->scheme_count > 0 || run->keep != NULL))
		r = eyes_new(run, options, &run->eyes);
	return r;
}

static int
run_begin(struct run *run, const struct run_options *options, struct rm_error *error)
{
	int r;

	scenario_draw(run->scenario, &run->dice, &run->draw);
	run->end_ns = (int64_t)(run->draw.seconds * 1e9);
	r = clos_new(&run->draw.fabric, &run->clos);
	if (r == -EINVAL)
		return rm_error_set(error, r,
		    "%s: fabric: these options make no fabric", run->scenario->file);
	if (r == 0)
		r = make_fleet(run);
	if (r == 0)
		r = draw_faults(run, error);
	if (r == 0)
		r = plans_make(run, error);
	if (r == 0)
		r = wheel_new(RUN_SLICE_NS, &run->wheel);
	if (r == 0)
		r = pinglist_builder_new(&run->pinglist_builder);
	if (r == 0)
		r = centre_new(run, &run->centre);
	if (r == 0) {
		record_begin(run);
		r = start_racks(run);
	}
	return r == 0 ? begin_scores(run, options) : r;
}

/* ---- time passes ----------------------------------------------------------------- */

static int
judge(struct run *run)
{
	const struct scheme_named *named = NULL;
	size_t count = 0;
	int r = naming_now(run, &named, &count);

	if (r == 0 && run->now_ns <= run->end_ns)
		r = score_report(run->result.own, run->now_ns, named, count);
	if (r == 0 && run->eyes != NULL && run->now_ns % RM_NS_PER_S == SEEN_AFTER_NS &&
	    run->now_ns > RM_NS_PER_S)
		r = eyes_close(run->eyes, run->now_ns - SEEN_AFTER_NS);
	return r;
}

static int
run_slice(struct run *run)
{
	int r;

	fate_advance(run->fate, run->now_ns);
	r = probing_slice(run, run->now_ns);
	if (r == 0)
		r = agents_report(run, run->now_ns);
	for (uint32_t i = 0; i < run->racks && r == 0; i++)
		r = sim_rack_tick(&run->rack[i], run->now_ns);
	if (r == 0)
		r = centre_judge(run->centre, run->now_ns);
	if (r == 0 && run->now_ns % JUDGE_NS == 0)
		r = judge(run);
	return r;
}

static int
run_end(struct run *run, const struct run_options *options)
{
	int r = score_end(run->result.own, run->end_ns);

	for (size_t i = 0; i < options->scheme_count && r == 0; i++)
		r = score_end(run->result.schemes[i], run->now_ns);
	return r;
}

static void
run_clear(struct run *run)
{
	for (size_t i = 0; i < run->lane_count; i++) {
		struct sim_lane *lane = &run->lanes[i];

		while (lane->first != NULL) {
			struct sim_message *message = lane->first;

			lane->first = message->next;
			free(message);
		}
		free(lane->results);
		free(lane->suspects);
		free(lane->waiting);
		free(lane->pairs);
		free(lane->targets);
	}
	for (uint32_t i = 0; i < run->racks && run->rack != NULL; i++)
		sim_rack_clear(&run->rack[i]);
	eyes_free(run->eyes);
	centre_free(run->centre);
	pinglist_builder_free(run->pinglist_builder);
	wheel_free(run->wheel);
	arrivals_clear(&run->arrivals);
	fate_free(run->fate);
	life_free(run->life);
	wire_writer_free(run->writer);
	wire_writer_free(run->rack_writer);
	clos_free(run->clos);
	free(run->pair_slots);
	free(run->pairs);
	free(run->flows);
	free(run->targets);
	free(run->queues);
	free(run->lane_of);
	free(run->lanes);
	free(run->rack);
	free(run->host);
	free(run->faults);
	free(run->truths);
	free(run->named);
}

int
run_whole(const struct scenario *scenario, const struct run_options *options,
    struct run_result *ret, struct rm_error *error)
{
	struct run run = { .scenario = scenario,
		.seed = options->seed,
		.number = options->number,
		.verdicts = options->verdicts,
		.record = options->record,
		.dice = dice_of(options->seed, (uint64_t)options->number << 8) };
	int r = run_begin(&run, options, error);
	/* A window of another scheme may end together with the run, so these schemes
	 * get the last second, too. */
	const int64_t until_ns = run.end_ns + (run.eyes != NULL ? SEEN_AFTER_NS : 0);

	for (run.now_ns = RUN_SLICE_NS; r == 0 && run.now_ns <= until_ns;
	     run.now_ns += RUN_SLICE_NS)
		r = run_slice(&run);
	if (r == 0) {
		record_end(&run);
		r = run_end(&run, options);
	}
	run_clear(&run);
	if (r < 0) {
		kept_free(run.keep);
		run_result_clear(&run.result);
		return r;
	}
	if (options->keep != NULL)
		*options->keep = run.keep;
	*ret = run.result;
	return 0;
}

void
run_result_clear(struct run_result *result)
{
	score_free(result->own);
	for (size_t i = 0; i < RUN_MAX_SCHEMES; i++)
		score_free(result->schemes[i]);
	free(result->truth);
	*result = (struct run_result){ 0 };
}
