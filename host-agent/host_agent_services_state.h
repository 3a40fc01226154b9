/*
 * host_agent_services_state - what host_agent_services.c (the clock of it),
 * host_agent_services_jobs.c (what blocks) and host_agent_services_targets.c (what
 * comes of it) share. For them only.
 */
#ifndef HOST_AGENT_HOST_AGENT_SERVICES_STATE_H
#define HOST_AGENT_HOST_AGENT_SERVICES_STATE_H

#include <stdbool.h>

#include "host-agent/host_agent_services.h"
#include "host-agent/host_agent_state.h"
#include "host-agent/services/process_name.h"
#include "host-agent/services/qp_list.h"

#define NAMES_PER_JOB 32

struct name_job {
	struct {
		uint32_t pid;
		uint64_t cgroup_id;
		struct process_name name;
	} items[NAMES_PER_JOB];
	size_t count;
	bool busy;
};

struct list_job {
	struct qp_list list;
	rm_mono_t asked;
	rm_mono_t rest; /* until then no other is made */
	bool busy;
	bool wanted; /* once more, as soon as may be */
};

struct agent_services {
	struct host_agent *agent;
	struct services *services;
	struct qp_tracer *hooks; /* NULL until there is an RNIC to follow */
	struct rm_timer *turn;
	bool soon; /* the timer is armed for news */
	rm_mono_t turned;
	int64_t turn_ns; /* the last one took */

	struct name_job names;
	struct list_job list;
	rm_mono_t list_at; /* the next one, if nothing is wanted before */
	uint64_t dropped;  /* events, when the last list was asked for */

	struct wire_service_flow *flows; /* scratch, SERVICES_MAX_FLOWS each */
	struct wire_service_flow *served;
	struct wire_target *targets; /* scratch */
	uint16_t (*ports)[WIRE_MAX_FLOWS];
	bool news;        /* not told yet */
	uint64_t strange; /* a bit per uplink that knows nothing */
	rm_mono_t told;

	struct agent_services_counts counts;
};

#define AGENT_SERVICES_MAX_TARGETS 1024 /* of one RNIC */

void agent_services_name(struct agent_services *own);
void agent_services_list(struct agent_services *own, rm_mono_t now);
void agent_services_turn_soon(struct agent_services *own);
/* Reports, where there is something to tell. */
void agent_services_tell(struct agent_services *own, rm_mono_t now);

#endif
