/*
 * probe_fixture - a prober and a reflector on the loopback of a network namespace of
 * the test process. Needs root; without, the tests skip.
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

	/* Times when the loop did not run: packets and stamps are real, so results
	 * that need a quick loop are valid only at other times. */
	struct probe_stall stalls[FIXTURE_MAX_STALLS];
	size_t stall_count;
	int64_t stalled_ns; /* in total */
	rm_mono_t look;     /* time of the next look */
};

/* cmocka's group set-up: enters a namespace of its own. */
int probe_fixture_enter(void **state);
bool probe_fixture_root(void);
/* The return value of main: 77 when all tests were skipped. */
int probe_fixture_main(int failed);

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

/* Creates a reflector on far that answers every prober on the loopback. */
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
/* The same, for conditions that need a quick host: continues after half a minute. */
void probe_fixture_run_if_quick(
    struct probe_fixture *fixture, bool (*done)(struct probe_fixture *fixture));
void probe_fixture_run_for(struct probe_fixture *fixture, int64_t ns);

/* True: the loop was not stalled between the two times. */
bool probe_fixture_ran(
    const struct probe_fixture *fixture, rm_mono_t from, rm_mono_t to);

/* True: the outcome of probe i is due to the product. False if the loop was stalled
 * for much of the probe's time. */
bool probe_fixture_judges(const struct probe_fixture *fixture, size_t i);
/* Every outcome that can be evaluated must be this one. */
void probe_fixture_expect(
    const struct probe_fixture *fixture, enum wire_outcome outcome);

size_t probe_fixture_outcomes(
    const struct probe_fixture *fixture, enum wire_outcome outcome);

#endif
