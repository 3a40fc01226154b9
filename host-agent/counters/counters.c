#include "host-agent/counters/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/verbs/lanes.h"

/* A driver that took longer than this may hold one thread from then on. */
#define SLOW_NS (200 * RM_NS_PER_MS)

struct port {
	struct lane_job job; /* the first: they are cast */
	struct counters *counters;
	struct counters_port shown;
	struct counter_state *states;

	/* The thread's while busy. */
	struct counter_port *reader;
	struct counter_port_place place;
	struct counter_reading reading;
	struct counter_sample *samples;
};

struct counters {
	const struct counter_kernel *kernel;
	struct lanes *lanes;
	struct port *ports[COUNTERS_MAX_PORTS];
	size_t count;
	struct counters_counts counts;
};

int
counters_new(
    struct rm_loop *loop, const struct counter_kernel *kernel, struct counters **ret)
{
	struct counters *counters = calloc(1, sizeof(*counters));
	int r;

	if (counters == NULL)
		return -ENOMEM;
	counters->kernel = kernel;
	r = lanes_new(loop, LANES_MIN, &counters->lanes);
	if (r < 0) {
		free(counters);
		return r;
	}
	*ret = counters;
	return 0;
}

static void
port_free(struct port *port)
{
	if (port == NULL)
		return;
	counter_port_free(port->reader);
	free(port->samples);
	free(port->states);
	free(port);
}

void
counters_free(struct counters *counters)
{
	if (counters == NULL)
		return;
	lanes_free(counters->lanes); /* ends what the threads have of the ports */
	for (size_t i = 0; i < counters->count; i++)
		port_free(counters->ports[i]);
	free(counters);
}

static int
port_run(struct lane_job *job)
{
	struct port *port = (struct port *)job;

	return counter_port_read(
	    port->reader, &port->place, rm_mono_now(), port->samples, &port->reading);
}

static void
take(struct port *port)
{
	const enum counter_driver driver = counter_driver_of(port->place.driver);
	struct counters_counts *counts = &port->counters->counts;
	size_t at = 0;

	for (const struct counter_row *row = counter_rows; row->name != NULL; row++) {
		const unsigned width = counter_width(row, driver);

		for (size_t i = 0; i < counter_row_values(row); i++, at++) {
			enum counter_change change =
			    counter_take(&port->states[at], &port->samples[at],
				row->width == 0 ? 0 : width, port->reading.same_device);

			counts->wraps += change == COUNTER_WRAPPED;
			counts->resets += change == COUNTER_RESET;
		}
	}
}

static void
port_done(struct lane_job *job, int r)
{
	struct port *port = (struct port *)job;
	struct counters_counts *counts = &port->counters->counts;
	struct counters_port *shown = &port->shown;

	shown->busy = false;
	if (r == -ECANCELED)
		return;
	counts->reads++;
	counts->failed += r < 0;
	counts->numbers += port->reading.parts;
	counts->took_ns += (uint64_t)port->reading.took_ns;
	counts->cpu_ns += (uint64_t)port->reading.cpu_ns;
	take(port);
	shown->interval_ns =
	    shown->at.ns == 0 ? 0 : rm_mono_since(shown->begun, shown->at);
	shown->at = shown->begun;
	shown->error = r;
	shown->place = port->place;
	shown->reading = port->reading;
}

static int
add_port(struct counters *counters)
{
	struct port *port = calloc(1, sizeof(*port));
	int r = -ENOMEM;

	if (port == NULL)
		return -ENOMEM;
	*port = (struct port){ .job = { .run = port_run, .done = port_done },
		.counters = counters };
	port->states = calloc(counter_values(), sizeof(*port->states));
	port->samples = calloc(counter_values(), sizeof(*port->samples));
	if (port->states != NULL && port->samples != NULL)
		r = counter_port_new(counters->kernel, &port->reader);
	if (r < 0) {
		port_free(port);
		return r;
	}
	port->shown.states = port->states;
	counters->ports[counters->count++] = port;
	return 0;
}

static bool
is_taken(const struct counter_port_place *places, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (places[k].port == places[i].port &&
		    strcmp(places[k].rdma_device, places[i].rdma_device) == 0 &&
		    strcmp(places[k].netdev, places[i].netdev) == 0)
			return true;
	return false;
}

void
counters_read(struct counters *counters, const struct counter_port_place *places,
    size_t count, rm_mono_t now)
{
	for (size_t i = 0; i < count && i < COUNTERS_MAX_PORTS; i++) {
		struct port *port;

		if (i == counters->count && add_port(counters) < 0)
			return; /* again at the next turn */
		port = counters->ports[i];
		if (port->shown.busy) {
			counters->counts.overdue++;
			continue;
		}
		if (is_taken(places, i) ||
		    (places[i].rdma_device[0] == '\0' && places[i].netdev[0] == '\0'))
			continue;
		port->place = places[i];
		port->shown.begun = now;
		port->shown.busy =
		    lanes_submit(counters->lanes, &port->job,
			port->reading.took_ns > SLOW_NS ? LANE_RETRY : LANE_SURE) == 0;
	}
}

size_t
counters_ports(const struct counters *counters)
{
	return counters->count;
}

const struct counters_port *
counters_port(const struct counters *counters, size_t i)
{
	return &counters->ports[i]->shown;
}

const struct counters_counts *
counters_counts(const struct counters *counters)
{
	return &counters->counts;
}
