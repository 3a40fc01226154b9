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

#define COUNTERS_MAX_PORTS 192 /* RNICs, and the ports of those that are bonds */

struct counters_counts {
	uint64_t reads, failed; /* each of one RNIC; failed: no counter was found */
	uint64_t overdue;       /* not begun because the reading before had not ended */
	uint64_t numbers;       /* single numbers read */
	uint64_t wraps, resets;
	uint64_t took_ns, cpu_ns; /* sums over all readings */
	/* Each of one optical module. none: no module with readable light; refused:
	 * CAP_NET_ADMIN is missing; failed: for another reason. */
	uint64_t optics_reads, optics_none, optics_refused, optics_failed;
	/* Not begun because the reading before had not ended. */
	uint64_t optics_overdue;
	uint64_t optics_took_ns, optics_cpu_ns;
};

struct counters_port { /* of one RNIC, as read last */
	struct counter_port_place place;
	bool wanted;         /* it is in the present list */
	bool busy;           /* a reading is running */
	rm_mono_t begun;     /* of the running reading, or the last one */
	rm_mono_t at;        /* of the last finished reading; 0: none yet */
	int64_t interval_ns; /* since the one before; 0: there was none */
	/* The same for values that are read seldom. */
	rm_mono_t all_at;
	int64_t all_interval_ns;
	const bool *seldom; /* counter_values() of them: the value is read seldom */
	int error;          /* of the last reading: < 0 if no counter was found */
	struct counter_reading reading;
	/* Of the last reading of its module; 0: none yet, or none for so long that
	 * its values were dropped. */
	rm_mono_t optics_at;
	/* counter_values() of them; for a module's values the delta is the value of
	 * the reading before. */
	const struct counter_state *states;
	const struct qp_counters *apart; /* of each process; NULL: not read */
};

/* kernel: borrowed; of other namespaces counter_kernel_enter's is used. */
int counters_new(
    struct rm_loop *loop, const struct counter_kernel *kernel, struct counters **ret);
/* Waits at most two seconds for running readings. Returns how many have not ended by
 * then: each is left behind in its thread, and the memory that they write to is not
 * freed. NULL is allowed. */
size_t counters_free(struct counters *counters);

/* Sets whether the counters of the QPs of each process are read, too, from the next
 * reading on. */
void counters_read_apart(struct counters *counters, bool wanted);
/* Reads these RNICs, each once, and the ports of those that are bonds. Others that
 * were read before are not read any more. all: includes values that are read seldom;
 * if the last reading of an RNIC has not ended, then with its next one. */
void counters_read(struct counters *counters, const struct counter_port_place *places,
    size_t count, bool all, rm_mono_t now);

/* Reads the optical modules of all RNICs in the last counters_read: several at a
 * time, so that a module that hangs does not stop the others. The values of a module
 * are dropped when it has not answered in three turns. */
void counters_read_optics(struct counters *counters);

size_t counters_ports(const struct counters *counters);
const struct counters_port *counters_port(const struct counters *counters, size_t i);
const struct counters_counts *counters_counts(const struct counters *counters);

#endif
