/*
 * engine - one RNIC at work: looked up, and while it is there, probing and answering.
 *
 * An RNIC that is not there yet is waited for. One whose addresses or device change
 * gets new sockets and keeps its plan; one that goes away keeps its old sockets, whose
 * failing sends say so.
 */
#ifndef HOST_AGENT_ENGINE_H
#define HOST_AGENT_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/prober.h"
#include "rackmesh/base/clock.h"
#include "schemas/wire.h"

struct engine;
struct pinglist_sum;
struct port_counts;
struct reflector;
struct reflector_counts;
struct rm_loop;
struct rm_worker;
struct rnic_facts;

struct engine_options { /* strings are borrowed */
	const char *device;
	const char *netns;   /* NULL: our own */
	const char *address; /* NULL: any */
	const char *tors[WIRE_MAX_ATTACHMENTS];
	size_t tor_count;
	uint16_t udp_port;
	struct prober_options prober; /* random_seed is made anew each time */
};

enum engine_event {
	ENGINE_UP, /* sockets are open, perhaps anew: it needs targets and a roster */
	ENGINE_CHANGED, /* an attribute only: to be registered again */
	ENGINE_WAITS,   /* cannot be looked up or opened: reason says why */
};

struct engine_callbacks {
	void (*on_result)(struct engine *engine, const struct wire_result *result,
	    rm_mono_t sent, void *arg);
	/* Each event when it begins, not at every look. */
	void (*on_event)(
	    struct engine *engine, enum engine_event event, int reason, void *arg);
	/* The counters that metrics point at are about to go, or have come. */
	void (*on_counters)(struct engine *engine, bool there, void *arg);
};

int engine_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct engine_options *options, const struct engine_callbacks *callbacks,
    void *arg, struct engine **ret);
/* After the worker: a look may be on its way. */
void engine_free(struct engine *engine);

/* Looks the RNIC up, on the worker; what has changed comes as events. */
void engine_look(struct engine *engine);

/* Nothing happens while the RNIC is waited for; ENGINE_UP asks for it again. */
int engine_plan(struct engine *engine, const struct pinglist_sum *sum);
void engine_focus(struct engine *engine, const struct wire_focus *focus);
void engine_pause(struct engine *engine, bool paused);
/* New timeout or rate: the prober starts anew, the sockets stay. */
int engine_retune(struct engine *engine, const struct prober_options *options);

const char *engine_device(const struct engine *engine);
size_t engine_tor_count(const struct engine *engine);
const char *engine_tor(const struct engine *engine, size_t i);

bool engine_up(const struct engine *engine);
/* What was last seen; NULL before the first sight. */
const struct rnic_facts *engine_facts(const struct engine *engine);
/* For a registration; false while there is nothing to register. Borrows. */
bool engine_describe(const struct engine *engine, struct wire_rnic *ret);
uint64_t engine_self_loss(const struct engine *engine); /* of all its sockets so far */

/* NULL unless up. */
struct prober *engine_prober(const struct engine *engine);
struct reflector *engine_reflector(const struct engine *engine);
const struct port_counts *engine_port_counts(const struct engine *engine);

#endif
