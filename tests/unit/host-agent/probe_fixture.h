/*
 * probe_fixture - a prober and a reflector on loopback, in a network namespace of the
 * test process. Needs root; without it the tests are skipped.
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
	/* near: the port of the prober; far: the port of the reflector */
	struct port *near, *far;
	struct prober *prober;
	struct reflector *reflector; /* NULL until probe_fixture_reflect */
	struct wire_result results[FIXTURE_MAX_RESULTS];
	rm_mono_t sent[FIXTURE_MAX_RESULTS];
	size_t count;

	/* Times when the loop did not run. Packets and stamps are real, so a result
	 * that needs a quick loop is valid only outside of these times. */
	struct probe_stall stalls[FIXTURE_MAX_STALLS];
	size_t stall_count;
	int64_t stalled_ns; /* number of all stalls */
	rm_mono_t look;     /* time of the next check */
};

/* cmocka's group set-up: enters a new network namespace. */
int probe_fixture_enter(void **state);
bool probe_fixture_root(void);
/* Returns the exit status of main: 77 if all tests were skipped. */
int probe_fixture_main(int failed);

/* cmocka set-up and tear-down. */
int probe_fixture_setup(void **state);
int probe_fixture_teardown(void **state);

/* Parses an address; port is in host order. */
struct wire_address probe_fixture_address(const char *text, uint16_t port);

void probe_fixture_on_result(
    const struct wire_result *result, rm_mono_t sent, void *arg);

/* Adds a port to the fixture's loop. receive_bytes 0: the default. */
struct port *probe_fixture_port(struct probe_fixture *fixture, const char *ipv4,
    const char *ipv6, uint16_t reflector_port, int receive_bytes);

/* Creates a reflector on the port far that answers every prober on loopback. */
void probe_fixture_reflect(struct probe_fixture *fixture);

/* The same at 127.0.0.3, in a process of its own. The caller may stop it and must
 * kill it. */
pid_t probe_fixture_reflect_apart(struct probe_fixture *fixture);
void probe_fixture_end_apart(pid_t pid);

/* Returns a target from near to address with one flow, DSCP and size. */
struct wire_target probe_fixture_target(const char *address, uint32_t interval_us);

/* Runs the loop until done returns true; fails the test after a minute. */
void probe_fixture_run(
    struct probe_fixture *fixture, bool (*done)(struct probe_fixture *fixture));
/* The same for conditions that need a quick host: gives up without failure after 30
 * s. */
void probe_fixture_run_if_quick(
    struct probe_fixture *fixture, bool (*done)(struct probe_fixture *fixture));
void probe_fixture_run_for(struct probe_fixture *fixture, int64_t ns);

/* True: the loop did not stall between the two times. */
bool probe_fixture_ran(
    const struct probe_fixture *fixture, rm_mono_t from, rm_mono_t to);

/* True: the product determined the outcome of probe i. False: the loop was stalled
 * for much of the probe's time. */
bool probe_fixture_judges(const struct probe_fixture *fixture, size_t i);
/* Every outcome that can be evaluated must be equal to this one. */
void probe_fixture_expect(
    const struct probe_fixture *fixture, enum wire_outcome outcome);

size_t probe_fixture_outcomes(
    const struct probe_fixture *fixture, enum wire_outcome outcome);

#endif
