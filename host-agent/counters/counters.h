/*
 * counters - the counters of all RNICs of this host, read at one pace in threads of
 * their own.
 *
 * A device whose driver hangs keeps one thread, and the others go on. What is shown is
 * the last reading of each, with its age. Optical modules, which are slow, are read
 * apart: no counter waits for them.
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
	uint64_t reads, failed; /* of one RNIC each; failed: nothing was there */
	uint64_t overdue;       /* not read, since the reading before had not ended */
	uint64_t numbers;       /* single numbers read */
	uint64_t wraps, resets;
	uint64_t took_ns, cpu_ns; /* of all reads */
	/* Of one optical module each. none: no module whose light can be read; refused:
	 * for want of CAP_NET_ADMIN; failed: for another reason. */
	uint64_t optics_reads, optics_none, optics_refused, optics_failed;
	uint64_t optics_overdue; /* not read, since the reading before had not ended */
	uint64_t optics_took_ns, optics_cpu_ns;
};

struct counters_port { /* of one RNIC, as last read */
	struct counter_port_place place;
	bool wanted;         /* still one of those to be read */
	bool busy;           /* a reading is on its way */
	rm_mono_t begun;     /* it, or the last one */
	rm_mono_t at;        /* of the last one that has ended; 0: none yet */
	int64_t interval_ns; /* since the one before; 0: there was none */
	/* The same of what is read seldom. */
	rm_mono_t all_at;
	int64_t all_interval_ns;
	const bool *seldom; /* counter_values() of them: it is one of those */
	int error;          /* of the last one: < 0 when nothing was there */
	struct counter_reading reading;
	/* Of the last reading of its module; 0: none yet, or none for so long that what
	 * it said is forgotten. */
	rm_mono_t optics_at;
	/* counter_values() of them; of what a module says the delta is what it said the
	 * time before. */
	const struct counter_state *states;
	const struct qp_counters *apart; /* of each process; NULL: not read */
};

/* kernel: borrowed; of other namespaces counter_kernel_enter's is used. */
int counters_new(
    struct rm_loop *loop, const struct counter_kernel *kernel, struct counters **ret);
/* Waits two seconds at most for readings that are on their way. Returns how many have
 * not ended by then: each is left behind in its thread, and what they all read into is
 * not freed. NULL is fine. */
size_t counters_free(struct counters *counters);

/* Whether what the QPs of each process have counted is read, too: from the next reading
 * on. */
void counters_read_apart(struct counters *counters, bool wanted);
/* Reads these RNICs, each once, and the ports of those that are bonds. Others that were
 * read before are not wanted any more. all: what is read seldom, too; of one whose last
 * reading has not ended with the next one. */
void counters_read(struct counters *counters, const struct counter_port_place *places,
    size_t count, bool all, rm_mono_t now);

/* Reads the optical modules of all that the last counters_read wanted: several at a
 * time, so that one that hangs stops no others. What a module said is forgotten when it
 * has not answered in three turns. */
void counters_read_optics(struct counters *counters);

size_t counters_ports(const struct counters *counters);
const struct counters_port *counters_port(const struct counters *counters, size_t i);
const struct counters_counts *counters_counts(const struct counters *counters);

#endif
