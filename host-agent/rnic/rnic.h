/*
 * rnic - one RNIC: finds its device and, while it exists, sends probes and answers
 * them.
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

struct rnic_options { /* strings are borrowed, except place.device and ToRs, which are
			 copied */
	struct rnic_place place;
	const char *tors[WIRE_MAX_ATTACHMENTS]; /* from the source tor_source */
	size_t tor_count;
	enum tor_source tor_source;
	uint64_t aggregators; /* of these ToRs: only for rnic_aggregators */
	uint16_t udp_port;
	size_t flow_qps; /* the next four: only RoCE, as in port_verbs_options */
	bool software_stamps;
	const struct verbs_calls *calls;
	struct priority_pool *pool;
	const struct key_ring
	    *keys; /* outlives the RNIC; NULL: it cannot authenticate */
	struct prober_options prober; /* random_seed is chosen again each time */
};

enum rnic_event {
	/* Sockets or QPs were opened, perhaps again: it needs targets and a roster. */
	RNIC_UP,
	RNIC_CHANGED,   /* an attribute changed: register it again */
	RNIC_LINK_DOWN, /* register it again */
	RNIC_LINK_UP,   /* likewise */
	RNIC_WAITS,     /* it was not found or could not be opened: see reason */
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
	/* Called when the state begins, not at every examination. */
	void (*on_event)(
	    struct rnic *rnic, enum rnic_event event, int reason, void *arg);
	/* The counters that metrics point to will be freed (there: false), or were
	 * created (true). */
	void (*on_counters)(struct rnic *rnic, bool there, void *arg);
	/* Called before the RNIC opens with the identity in these facts. A shared
	 * identity is replaced by another one from then on; the second of two equal
	 * devices waits, with -EEXIST. NULL: every identity is free. */
	enum rnic_identity (*identity)(
	    const struct rnic *rnic, const struct rnic_facts *facts, void *arg);
};

int rnic_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct rnic_options *options, const struct rnic_callbacks *callbacks,
    void *arg, struct rnic **ret);
/* Free the worker first: a job may use the RNIC. */
void rnic_free(struct rnic *rnic);

/* Examines the RNIC, on the worker; changes are reported as events. */
void rnic_look(struct rnic *rnic);

/* Does nothing while the RNIC is missing; the owner sets it again at RNIC_UP. */
int rnic_plan(struct rnic *rnic, const struct pinglist_sum *sum);
void rnic_focus(struct rnic *rnic, const struct wire_focus *focus);
void rnic_pause(struct rnic *rnic, bool paused);
/* Limits the rate to this share of the pinglist's; 0: no probe, as if paused. */
void rnic_brake(struct rnic *rnic, uint32_t permille);
/* New time-out or rate: the prober starts anew, the sockets stay. */
int rnic_retune(struct rnic *rnic, const struct prober_options *options);

/* When the last examination began (0: never), and the CPU time of one, without
 * searches by the place's index, which have their own budget. */
rm_mono_t rnic_looked(const struct rnic *rnic);
int64_t rnic_look_cpu_ns(const struct rnic *rnic);

/* As configured, with ":port" where that is not 1: unique in this agent. */
const char *rnic_device(const struct rnic *rnic);
const struct rnic_place *rnic_place(const struct rnic *rnic);
size_t rnic_tor_count(const struct rnic *rnic);
const char *rnic_tor(const struct rnic *rnic, size_t i);
/* Sets the ToRs that a source names. True: rnic_tor has changed, so the RNIC must be
 * registered again and gets another plan. */
bool rnic_report_tors(struct rnic *rnic, enum tor_source source,
    const struct tor_set *set, rm_mono_t now);
const struct tor_choice *rnic_tors(const struct rnic *rnic);
/* As in its options: bit k is set if the owner's k-th aggregator serves one of its
 * ToRs. */
uint64_t rnic_aggregators(const struct rnic *rnic);
void rnic_set_aggregators(struct rnic *rnic, uint64_t aggregators);

bool rnic_up(const struct rnic *rnic);
/* While the RNIC is missing: the reason, as text. */
const char *rnic_waits_error(const struct rnic *rnic);
/* The facts of the last examination; NULL before the first one. */
const struct rnic_facts *rnic_facts(const struct rnic *rnic);
enum wire_link rnic_link(const struct rnic *rnic);
/* The state of its QPs; false while none is open. */
bool rnic_verbs(const struct rnic *rnic, struct port_verbs_facts *ret);
/* While it is up: which clock gives the stamps, and what makes its flows. */
enum wire_stamp_source rnic_stamps(const struct rnic *rnic);
enum port_flows rnic_flows(const struct rnic *rnic);
/* Fills a registration; false while there is nothing to register. The result borrows
 * from the RNIC. */
bool rnic_describe(const struct rnic *rnic, struct wire_rnic *ret);
uint64_t rnic_self_loss(const struct rnic *rnic); /* of all its sockets so far */

/* NULL unless up. */
struct prober *rnic_prober(const struct rnic *rnic);
struct reflector *rnic_reflector(const struct rnic *rnic);
const struct port_counts *rnic_port_counts(const struct rnic *rnic);

#endif
