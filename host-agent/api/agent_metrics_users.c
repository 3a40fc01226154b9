/* Whose QPs the RDMA devices have, as metrics: the pod, the service and the command. */
#include <stdio.h>
#include <string.h>

#include "host-agent/api/agent_metrics.h"
#include "host-agent/services/services.h"
#include "rackmesh/metrics/metrics.h"

#define LABELS 1024
#define VALUE_BYTES 257 /* a name of 128 bytes, each of them escaped */
#define POD "pod:"

/* As the text format of Prometheus wants it: a unit's name has backslashes, and a
 * process may call itself anything. */
static const char *
escape(const char *text, char ret[VALUE_BYTES])
{
	size_t n = 0;

	for (; *text != 0 && n + 2 < VALUE_BYTES; text++) {
		if (*text == '\\' || *text == '"')
			ret[n++] = '\\';
		ret[n++] = *text;
	}
	ret[n] = 0;
	return ret;
}

static void
label_of(const struct services_user *user, char label[LABELS])
{
	char service[VALUE_BYTES], comm[VALUE_BYTES];
	const char *pod = "";

	escape(user->service, service);
	escape(user->comm, comm);
	if (strncmp(service, POD, strlen(POD)) == 0)
		pod = service + strlen(POD);
	snprintf(label, LABELS,
	    "device=\"%s\",port=\"%u\",service=\"%s\",pod_uid=\"%s\",process=\"%s\"",
	    user->device, user->port, service, pod, comm);
}

static void
tell_qps(struct rm_metrics_out *out, const void *arg)
{
	struct services_user users[AGENT_METRICS_USERS];
	char label[LABELS];
	uint64_t rest;
	size_t count = services_users(arg, users, AGENT_METRICS_USERS, &rest);

	for (size_t i = 0; i < count; i++) {
		label_of(&users[i], label);
		rm_metrics_tell(out, label, "", (double)users[i].qps);
	}
}

static double
read_rest(const void *arg)
{
	struct services_user users[AGENT_METRICS_USERS];
	uint64_t rest;

	services_users(arg, users, AGENT_METRICS_USERS, &rest);
	return (double)rest;
}

int
agent_metrics_users(struct rm_metrics *metrics, const struct services *services)
{
	static const struct rm_metrics_family qps = { "rackmesh_agent_user_qps",
		"gauge", "Connected QPs, by RDMA device, service, pod and command.",
		tell_qps };
	int r = rm_metrics_family(metrics, services, &qps, services);

	if (r == 0)
		r = rm_metrics_gauge(metrics, services,
		    "rackmesh_agent_user_qps_over_limit", "",
		    "Connected QPs not shown by service: more services and commands "
		    "than the limit of series.",
		    read_rest, services);
	return r;
}
