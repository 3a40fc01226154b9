/*
 * rack_sim - a rack of RNICs that probe each other, with faults on demand: results
 * and receive counts go through the real window into the real judge.
 *
 * Time is simulated, randomness is seeded: a run repeats exactly.
 */
#ifndef TESTS_RACK_SIM_H
#define TESTS_RACK_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"
#include "tor-aggregator/judge/rack_judge.h"
#include "tor-aggregator/window/rack_view.h"

#define SIM_MAX_MEMBERS 256
#define SIM_MAX_REMOTES 8
#define SIM_BIN_NS (250 * RM_NS_PER_MS)
/* A host's report is current, a judged window is older. */
#define SIM_REPORT_AHEAD_NS (700 * RM_NS_PER_MS)

enum sim_fault_kind {
	SIM_RNIC_BOTH,
	SIM_RNIC_SEND,
	SIM_RNIC_RECEIVE,
	SIM_RNIC_LINK_DOWN,      /* its own host cannot send through it */
	SIM_RNIC_LOSSY,          /* 40 % of what crosses it, each way */
	SIM_RNIC_LOSES_SENT,     /* `share` of what it sends */
	SIM_RNIC_LOSES_RECEIVED, /* `share` of what is sent to it */
	SIM_RNIC_LOSES_BOTH,
	SIM_RNIC_MTU,         /* large packets both ways */
	SIM_RNIC_MTU_RECEIVE, /* large ones that are sent to it */
	SIM_RNIC_MTU_SEND,
	SIM_RNIC_UNABLE,    /* its own host cannot send probes, its replies leave */
	SIM_RNIC_REFUSES,   /* takes no probe, and replies to its own */
	SIM_RNIC_LATE,      /* by 400 ms */
	SIM_RNIC_TOO_LATE,  /* by more than probes wait */
	SIM_RNIC_PORT_DOWN, /* and its host reports it, pauses, and does not answer */
	SIM_TOR,
	SIM_TOR_LATE, /* by more than probes wait */
	SIM_UPLINKS,
	SIM_REMOTE,       /* `index` is a remote RNIC */
	SIM_AGENT_KILLED, /* `index` is a host, from here on */
	SIM_AGENT_FROZEN,
	SIM_HOST_GONE,
	SIM_MANAGEMENT_DOWN,
};

struct sim_fault {
	enum sim_fault_kind kind;
	size_t index;
	int64_t from_ns, to_ns;
	double share;
};

/* False reports of agents; NULL if they report correctly. arg is passed on. */
struct sim_lies {
	/* A result as it would be reported: returns how many times it is. */
	unsigned (*on_result)(
	    void *arg, size_t src, size_t dst, bool remote, struct wire_result *result);
	uint64_t (*on_count)(void *arg, size_t src, size_t dst, uint64_t received);
	bool (*on_port)(void *arg, size_t member, bool down);
	/* Not a report but an action: it does not accept a probe, and so does not
	 * count it. */
	bool (*refuses)(void *arg, size_t member, size_t prober);
	bool (*shuns)(void *arg, size_t member, size_t target); /* never probes it */
	void *arg;
};

struct sim_options {
	size_t members;
	size_t rnics_per_host;
	size_t witnesses;     /* per member: remote RNICs that it probes */
	bool uncounted;       /* no receive counts at all */
	unsigned large_every; /* of a target's probes; 0: none is large */
	unsigned large_run;   /* so many large ones in a row; 0: one */
	int64_t interval_ns;  /* between two to one target; 0: 100 ms */
	bool focuses;         /* targets that have lost one are probed faster */
	double loss;          /* background, of each leg */
	unsigned count_noise; /* packets that a report may hold too many or too few */
	uint64_t seed;
	const struct sim_lies *lies; /* borrowed */
};

struct sim;

int sim_new(const struct sim_options *options, struct sim **ret);
void sim_free(struct sim *sim);
void sim_add_fault(struct sim *sim, struct sim_fault fault);

/* Advances one bin: *end_ns is the end of the judged window, from the start.
 * -EAGAIN: none yet. Members are called "h<host>/r<RNIC of the host>". */
int sim_step(struct sim *sim, int64_t *end_ns, struct rack_judgement *ret);
const struct rack *sim_rack(const struct sim *sim);
uint64_t sim_probes(const struct sim *sim); /* results so far */
uint64_t sim_random(struct sim *sim);

#endif
