/*
 * counters - the counters of all RNICs of this host, read at one interval in threads.
 *
 * A device whose driver hangs blocks one thread, and the others continue. The last
 * reading of each RNIC is shown, with its age. Optical modules, which are slow, are
 * read separately: no counter waits for them.
 */
#ifndef HOST_AGENT_COUNTERS_COUNTERS_H
#define HOST_AGENT_COUNTERS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/counters/counter_port.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/metrics/counter_delta.h"

struct counter_kernel;
struct counters;
struct qp_counters;
struct rm_loop;

#define COUNTERS_MAX_PORTS 192 /* RNICs, and the network devices of bonds */

struct counters_counts {
	/* reads: readings, each of one RNIC; failed: readings that found no counter */
	uint64_t reads, failed;
	/* readings that did not begin, because the RNIC's previous reading was still
	 * running */
	uint64_t overdue;
	uint64_t numbers; /* single numbers read */
	uint64_t wraps, resets;
	uint64_t took_ns, cpu_ns; /* sums over all readings */
	/* Readings of optical modules, one module each. none: there is no module whose
	 * light can be read; refused: CAP_NET_ADMIN is missing; failed: another error.
	 */
	uint64_t optics_reads, optics_none, optics_refused, optics_failed;
	/* Readings that did not begin, because the module's previous reading was still
	 * running. */
	uint64_t optics_overdue;
	uint64_t optics_took_ns, optics_cpu_ns;
};

struct counters_port { /* the last reading of one RNIC */
	struct counter_port_place place;
	bool wanted;         /* the RNIC is in the present list */
	bool busy;           /* a reading is running */
	rm_mono_t begun;     /* start of the running reading, or of the last one */
	rm_mono_t at;        /* end of the last reading; 0: none has ended yet */
	int64_t interval_ns; /* time since the reading before; 0: there was none */
	/* Like at and interval_ns, but only for readings that include the values that
	 * are read seldom. */
	rm_mono_t all_at;
	int64_t all_interval_ns;
	/* counter_values() entries; true: the value is read seldom */
	const bool *seldom;
	int error; /* error of the last reading: < 0 if no counter was found */
	struct counter_reading reading;
	/* Time of the last reading of its optical module; 0: there was none, or the
	 * module has not answered for so long that its values were dropped. */
	rm_mono_t optics_at;
	/* counter_values() entries */
	const struct counter_state *states;
	/* counters of each process; NULL: not read */
	const struct qp_counters *by_process;
};

/* kernel: borrowed; it is used in the agent's own namespace. In other namespaces
 * counter_kernel_enter provides it. */
int counters_new(
    struct rm_loop *loop, const struct counter_kernel *kernel, struct counters **ret);
/* Waits at most two seconds for running readings. Returns the number of readings that
 * are still running: their threads are left behind, and the memory that these use is
 * not freed. NULL is allowed. */
size_t counters_free(struct counters *counters);

/* Sets whether later readings include the QPs' counters of each process. */
void counters_read_by_process(struct counters *counters, bool wanted);
/* Begins a reading of each of these RNICs, and of the network devices of bonds. RNICs
 * that are not in places are not read any more. all: includes the values that are read
 * seldom; an RNIC whose previous reading is still running gets them with its next
 * reading. */
void counters_read(struct counters *counters, const struct counter_port_place *places,
    size_t count, bool all, rm_mono_t now);

/* Begins a reading of the optical modules of all RNICs in the last counters_read.
 * Several modules are read at a time, so that one that hangs does not stop the others.
 * A module that has not answered in three turns loses its values. */
void counters_read_optics(struct counters *counters);

size_t counters_ports(const struct counters *counters);
const struct counters_port *counters_port(const struct counters *counters, size_t i);
/* The RNIC at this place, if it is in the present list; else NULL. */
const struct counters_port *counters_find(
    const struct counters *counters, const struct counter_port_place *place);
/* Finds network device i of a bond. */
const struct counters_port *counters_lower(
    const struct counters *counters, const struct counters_port *bond, size_t i);
/* The bond that this network device belongs to; NULL: none. */
const struct counters_port *counters_bond_of(
    const struct counters *counters, const struct counters_port *lower);
const struct counters_counts *counters_counts(const struct counters *counters);

#endif
