/*
 * qp_events - prints a line for each event that the host-agent's tracer of QPs gets.
 * Run by the lab's tests, or by hand: qp_events [any|fexit|kprobe|fprobe], or qp_events
 * list.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/qp_event.h"
#include "host-agent/services/process_name.h"
#include "host-agent/services/qp_list.h"
#include "host-agent/services/qp_tracer.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"

struct watch {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct qp_tracer *tracer;
};

static const char *
gid_text(const uint8_t gid[16], char text[INET6_ADDRSTRLEN])
{
	return inet_ntop(AF_INET6, gid, text, INET6_ADDRSTRLEN);
}

static void
on_event(const struct qp_event *event, void *arg)
{
	struct process_name name = { .service = "" };
	char sgid[INET6_ADDRSTRLEN], dgid[INET6_ADDRSTRLEN];

	memcpy(name.comm, event->comm, sizeof(name.comm));
	process_name_read("", event->tgid, event->cgroup_id, &name);
	if (event->kind == QP_EVENT_DESTROYED) {
		printf("destroyed device=%s qpn=%u tgid=%u comm=%s\n", event->device,
		    event->qpn, event->tgid, event->comm);
		return;
	}
	printf("connected device=%s port=%u type=%u qpn=%u dest_qpn=%u sgid=%s dgid=%s "
	       "has_sgid=%u sgid_index=%u flow_label=%u hop_limit=%u traffic_class=%u "
	       "sl=%u address_type=%u pid=%u tgid=%u comm=%s service=%s "
	       "cgroup_id=%llu at_ns=%llu latency_us=%lld\n",
	    event->device, event->port, event->qp_type, event->qpn, event->dest_qpn,
	    gid_text(event->sgid, sgid), gid_text(event->dgid, dgid), event->has_sgid,
	    event->sgid_index, event->flow_label, event->hop_limit,
	    event->traffic_class, event->sl, event->address_type, event->pid,
	    event->tgid, event->comm, name.service,
	    (unsigned long long)event->cgroup_id, (unsigned long long)event->ktime_ns,
	    (long long)(rm_mono_now().ns - (int64_t)event->ktime_ns) / 1000);
}

static void
on_state(void *arg)
{
	const struct watch *watch = arg;

	if (qp_tracer_is_attached(watch->tracer))
		printf("traces by=%s\n", qp_tracer_method(watch->tracer));
	else
		printf("unable reason=%s\n", qp_tracer_missing(watch->tracer));
}

static int
follow(enum qp_hooks_method method)
{
	static const struct qp_tracer_callbacks callbacks = { on_event, on_state };
	const struct qp_tracer_options options = { .method = method };
	struct watch watch = { 0 };
	struct qp_tracer_counts counts;
	int r;

	r = rm_loop_new(&watch.loop);
	if (r == 0)
		r = rm_worker_new(watch.loop, 4, &watch.worker);
	if (r == 0)
		r = qp_tracer_new(watch.loop, watch.worker, &options, &callbacks,
		    &watch, &watch.tracer);
	if (r == 0)
		r = rm_loop_run(watch.loop); /* until a signal ends it */
	if (watch.tracer != NULL) {
		counts = qp_tracer_counts(watch.tracer);
		printf("counts events=%llu dropped=%llu malformed=%llu\n",
		    (unsigned long long)counts.events,
		    (unsigned long long)counts.dropped,
		    (unsigned long long)counts.malformed);
	}
	rm_worker_free(watch.worker);
	qp_tracer_free(watch.tracer);
	rm_loop_free(watch.loop);
	return r;
}

static const char *
address_text(const struct wire_address *address, char text[INET6_ADDRSTRLEN])
{
	if (address->family == 0)
		return "-";
	return inet_ntop(address->family == 4 ? AF_INET : AF_INET6, address->bytes,
	    text, INET6_ADDRSTRLEN);
}

static int
list_all(void)
{
	struct qp_list list = { 0 };
	int r = qp_list_read(&list);

	for (size_t i = 0; i < list.row_count; i++) {
		const struct qp_list_row *row = &list.rows[i];
		char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];

		printf("listed device=%s port=%u type=%u state=%u qpn=%u dest_qpn=%u "
		       "pid=%u kernel=%s src=%s dst=%s src_port=%u dst_port=%u\n",
		    list.devices[row->device].name, row->port, row->type, row->state,
		    row->qpn, row->dst_qpn, row->pid,
		    row->kernel[0] == 0 ? "-" : row->kernel,
		    address_text(&row->src, src), address_text(&row->dst, dst),
		    row->src.port, row->dst.port);
	}
	printf("end rows=%zu devices=%zu cut=%d malformed=%llu\n", list.row_count,
	    list.device_count, list.cut, (unsigned long long)list.malformed);
	qp_list_clear(&list);
	return r;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "any";
	int r = -EINVAL;

	rm_log_open("qp_events");
	if (getenv("QP_EVENTS_DEBUG") != NULL)
		rm_log_set_level(RM_LOG_DEBUG);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(what, "list") == 0)
		r = list_all();
	for (enum qp_hooks_method method = QP_HOOKS_ANY; method < QP_HOOKS_METHODS;
	     method++)
		if (strcmp(what, qp_hooks_method_name(method)) == 0)
			r = follow(method);
	if (r < 0)
		rm_log_error(r, "%s", what);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
