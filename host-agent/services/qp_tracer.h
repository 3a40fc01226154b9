/*
 * qp_tracer - gets events from the kernel when a QP is connected to a peer or
 * destroyed.
 *
 * The hooks are loaded on the worker. If something is missing, the agent runs without
 * events and reports what is missing. The module ib_core may be loaded later, so the
 * tracer looks for it again. Each turn of the loop takes a bounded number of events, so
 * that probing is not delayed.
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
	const char *root; /* prefix of /proc and /sys, in tests; NULL or "": none */
};

struct qp_tracer_callbacks {
	void (*on_event)(const struct qp_event *event, void *arg);
	/* Called when events begin to come, so that QPs from before have to be listed,
	 * and when an attempt to trace has failed. */
	void (*on_state)(void *arg);
};

struct qp_tracer_counts {
	uint64_t events;
	uint64_t dropped; /* events that were lost because the kernel's ring was full */
	uint64_t malformed; /* records of the ring that are not events */
	uint64_t attempts;
};

/* worker: free it before the tracer, which its jobs use. */
int qp_tracer_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct qp_tracer_options *options,
    const struct qp_tracer_callbacks *callbacks, void *arg, struct qp_tracer **ret);
void qp_tracer_free(struct qp_tracer *tracer); /* NULL is allowed */

bool qp_tracer_is_attached(const struct qp_tracer *tracer);
/* "" or a text on what is missing. */
const char *qp_tracer_missing(const struct qp_tracer *tracer);
/* The method in use: "fexit", "kprobe", "fprobe"; "" while no events come. */
const char *qp_tracer_method(const struct qp_tracer *tracer);
struct qp_tracer_counts qp_tracer_counts(const struct qp_tracer *tracer);

#endif
