#include "host-agent/counters/counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/counters/module_optics.h"
#include "host-agent/counters/qp_counters.h"
#include "host-agent/kernel/counter_kernel.h"
#include "host-agent/verbs/priority_pool.h"

/* A module whose reading took longer than this may hang, or its bus may, the next time.
 */
#define OPTICS_SLOW_NS (5 * RM_NS_PER_S)
/* threads that read modules; all slow modules share one of them */
#define OPTICS_LANES 4
/* A module that has not answered in this many turns has no valid values any more. */
#define OPTICS_MISSED 3

/* The longest wait when the process ends. A module may hang in its driver for a minute,
 * and so may every call that needs the same lock of the kernel. */
#define STOP_NS (2 * RM_NS_PER_S)

/* All ports whose reading took longer than this share one thread. */
#define SLOW_NS (200 * RM_NS_PER_MS)

struct by_process { /* counters of each process */
	struct qp_counters read, shown;
	uint8_t reply[QP_COUNTERS_REPLY_BYTES];
};

struct optics {              /* the reading of one port's module */
	struct lane_job job; /* must be the first member: pointers to it are cast */
	struct port *port;
	bool busy;
	unsigned turns; /* number of turns since the module answered last */

	/* The thread owns them while busy. */
	char netdev[16];
	struct module_optics read;
	rm_mono_t begun;
	int64_t took_ns, cpu_ns;
};

struct port {
	struct lane_job job; /* must be the first member: pointers to it are cast */
	struct counters *counters;
	struct counters_port shown;
	struct counter_state *states;
	bool *seldom;
	rm_mono_t asked; /* time of the last request for a reading */
	bool all_due;    /* the next reading includes the values that are read seldom */

	/* The thread owns them while busy. */
	struct counter_kernel kernel;
	char netns[sizeof("/run/netns/") + COUNTER_NETNS_BYTES]; /* its path */
	struct counter_port *reader;
	struct counter_port_place place;
	bool all;
	struct counter_reading reading;
	struct counter_sample *samples;
	struct by_process *by_process; /* NULL: disabled */

	struct optics optics;
};

struct counters {
	const struct counter_kernel *kernel;
	struct rm_loop *loop;
	struct priority_pool *pool;
	struct priority_pool *optics_lanes; /* NULL: no module was read yet */
	struct port *ports[COUNTERS_MAX_PORTS];
	size_t count;
	bool by_process;
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
	counters->loop = loop;
	r = priority_pool_new(loop, PRIORITY_POOL_MIN, &counters->pool);
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
	free(port->seldom);
	free(port->by_process);
	free(port);
}

size_t
counters_free(struct counters *counters)
{
	const rm_mono_t until = rm_mono_add(rm_mono_now(), STOP_NS);
	size_t left;

	if (counters == NULL)
		return 0;
	left = priority_pool_free_until(counters->optics_lanes, until);
	left += priority_pool_free_until(counters->pool, until);
	if (left > 0) /* threads that have not ended still use the ports and the calls
			 into the kernel */
		return left;
	for (size_t i = 0; i < counters->count; i++)
		port_free(counters->ports[i]);
	free(counters);
	return 0;
}

static int
port_run(struct lane_job *job)
{
	struct port *port = (struct port *)job;
	struct by_process *by_process = port->by_process;
	int r = counter_port_read(port->reader, &port->place, port->all, rm_mono_now(),
	    port->samples, &port->reading);

	if (by_process != NULL) /* the list is empty after a failure */
		(void)qp_counters_read(&by_process->read, &port->kernel,
		    port->place.rdma_device, port->place.port, by_process->reply);
	return r;
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
			enum counter_change change;

			port->seldom[at] = counter_port_is_seldom(port->reader, at);
			if (counter_row_is_optics(row) ||
			    (port->seldom[at] && !port->reading.all))
				continue;
			change = counter_take(&port->states[at], &port->samples[at],
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
	if (port->reading.all) {
		shown->all_interval_ns =
		    shown->all_at.ns == 0 ? 0
					  : rm_mono_since(shown->begun, shown->all_at);
		shown->all_at = shown->begun;
	}
	shown->error = r;
	shown->place = port->place;
	shown->reading = port->reading;
	if (port->by_process != NULL)
		port->by_process->shown = port->by_process->read;
	shown->by_process = port->by_process == NULL ? NULL : &port->by_process->shown;
}

/* ---- optical modules ---- */

static int
optics_run(struct lane_job *job)
{
	struct optics *optics = (struct optics *)job;
	const int64_t cpu_ns = rm_thread_cpu_ns();
	int r;

	optics->begun = rm_mono_now();
	r = module_optics_read(&optics->read, &optics->port->kernel, optics->netdev);
	optics->cpu_ns = rm_thread_cpu_ns() - cpu_ns;
	optics->took_ns = rm_mono_since(rm_mono_now(), optics->begun);
	return r;
}

/* Finds the value with the table's name for it. */
static struct counter_sample
optics_sample(
    const struct module_optics *read, const struct counter_row *row, unsigned lane)
{
	const char *source = row->source[COUNTER_ANY];
	struct counter_sample sample = { .source = 1 };
	struct counter_name name;
	int at = -ENOENT;

	if (counter_next_name(&source, lane, &name) >= 0)
		at = module_optics_find(name.name);
	if (at >= 0) {
		sample.there = read->there[at];
		sample.value = read->value[at];
	}
	return sample;
}

static void
take_optics(struct port *port, const struct module_optics *read)
{
	size_t at = 0;

	for (const struct counter_row *row = counter_rows; row->name != NULL; row++)
		for (unsigned i = 0; i < counter_row_values(row); i++, at++) {
			struct counter_state *state = &port->states[at];
			struct counter_sample sample;

			if (!counter_row_is_optics(row))
				continue;
			sample = optics_sample(read, row, i);
			(void)counter_take(state, &sample, 0, true);
		}
}

static void
optics_done(struct lane_job *job, int r)
{
	struct optics *optics = (struct optics *)job;
	struct port *port = optics->port;
	struct counters_counts *counts = &port->counters->counts;

	optics->busy = false;
	if (r == -ECANCELED)
		return;
	counts->optics_reads++;
	if (r == -EPERM || r == -EACCES)
		counts->optics_refused++;
	else if (r == -EOPNOTSUPP || r == -ENODATA)
		counts->optics_none++;
	else
		counts->optics_failed += r < 0;
	counts->optics_took_ns += (uint64_t)optics->took_ns;
	counts->optics_cpu_ns += (uint64_t)optics->cpu_ns;
	/* The port has got another network device since the reading began. */
	if (strcmp(optics->netdev, port->place.netdev) != 0)
		return;
	take_optics(port, &optics->read);
	port->shown.optics_at = optics->begun;
	optics->turns = 0;
}

/* Drops the last values of a module that hangs, or that will not be read any more. */
static void
forget_optics(struct port *port)
{
	const struct module_optics nothing = { 0 };

	take_optics(port, &nothing);
	port->shown.optics_at = (rm_mono_t){ 0 };
}

/* All modules whose reading took long share one thread. */
static enum lane_class
optics_class(const struct optics *optics)
{
	return optics->took_ns > OPTICS_SLOW_NS ? LANE_IDLE : LANE_NEW;
}

void
counters_read_optics(struct counters *counters)
{
	if (counters->optics_lanes == NULL &&
	    priority_pool_new(counters->loop, OPTICS_LANES, &counters->optics_lanes) <
		0)
		return;
	for (size_t i = 0; i < counters->count; i++) {
		struct port *port = counters->ports[i];
		struct optics *optics = &port->optics;

		if (port->shown.optics_at.ns != 0 && optics->turns++ == OPTICS_MISSED)
			forget_optics(port);
		if (!port->shown.wanted || port->place.netdev[0] == '\0')
			continue;
		if (optics->busy) {
			counters->counts.optics_overdue++;
			continue;
		}
		memcpy(optics->netdev, port->place.netdev, sizeof(optics->netdev));
		optics->busy = priority_pool_submit(counters->optics_lanes,
				   &optics->job, optics_class(optics)) == 0;
	}
}

static int
add_port(struct counters *counters)
{
	struct port *port = calloc(1, sizeof(*port));
	int r = -ENOMEM;

	if (port == NULL)
		return -ENOMEM;
	*port = (struct port){ .job = { .run = port_run, .done = port_done },
		.counters = counters,
		.optics = {
		    .job = { .run = optics_run, .done = optics_done }, .port = port } };
	port->states = calloc(counter_values(), sizeof(*port->states));
	port->samples = calloc(counter_values(), sizeof(*port->samples));
	port->seldom = calloc(counter_values(), sizeof(*port->seldom));
	if (port->states != NULL && port->samples != NULL && port->seldom != NULL)
		r = counter_port_new(&port->kernel, &port->reader);
	if (r < 0) {
		port_free(port);
		return r;
	}
	port->shown.states = port->states;
	port->shown.seldom = port->seldom;
	counters->ports[counters->count++] = port;
	return 0;
}

static bool
is_at(const struct port *port, const struct counter_port_place *place)
{
	const struct counter_port_place *own = &port->place;

	return own->port == place->port && strcmp(own->netns, place->netns) == 0 &&
	       strcmp(own->rdma_device, place->rdma_device) == 0 &&
	       strcmp(own->netdev, place->netdev) == 0;
}

/* Returns a port that is not read any more, reset for another RNIC; NULL: there is
 * none. */
static struct port *
reuse_port(struct counters *counters)
{
	for (size_t i = 0; i < counters->count; i++) {
		struct port *port = counters->ports[i];

		if (port->shown.wanted || port->shown.busy || port->optics.busy)
			continue;
		memset(port->states, 0, counter_values() * sizeof(*port->states));
		port->shown = (struct counters_port){ .states = port->states,
			.seldom = port->seldom };
		if (port->by_process != NULL)
			port->by_process->shown = (struct qp_counters){ 0 };
		return port;
	}
	return NULL;
}

static struct port *
port_of(struct counters *counters, const struct counter_port_place *place)
{
	for (size_t i = 0; i < counters->count; i++)
		if (is_at(counters->ports[i], place))
			return counters->ports[i];
	if (counters->count == COUNTERS_MAX_PORTS)
		return reuse_port(counters);
	return add_port(counters) < 0 ? NULL : counters->ports[counters->count - 1];
}

static void
want_by_process(struct port *port)
{
	const bool wanted =
	    port->counters->by_process && port->place.rdma_device[0] != '\0';

	if (wanted && port->by_process == NULL)
		port->by_process = calloc(1, sizeof(*port->by_process));
	if (wanted || port->by_process == NULL)
		return;
	port->shown.by_process = NULL;
	free(port->by_process);
	port->by_process = NULL;
}

/* Call it only while no reading uses the port's kernel. While the port's module is
 * being read, nothing is done: the place is the same then, and so is the kernel. */
static void
set_kernel(struct port *port)
{
	if (port->optics.busy)
		return;
	port->kernel = *port->counters->kernel;
	if (port->place.netns[0] == '\0')
		return;
	snprintf(port->netns, sizeof(port->netns), "/run/netns/%s", port->place.netns);
	counter_kernel_enter(port->netns, &port->kernel);
}

static void
read_place(struct counters *counters, const struct counter_port_place *place, bool all,
    rm_mono_t now)
{
	struct port *port;

	if (place->rdma_device[0] == '\0' && place->netdev[0] == '\0')
		return;
	port = port_of(counters, place);
	if (port == NULL || port->asked.ns == now.ns)
		return;
	port->asked = now;
	port->shown.wanted = true;
	port->all_due |= all;
	if (port->shown.busy) {
		counters->counts.overdue++;
		return;
	}
	port->place = *place;
	set_kernel(port);
	port->all = port->all_due;
	port->all_due = false;
	want_by_process(port);
	port->shown.begun = now;
	port->shown.busy =
	    priority_pool_submit(counters->pool, &port->job,
		port->reading.took_ns > SLOW_NS ? LANE_RETRY : LANE_SURE) == 0;
}

static struct counter_port_place
place_of_lower(const struct counters_port *bond, size_t i)
{
	struct counter_port_place place = { 0 };

	memcpy(place.netdev, bond->reading.lowers[i], sizeof(place.netdev));
	memcpy(place.driver, bond->place.driver, sizeof(place.driver));
	memcpy(place.netns, bond->place.netns, sizeof(place.netns));
	return place;
}

/* Reads the network devices of which a bond consists: they have the counters of the
 * cables. */
static void
read_lowers(struct counters *counters, const struct port *bond, bool all, rm_mono_t now)
{
	for (size_t i = 0; i < bond->shown.reading.lower_count; i++) {
		const struct counter_port_place place = place_of_lower(&bond->shown, i);

		read_place(counters, &place, all, now);
	}
}

void
counters_read(struct counters *counters, const struct counter_port_place *places,
    size_t count, bool all, rm_mono_t now)
{
	size_t known;

	for (size_t i = 0; i < count; i++)
		read_place(counters, &places[i], all, now);
	known = counters->count;
	for (size_t i = 0; i < known; i++)
		if (counters->ports[i]->asked.ns == now.ns)
			read_lowers(counters, counters->ports[i], all, now);
	for (size_t i = 0; i < counters->count; i++)
		counters->ports[i]->shown.wanted =
		    counters->ports[i]->asked.ns == now.ns;
}

void
counters_read_by_process(struct counters *counters, bool wanted)
{
	counters->by_process = wanted;
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

const struct counters_port *
counters_find(const struct counters *counters, const struct counter_port_place *place)
{
	for (size_t i = 0; i < counters->count; i++)
		if (counters->ports[i]->shown.wanted &&
		    is_at(counters->ports[i], place))
			return &counters->ports[i]->shown;
	return NULL;
}

const struct counters_port *
counters_lower(
    const struct counters *counters, const struct counters_port *bond, size_t i)
{
	const struct counter_port_place place = place_of_lower(bond, i);

	return counters_find(counters, &place);
}

const struct counters_port *
counters_bond_of(const struct counters *counters, const struct counters_port *lower)
{
	for (size_t p = 0; p < counters->count; p++) {
		const struct counters_port *bond = &counters->ports[p]->shown;

		for (size_t i = 0; bond->wanted && i < bond->reading.lower_count; i++)
			if (counters_lower(counters, bond, i) == lower)
				return bond;
	}
	return NULL;
}

const struct counters_counts *
counters_counts(const struct counters *counters)
{
	return &counters->counts;
}
