/*
 * qp_hooks - loads the BPF programs of bpf/ into the kernel, and reads their events.
 *
 * No other file uses libbpf. Its messages go to the agent's debug log, since a method
 * that fails is no reason to warn while another method may work. qp_hooks_open takes
 * tens of milliseconds: call it on the worker. qp_hooks_close removes everything from
 * the kernel.
 */
#ifndef HOST_AGENT_SERVICES_QP_HOOKS_H
#define HOST_AGENT_SERVICES_QP_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#define QP_HOOKS_TEXT 512

struct qp_event;
struct qp_hooks;

enum qp_hooks_method {
	QP_HOOKS_ANY = 0, /* the first of the following that works */
	/* in functions of modules it needs CAP_SYS_ADMIN, for their types */
	QP_HOOKS_FEXIT,
	/* needs perf events, which kernel.perf_event_paranoid may forbid */
	QP_HOOKS_KPROBE,
	/* needs neither of the two; in functions of modules only from Linux 6.2 on,
	 * with CONFIG_FPROBE */
	QP_HOOKS_FPROBE,
	QP_HOOKS_METHODS
};

/* On failure reason lists the methods that were tried, each with the failed step and
 * its error. */
int qp_hooks_open(
    enum qp_hooks_method method, struct qp_hooks **ret, char reason[QP_HOOKS_TEXT]);
void qp_hooks_close(struct qp_hooks *hooks); /* NULL is allowed */

enum qp_hooks_method qp_hooks_method(const struct qp_hooks *hooks);
const char *qp_hooks_method_name(enum qp_hooks_method method); /* "any", "fexit", ... */

/* The descriptor is readable while there are events. */
int qp_hooks_fd(const struct qp_hooks *hooks);
/* Calls fn for at most max events, each valid during its call. Returns the number of
 * events. */
size_t qp_hooks_take(struct qp_hooks *hooks, size_t max,
    void (*fn)(const struct qp_event *event, void *arg), void *arg);

/* Number of events lost because the kernel's ring was full. */
uint64_t qp_hooks_dropped(const struct qp_hooks *hooks);
/* Number of records in the ring that were no events. */
uint64_t qp_hooks_malformed(const struct qp_hooks *hooks);

#endif
