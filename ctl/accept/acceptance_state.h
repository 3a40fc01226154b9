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
	bool listed;                   /* in the last answer */
	unsigned looks, unknown_looks; /* its health was unknown in so many of them */
	struct accept_counts out, in;
	struct accept_counts outside; /* of out: to RNICs of other racks */
	bool to_blame;                /* it is lossy, or not there */
	bool is_lossy;
	uint64_t unsent;       /* its host could not send them */
	uint64_t other;        /* neither for nor against the network */
	struct rm_sketch *rtt; /* of its own probes; NULL: none yet */
	int64_t counted_to_ms; /* results up to then are counted, or before our time */
	bool has_begun;        /* that is set */
	const char *verdict;   /* "pass", or why not; NULL: not judged */
};

struct accept_host {
	char name[72];
	char state[STATE_BYTES],
	    slowed[STATE_BYTES]; /* the worst of late: what was not ok, last */
	unsigned looks, bad_looks, slowed_looks;
	unsigned stalled_looks; /* these are no bad looks */
	bool connected, is_ok;  /* at the last look */
};

struct accept_uplink {
	char name[72];
	bool seen;     /* a path goes there */
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
	json_t *refused; /* list of "host/device: sentence" */

	bool has_plan;     /* a controller has reported the rack */
	bool has_topology; /* ... and of its links */
	bool plan_is_held; /* by an aggregator, the newest */
	unsigned expected_rnics, expected_hosts; /* 0: not reported */
	uint64_t flows, traced;
	uint64_t excused; /* lost probes that are not counted: see take_result */
	bool unjudged;    /* stalls left something undecided */
};

/* The number of the RNIC of this name, or SIZE_MAX. */
size_t acceptance_find(const struct acceptance *acceptance, const char *name);

/* More than chance, and more than the mark? */
bool acceptance_lossy(const struct acceptance *acceptance, uint64_t lost, uint64_t all);

/* Decides for each RNIC whether it is lossy itself. */
void acceptance_blame(struct acceptance *acceptance);

#endif
