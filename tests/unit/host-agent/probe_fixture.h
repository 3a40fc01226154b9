/*
 * probe_fixture - a prober and a reflector on the loopback of a network namespace that
 * the test process has for itself. Needs root; without, the tests skip.
 */
#ifndef TESTS_UNIT_HOST_AGENT_PROBE_FIXTURE_H
#define TESTS_UNIT_HOST_AGENT_PROBE_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "host-agent/probe/port.h"
#include "host-agent/probe/prober.h"
#include "host-agent/reflector/reflector.h"

#define FIXTURE_MAX_RESULTS 16384
#define FIXTURE_REFLECTOR_PORT 18862
#define FIXTURE_TIMEOUT_NS (200 * RM_NS_PER_MS)
#define FIXTURE_MAX_STALLS 65536

struct probe_stall {
	rm_mono_t from, to;
};

struct probe_fixture {
	struct rm_loop *loop;
	struct port *near, *far; /* of the prober, of the reflector */
	struct prober *prober;
	struct reflector *reflector; /* NULL until asked for */
	struct wire_result results[FIXTURE_MAX_RESULTS];
	rm_mono_t sent[FIXTURE_MAX_RESULTS];
	size_t count;

	/* When the loop did not get its turn: the packets and the stamps are real, so
	 * what depends on it being quick is only true of when it was. */
	struct probe_stall stalls[FIXTURE_MAX_STALLS];
	size_t stall_count;
	int64_t stalled_ns; /* all in all */
	rm_mono_t look;     /* when it looks next */
};

/* cmocka's group set-up: leaves the host's network behind. */
int probe_fixture_enter(void **state);
bool probe_fixture_root(void);
int probe_fixture_main(int failed); /* what main returns: 77 when all was skipped */

/* A cmocka set-up and tear-down each. */
int probe_fixture_setup(void **state);
int probe_fixture_teardown(void **state);

/* Text of an address; port in host order. */
struct wire_address probe_fixture_address(const char *text, uint16_t port);

void probe_fixture_on_result(
    const struct wire_result *result, rm_mono_t sent, void *arg);

/* One more port on the fixture's loop; receive_bytes 0: as usual. */
struct port *probe_fixture_port(struct probe_fixture *fixture, const char *ipv4,
    const char *ipv6, uint16_t reflector_port, int receive_bytes);

/* A reflector on far that answers everybody on the loopback. */
void probe_fixture_reflect(struct probe_fixture *fixture);

/* The same at 127.0.0.3 in a process of its own, which the caller may stop and must
 * end. */
pid_t probe_fixture_reflect_apart(struct probe_fixture *fixture);
void probe_fixture_end_apart(pid_t pid);

/* Targets near -> address, one combination. */
struct wire_target probe_fixture_target(const char *address, uint32_t interval_us);

/* Runs the loop until done says so, or fails the test after a minute. */
void probe_fixture_run(
    struct probe_fixture *fixture, bool (*done)(struct probe_fixture *fixture));
/* The same, for what only a host that is quick enough can do: goes on after half a
 * minute. */
void probe_fixture_run_if_quick(
    struct probe_fixture *fixture, bool (*done)(struct probe_fixture *fixture));
void probe_fixture_run_for(struct probe_fixture *fixture, int64_t ns);

/* Did the loop have its turns from then to then? */
bool probe_fixture_ran(
    const struct probe_fixture *fixture, rm_mono_t from, rm_mono_t to);

/* Is it the product's doing what became of probe i? Not when the loop stood still for
 * much of the time that it had. */
bool probe_fixture_judges(const struct probe_fixture *fixture, size_t i);
/* What it should be is what it is, for all that can be judged. */
void probe_fixture_expect(
    const struct probe_fixture *fixture, enum wire_outcome outcome);

size_t probe_fixture_outcomes(
    const struct probe_fixture *fixture, enum wire_outcome outcome);

#endif
