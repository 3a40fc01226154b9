/*
 * kubelet - asks this host's kubelet for its pods: GET /pods over https, one request at
 * a time. It only reads.
 *
 * A request is made at the start, every interval_ns, and when a pod is looked up that
 * the list does not have; never two requests within apart_ns, and fewer while requests
 * fail. The file of the token is read for each request. A failed request leaves the
 * last list in use.
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
	struct rm_worker *worker; /* parses the answers */
	const char *url;          /* "https://127.0.0.1:10250"; copied */
	const struct rm_http_origin
	    *origin; /* must contain no user name; borrowed as long as the kubelet */
	/* least time between two regular requests, and between any two requests */
	int64_t interval_ns, apart_ns;
	/* least time between two reports of failures, unless a reading succeeded in
	 * between */
	int64_t news_ns;
	/* Called after each reading. r: 0, or an error with its text in reason. news:
	 * the caller should log it, as it is the first failure, a failure for another
	 * reason than the last one reported, or the first success after failures. */
	void (*done)(int r, const char *reason, bool news, void *arg);
	void *arg;
};

struct kubelet_counts {
	uint64_t reads, failed;
	/* pods that were left out of the lists, summed over all readings */
	uint64_t refused;
};

int kubelet_new(const struct kubelet_options *options, struct kubelet **ret);
/* Free it before the worker. NULL is allowed. */
void kubelet_free(struct kubelet *kubelet);

/* In all functions below kubelet may be NULL: then no pod is known. */

/* Requests the list soon if it does not have this pod. Call it for each process that is
 * seen. */
void kubelet_want(struct kubelet *kubelet, const char *uid);
/* Returns NULL if the pod is not known. The result is valid until the next reading. */
const struct pod *kubelet_pod(const struct kubelet *kubelet, const char *uid);

bool kubelet_up(
    const struct kubelet *kubelet); /* True: the last reading was complete. */
const char *kubelet_error(const struct kubelet *kubelet); /* "": none */
/* Time since the current list was requested; -1: there is none. */
int64_t kubelet_age_ns(const struct kubelet *kubelet, rm_mono_t now);
size_t kubelet_pods(const struct kubelet *kubelet);
const struct kubelet_counts *kubelet_counts(const struct kubelet *kubelet);

#endif
