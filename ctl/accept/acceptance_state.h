/* The state of an acceptance, for the files of this folder. */
#ifndef CTL_ACCEPT_ACCEPTANCE_STATE_H
#define CTL_ACCEPT_ACCEPTANCE_STATE_H

#include <stdint.h>

#include "ctl/accept/acceptance.h"

#define MAX_HOSTS 1024
#define MAX_UPLINKS 256
#define MAX_INCIDENTS 64
#define STATE_BYTES 24

struct pair_counts;
struct rm_sketch;

struct accept_counts {
	uint64_t answered, lost;
};

struct accept_rnic {
	char name[ACCEPTANCE_NAME];
	char health[STATE_BYTES], link[STATE_BYTES], transport[STATE_BYTES];
	bool planned, registered;
	bool listed; /* the RNIC is in the last answer */
	/* number of looks, and of looks in which the RNIC's health was unknown */
	unsigned looks, unknown_looks;
	struct accept_counts out, in;
	struct accept_counts outside; /* probes to RNICs of other racks */
	bool to_blame;                /* the RNIC is lossy itself, or missing */
	bool is_lossy;
	uint64_t unsent; /* probes that the RNIC's host could not send */
	uint64_t other;  /* results that show nothing about the network */
	/* round-trip times of the RNIC's own probes; NULL: there are none yet */
	struct rm_sketch *rtt;
	/* results up to this time are counted, or are from before the burn-in */
	int64_t counted_to_ms;
	bool has_begun;      /* counted_to_ms is set */
	const char *verdict; /* "pass", or the reason why not; NULL: not judged yet */
};

struct accept_host {
	char name[72];
	/* `state`: state of the host at the last look in which it was not ok. `slowed`:
	 * the reason at the last look in which its probing was slowed */
	char state[STATE_BYTES], slowed[STATE_BYTES];
	unsigned looks, bad_looks, slowed_looks;
	/* looks in which the host was stalled: these do not count as bad */
	unsigned stalled_looks;
	bool connected, is_ok; /* state at the last look */
};

struct accept_uplink {
	char name[72];
	bool seen;     /* some path uses the uplink */
	bool expected; /* the topology has the link */
};

struct accept_incident {
	char id[40];
	char sentence[256];
};

struct acceptance {
	char tor[72];
	struct acceptance_limits limits;
	unsigned looks, unanswered;

	struct accept_rnic *rnics;
	size_t rnic_count, rnic_allocated;
	struct pair_counts *pairs;

	struct accept_host hosts[MAX_HOSTS];
	size_t host_count;
	struct accept_uplink uplinks[MAX_UPLINKS];
	size_t uplink_count;
	struct accept_incident incidents[MAX_INCIDENTS];
	size_t incident_count;
	json_t *refused; /* array of "host/device: sentence" */

	bool has_plan;     /* a controller has reported the rack */
	bool has_topology; /* a controller has reported the links of the rack */
	bool plan_is_held; /* an aggregator holds the newest plan */
	unsigned expected_rnics, expected_hosts; /* 0: not reported */
	uint64_t flows, traced;
	uint64_t excused; /* lost probes that do not count: see take_result */
	bool unjudged;    /* something could not be judged because of stalls */
};

/* Returns the index of the RNIC with this name, or SIZE_MAX. */
size_t acceptance_find(const struct acceptance *acceptance, const char *name);

/* True: the losses are more than chance, and more than the limit. */
bool acceptance_lossy(const struct acceptance *acceptance, uint64_t lost, uint64_t all);

/* Decides which RNICs are lossy themselves, and sets to_blame. */
void acceptance_blame(struct acceptance *acceptance);

#endif
