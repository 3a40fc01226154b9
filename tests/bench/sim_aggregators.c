#include "tests/bench/sim_aggregators.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/metrics/sketch.h"
#include "tests/bench/latency.h"

#define SKETCHES 8
#define SKETCH_VALUES 600
#define FAR_RTT_NS 20000
#define ROCE 26

struct sim_aggregators {
	struct sim_aggregators_options options;
	struct wire_writer *writer;
	uint8_t sketches[SKETCHES][RM_SKETCH_MAX_BYTES];
	size_t sketch_lens[SKETCHES];
	struct wire_row rows[SIM_MAX_ROWS];
	struct wire_rnic_row rnics[SIM_MAX_ROWS];
	char names[SIM_MAX_ROWS][32];
};

/* The last step of splitmix64: pseudo-random numbers, the same in each run. */
static uint64_t
mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static uint64_t
row_sent(size_t aggregator, uint64_t seq, size_t row)
{
	return 500 + mix(seq * 1000003 + aggregator * 4099 + row) % 100;
}

static uint64_t
incident_id(size_t aggregator, uint64_t seq)
{
	/* An odd message opens an incident, the next even one resolves it. */
	return (uint64_t)(aggregator + 1) << 32 | (seq + 1) / 2;
}

static int
fill_sketches(struct sim_aggregators *sim)
{
	struct rm_sketch *sketch = rm_sketch_new();
	struct latency latency = { .state = 1 };
	int len = 0;

	if (sketch == NULL)
		return -ENOMEM;
	for (int i = 0; i < SKETCHES && len >= 0; i++) {
		rm_sketch_reset(sketch);
		for (int v = 0; v < SKETCH_VALUES; v++)
			rm_sketch_add(sketch, latency_next(&latency, FAR_RTT_NS));
		len = rm_sketch_encode(
		    sketch, sim->sketches[i], sizeof(sim->sketches[i]));
		sim->sketch_lens[i] = len < 0 ? 0 : (size_t)len;
	}
	rm_sketch_free(sketch);
	return len < 0 ? len : 0;
}

int
sim_aggregators_new(
    const struct sim_aggregators_options *options, struct sim_aggregators **ret)
{
	struct sim_aggregators *sim;
	int r;

	if (options->rows > SIM_MAX_ROWS || options->rnics > SIM_MAX_ROWS)
		return -EINVAL;
	sim = calloc(1, sizeof(*sim));
	if (sim == NULL)
		return -ENOMEM;
	sim->options = *options;
	sim->writer = wire_writer_new();
	r = sim->writer == NULL ? -ENOMEM : fill_sketches(sim);
	if (r < 0) {
		sim_aggregators_free(sim);
		return r;
	}
	*ret = sim;
	return 0;
}

void
sim_aggregators_free(struct sim_aggregators *sim)
{
	if (sim == NULL)
		return;
	wire_writer_free(sim->writer);
	free(sim);
}

void
sim_aggregators_name(size_t aggregator, char text[32])
{
	snprintf(text, 32, "sim-%zu", aggregator);
}

void
sim_aggregators_tor(size_t aggregator, char text[32])
{
	snprintf(text, 32, "tor-%zu", aggregator);
}

int
sim_aggregators_hello(
    struct sim_aggregators *sim, size_t aggregator, struct wire_bytes *ret)
{
	char name[32], tor[32];
	const struct wire_tor_state state = { .tor = tor, .plan_version = 1 };
	const struct wire_hello hello = { .role = WIRE_ROLE_AGGREGATOR,
		.version_min = WIRE_VERSION,
		.version_max = WIRE_VERSION,
		.region = sim->options.region,
		.id = name,
		.incarnation = sim->options.incarnation,
		.now_ns = (uint64_t)rm_mono_now().ns,
		.tors = &state,
		.tor_count = 1 };

	sim_aggregators_name(aggregator, name);
	sim_aggregators_tor(aggregator, tor);
	return wire_write_hello(sim->writer, &hello, ret);
}

static void
fill_rows(struct sim_aggregators *sim, size_t aggregator, uint64_t seq, const char *tor)
{
	const struct sim_aggregators_options *options = &sim->options;

	for (size_t i = 0; i < options->rows; i++) {
		size_t s = (seq + i) % SKETCHES;
		const struct wire_bytes sketch = { sim->sketches[s],
			sim->sketch_lens[s] };
		struct wire_row *row = &sim->rows[i];

		*row = (struct wire_row){ .src_tor = tor,
			.dst_tor = sim->names[i],
			.dscp = ROCE,
			.flow_set = "all",
			.sent = row_sent(aggregator, seq, i),
			.rtt = sketch,
			.prober_delay = sketch,
			.responder_delay = sketch };
		sim_aggregators_tor(
		    (aggregator + i) % options->aggregators, sim->names[i]);
		if (i >= options->aggregators) /* each row is a series of its own */
			snprintf(sim->names[i], sizeof(sim->names[i]), "far-%zu", i);
		row->outcomes[WIRE_OK] = row->sent;
	}
}

static void
fill_rnics(struct sim_aggregators *sim, size_t aggregator, uint64_t seq,
    char hosts[SIM_MAX_ROWS][32])
{
	for (size_t i = 0; i < sim->options.rnics; i++) {
		struct wire_rnic_row *row = &sim->rnics[i];

		snprintf(hosts[i], 32, "h%zu-%zu", aggregator, i);
		*row = (struct wire_rnic_row){
			.id = { UINT64_C(0x0c42a10000000000) + aggregator * 256 + i,
			    1 },
			.host = hosts[i],
			.device = "mlx5_0",
			.sent = row_sent(aggregator, seq, SIM_MAX_ROWS + i),
			.rtt_ns = { 18000, 24000, 31000, 52000 },
			.prober_delay_ns = { 9000, 12000, 21000, 40000 },
			.responder_delay_ns = { 8000, 11000, 19000, 38000 },
		};
		row->outcomes[WIRE_OK] = row->sent;
	}
}

int
sim_aggregators_summary(struct sim_aggregators *sim, size_t aggregator, uint64_t seq,
    struct wire_bytes *ret)
{
	const struct sim_aggregators_options *options = &sim->options;
	char name[32], tor[32], hosts[SIM_MAX_ROWS][32];
	const struct wire_path_row path = { .dst_tor = "far",
		.path = "",
		.dscp = ROCE,
		.sent = 100,
		.lost_unknown = 1,
		.flows = 8,
		.samples = "" };
	struct wire_service_row service = { .service = "sim.service",
		.dscp = ROCE,
		.sent = SIM_SERVICE_SENT,
		.outcomes = { [WIRE_OK] = SIM_SERVICE_SENT } };
	const uint64_t end = options->start_wall_ns + seq * options->step_ns;
	const struct wire_summary summary = {
		.head = { name, options->region, options->incarnation, seq },
		.tor = tor,
		.start_wall_ns = end - options->step_ns,
		.end_wall_ns = end,
		.taken = seq * 1000,
		.windowed = seq * 1000,
		.rows = sim->rows,
		.row_count = options->rows,
		.rnics = sim->rnics,
		.rnic_count = options->rnics,
		.paths_start_wall_ns = end - options->step_ns,
		.paths = &path,
		.path_count = seq % SIM_LOSSY_EVERY == 0,
		.services_start_wall_ns = end - options->step_ns,
		.services = &service,
		.service_count = 1,
		.has_state = true,
		.state = { .rnics = (uint32_t)options->rnics,
		    .rnics_good = (uint32_t)options->rnics,
		    .hosts = (uint32_t)options->rnics,
		    .hosts_ok = (uint32_t)options->rnics,
		    .plan_version = 1,
		    .brake_permille = 1000 },
	};

	sim_aggregators_name(aggregator, name);
	sim_aggregators_tor(aggregator, tor);
	fill_rows(sim, aggregator, seq, tor);
	fill_rnics(sim, aggregator, seq, hosts);
	return wire_write_summary(sim->writer, &summary, ret);
}

int
sim_aggregators_incident(struct sim_aggregators *sim, size_t aggregator, uint64_t seq,
    struct wire_bytes *ret)
{
	const struct sim_aggregators_options *options = &sim->options;
	const uint64_t changed = options->start_wall_ns + seq * options->step_ns;
	char name[32], tor[32], part[32];
	const struct wire_incident incident = {
		.head = { name, options->region, options->incarnation, seq },
		.incident_id = incident_id(aggregator, seq),
		.state = seq % 2 == 1 ? WIRE_OPENED : WIRE_RESOLVED,
		.tor = tor,
		.part_type = "rnic",
		.part = part,
		.place = tor,
		.kind = "rnic-down",
		.confidence = 0.99,
		.began_wall_ns = changed - 1000000000,
		.opened_wall_ns = changed,
		.changed_wall_ns = changed,
		.sentence = "made up: nothing it was sent arrived",
		.evidence_json = "{\"peers\": 3}",
	};

	sim_aggregators_name(aggregator, name);
	sim_aggregators_tor(aggregator, tor);
	snprintf(part, sizeof(part), "h%zu-0/mlx5_0", aggregator);
	return wire_write_incident(sim->writer, &incident, ret);
}

int
sim_aggregators_ping(struct sim_aggregators *sim, struct wire_bytes *ret)
{
	return wire_write_ping(sim->writer, (uint64_t)rm_mono_now().ns, ret);
}

void
sim_aggregators_sum_summary(const struct sim_aggregators *sim, size_t aggregator,
    uint64_t seq, struct sim_sums *sums)
{
	sums->rack_points++;
	sums->rack_taken += seq * 1000;
	for (size_t i = 0; i < sim->options.rows; i++)
		sums->path_sent += row_sent(aggregator, seq, i);
	for (size_t i = 0; i < sim->options.rnics; i++)
		sums->rnic_sent += row_sent(aggregator, seq, SIM_MAX_ROWS + i);
	sums->path_points += sim->options.rows;
	sums->rnic_points += sim->options.rnics;
	sums->route_points += seq % SIM_LOSSY_EVERY == 0;
	sums->route_lost += seq % SIM_LOSSY_EVERY == 0;
}

void
sim_aggregators_sum_incident(size_t aggregator, uint64_t seq, struct sim_sums *sums)
{
	sums->incident_points++;
	sums->incident_ids += seq % 2; /* all opened incidents are resolved */
}
