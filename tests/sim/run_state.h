/*
 * run_state - what the files of one simulated run share; nobody else's business.
 *
 * Time is in ns from the run's start (int64_t); every clock of the fleet is made from
 * it: rack_mono and rack_wall of an aggregator, host_mono of an agent. It passes in
 * slices; what is sent in a slice is drawn first, in no order that matters, then agents
 * report, then aggregators tick, then the centre judges. Where a recording is replayed,
 * there is no fabric and nobody lives: clos, life, expansion and the like are NULL.
 */
#ifndef TESTS_SIM_RUN_STATE_H
#define TESTS_SIM_RUN_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"
#include "tests/sim/arrivals.h"
#include "tests/sim/clos.h"
#include "tests/sim/fate.h"
#include "tests/sim/life.h"
#include "tests/sim/run.h"
#include "tests/sim/scenario.h"
#include "tests/sim/wheel.h"
#include "tor-aggregator/agents/ingest.h"

#define RUN_SLICE_NS (50 * RM_NS_PER_MS) /* an aggregator's tick */
#define RUN_TIMEOUT_NS (500 * RM_NS_PER_MS)
#define RUN_MONO_NS (1000 * RM_NS_PER_S)
#define RUN_WALL_NS INT64_C(1800000000000000000)
#define RUN_ROW_INTERVAL_NS (10 * RM_NS_PER_S)
#define RUN_RESOLVE_NS (2 * RM_NS_PER_S)
#define RUN_REGION "sim"
#define RUN_GUID UINT64_C(0x020000000000)   /* of RNIC 0: a MAC */
#define RUN_PAIR_GAP_NS (10 * RM_NS_PER_MS) /* as host-agent's pacer */
#define RUN_CLASSES 4                       /* DSCPs of one pair */

struct agents;
struct incident_table;
struct pinglist_builder;
struct kept;
struct localise;
struct rm_incidents;
struct tor_rack;

struct sim_pair { /* what a responder has received of a prober */
	uint32_t src, dst;
	uint32_t received[RUN_CLASSES], reported[RUN_CLASSES];
	uint8_t dscps[RUN_CLASSES], dscp_count;
	bool listed; /* among those that its responder's lane reports */
};

struct sim_flow {
	struct fate_path path;
	uint32_t epoch; /* of the way; 0: not known yet */
	uint16_t port;
	uint8_t kept;    /* of the target's flows, its n-th that is probed */
	uint64_t traced; /* stands for the last traced way; 0: none */
	uint64_t known;  /* for the last one of which all was seen */
};

struct sim_target {
	uint32_t src, dst, pair;
	uint32_t first_flow; /* UINT32_MAX: the target is no more */
	uint8_t flow_count, kept_count, dscp_count, size_count;
	uint8_t kind; /* enum wire_probe_kind */
	bool paired, second;
	uint8_t dscps[WIRE_MAX_CLASSES];
	uint16_t sizes[WIRE_MAX_SIZES];
	uint32_t turn;
	int64_t due_ns, interval_ns;
	int64_t focus_ns, focus_until_ns;
};

struct sim_waiting { /* a result that is not known yet */
	struct wire_result result;
	int64_t known_ns;
};

struct sim_message {
	struct sim_message *next;
	int64_t arrival_ns;
	enum wire_kind kind;
	size_t len;
	uint8_t data[];
};

struct sim_lane { /* a host's agent, towards one rack's aggregator */
	uint32_t host, rack;
	uint32_t rnics[WIRE_MAX_HOST_RNICS];
	size_t rnic_count;
	struct agent *agent; /* the aggregator's; NULL: it knows none */
	/* sent_age_ns of results holds when they were sent, until they are. */
	struct wire_result *results;
	size_t result_count, result_room;
	int64_t oldest_ns;
	struct sim_waiting *waiting;
	size_t waiting_count, waiting_room;
	uint32_t *pairs; /* whose counts it reports */
	size_t pair_count, pair_room;
	uint32_t *targets; /* of its RNICs */
	size_t target_count, target_room;
	uint64_t rotation;
	uint64_t seq, beats;
	uint64_t dropped_batches, dropped_results;
	bool wants_all_counts;
	bool links_down; /* as it told last */
	int64_t next_beat_ns, last_beat_ns, next_trace_ns;
	int64_t traced_ns;  /* when last; 0: never */
	uint64_t traced_by; /* incarnation of the agent that did */
	/* What is on its way, or waits for the aggregator, in order. */
	struct sim_message *first, *last;
	int64_t last_arrival_ns;
	int64_t last_seen_ns;
	bool connected;
	bool mute; /* a recording says that its kernel does not answer */
};

struct sim_host {
	uint64_t incarnation;
	int64_t clock_ns;
	double drift; /* of a second in a second */
	bool alive;   /* its agent is there */
	uint32_t first_lane, lane_count;
};

struct sim_queue { /* of an RNIC whose host stands still: its socket's room */
	int64_t since_ns;
	uint32_t count;
};

struct sim_rack {
	struct run *run;
	uint32_t number, tor;
	char name[RM_NAME_BYTES], aggregator[RM_NAME_BYTES];
	int64_t clock_ns, wall_ns;
	uint8_t *plan;
	size_t plan_len;
	struct wire_plan_view view;
	struct tor_rack *rack; /* NULL: its aggregator is not there */
	struct agents *agents;
	struct ingest ingest;
	uint64_t incarnation, summary_seq;
	json_t *saved;          /* incidents of the life before */
	int64_t down_ns, up_ns; /* while it is not there: since, and until when */
	int64_t next_down_ns;
	uint32_t *lanes;
	size_t lane_count;
};

struct run {
	const struct scenario *scenario;
	struct scenario_draw draw;
	struct run_result result;
	struct clos *clos;
	struct fault *faults;
	size_t fault_count;
	struct fate *fate;
	struct life *life;
	struct dice dice;
	int64_t now_ns, end_ns;
	uint32_t rnics, hosts, racks;
	struct sim_host *host;
	struct sim_lane *lanes;
	size_t lane_count;
	uint32_t *lane_of; /* by RNIC */
	struct sim_queue *queues;
	struct sim_rack *rack;
	struct sim_target *targets;
	size_t target_count, target_room;
	struct sim_flow *flows;
	size_t flow_count, flow_room;
	struct sim_pair *pairs;
	size_t pair_count, pair_room;
	uint32_t *pair_slots; /* hash: number + 1 */
	size_t pair_slot_count;
	struct wheel *wheel;
	struct arrivals arrivals;
	struct wire_writer *writer;      /* of agents and the controller */
	struct wire_writer *rack_writer; /* theirs are still being read */
	struct pinglist_builder *pinglist_builder;
	struct centre *centre;
	struct kept *keep;          /* what they see; NULL: not kept */
	struct eyes *eyes;          /* what baselines see; NULL: there are none */
	struct scheme_named *named; /* at the last judgement */
	size_t named_count, named_room;
	struct truth *truths;
	size_t truth_count;
	uint64_t seed;
	uint32_t number;
	FILE *verdicts;
	FILE *record; /* NULL: nobody wants one */
};

static inline uint32_t
run_host_of(const struct run *run, uint32_t rnic)
{
	return clos_part(run->clos, rnic)->from - run->rnics;
}

static inline rm_mono_t
rack_mono(const struct sim_rack *rack, int64_t now_ns)
{
	return (rm_mono_t){ RUN_MONO_NS + rack->clock_ns + now_ns };
}

static inline rm_wall_t
rack_wall(const struct sim_rack *rack, int64_t now_ns)
{
	return (rm_wall_t){ RUN_WALL_NS + rack->wall_ns + now_ns };
}

static inline uint64_t
host_mono(const struct sim_host *host, int64_t now_ns)
{
	return (uint64_t)(RUN_MONO_NS + host->clock_ns + now_ns +
			  (int64_t)((double)now_ns * host->drift));
}

/* As its agent tells of it. names: what the result borrows. */
struct run_names {
	char host[RM_NAME_BYTES], device[RM_NAME_BYTES], tor[RM_NAME_BYTES];
};
struct wire_rnic run_rnic(
    const struct run *run, uint32_t rnic, bool link_down, struct run_names *names);

/* Malloc'd room for one more of *items; 0 or -ENOMEM. */
int run_grow(void **items, size_t count, size_t *room, size_t bytes);

/* ---- plans: who probes whom ------------------------------------------------------ */

int plans_make(struct run *run, struct rm_error *error);

/* ---- probing --------------------------------------------------------------------- */

/* The targets of a lane, from its rack's plan: at first, or of another rotation. */
int probing_expand(struct run *run, struct sim_lane *lane, uint64_t rotation);
/* All probes of the slice that ends here. -ENOMEM. */
int probing_slice(struct run *run, int64_t end_ns);
void probing_focus(struct run *run, const struct wire_focus *focus, int64_t now_ns);
/* Its process has begun anew: it has received nothing yet. */
void probing_forget(struct run *run, struct sim_lane *lane);
int probing_add_result(struct run *run, struct sim_lane *lane,
    const struct wire_result *result, int64_t known_ns);

/* ---- agents: what they report ---------------------------------------------------- */

int agents_report(struct run *run, int64_t now_ns);
int agents_trace(struct run *run, struct sim_lane *lane, int64_t now_ns);
/* In a new session: all ways that it knows. */
int agents_retell(struct run *run, struct sim_lane *lane, int64_t now_ns);
/* On its way to the aggregator, behind all that was sent before. */
int agents_post(struct run *run, struct sim_lane *lane, enum wire_kind kind,
    struct wire_bytes bytes, int64_t now_ns);

/* ---- racks: their aggregators ---------------------------------------------------- */

int sim_rack_start(struct sim_rack *rack, int64_t now_ns);
void sim_rack_stop(struct sim_rack *rack, int64_t now_ns);
/* rack->view has become a newer plan's. */
int sim_rack_replan(struct sim_rack *rack, int64_t now_ns);
void sim_rack_clear(struct sim_rack *rack);
int sim_rack_take(struct sim_rack *rack, struct sim_lane *lane, enum wire_kind kind,
    const uint8_t *data, size_t len, int64_t now_ns);
void sim_rack_ended(
    struct sim_rack *rack, struct sim_lane *lane, bool by_peer, int64_t now_ns);
int sim_rack_tick(struct sim_rack *rack, int64_t now_ns);

/* ---- the centre ------------------------------------------------------------------ */

int centre_new(struct run *run, struct centre **ret);
void centre_free(struct centre *centre);
void centre_summary(
    struct centre *centre, struct sim_rack *rack, const struct wire_summary *summary);
void centre_incident(struct centre *centre, struct sim_rack *rack,
    enum wire_incident_state state, const struct rm_incident *incident);
int centre_judge(struct centre *centre, int64_t now_ns);
const struct rm_incidents *centre_incidents(const struct centre *centre);

/* ---- whom we name, and what others see ------------------------------------------- */

/* Of all racks and the centre, each part once. *ret until the next call. */
int naming_now(struct run *run, const struct scheme_named **ret, size_t *count);

int eyes_new(struct run *run, const struct run_options *options, struct eyes **ret);
void eyes_free(struct eyes *eyes);
/* A batch that has arrived; what came before, once, changes nothing. */
void eyes_batch(struct eyes *eyes, const struct sim_lane *lane, const uint8_t *data,
    size_t len, int64_t now_ns);
/* A second is over, and late results of it have come. */
int eyes_close(struct eyes *eyes, int64_t end_ns);

#endif
