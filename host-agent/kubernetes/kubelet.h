/*
 * kubelet - asks this host's kubelet for its pods: GET /pods over https, one request at
 * a time. It only reads.
 *
 * It asks at its start, every interval, and when an unknown pod is looked up; but never
 * twice within apart_ns, and less often while requests fail. The token is read for each
 * request. The last list is used until there is a new one.
 */
#ifndef HOST_AGENT_KUBERNETES_KUBELET_H
#define HOST_AGENT_KUBERNETES_KUBELET_H

#include <stdbool.h>
#include <stdint.h>

#include "host-agent/kubernetes/pod_list.h"
#include "rackmesh/core/clock.h"

#define KUBELET_TIMEOUT_NS (10 * RM_NS_PER_S) /* time-out of one request */

#define KUBELET_PAGE "/pods"

struct kubelet;
struct rm_http_origin;
struct rm_loop;
struct rm_worker;

struct kubelet_options {
	struct rm_loop *loop;
	struct rm_worker *worker; /* parses */
	const char *url;          /* "https://127.0.0.1:10250"; copied */
	const struct rm_http_origin
	    *origin;                   /* no user; borrowed as long as the kubelet */
	int64_t interval_ns, apart_ns; /* interval_ns: the longer one */
	int64_t news_ns; /* between two reports of failures, unless a reading succeeded
			    in between */
	/* Called after each reading: 0, or an error with its text in reason. news:
	 * log it: the first failure, a failure for another reason than the last
	 * logged one, or the first success after failures. */
	void (*done)(int r, const char *reason, bool news, void *arg);
	void *arg;
};

struct kubelet_counts {
	uint64_t reads, failed;
	uint64_t refused; /* pods that were left out, sum of all readings */
};

int kubelet_new(const struct kubelet_options *options, struct kubelet **ret);
/* NULL is allowed; free it before the worker. */
void kubelet_free(struct kubelet *kubelet);

/* In all functions below kubelet may be NULL: then no pod is known. */

/* Reports that a process of this pod was seen. */
void kubelet_want(struct kubelet *kubelet, const char *uid);
/* NULL: not known. Valid until the next reading. */
const struct pod *kubelet_pod(const struct kubelet *kubelet, const char *uid);

bool kubelet_up(const struct kubelet *kubelet); /* the last reading was complete */
const char *kubelet_error(const struct kubelet *kubelet); /* "": none */
/* Time since the current list was requested; -1: there is none. */
int64_t kubelet_age_ns(const struct kubelet *kubelet, rm_mono_t now);
size_t kubelet_pods(const struct kubelet *kubelet);
const struct kubelet_counts *kubelet_counts(const struct kubelet *kubelet);

#endif
