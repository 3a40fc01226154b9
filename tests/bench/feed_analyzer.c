/*
 * feed_analyzer - sends what the aggregators of many racks send, over the wire, to a
 * real analyzer.
 *
 *     feed_analyzer --address HOST:PORT --aggregators N --summaries M
 *     --incidents I [--rate PER_SECOND] [--incident-rate PER_SECOND] [--rows 8]
 *     [--rnics 16] [--start-ns WALL] [--step-ns NS] [--incarnation N]
 *     [--region lab] [--seconds MOST]
 *
 * M and I are per aggregator; without a rate, messages are sent as fast as they are
 * acknowledged.
 *
 * Ends when all are acknowledged, with a line of JSON about what a database must
 * contain; or with status 1 after MOST seconds, and what it must contain at least.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/net/dialer.h"
#include "tests/bench/sim_aggregators.h"

#define TICK_NS (10 * RM_NS_PER_MS)
#define PING_NS (500 * RM_NS_PER_MS)
#define MAX_UNACKED 64
#define MAX_OUTPUT_BYTES (4u << 20)

enum { SUMMARIES, INCIDENTS, LANES };

struct lane {
	uint64_t sent, acked, goal;
	double rate; /* messages per second; 0: no limit */
};

struct feeder {
	struct world *world;
	size_t number;
	struct rm_dialer *dialer;
	bool welcome;
	rm_mono_t pinged;
	struct lane lanes[LANES];
};

struct world {
	struct rm_loop *loop;
	struct rm_timer *tick;
	struct sim_aggregators *sim;
	struct sim_aggregators_options options;
	struct rm_endpoint endpoint;
	struct feeder *feeders;
	struct lane lanes[LANES]; /* the start of all feeders */
	rm_mono_t begun;
	uint64_t seconds, reconnects, finished;
	struct sim_sums sums;
};

static int
feeder_send_one(struct feeder *feeder, int name, struct rm_link *link)
{
	struct sim_aggregators *sim = feeder->world->sim;
	struct lane *lane = &feeder->lanes[name];
	struct wire_bytes bytes;
	int r =
	    name == SUMMARIES
		? sim_aggregators_summary(sim, feeder->number, lane->sent + 1, &bytes)
		: sim_aggregators_incident(sim, feeder->number, lane->sent + 1, &bytes);

	if (r == 0)
		r = rm_link_send(link, bytes.data, bytes.len);
	if (r == 0)
		lane->sent++;
	return r;
}

static uint64_t
lane_due(const struct lane *lane, int64_t elapsed_ns)
{
	double due = lane->rate * (double)elapsed_ns / 1e9;

	return lane->rate == 0 || due >= (double)lane->goal ? lane->goal
							    : (uint64_t)due;
}

static void
feeder_pump(struct feeder *feeder)
{
	struct rm_link *link = rm_dialer_link(feeder->dialer);
	rm_mono_t now = rm_mono_now();
	struct wire_bytes bytes;

	if (link == NULL || !feeder->welcome)
		return;
	if (rm_mono_since(now, feeder->pinged) >= PING_NS &&
	    sim_aggregators_ping(feeder->world->sim, &bytes) == 0 &&
	    rm_link_send(link, bytes.data, bytes.len) == 0)
		feeder->pinged = now;
	for (int i = LANES - 1; i >= 0; i--) { /* incidents are sent first */
		struct lane *lane = &feeder->lanes[i];
		uint64_t due = lane_due(lane, rm_mono_since(now, feeder->world->begun));

		while (lane->sent < due && lane->sent - lane->acked < MAX_UNACKED &&
		       feeder_send_one(feeder, i, link) == 0)
			;
	}
}

static int
feeder_on_up(struct rm_link *link, void *arg)
{
	struct feeder *feeder = arg;
	struct wire_bytes bytes;
	int r;

	r = sim_aggregators_hello(feeder->world->sim, feeder->number, &bytes);
	return r < 0 ? r : rm_link_send(link, bytes.data, bytes.len);
}

static void
feeder_on_ack(struct feeder *feeder, const struct wire_ack *ack)
{
	struct world *world = feeder->world;
	int name = ack->lane == WIRE_LANE_INCIDENT ? INCIDENTS : SUMMARIES;
	struct lane *lane = &feeder->lanes[name];
	bool was_done = lane->acked == lane->goal;

	if (ack->incarnation != world->options.incarnation)
		return;
	for (; lane->acked < ack->seq && lane->acked < lane->goal; lane->acked++) {
		uint64_t seq = lane->acked + 1;

		if (name == SUMMARIES)
			sim_aggregators_sum_summary(
			    world->sim, feeder->number, seq, &world->sums);
		else
			sim_aggregators_sum_incident(feeder->number, seq, &world->sums);
	}
	if (lane->sent < lane->acked)
		lane->sent = lane->acked;
	world->finished += !was_done && lane->acked == lane->goal;
	if (world->finished == LANES * world->options.aggregators)
		rm_loop_stop(world->loop);
	else
		feeder_pump(feeder);
}

static int
feeder_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct feeder *feeder = arg;
	struct wire_welcome welcome;
	struct wire_ack ack;

	switch (wire_kind_of(data, len)) {
	case WIRE_WELCOME:
		if (wire_open_welcome(&welcome, data, len) < 0)
			return -EBADMSG;
		if (welcome.refused[0] != '\0') {
			rm_log_error(0, "refused: %s", welcome.refused);
			return -EPERM;
		}
		rm_dialer_settled(feeder->dialer);
		feeder->welcome = true;
		/* Sends all unacknowledged messages again. */
		for (int i = 0; i < LANES; i++)
			feeder->lanes[i].sent = feeder->lanes[i].acked;
		feeder_pump(feeder);
		return 0;
	case WIRE_ACK:
		if (wire_open_ack(&ack, data, len) < 0)
			return -EBADMSG;
		feeder_on_ack(feeder, &ack);
		return 0;
	default:
		return 0; /* pings, drills: ignored */
	}
}

static void
feeder_on_down(int reason, void *arg)
{
	struct feeder *feeder = arg;

	feeder->world->reconnects += feeder->welcome;
	feeder->welcome = false;
}

static void
on_tick(void *arg)
{
	struct world *world = arg;

	for (size_t i = 0; i < world->options.aggregators; i++)
		feeder_pump(&world->feeders[i]);
	if (rm_mono_since(rm_mono_now(), world->begun) >=
	    (int64_t)world->seconds * RM_NS_PER_S)
		rm_loop_stop(world->loop);
	else
		rm_timer_after(world->tick, TICK_NS);
}

static int
world_start(struct world *world)
{
	static const struct rm_dialer_callbacks callbacks = { .on_up = feeder_on_up,
		.on_frame = feeder_on_frame,
		.on_down = feeder_on_down };
	const struct rm_dialer_options dial = { .peers = &world->endpoint,
		.peer_count = 1,
		.backoff_cap_ns = RM_NS_PER_S,
		.limits = { WIRE_MAX_BYTES, MAX_OUTPUT_BYTES } };
	int r;

	world->feeders = calloc(world->options.aggregators, sizeof(*world->feeders));
	if (world->feeders == NULL)
		return -ENOMEM;
	r = sim_aggregators_new(&world->options, &world->sim);
	if (r == 0)
		r = rm_timer_new(world->loop, on_tick, world, &world->tick);
	world->begun = rm_mono_now();
	for (size_t i = 0; r == 0 && i < world->options.aggregators; i++) {
		struct feeder *feeder = &world->feeders[i];

		feeder->world = world;
		feeder->number = i;
		memcpy(feeder->lanes, world->lanes, sizeof(feeder->lanes));
		for (int lane = 0; lane < LANES; lane++)
			world->finished += feeder->lanes[lane].goal == 0;
		r = rm_dialer_new(
		    world->loop, &dial, &callbacks, feeder, &feeder->dialer);
	}
	if (r == 0)
		rm_timer_after(world->tick, 0);
	return r;
}

static void
world_print(const struct world *world)
{
	const struct sim_sums *sums = &world->sums;
	double seconds = (double)rm_mono_since(rm_mono_now(), world->begun) / 1e9;

	printf("{\"complete\": %s, \"seconds\": %.3f, \"reconnects\": %" PRIu64
	       ", \"points\": %" PRIu64 ", \"rm_tor_pair\": {\"count\": %" PRIu64
	       ", \"sent\": %" PRIu64 "}, \"rm_path\": {\"count\": %" PRIu64
	       ", \"lost_unknown\": %" PRIu64 "}, \"rm_rnic\": {\"count\": %" PRIu64
	       ", \"sent\": %" PRIu64 "}, \"rm_rack\": {\"count\": %" PRIu64
	       ", \"taken\": %" PRIu64 "}, \"rm_incident\": {\"count\": %" PRIu64
	       ", \"opened\": %" PRIu64 "}}\n",
	    world->finished == LANES * world->options.aggregators ? "true" : "false",
	    seconds, world->reconnects,
	    sums->path_points + sums->route_points + sums->rnic_points +
		sums->rack_points + sums->incident_points,
	    sums->path_points, sums->path_sent, sums->route_points, sums->route_lost,
	    sums->rnic_points, sums->rnic_sent, sums->rack_points, sums->rack_taken,
	    sums->incident_points, sums->incident_ids);
}

static void
world_end(struct world *world)
{
	for (size_t i = 0; world->feeders != NULL && i < world->options.aggregators;
	     i++)
		rm_dialer_free(world->feeders[i].dialer);
	free(world->feeders);
	rm_timer_free(world->tick);
	sim_aggregators_free(world->sim);
}

/* Returns 0, or -EINVAL for an unknown option or a wrong number. */
static int
parse(int argc, char **argv, struct world *world)
{
	struct sim_aggregators_options *options = &world->options;
	struct {
		const char *name;
		uint64_t *value;
	} numbers[] = { { "seconds", &world->seconds },
		{ "summaries", &world->lanes[SUMMARIES].goal },
		{ "incidents", &world->lanes[INCIDENTS].goal },
		{ "start-ns", &options->start_wall_ns },
		{ "step-ns", &options->step_ns },
		{ "incarnation", &options->incarnation } };
	bool good = argc % 2 == 1;

	for (int i = 1; good && i + 1 < argc; i += 2) {
		const char *name = argv[i] + 2, *value = argv[i + 1];
		bool known = false;

		if (strncmp(argv[i], "--", 2) != 0)
			return -EINVAL;
		for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
			if (strcmp(name, numbers[n].name) == 0) {
				*numbers[n].value = strtoull(value, NULL, 10);
				known = true;
			}
		if (known)
			continue;
		if (strcmp(name, "address") == 0)
			good = rm_endpoint_parse(value, &world->endpoint) == 0;
		else if (strcmp(name, "region") == 0)
			options->region = value;
		else if (strcmp(name, "aggregators") == 0)
			options->aggregators = strtoul(value, NULL, 10);
		else if (strcmp(name, "rows") == 0)
			options->rows = strtoul(value, NULL, 10);
		else if (strcmp(name, "rnics") == 0)
			options->rnics = strtoul(value, NULL, 10);
		else if (strcmp(name, "rate") == 0)
			world->lanes[SUMMARIES].rate = strtod(value, NULL);
		else if (strcmp(name, "incident-rate") == 0)
			world->lanes[INCIDENTS].rate = strtod(value, NULL);
		else
			good = false;
	}
	return good && options->aggregators > 0 && world->endpoint.address.len > 0
		   ? 0
		   : -EINVAL;
}

int
main(int argc, char **argv)
{
	struct world world = { .seconds = 60,
		.options = { .aggregators = 1,
		    .rows = 8,
		    .rnics = 16,
		    .start_wall_ns = (uint64_t)rm_wall_now().ns,
		    .step_ns = 10000000,
		    .incarnation = 7,
		    .region = "lab" } };
	int r;

	rm_log_open("feed_analyzer");
	if (parse(argc, argv, &world) < 0) {
		fprintf(stderr, "feed_analyzer: wrong options: see its source\n");
		return 2;
	}
	r = rm_loop_new(&world.loop);
	if (r == 0)
		r = world_start(&world);
	if (r == 0)
		r = rm_loop_run(world.loop);
	if (r < 0)
		rm_log_error(r, "cannot feed");
	else
		world_print(&world);
	r = r < 0 || world.finished < LANES * world.options.aggregators;
	world_end(&world);
	rm_loop_free(world.loop);
	return r;
}
