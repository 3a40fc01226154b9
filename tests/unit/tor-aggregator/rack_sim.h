/*
 * rack_sim - a rack of RNICs that probe each other, with faults: results and receive
 * counts pass through the real window into the real judge.
 *
 * Time is simulated and random numbers are seeded, so a run repeats exactly.
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
/* A host's report is newer than the judged window by so much. */
#define SIM_REPORT_AHEAD_NS (700 * RM_NS_PER_MS)

enum sim_fault_kind {
	SIM_RNIC_BOTH,
	SIM_RNIC_SEND,
	SIM_RNIC_RECEIVE,
	SIM_RNIC_LINK_DOWN,      /* its own host cannot send either */
	SIM_RNIC_LOSSY,          /* loses 40 % in each direction */
	SIM_RNIC_LOSES_SENT,     /* loses `share` of what it sends */
	SIM_RNIC_LOSES_RECEIVED, /* loses `share` of what others send to it */
	SIM_RNIC_LOSES_BOTH,
	SIM_RNIC_MTU,         /* loses large packets in both directions */
	SIM_RNIC_MTU_RECEIVE, /* loses large packets sent to it */
	SIM_RNIC_MTU_SEND,
	SIM_RNIC_UNABLE,    /* its host cannot send probes, but its replies leave */
	SIM_RNIC_REFUSES,   /* drops others' probes; its own are answered */
	SIM_RNIC_LATE,      /* by 400 ms */
	SIM_RNIC_TOO_LATE,  /* replies are late by more than the time-out of probes */
	SIM_RNIC_PORT_DOWN, /* its host reports it and pauses; it does not reply */
	SIM_TOR,
	SIM_TOR_LATE, /* replies are late by more than the time-out of probes */
	SIM_UPLINKS,
	SIM_REMOTE,       /* `index` is a remote RNIC */
	SIM_AGENT_KILLED, /* from here on `index` is a host */
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

/* False reports of agents; NULL if all report correctly. The callbacks get arg. */
struct sim_lies {
	/* Changes a result before it is reported. Returns how often it is reported. */
	unsigned (*on_result)(
	    void *arg, size_t src, size_t dst, bool remote, struct wire_result *result);
	uint64_t (*on_count)(void *arg, size_t src, size_t dst, uint64_t received);
	bool (*on_port)(void *arg, size_t member, bool down);
	/* Not a false report: the member drops the probe, and so does not count it. */
	bool (*refuses)(void *arg, size_t member, size_t prober);
	/* The member never probes the target. */
	bool (*shuns)(void *arg, size_t member, size_t target);
	void *arg;
};

struct sim_options {
	size_t members;
	size_t rnics_per_host;
	size_t witnesses;     /* remote RNICs that each member probes */
	bool uncounted;       /* there are no receive counts */
	unsigned large_every; /* one of so many probes to a target is large; 0: none */
	unsigned large_run;   /* large probes in a row; 0: one */
	int64_t interval_ns;  /* between two probes to one target; 0: 100 ms */
	bool focuses;         /* a target with a loss is probed faster */
	double loss;          /* background loss, in each direction */
	unsigned count_noise; /* packets by which a report may be too high or too low */
	uint64_t seed;
	const struct sim_lies *lies; /* borrowed: must outlive the simulation */
};

struct sim;

int sim_new(const struct sim_options *options, struct sim **ret);
void sim_free(struct sim *sim);
void sim_add_fault(struct sim *sim, struct sim_fault fault);

/* Advances by one bin. *end_ns is the end of the judged window, relative to the start.
 * -EAGAIN: there is no window yet. Members are named "h<host>/r<RNIC of the host>". */
int sim_step(struct sim *sim, int64_t *end_ns, struct rack_judgement *ret);
const struct rack *sim_rack(const struct sim *sim);
uint64_t sim_probes(const struct sim *sim); /* number of results so far */
uint64_t sim_random(struct sim *sim);

#endif
