/*
 * run_state - shared by the files of a simulated run; private to them.
 *
 * Time is in ns from the start of the run (int64_t). All clocks are derived from it:
 * rack_mono and rack_wall of an aggregator, host_mono of an agent. The time advances in
 * slices. For each slice, first the fates of the probes are drawn, in any order; then
 * agents report, then aggregators tick, then the analyzer judges. A replay has no
 * fabric, hosts or plans: clos, life, expansion and so on are NULL.
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
#define RUN_CLASSES 4                       /* number of DSCPs of one pair */

struct agents;
struct incident_table;
struct pinglist_builder;
struct kept;
struct localise;
struct rm_incidents;
struct tor_rack;

struct sim_pair { /* counts of the probes that a responder has received from a prober */
	uint32_t src, dst;
	uint32_t received[RUN_CLASSES], reported[RUN_CLASSES];
	uint8_t dscps[RUN_CLASSES], dscp_count;
	bool listed; /* the pair is among the rows that its responder's lane reports */
};

struct sim_flow {
	struct fate_path path;
	uint32_t epoch; /* epoch of the path; 0: the path is not known yet */
	uint16_t port;
	uint8_t kept;    /* index of the flow of the target that is probed */
	uint64_t traced; /* id of the last traced path; 0: none */
	uint64_t known;  /* id of the last path whose hops have all answered */
	/* Members of a flow that has lost probes. is_suspect: it is in its lane's list
	 * of suspects. Then: how many traces of it in a row have found nothing new; the
	 * time from which it may be in the list again; the time of its last loss. */
	bool is_suspect;
	uint8_t lossy_traces;
	int64_t lossy_from_ns, lost_ns;
};

struct sim_suspect { /* a flow that lost a probe: it is traced out of turn */
	uint32_t target, flow;
	uint8_t retries;
	int64_t due_ns;
};

struct sim_target {
	uint32_t src, dst, pair;
	uint32_t first_flow; /* UINT32_MAX: the target was removed */
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

struct sim_lane { /* the session between a host's agent and one rack's aggregator */
	uint32_t host, rack;
	uint32_t rnics[WIRE_MAX_HOST_RNICS];
	size_t rnic_count;
	/* the agent in the aggregator's table; NULL: the aggregator does not know it */
	struct agent *agent;
	/* Until the batch is sent, sent_age_ns of the results holds the time of
	 * sending. */
	struct wire_result *results;
	size_t result_count, result_room;
	int64_t oldest_ns;
	struct sim_waiting *waiting;
	size_t waiting_count, waiting_room;
	uint32_t *pairs; /* the pairs whose counts the lane reports */
	size_t pair_count, pair_room;
	uint32_t *targets; /* of its RNICs */
	size_t target_count, target_room;
	uint64_t rotation;
	uint64_t seq, beats;
	uint64_t dropped_batches, dropped_results;
	bool wants_all_counts;
	bool links_down; /* as last reported */
	int64_t next_beat_ns, last_beat_ns, next_trace_ns;
	int64_t traced_ns;  /* time of the last message with traces; 0: none */
	uint64_t traced_by; /* incarnation of the agent that sent that message */
	struct sim_suspect *suspects;
	size_t suspect_count, suspect_room;
	/* number of packets that traces of suspects may send now */
	double trace_budget;
	int64_t trace_budget_ns;
	/* After a path has changed. all_again_ns: when all flows are traced;
	 * all_apart_ns: when that was last decided. 0: never. */
	int64_t all_again_ns, all_apart_ns;
	/* Messages, in order, that are in flight or wait for the aggregator. */
	struct sim_message *first, *last;
	int64_t last_arrival_ns;
	int64_t last_seen_ns;
	bool connected;
	bool mute; /* a recording shows that the host's kernel does not acknowledge */
};

struct sim_host {
	uint64_t incarnation;
	int64_t clock_ns;
	double drift; /* clock drift in seconds per second */
	bool alive;   /* its agent runs */
	uint32_t first_lane, lane_count;
};

struct sim_queue { /* packets in the socket of an RNIC whose host is stalled */
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
	struct tor_rack *rack; /* NULL: the aggregator does not run */
	struct agents *agents;
	struct ingest ingest;
	uint64_t incarnation, summary_seq;
	json_t *saved; /* the incidents of before the restart */
	int64_t down_ns,
	    up_ns; /* while the aggregator is down: begin and end of that time */
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
	struct wire_writer *writer; /* writer of the agents and the controller */
	/* a writer of its own, because the messages of the other one are still being
	 * read */
	struct wire_writer *rack_writer;
	struct pinglist_builder *pinglist_builder;
	struct centre *centre;
	/* stores the inputs of the schemes; NULL: they are not stored */
	struct kept *keep;
	struct eyes *eyes; /* input of the other schemes; NULL: there are none */
	/* the parts that were named at the last judgement */
	struct scheme_named *named;
	size_t named_count, named_room;
	struct truth *truths;
	size_t truth_count;
	uint64_t seed;
	uint32_t number;
	FILE *verdicts;
	FILE *record; /* NULL: not recorded */
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

/* Returns the result in the form in which its agent reports it. names: borrowed by the
 * result. */
struct run_names {
	char host[RM_NAME_BYTES], device[RM_NAME_BYTES], tor[RM_NAME_BYTES];
};
struct wire_rnic run_rnic(
    const struct run *run, uint32_t rnic, bool link_down, struct run_names *names);

/* Makes room for one more of *items, malloc'd. Returns 0 or -ENOMEM. */
int run_grow(void **items, size_t count, size_t *room, size_t bytes);

/* ---- the plans, and the targets of RNICs ------------------------------------------
 */

int plans_make(struct run *run, struct rm_error *error);

/* ---- probing --------------------------------------------------------------------- */

/* Sets the targets of a lane from its rack's plan, at the start and for each new
 * rotation. */
int probing_expand(struct run *run, struct sim_lane *lane, uint64_t rotation);
/* Simulates all probes of the slice that ends now. -ENOMEM. */
int probing_slice(struct run *run, int64_t end_ns);
void probing_focus(struct run *run, const struct wire_focus *focus, int64_t now_ns);
/* The agent's process has restarted: its receive counts are 0. */
void probing_forget(struct run *run, struct sim_lane *lane);
int probing_add_result(struct run *run, struct sim_lane *lane,
    const struct wire_result *result, int64_t known_ns);

/* ---- the reports of agents --------------------------------------------------------
 */

int agents_report(struct run *run, int64_t now_ns);
int agents_trace(struct run *run, struct sim_lane *lane, int64_t now_ns);
/* The agent finds at known_ns that a probe of the flow was lost. -ENOMEM. */
int agents_lost(
    struct run *run, const struct sim_target *target, uint32_t flow, int64_t known_ns);
/* Traces the flows that have lost probes, if a trace of them is due. */
int agents_trace_suspects(struct run *run, struct sim_lane *lane, int64_t now_ns);
void agents_forget_suspects(struct run *run, struct sim_lane *lane);
/* In a new session, the agent sends all paths that it knows. */
int agents_retell(struct run *run, struct sim_lane *lane, int64_t now_ns);
/* Sends a message to the aggregator; it arrives after all messages that were sent
 * before. */
int agents_post(struct run *run, struct sim_lane *lane, enum wire_kind kind,
    struct wire_bytes bytes, int64_t now_ns);

/* ---- racks: their aggregators ---------------------------------------------------- */

int sim_rack_start(struct sim_rack *rack, int64_t now_ns);
void sim_rack_stop(struct sim_rack *rack, int64_t now_ns);
/* rack->view is a newer plan now. */
int sim_rack_replan(struct sim_rack *rack, int64_t now_ns);
void sim_rack_clear(struct sim_rack *rack);
int sim_rack_take(struct sim_rack *rack, struct sim_lane *lane, enum wire_kind kind,
    const uint8_t *data, size_t len, int64_t now_ns);
void sim_rack_ended(
    struct sim_rack *rack, struct sim_lane *lane, bool by_peer, int64_t now_ns);
int sim_rack_tick(struct sim_rack *rack, int64_t now_ns);

/* ---- analyzer -------------------------------------------------------------------- */

int centre_new(struct run *run, struct centre **ret);
void centre_free(struct centre *centre);
void centre_summary(
    struct centre *centre, struct sim_rack *rack, const struct wire_summary *summary);
void centre_incident(struct centre *centre, struct sim_rack *rack,
    enum wire_incident_state state, const struct rm_incident *incident);
int centre_judge(struct centre *centre, int64_t now_ns);
const struct rm_incidents *centre_incidents(const struct centre *centre);

/* ---- the named parts, and the input of other schemes ------------------------------
 */

/* Returns the parts that racks and the analyzer name at present, each once. *ret is
 * valid until the next call. */
int naming_now(struct run *run, const struct scheme_named **ret, size_t *count);

int eyes_new(struct run *run, const struct run_options *options, struct eyes **ret);
void eyes_free(struct eyes *eyes);
/* Handles a batch that has arrived. A batch that arrives a second time changes nothing.
 */
void eyes_batch(struct eyes *eyes, const struct sim_lane *lane, const uint8_t *data,
    size_t len, int64_t now_ns);
/* A second has ended, and its late results have arrived. */
int eyes_close(struct eyes *eyes, int64_t end_ns);

#endif
