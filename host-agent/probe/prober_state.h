/*
 * prober_state - what prober.c, prober_send.c and prober_reply.c share. Nobody else
 * includes it.
 */
#ifndef HOST_AGENT_PROBE_PROBER_STATE_H
#define HOST_AGENT_PROBE_PROBER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "host-agent/probe/ceiling.h"
#include "host-agent/probe/prober.h"
#include "host-agent/probe/prober_plan.h"

struct pending;
struct pending_probe;
struct port_arrival;
struct port_departure;
struct rm_timer;

struct prober {
	struct rm_loop *loop;
	struct rm_timer *timer;
	struct port *port;
	struct prober_plan plan;
	struct pending *pending;
	const struct key_ring *ring; /* NULL: no keys */
	size_t keyed_targets;
	struct prober_counts counts;
	struct ceiling ceiling;
	struct ceiling *host_ceiling; /* NULL: none */
	struct target_home home;
	prober_on_result *on_result;
	void *arg;
	int64_t timeout_ns;
	rm_mono_t armed;   /* when the timer should have fired */
	rm_mono_t stalled; /* until when we last did not run */
	rm_mono_t focus_ends;
	uint16_t ssid;
	bool paused;
	bool drain_cut; /* the last drain did not reach the end of the queues */
};

/* Concludes a probe and forgets it. forced: an outcome that needs no evidence. */
void prober_finish(struct prober *prober, struct pending_probe *probe, bool self_loss,
    enum wire_outcome forced);

/* ns until a ceiling lets one more packet leave. */
int64_t prober_ceiling_wait(const struct prober *prober, rm_mono_t now);

/* Sends what is due. True: a full burst went out, there may be more. */
bool prober_send_burst(struct prober *prober, rm_mono_t now);

/* The port's events; arg is the prober. */
void prober_on_arrivals(struct port_arrival *arrivals, size_t count, void *arg);
void prober_on_departures(
    const struct port_departure *departures, size_t count, void *arg);

#endif
