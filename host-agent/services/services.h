/*
 * services - the service flows that use this host's RNICs, and the choice of those to
 * probe.
 *
 * It is fed with events of QPs (qp_event.h) and lists of QPs (qp_list.h). QPs of one
 * process with the same addresses, source port and class are one flow. Flows on the
 * same path share probes. An RNIC probes at most max_probed paths at a time; the others
 * wait for their turn. The agent asks the aggregators for the RNIC of a peer, by the
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
/* paths of one RNIC at a time; the most that the config may set */
#define SERVICES_MAX_PROBED WIRE_MAX_FLOWS
/* source ports of an RNIC that cannot send from any port */
#define SERVICES_MAX_PORTS WIRE_MAX_FLOWS
#define SERVICES_MAX_PEERS (2 * SERVICES_MAX_FLOWS)

struct process_name;
struct qp_event;
struct qp_list;
struct services;

struct services_options {
	size_t max_probed; /* paths of one RNIC at a time */
	/* between two probes of one flow; for long intervals a pair of probes is
	 * sent */
	uint32_t interval_us;
	int64_t turn_ns; /* ns for which a path is probed while others wait */
	uint64_t random_seed;
	/* True: the agent has a pid namespace of its own, so it cannot look up the pids
	 * in events. It can look up those in lists. */
	bool pids_elsewhere;
};

/* Returns a number for the traced path of the flow to dst; 0: not known yet, or there
 * are several paths. */
typedef uint64_t services_path(
    size_t owner, struct wire_rnic_id dst, uint16_t src_port, void *arg);

int services_new(const struct services_options *options, struct services **ret);
void services_free(struct services *services); /* NULL is allowed */
void services_tune(struct services *services, const struct services_options *options);

struct services_rnic {
	struct wire_rnic_id id;
	const char *device; /* the RDMA device; all members are copied */
	uint32_t port;
	/* the RNIC sends its probes over RoCE; otherwise over UDP, to another port of
	 * the peer */
	bool verbs;
	const char *tors[WIRE_MAX_ATTACHMENTS];
	size_t tor_count;
	const struct wire_address *addresses; /* its own */
	size_t address_count;
	const uint16_t *ports; /* source ports that probes of this RNIC can have */
	size_t port_count;     /* 0: any source port */
	/* bytes of the largest probe that the RNIC sends; 0: it sends no large
	 * probes */
	uint32_t large_bytes;
};

/* owner: index of the RNIC, below SERVICES_MAX_RNICS. rnic NULL: removes the RNIC and
 * its flows. True: the RNIC is new, or has another device, so its QPs have to be
 * listed. */
bool services_set_rnic(
    struct services *services, size_t owner, const struct services_rnic *rnic);

/* Handles an event. -ENODEV: the device is no RNIC of this agent; -ENOSPC: a limit is
 * reached; -ENOMEM. Each of these errors is counted. */
int services_event(
    struct services *services, const struct qp_event *event, rm_mono_t now);
/* Handles a list of all QPs, which was requested at the time `asked`. QPs that are not
 * in the list are removed, unless the list is cut. True: another list is needed,
 * because QPs may have ended while this one was made. */
bool services_listed(struct services *services, const struct qp_list *list,
    rm_mono_t asked, rm_mono_t now);

struct services_process { /* a process to be named */
	uint32_t pid;
	/* the pid belongs to another namespace, so /proc does not show the process */
	bool elsewhere;
	uint64_t cgroup_id;
	const char *comm;
};

/* True: *ret is a process to be named by services_named. Each process is returned
 * once. */
bool services_next_process(struct services *services, struct services_process *ret);
void services_named(struct services *services, uint32_t pid, bool elsewhere,
    const struct process_name *name);

struct services_ask {
	uint64_t token;
	size_t owner; /* index of the RNIC of the first QP that needs the answer */
	bool join; /* the request contains the numbers of both QPs; else the address */
	struct wire_address address;
	uint32_t qpn, dst_qpn;
	uint8_t qp_type; /* enum wire_qp_type */
};

/* Fills in at most max requests that are due, and returns their number. A request
 * without an answer becomes due again. */
size_t services_asks(
    struct services *services, rm_mono_t now, struct services_ask *out, size_t max);
/* Handles an answer. rnic: copied; NULL: the peer was not found. */
void services_answer(struct services *services, uint64_t token,
    const struct wire_rnic *rnic, rm_mono_t now);

/* A probe to this RNIC was lost, perhaps because its QPs have changed. Requests the
 * RNIC again, soon; for RNICs that are in pinglists, the pinglists have the new
 * numbers. The number of such requests is limited, however many probes are lost. */
void services_lost(struct services *services, struct wire_rnic_id dst, rm_mono_t now);

/* True: something has changed since the last services_turn. */
bool services_news(const struct services *services);
/* Chooses again what to probe, to trace and to answer. Call it after a change, and each
 * second, because turns end and paths change. Returns a bit for each RNIC whose lists
 * have changed. */
uint64_t services_turn(
    struct services *services, services_path *path, void *arg, rm_mono_t now);
/* Fill in at most max targets, and return their number; these are valid until the next
 * services_turn. The traces include the flows that wait for a turn, with the source
 * ports that their probes would have. */
size_t services_probes(
    const struct services *services, size_t owner, struct wire_target *out, size_t max);
size_t services_traces(
    const struct services *services, size_t owner, struct wire_target *out, size_t max);

/* Returns the peers that an RNIC has to answer, because they have connections with it
 * and probe it from their side. Each address occurs once; guid 0: the RNIC of the
 * address is not known yet. */
size_t services_peers(
    const struct services *services, size_t owner, struct wire_peer *out, size_t max);

/* Fills in all flows, at most max, and returns their number; valid until the next
 * change. */
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

/* Name of the remaining users; it differs from all names of services, which have a
 * colon. */
#define SERVICES_OTHERS "other"

/*
 * The users with the most QPs, at most max; then, for each device with more connected
 * QPs, one row SERVICES_OTHERS: for users beyond max, or QPs for which there was no
 * room. So the rows of a device add up to all its QPs. QPs without a flow are counted,
 * too. out: has room for SERVICES_MAX_RNICS more. Valid until the next change.
 */
size_t services_users(
    const struct services *services, struct services_user *out, size_t max);

/* Returns the name of the process with this pid in the agent's own pid namespace; NULL:
 * it has no QP. Valid until the next change. */
const struct process_name *services_process(
    const struct services *services, uint32_t pid);

/* True: aggregators get the flow. A flow whose peer has no address yet would make the
 * whole report invalid; such a flow is counted as unresolved. */
bool services_is_reported(const struct wire_service_flow *flow);

struct services_counts {
	/* so far */
	uint64_t connected, destroyed;
	uint64_t older; /* QPs that only a list has shown */
	/* QPs that were missing in a list, without an event of their end */
	uint64_t missed;
	uint64_t unlisted; /* events of devices that are not RNICs of this agent */
	uint64_t local;    /* QPs between an RNIC and itself, which use no network */
	/* QPs for which there was no room, because of a limit or of memory */
	uint64_t refused;
	uint64_t asks, found, not_found;
	uint64_t unmatched;             /* answers that belong to no open request */
	uint64_t service_peers_refused; /* times that there was no room for a service's
					   peer */
	/* at present */
	uint64_t qps, flows; /* qps: QPs that have a flow */
	uint64_t unresolved; /* QPs whose peer is not known */
	uint64_t probed;     /* paths */
	uint64_t waiting;    /* flows whose path waits for its turn */
	uint64_t merged;     /* flows that share the probes of another flow */
	/* addresses that are answered because of service flows */
	uint64_t service_peers;
};

struct services_counts services_counts(const struct services *services);
/* The number of QPs of an RNIC, in the last list, whose peers the kernel does not show
 * at all. They count as unresolved, too. */
uint64_t services_unjoinable(const struct services *services, size_t owner);

#endif
