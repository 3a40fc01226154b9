/*
 * qp_hooks - loads the BPF programs of bpf/ into the kernel, and reads their events.
 *
 * Only this file uses libbpf, whose messages go to the agent's debug log: a method that
 * fails is no warning while another one is left. qp_hooks_open takes tens of
 * milliseconds: call it on the worker. Nothing stays in the kernel after
 * qp_hooks_close.
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
	QP_HOOKS_FEXIT,  /* for functions of a module: CAP_SYS_ADMIN, to get a handle of
			    its types */
	QP_HOOKS_KPROBE, /* uses perf events, which kernel.perf_event_paranoid may
			    forbid */
	QP_HOOKS_FPROBE, /* needs neither; for functions of a module from Linux 6.2 on,
			    with CONFIG_FPROBE */
	QP_HOOKS_METHODS
};

/* reason: on failure each method tried, its step and its error. */
int qp_hooks_open(
    enum qp_hooks_method method, struct qp_hooks **ret, char reason[QP_HOOKS_TEXT]);
void qp_hooks_close(struct qp_hooks *hooks); /* NULL is allowed */

enum qp_hooks_method qp_hooks_method(const struct qp_hooks *hooks);
const char *qp_hooks_method_name(enum qp_hooks_method method); /* "any", "fexit", ... */

/* Readable while there are events. */
int qp_hooks_fd(const struct qp_hooks *hooks);
/* Passes on at most max events; returns how many. event: valid during the call. */
size_t qp_hooks_take(struct qp_hooks *hooks, size_t max,
    void (*fn)(const struct qp_event *event, void *arg), void *arg);

/* Events lost so far because the kernel's ring was full. */
uint64_t qp_hooks_dropped(const struct qp_hooks *hooks);
/* Records of the ring that are not events. */
uint64_t qp_hooks_malformed(const struct qp_hooks *hooks);

#endif
