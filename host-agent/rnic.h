/*
 * rnic - one RNIC at work: looked up, and while it is there, probing and answering.
 *
 * An RNIC that is not there yet is waited for. One whose addresses or device change
 * gets new sockets and keeps its plan; one that goes away keeps its old sockets, whose
 * failing sends say so.
 */
#ifndef HOST_AGENT_RNIC_H
#define HOST_AGENT_RNIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/prober.h"
#include "rackmesh/base/clock.h"
#include "schemas/wire.h"

struct rnic;
struct pinglist_sum;
struct port_counts;
struct reflector;
struct reflector_counts;
struct rm_loop;
struct rm_worker;
struct rnic_facts;

struct rnic_options { /* strings are borrowed */
	const char *device;
	const char *netns;   /* NULL: our own */
	const char *address; /* NULL: any */
	const char *tors[WIRE_MAX_ATTACHMENTS];
	size_t tor_count;
	uint16_t udp_port;
	struct prober_options prober; /* random_seed is made anew each time */
};

enum rnic_event {
	RNIC_UP, /* sockets are open, perhaps anew: it needs targets and a roster */
	RNIC_CHANGED, /* an attribute only: to be registered again */
	RNIC_WAITS,   /* cannot be looked up or opened: reason says why */
};

struct rnic_callbacks {
	void (*on_result)(struct rnic *rnic, const struct wire_result *result,
	    rm_mono_t sent, void *arg);
	/* Each event when it begins, not at every look. */
	void (*on_event)(
	    struct rnic *rnic, enum rnic_event event, int reason, void *arg);
	/* The counters that metrics point at are about to go, or have come. */
	void (*on_counters)(struct rnic *rnic, bool there, void *arg);
};

int rnic_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct rnic_options *options, const struct rnic_callbacks *callbacks,
    void *arg, struct rnic **ret);
/* After the worker: a look may be on its way. */
void rnic_free(struct rnic *rnic);

/* Looks the RNIC up, on the worker; what has changed comes as events. */
void rnic_look(struct rnic *rnic);

/* Nothing happens while the RNIC is waited for; RNIC_UP asks for it again. */
int rnic_plan(struct rnic *rnic, const struct pinglist_sum *sum);
void rnic_focus(struct rnic *rnic, const struct wire_focus *focus);
void rnic_pause(struct rnic *rnic, bool paused);
/* At most so much of what the pinglist asks for; 0: no probe, as if paused. */
void rnic_brake(struct rnic *rnic, uint32_t permille);
/* New timeout or rate: the prober starts anew, the sockets stay. */
int rnic_retune(struct rnic *rnic, const struct prober_options *options);

const char *rnic_device(const struct rnic *rnic);
size_t rnic_tor_count(const struct rnic *rnic);
const char *rnic_tor(const struct rnic *rnic, size_t i);

bool rnic_up(const struct rnic *rnic);
/* What was last seen; NULL before the first sight. */
const struct rnic_facts *rnic_facts(const struct rnic *rnic);
/* For a registration; false while there is nothing to register. Borrows. */
bool rnic_describe(const struct rnic *rnic, struct wire_rnic *ret);
uint64_t rnic_self_loss(const struct rnic *rnic); /* of all its sockets so far */

/* NULL unless up. */
struct prober *rnic_prober(const struct rnic *rnic);
struct reflector *rnic_reflector(const struct rnic *rnic);
const struct port_counts *rnic_port_counts(const struct rnic *rnic);

#endif
