/*
 * services - the service flows that use this host's RNICs, and the choice of those to
 * probe.
 *
 * Gets events on QPs (qp_event.h) and lists of them (qp_list.h). QPs of one process
 * with the same addresses, source port and class are one flow. Flows on the same path
 * share probes. An RNIC probes at most max_probed paths at a time; the others wait for
 * their turn. The aggregators know the RNIC of a peer: the agent asks them by the
 * peer's address or, for a QP older than the agent, by the numbers of both QPs. Pure:
 * the caller sends requests, reads names, probes and traces.
 */
#ifndef HOST_AGENT_SERVICES_SERVICES_H
#define HOST_AGENT_SERVICES_SERVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define SERVICES_MAX_RNICS WIRE_MAX_HOST_RNICS
#define SERVICES_MAX_QPS 32768
#define SERVICES_MAX_FLOWS WIRE_MAX_SERVICES
#define SERVICES_MAX_PROBED WIRE_MAX_FLOWS /* of one RNIC; no config can raise it */
/* For one RNIC that has only some source ports. */
#define SERVICES_MAX_PORTS WIRE_MAX_FLOWS
#define SERVICES_MAX_PEERS (2 * SERVICES_MAX_FLOWS)

struct process_name;
struct qp_event;
struct qp_list;
struct services;

struct services_options {
	size_t max_probed;    /* paths of one RNIC at a time */
	uint32_t interval_us; /* between two probes (pairs, if long) of one flow */
	int64_t turn_ns;      /* time that a path is probed while others wait */
	uint64_t random_seed;
	/* The agent is in its own pid namespace: pids in events do not belong to it
	 * (those in lists do). */
	bool pids_elsewhere;
};

/* Number of the traced path of a flow to dst; 0: not known (yet), or more than one
 * path. */
typedef uint64_t services_path(
    size_t owner, struct wire_rnic_id dst, uint16_t src_port, void *arg);

int services_new(const struct services_options *options, struct services **ret);
void services_free(struct services *services); /* NULL is allowed */
void services_tune(struct services *services, const struct services_options *options);

struct services_rnic {
	struct wire_rnic_id id;
	const char *device; /* the RDMA device; all members are copied */
	uint32_t port;
	bool verbs; /* its probes are RoCE; else UDP, to other ports of the peer */
	const char *tors[WIRE_MAX_ATTACHMENTS];
	size_t tor_count;
	const struct wire_address *addresses; /* its own */
	size_t address_count;
	const uint16_t *ports; /* source ports that its probes can have */
	size_t port_count;     /* 0: any */
	uint32_t large_bytes;  /* of the largest probe it sends; 0: no large ones */
};

/* owner: below SERVICES_MAX_RNICS. rnic NULL: the RNIC and its flows are gone. True:
 * the RNIC is new, or has another device: its QPs have to be listed. */
bool services_set_rnic(
    struct services *services, size_t owner, const struct services_rnic *rnic);

/* -ENODEV: of no RNIC of this agent; -ENOSPC: beyond a limit; -ENOMEM. All are
 * counted. */
int services_event(
    struct services *services, const struct qp_event *event, rm_mono_t now);
/* A list of all QPs at that time: QPs not in it are gone, unless the list is cut.
 * True: another list is needed, since some QPs may have ended meanwhile. */
bool services_listed(struct services *services, const struct qp_list *list,
    rm_mono_t asked, rm_mono_t now);

struct services_process { /* a process to be named */
	uint32_t pid;
	bool elsewhere; /* the pid is of another namespace: /proc does not show the
			   process */
	uint64_t cgroup_id;
	const char *comm;
};

/* True: the process to name next. Each is returned once. */
bool services_next_process(struct services *services, struct services_process *ret);
void services_named(struct services *services, uint32_t pid, bool elsewhere,
    const struct process_name *name);

struct services_ask {
	uint64_t token;
	size_t owner; /* the RNIC of the first QP that needs it */
	bool join;    /* ask by QP numbers, else by address */
	struct wire_address address;
	uint32_t qpn, dst_qpn;
	uint8_t qp_type; /* enum wire_qp_type */
};

/* The requests to send now, at most max. Requests without an answer are returned
 * again. */
size_t services_asks(
    struct services *services, rm_mono_t now, struct services_ask *out, size_t max);
/* rnic: NULL if it was not found; copied. */
void services_answer(struct services *services, uint64_t token,
    const struct wire_rnic *rnic, rm_mono_t now);

/* A probe to this RNIC was lost: perhaps its QPs have changed. For RNICs in plans
 * the new numbers come with the plans; for others a request is sent again. The cost
 * is low, however many probes are lost. */
void services_lost(struct services *services, struct wire_rnic_id dst, rm_mono_t now);

/* True: something has changed since the last services_turn. */
bool services_news(const struct services *services);
/* Chooses again what to probe, trace and answer: call it after a change, and every
 * second because of turns and paths. Returns a bit per RNIC whose lists changed. */
uint64_t services_turn(
    struct services *services, services_path *path, void *arg, rm_mono_t now);
/* Both are valid until the next services_turn. Traces include flows that wait, with
 * the ports that their probes would have. Returns the number. */
size_t services_probes(
    const struct services *services, size_t owner, struct wire_target *out, size_t max);
size_t services_traces(
    const struct services *services, size_t owner, struct wire_target *out, size_t max);

/* The peers that an RNIC has to answer, because they have connections with it and
 * probe it from their side. Each address occurs once; no guid: not known yet. */
size_t services_peers(
    const struct services *services, size_t owner, struct wire_peer *out, size_t max);

/* All flows, at most max; valid until the next change. */
size_t services_flows(
    const struct services *services, struct wire_service_flow *out, size_t max);

/* A user of an RDMA device's QPs: processes with the same service and command are
 * one user. */
struct services_user {
	const char *device;
	uint32_t port;
	const char *service, *comm;
	uint64_t qps;
};

/* Differs from all names of services: those have a colon. */
#define SERVICES_OTHERS "other"

/*
 * The users with the most QPs, at most max; then, for each device with more connected
 * QPs, one row SERVICES_OTHERS: for users beyond max, or QPs for which there was no
 * room. So the rows of a device add up to all its QPs. QPs without a flow are counted,
 * too. out: has room for SERVICES_MAX_RNICS more. Valid until the next change.
 */
size_t services_users(
    const struct services *services, struct services_user *out, size_t max);

/* The name of the process with this pid in the agent's own pid namespace; NULL: it
 * has no QP. Valid until the next change. */
const struct process_name *services_process(
    const struct services *services, uint32_t pid);

/* True: the flow is reported to aggregators. Only flows whose peer has an address
 * are; the others are counted as unresolved, because one of them would make the
 * whole report invalid. */
bool services_is_reported(const struct wire_service_flow *flow);

struct services_counts {
	/* so far */
	uint64_t connected, destroyed;
	uint64_t older;    /* found by listing */
	uint64_t missed;   /* missing in a list, although no event of their end came */
	uint64_t unlisted; /* of devices that are no RNIC of this agent */
	uint64_t local;    /* from an RNIC to itself: no network is involved */
	uint64_t refused;  /* beyond a limit, or out of memory */
	uint64_t asks, found, not_found;
	uint64_t unmatched;             /* answers to no request that is open */
	uint64_t service_peers_refused; /* times that there was no room for a service's
					   peer */
	/* now */
	uint64_t qps, flows;    /* qps: those that have a flow */
	uint64_t unresolved;    /* QPs whose peer is not known */
	uint64_t probed;        /* ways */
	uint64_t waiting;       /* flows whose path waits for its turn */
	uint64_t merged;        /* flows that share another's probes */
	uint64_t service_peers; /* addresses that are answered because of flows */
};

struct services_counts services_counts(const struct services *services);
/* QPs of an RNIC in the last list for which the kernel returns no peer at all;
 * included in unresolved. */
uint64_t services_unjoinable(const struct services *services, size_t owner);

#endif
