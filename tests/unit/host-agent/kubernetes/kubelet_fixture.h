/*
 * kubelet_fixture - a fake kubelet server and a client on one loop over loopback,
 * without TLS: the HTTP client implements TLS, and tests/fabric tests it.
 */
#ifndef TESTS_UNIT_HOST_AGENT_KUBELET_FIXTURE_H
#define TESTS_UNIT_HOST_AGENT_KUBELET_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "host-agent/kubernetes/kubelet.h"

struct rm_http_server;
struct rm_loop;
struct rm_timer;
struct rm_worker;

struct kubelet_fixture {
	struct rm_loop *loop;
	struct rm_http_server *server;
	struct rm_worker *worker;
	struct rm_timer *deadline;
	struct kubelet *kubelet;
	char token_file[64];
	/* The server's answer, and the number of requests that it received. */
	int status;
	const char *answer;
	unsigned asked;
	/* Numbers of the last reading that ended. */
	unsigned ended, until;
	int r;
	bool news;
	char reason[512];
};

/* A POD_LIST answer that contains only this pod. */
#define KUBELET_POD(uid, name)                                                      \
	"{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"uid\":\"" uid "\","      \
	"\"namespace\":\"ml\",\"name\":\"" name "\",\"ownerReferences\":[{"         \
	"\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"trainer\"," \
	"\"controller\":true}]}}]}"

/* Returns 0, or -1 if the fixture cannot be set up. */
int kubelet_fixture_new(
    struct kubelet_fixture *f, int64_t interval_ns, int64_t apart_ns, int64_t news_ns);
void kubelet_fixture_free(struct kubelet_fixture *f);
/* Runs the loop until count readings have ended since the start. */
void kubelet_fixture_run(struct kubelet_fixture *f, unsigned count);

#endif
