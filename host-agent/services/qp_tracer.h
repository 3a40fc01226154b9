/*
 * qp_tracer - gets events from the kernel when a QP is connected to a peer or
 * destroyed.
 *
 * Starts on the worker; if something is missing, the agent runs without it and reports
 * what is missing. The module ib_core may be loaded later: the tracer looks for it
 * again. It does not delay probing: each turn of the loop takes a bounded number of
 * events.
 */
#ifndef HOST_AGENT_SERVICES_QP_TRACER_H
#define HOST_AGENT_SERVICES_QP_TRACER_H

#include <stdbool.h>
#include <stdint.h>

#include "host-agent/services/qp_hooks.h"

struct qp_event;
struct qp_tracer;
struct rm_loop;
struct rm_worker;

struct qp_tracer_options {
	enum qp_hooks_method method;
	const char *root; /* before /proc and /sys, in tests; NULL or "": none */
};

struct qp_tracer_callbacks {
	void (*on_event)(const struct qp_event *event, void *arg);
	/* Called when events begin to come, and older QPs have to be listed; or when
	 * tracing failed. */
	void (*on_state)(void *arg);
};

struct qp_tracer_counts {
	uint64_t events;
	uint64_t dropped;   /* lost because the kernel's ring was full */
	uint64_t malformed; /* records of the ring that are not events */
	uint64_t attempts;
};

/* worker: free it before the tracer, as its jobs use the tracer. */
int qp_tracer_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct qp_tracer_options *options,
    const struct qp_tracer_callbacks *callbacks, void *arg, struct qp_tracer **ret);
void qp_tracer_free(struct qp_tracer *tracer); /* NULL is allowed */

bool qp_tracer_is_attached(const struct qp_tracer *tracer);
/* "" or a text on what is missing. */
const char *qp_tracer_missing(const struct qp_tracer *tracer);
/* "fexit", "kprobe", "fprobe"; "" while no events come. */
const char *qp_tracer_method(const struct qp_tracer *tracer);
struct qp_tracer_counts qp_tracer_counts(const struct qp_tracer *tracer);

#endif
