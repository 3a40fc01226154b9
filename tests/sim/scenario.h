/*
 * scenario - reads the file of a simulation, and draws the values of one run. Pure.
 *
 * README.md describes the format. Every number and every name may be a range or list,
 * from which each run draws: the value depends only on the file, the seed and the
 * number of the run. Every error in the file names file, line, column and option.
 */
#ifndef TESTS_SIM_SCENARIO_H
#define TESTS_SIM_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/error.h"
#include "rackmesh/judge/part.h"
#include "tests/sim/clos.h"
#include "tests/sim/dice.h"
#include "tests/sim/marks.h"

#define SCENARIO_MAX_CHOICES                                     \
	16 /* most values to choose from, for one number or word \
	    */
/* most entries of a file; each entry may stand for many faults */
#define SCENARIO_MAX_FAULTS 64

enum scenario_top { TOP_SECONDS, TOP_COUNT, TOP_OPTIONS };

enum scenario_fabric {
	FABRIC_TIERS,
	FABRIC_PODS,
	FABRIC_RACKS,
	FABRIC_MIDDLE,
	FABRIC_CORES,
	FABRIC_CABLES,
	FABRIC_RNICS_PER_RACK,
	FABRIC_RNICS_PER_HOST,
	FABRIC_RAILS,
	FABRIC_LOOPBACKS,
	FABRIC_SYMMETRIC,
	FABRIC_OPTIONS
};

enum scenario_probing {
	PROBING_TOR_MESH_SIZE,
	PROBING_MESH_INTERVAL_MS,
	PROBING_MESH_MAX_RATE_PER_S,
	PROBING_ROTATION_S,
	PROBING_COVERAGE_PERMILLE,
	PROBING_LINK_RATE_PER_S,
	PROBING_INTER_TOR_MAX_RATE_PER_S,
	PROBING_INTER_TOR_DESTINATIONS,
	PROBING_ASSUMED_PATHS,
	PROBING_PAIR_ABOVE_MS,
	PROBING_WITNESS_BELOW,
	PROBING_WITNESS_TARGETS,
	PROBING_WITNESS_INTERVAL_MS,
	PROBING_DSCP,
	PROBING_DSCP_BEST_EFFORT,
	PROBING_SERVICE_LEVEL,
	PROBING_VERBS,
	PROBING_TRACE_INTERVAL_S,
	PROBING_OPTIONS
};

enum scenario_noise {
	NOISE_LOSS,
	NOISE_BURSTS_PER_HOUR,
	NOISE_BURST_MS,
	NOISE_BURST_LOSS,
	NOISE_RTT_US,
	NOISE_RTT_TAIL,
	NOISE_RTT_TAIL_US,
	NOISE_SLOW_US,
	NOISE_STALLS_PER_HOUR,
	NOISE_STALL_S,
	NOISE_AGENT_RESTARTS_PER_HOUR,
	NOISE_AGENT_RESTART_S,
	NOISE_LATE_BATCHES,
	NOISE_LATE_MS,
	NOISE_MISSING_BATCHES,
	NOISE_DUPLICATED_BATCHES,
	NOISE_CLOCK_OFFSET_S,
	NOISE_CLOCK_DRIFT_PPM,
	NOISE_WALL_OFFSET_MS,
	NOISE_AGGREGATOR_RESTARTS_PER_HOUR,
	NOISE_AGGREGATOR_RESTART_S,
	NOISE_PATH_MOVES_PER_HOUR,
	NOISE_PATH_MOVE_S,
	NOISE_SPRAY,
	NOISE_OPTIONS
};

enum scenario_fault_option {
	FAULT_COUNT,
	FAULT_TOGETHER,
	FAULT_SKEW,
	FAULT_SKEW_TO,
	FAULT_LOSS,
	FAULT_SHARE,
	FAULT_DSCP,
	FAULT_MIN_BYTES,
	FAULT_LATENCY_US,
	FAULT_FROM_S,
	FAULT_LASTS_S,
	FAULT_ON_MS,
	FAULT_OFF_MS,
	FAULT_KERNEL,
	FAULT_REROUTED_AFTER_S,
	FAULT_PAIR,
	FAULT_HELD_MS,
	FAULT_OPTIONS
};

enum fault_kind {
	FAULT_RNIC_DOWN,
	FAULT_RNIC_SEND_DEAD,
	FAULT_RNIC_RECEIVE_DEAD,
	FAULT_RNIC_LOSSY,
	FAULT_RNIC_MTU,
	FAULT_RNIC_PORT_DOWN,
	FAULT_HOST_DOWN,
	FAULT_HOST_STALL,
	FAULT_AGENT_DOWN,
	FAULT_AGENT_FROZEN,
	FAULT_MANAGEMENT_DOWN,
	FAULT_TOR_DOWN,
	FAULT_LINK_DOWN,
	FAULT_LINK_LOSSY,
	FAULT_SWITCH_DOWN,
	FAULT_SWITCH_LOSSY,
	FAULT_FLOWS_BLACKHOLED,
	FAULT_LINK_FLAP,
	FAULT_LATENCY,
	/* noise: it cannot be in a file, and does not count as a fault to find */
	FAULT_BURST,
	FAULT_KINDS
};

/* For an RNIC or a link. A link is directed from its first to its second end, or back.
 */
enum fault_direction {
	FAULT_BOTH,
	FAULT_SEND,
	FAULT_RECEIVE,
	FAULT_ONE,
	FAULT_DIRECTIONS
};

enum fault_place {
	PLACE_BY_KIND,
	PLACE_RNIC,
	PLACE_HOST,
	PLACE_TOR,
	PLACE_MIDDLE,
	PLACE_CORE,
	PLACE_SWITCH, /* middle or core */
	PLACE_LINK,   /* between switches */
	PLACE_CABLE,  /* of an RNIC */
	PLACES
};

struct scenario_choice {
	enum { CHOICE_ONE, CHOICE_RANGE, CHOICE_LOG, CHOICE_OF } type;
	size_t count;
	double values[SCENARIO_MAX_CHOICES]; /* a range: from, to */
};

struct scenario_fault {
	int line;
	enum fault_kind kind;
	/* Empty: at random. */
	char (*parts)[RM_PART_NAME_BYTES];
	size_t part_count;
	struct scenario_choice direction,
	    type; /* a value of enum fault_direction, or of fault_place */
	struct scenario_choice options[FAULT_OPTIONS];
};

struct scenario {
	char file[256];
	char name[RM_NAME_BYTES];
	struct scenario_choice top[TOP_OPTIONS];
	struct scenario_choice fabric[FABRIC_OPTIONS];
	struct scenario_choice probing[PROBING_OPTIONS];
	struct scenario_choice noise[NOISE_OPTIONS];
	struct scenario_fault faults[SCENARIO_MAX_FAULTS];
	size_t fault_count;
	struct marks marks;
};

/* -EINVAL with error filled; -ENOMEM; errors of reading the file. */
int scenario_load(const char *path, struct scenario **ret, struct rm_error *error);
int scenario_parse(const char *name, const char *text, size_t len,
    struct scenario **ret, struct rm_error *error);
void scenario_free(struct scenario *scenario);

double scenario_pick(const struct scenario_choice *choice, struct dice *dice);

struct scenario_draw { /* the values of one run */
	double seconds;
	struct clos_options fabric;
	double probing[PROBING_OPTIONS];
	double noise[NOISE_OPTIONS];
};

void scenario_draw(
    const struct scenario *scenario, struct dice *dice, struct scenario_draw *ret);

struct fault { /* a fault of one part */
	enum fault_kind kind;
	uint32_t part; /* of the fabric */
	enum fault_direction direction;
	double loss;  /* 0 .. 1 */
	double share; /* of the flows */
	int dscp;     /* < 0: all classes */
	uint32_t min_bytes;
	/* for a switch: 1: only packets from one rack to another one; 2: also those
	 * back */
	int pair;
	int64_t latency_ns;
	int64_t
	    held_ns; /* packets of the last held_ns of the fault wait until its end */
	/* to_ns INT64_MAX: the fault lasts to the end of the run */
	int64_t from_ns, to_ns;
	int64_t on_ns, off_ns; /* on_ns 0: without interruption */
	int64_t
	    rerouted_ns; /* when routing begins to avoid the part; INT64_MAX: never */
	bool kernel;     /* for a stall: the host's kernel still acknowledges */
	uint64_t salt;
};

/*
 * Draws the faults of a run on this fabric. *ret is malloc'd. -EINVAL with error
 * filled: there is no such part, or the fabric has fewer parts than faults; -ENOMEM.
 */
int scenario_faults(const struct scenario *scenario, const struct clos *clos,
    struct dice *dice, struct fault **ret, size_t *count, struct rm_error *error);

const char *scenario_kind_str(enum fault_kind kind);

/* The table of options, with defaults and ranges, for people. */
struct scenario_option {
	const char *name;
	double fallback, min, max;
	bool whole; /* no fractions */
	const char *help;
};

extern const struct scenario_option scenario_top_options[TOP_OPTIONS];
extern const struct scenario_option scenario_fabric_options[FABRIC_OPTIONS];
extern const struct scenario_option scenario_probing_options[PROBING_OPTIONS];
extern const struct scenario_option scenario_noise_options[NOISE_OPTIONS];
extern const struct scenario_option scenario_fault_options[FAULT_OPTIONS];
extern const char
    *const scenario_direction_names[FAULT_DIRECTIONS + 1]; /* ended by NULL */
extern const char *const scenario_place_names[PLACES + 1];
extern const char *const scenario_kind_names[FAULT_BURST + 1];

#endif
