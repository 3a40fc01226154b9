/*
 * rnic - one RNIC: finds its device and, while the device exists, sends probes and
 * answers those of others.
 *
 * The agent waits for a missing RNIC. When its addresses or device change, it gets new
 * sockets or QPs and keeps its plan. A network device that disappears keeps its old
 * sockets, whose sends fail; an RDMA device that disappears is closed and stays
 * registered, with its link down. While a link is down no probe is sent.
 */
#ifndef HOST_AGENT_RNIC_RNIC_H
#define HOST_AGENT_RNIC_RNIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/probe/port.h"
#include "host-agent/probe/prober.h"
#include "host-agent/rnic/rnic_facts.h"
#include "host-agent/rnic/tor_choice.h"
#include "host-agent/verbs/port_verbs.h"
#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct rnic;
struct key_ring;
struct priority_pool;
struct pinglist_sum;
struct reflector;
struct rm_loop;
struct rm_worker;
struct verbs_calls;

/* The strings are borrowed, but place.device and the ToRs are copied. */
struct rnic_options {
	struct rnic_place place;
	/* the ToRs that the source tor_source names */
	const char *tors[WIRE_MAX_ATTACHMENTS];
	size_t tor_count;
	enum tor_source tor_source;
	uint64_t aggregators; /* aggregators of these ToRs, for rnic_aggregators */
	uint16_t udp_port;
	/* this member and the next three are only for RoCE: see port_verbs_options */
	size_t flow_qps;
	bool software_stamps;
	const struct verbs_calls *calls;
	struct priority_pool *pool;
	const struct key_ring
	    *keys; /* must outlive the RNIC; NULL: the RNIC cannot authenticate */
	/* random_seed is replaced each time the RNIC opens */
	struct prober_options prober;
};

enum rnic_event {
	/* Sockets or QPs were opened, for the first time or again: set targets and
	   roster, and register the RNIC. */
	RNIC_UP,
	RNIC_CHANGED,   /* an attribute changed: register it again */
	RNIC_LINK_DOWN, /* register it again */
	RNIC_LINK_UP,   /* register it again */
	/* the RNIC was not found, or could not be opened, for this reason */
	RNIC_WAITS,
};

/* Whether another RNIC of this agent has the same identity. */
enum rnic_identity {
	RNIC_ID_FREE,
	RNIC_ID_SHARED, /* another device has the same GUID or MAC */
	RNIC_ID_TWICE,  /* the same device is configured twice, by two names */
};

struct rnic_callbacks {
	void (*on_result)(struct rnic *rnic, const struct wire_result *result,
	    rm_mono_t sent, void *arg);
	/* Called when a state begins, not at every examination. reason: only for
	 * RNIC_WAITS. */
	void (*on_event)(
	    struct rnic *rnic, enum rnic_event event, int reason, void *arg);
	/* `there` false: the counters of port, prober and reflector, to which metrics
	 * point, will be freed; true: they were created. */
	void (*on_counters)(struct rnic *rnic, bool there, void *arg);
	/* Called before the RNIC opens with the identity in facts. RNIC_ID_SHARED: the
	 * RNIC uses another identity from then on. RNIC_ID_TWICE: the RNIC waits, with
	 * -EEXIST. NULL: every identity is free. */
	enum rnic_identity (*identity)(
	    const struct rnic *rnic, const struct rnic_facts *facts, void *arg);
};

int rnic_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct rnic_options *options, const struct rnic_callbacks *callbacks,
    void *arg, struct rnic **ret);
/* Free the worker first, as its jobs use the RNIC. NULL is allowed. */
void rnic_free(struct rnic *rnic);

/* Begins an examination of the device on the worker; changes are reported as events. */
void rnic_look(struct rnic *rnic);

/* Sets targets and roster. Does nothing while the RNIC is missing: the owner sets them
 * again at RNIC_UP. */
int rnic_plan(struct rnic *rnic, const struct pinglist_sum *sum);
void rnic_focus(struct rnic *rnic, const struct wire_focus *focus);
void rnic_pause(struct rnic *rnic, bool paused);
/* Limits the rate to this share of the pinglist's, in permille; 0: no probes are sent,
 * as if paused. */
void rnic_brake(struct rnic *rnic, uint32_t permille);
/* Applies a new time-out or rate: the prober is created anew, and the sockets stay
 * open. */
int rnic_retune(struct rnic *rnic, const struct prober_options *options);

/* Returns when the last examination began (ns 0: never), and the CPU time of one
 * examination in ns, without the searches of the index, which have a budget of their
 * own. */
rm_mono_t rnic_looked(const struct rnic *rnic);
int64_t rnic_look_cpu_ns(const struct rnic *rnic);

/* Returns the device as configured, with ":port" if the port is not 1: this text is
 * unique in this agent. */
const char *rnic_device(const struct rnic *rnic);
const struct rnic_place *rnic_place(const struct rnic *rnic);
size_t rnic_tor_count(const struct rnic *rnic);
const char *rnic_tor(const struct rnic *rnic, size_t i);
/* Reports the ToRs that a source names. True: the RNIC has other ToRs now, so it must
 * be registered again and needs the plans of these ToRs. */
bool rnic_report_tors(struct rnic *rnic, enum tor_source source,
    const struct tor_set *set, rm_mono_t now);
const struct tor_choice *rnic_tors(const struct rnic *rnic);
/* Returns the bits that the owner has set: bit k is set if the owner's aggregator k
 * serves a ToR of this RNIC. */
uint64_t rnic_aggregators(const struct rnic *rnic);
void rnic_set_aggregators(struct rnic *rnic, uint64_t aggregators);

bool rnic_up(const struct rnic *rnic);
/* While the RNIC is missing: returns the reason and what to do, as text. */
const char *rnic_waits_error(const struct rnic *rnic);
/* The facts of the last examination; NULL before the first one. */
const struct rnic_facts *rnic_facts(const struct rnic *rnic);
enum wire_link rnic_link(const struct rnic *rnic);
/* False: no QP is open; else *ret is the state of the QPs. */
bool rnic_verbs(const struct rnic *rnic, struct port_verbs_facts *ret);
/* While the RNIC is up: return the clock of the stamps, and what determines the flows.
 */
enum wire_stamp_source rnic_stamps(const struct rnic *rnic);
enum port_flows rnic_flows(const struct rnic *rnic);
/* Fills in a registration, which borrows from the RNIC. False: there is nothing to
 * register yet. */
bool rnic_describe(const struct rnic *rnic, struct wire_rnic *ret);
uint64_t rnic_self_loss(
    const struct rnic *rnic); /* Returns the number of packets that all sockets of the
				 RNIC so far have dropped. */

/* All three functions return NULL while the RNIC is not up. */
struct prober *rnic_prober(const struct rnic *rnic);
struct reflector *rnic_reflector(const struct rnic *rnic);
const struct port_counts *rnic_port_counts(const struct rnic *rnic);

#endif
