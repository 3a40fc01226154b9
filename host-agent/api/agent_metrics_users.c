/* The users of the RDMA devices' QPs, as metrics: the pod, the service and the
 * command; and the kubelet's data on these pods. */
#include <stdio.h>
#include <string.h>

#include "host-agent/api/agent_metrics.h"
#include "host-agent/counters/counters.h"
#include "host-agent/counters/qp_counters.h"
#include "host-agent/kubernetes/kubelet.h"
#include "host-agent/services/cgroup_name.h"
#include "host-agent/services/process_name.h"
#include "host-agent/services/services.h"
#include "rackmesh/metrics/metrics.h"

#define LABELS 1024
#define ROOM (AGENT_METRICS_USERS + SERVICES_MAX_RNICS)
#define VALUE_BYTES 257 /* a name of 128 bytes, all of them escaped */

/* Escapes a label for the text format of Prometheus: a unit's name has backslashes,
 * and a process may choose any name. */
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
	const char *pod;

	escape(user->service, service);
	escape(user->comm, comm);
	pod = cgroup_name_uid(service);
	snprintf(label, LABELS,
	    "device=\"%s\",port=\"%u\",service=\"%s\",pod_uid=\"%s\",process=\"%s\"",
	    user->device, user->port, service, pod == NULL ? "" : pod, comm);
}

static void
report_qps(struct rm_metrics_out *out, const void *arg)
{
	struct services_user users[ROOM];
	char label[LABELS];
	size_t count = services_users(arg, users, AGENT_METRICS_USERS);

	for (size_t i = 0; i < count; i++) {
		label_of(&users[i], label);
		rm_metrics_series(out, label, "", (double)users[i].qps);
	}
}

static double
read_others(const void *arg)
{
	struct services_user users[ROOM];
	size_t count = services_users(arg, users, AGENT_METRICS_USERS);
	uint64_t others = 0;

	for (size_t i = 0; i < count; i++)
		if (strcmp(users[i].service, SERVICES_OTHERS) == 0)
			others += users[i].qps;
	return (double)others;
}

int
agent_metrics_users(struct rm_metrics *metrics, const struct services *services)
{
	static const struct rm_metrics_family qps = { "rackmesh_agent_user_qps",
		"gauge",
		"Connected QPs, by RDMA device, service, pod and command. The largest "
		"users are shown; service \"other\" has the QPs of all users beyond "
		"the limit of series.",
		report_qps };
	int r = rm_metrics_family(metrics, services, &qps, services);

	if (r == 0)
		r = rm_metrics_gauge(metrics, services,
		    "rackmesh_agent_user_qps_over_limit", "",
		    "Connected QPs, over all devices, that are counted in the series "
		    "with the service \"other\".",
		    read_others, services);
	return r;
}

/* ---- the names of pods ---- */

static bool
is_first(const struct services_user *users, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(users[k].service, users[i].service) == 0)
			return false;
	return true;
}

/* Writes only pods that have QPs, because a node may have many others. */
static void
report_pods(struct rm_metrics_out *out, const void *arg)
{
	const struct agent_pods *pods = arg;
	struct services_user users[ROOM];
	char label[LABELS];
	size_t count = services_users(pods->services, users, AGENT_METRICS_USERS);

	for (size_t i = 0; i < count; i++) {
		const char *uid = cgroup_name_uid(users[i].service);
		const struct pod *pod =
		    uid == NULL ? NULL : kubelet_pod(pods->kubelet, uid);

		if (pod == NULL || !is_first(users, i))
			continue;
		snprintf(label, LABELS,
		    "pod_uid=\"%s\",namespace=\"%s\",pod=\"%s\","
		    "owner_kind=\"%s\",owner_name=\"%s\"",
		    pod->uid, pod->namespace, pod->name, pod->owner_kind,
		    pod->owner_name);
		rm_metrics_series(out, label, "", 1);
	}
}

static double
read_up(const void *arg)
{
	return kubelet_up(arg) ? 1 : 0;
}

static double
read_age(const void *arg)
{
	int64_t age = kubelet_age_ns(arg, rm_mono_now());

	return age < 0 ? -1 : (double)age / RM_NS_PER_S;
}

static double
read_pods(const void *arg)
{
	return (double)kubelet_pods(arg);
}

#define N(name) "rackmesh_agent_kubelet_" name

int
agent_metrics_pods(struct rm_metrics *metrics, const struct agent_pods *pods)
{
	static const struct rm_metrics_family info = { "rackmesh_agent_pod_info",
		"gauge",
		"Always 1. The labels are the namespace, name and owner of a pod "
		"that has connected QPs, as the kubelet gives them.",
		report_pods };
	const struct kubelet *kubelet = pods->kubelet;
	const struct kubelet_counts *counts;
	int r;

	if (kubelet == NULL)
		return 0;
	counts = kubelet_counts(kubelet);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ N("reads_total"), "", "Requests to the kubelet for its pods.", &counts->reads },
		{ N("reads_failed_total"), "", "Requests that the kubelet did not answer with a list of pods.", &counts->failed },
		{ N("pods_refused_total"), "", "Pods in answers of the kubelet that were malformed, or more than the limit.", &counts->refused },
	};
	/* clang-format on */
	r = rm_metrics_counters(
	    metrics, kubelet, counters, sizeof(counters) / sizeof(counters[0]));
	if (r == 0)
		r = rm_metrics_family(metrics, kubelet, &info, pods);
	if (r == 0)
		r = rm_metrics_gauge(metrics, kubelet, N("up"), "",
		    "1: the kubelet answered the last request with a list of pods.",
		    read_up, kubelet);
	if (r == 0)
		r = rm_metrics_gauge(metrics, kubelet, N("age_seconds"), "",
		    "Seconds since the request whose answer has the pods that are "
		    "known; -1: none yet.",
		    read_age, kubelet);
	if (r == 0)
		r = rm_metrics_gauge(metrics, kubelet, N("pods"), "",
		    "Pods that the kubelet reported.", read_pods, kubelet);
	return r;
}

/* ---- counters of the users' QPs ---- */

struct counting { /* the counters of one port at a time */
	const struct counters_port *port;
	const struct process_name *names[QP_COUNTERS_PROCESSES]; /* NULL: unknown */
	struct rm_metrics_out *out; /* NULL: only counts the groups that are left out */
	size_t shown;
	uint64_t left_out;
};

/* Processes with the same service and command are one user, as in the list of users.
 * False: the process was counted together with an earlier process of its user. */
static bool
sum_up(const struct counting *counting, size_t first, uint64_t sums[QP_COUNTERS_NAMES])
{
	const struct qp_counters *all = counting->port->by_process;
	const struct process_name *own = counting->names[first];

	memset(sums, 0, QP_COUNTERS_NAMES * sizeof(sums[0]));
	for (size_t i = 0; i < all->process_count; i++) {
		const struct process_name *name = counting->names[i];

		if (name == NULL || strcmp(name->service, own->service) != 0 ||
		    strcmp(name->comm, own->comm) != 0)
			continue;
		if (i < first)
			return false;
		for (size_t k = 0; k < all->name_count; k++)
			sums[k] += all->processes[i].values[k];
	}
	return true;
}

static void
report_process(struct counting *counting, size_t first)
{
	const struct counters_port *port = counting->port;
	const struct process_name *name = counting->names[first];
	uint64_t sums[QP_COUNTERS_NAMES];
	char label[LABELS], counter[QP_COUNTERS_NAME + 16];

	if (!sum_up(counting, first, sums))
		return;
	label_of(&(struct services_user){ .device = port->place.rdma_device,
		     .port = port->place.port,
		     .service = name->service,
		     .comm = name->comm },
	    label);
	for (size_t k = 0; k < port->by_process->name_count; k++) {
		if (sums[k] == 0)
			continue;
		if (counting->shown == AGENT_METRICS_COUNTED) {
			counting->left_out++;
			return;
		}
		counting->shown++;
		snprintf(counter, sizeof(counter), "counter=\"%s\"",
		    port->by_process->names[k]);
		if (counting->out != NULL)
			rm_metrics_series(
			    counting->out, label, counter, (double)sums[k]);
	}
}

/* Returns the number of groups that are left out. */
static uint64_t
report_all(const struct agent_users *users, struct rm_metrics_out *out)
{
	struct counting counting = { .out = out };

	for (size_t i = 0; i < counters_ports(users->counters); i++) {
		const struct counters_port *port = counters_port(users->counters, i);
		size_t count =
		    port->by_process == NULL ? 0 : port->by_process->process_count;

		if (!port->wanted || port->by_process == NULL)
			continue;
		counting.port = port;
		counting.left_out += port->by_process->left_out;
		for (size_t k = 0; k < count; k++)
			counting.names[k] = services_process(
			    users->services, port->by_process->processes[k].pid);
		for (size_t k = 0; k < count; k++) {
			if (counting.names[k] == NULL)
				counting.left_out++;
			else
				report_process(&counting, k);
		}
	}
	return counting.left_out;
}

static void
report_counted(struct rm_metrics_out *out, const void *arg)
{
	report_all(arg, out);
}

static double
read_left_out(const void *arg)
{
	return (double)report_all(arg, NULL);
}

int
agent_metrics_counted(struct rm_metrics *metrics, const struct agent_users *users)
{
	static const struct rm_metrics_family counted = {
		"rackmesh_agent_user_counter_total", "counter",
		"Counters of the QPs of a service and command, by the driver's name of "
		"the counter; as the kernel reports them, without those that are 0.",
		report_counted
	};
	int r = rm_metrics_family(metrics, users, &counted, users);

	if (r == 0)
		r = rm_metrics_gauge(metrics, users,
		    "rackmesh_agent_user_counters_left_out", "",
		    "Groups of QPs whose counters are not shown: the process is not "
		    "followed, or the limit of series is reached.",
		    read_left_out, users);
	return r;
}
