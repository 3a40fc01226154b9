#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/api/agent_metrics.h"
#include "host-agent/services/process_name.h"
#include "rackmesh/metrics/metrics.h"
#include "tests/unit/host-agent/kubernetes/kubelet_fixture.h"
#include "tests/unit/host-agent/services/services_fixture.h"

struct fixture {
	struct services *services;
	struct rm_metrics *metrics;
};

static int
setup(void **state)
{
	static const struct services_options options = { .max_probed = 16,
		.interval_us = 500000,
		.turn_ns = 10 * RM_NS_PER_S,
		.random_seed = 7 };
	static struct fixture fixture;

	*state = &fixture;
	if (services_new(&options, &fixture.services) < 0 ||
	    rm_metrics_new(&fixture.metrics) < 0)
		return -1;
	services_own(fixture.services, 0, NULL, 0);
	services_own(fixture.services, 1, NULL, 0);
	return agent_metrics_users(fixture.metrics, fixture.services);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_metrics_free(f->metrics);
	services_free(f->services);
	return 0;
}

static void
connect_qp(struct fixture *f, unsigned owner, uint32_t qpn, uint32_t pid)
{
	struct qp_event event =
	    services_qp(owner, qpn, 2, (uint16_t)(0xc000 + qpn % 0x3000), pid);

	assert_int_equal(services_event(f->services, &event, services_at(0)), 0);
}

static void
name_process(struct fixture *f, uint32_t pid, const char *comm, const char *service)
{
	struct process_name name;

	snprintf(name.comm, sizeof(name.comm), "%s", comm);
	snprintf(name.service, sizeof(name.service), "%s", service);
	services_named(f->services, pid, false, &name);
}

static void
assert_shown(const struct fixture *f, const char *line, bool shown)
{
	struct evbuffer *out = evbuffer_new();
	const char *text;

	assert_non_null(out);
	assert_int_equal(rm_metrics_render(f->metrics, out), 0);
	evbuffer_add(out, "", 1);
	text = (const char *)evbuffer_pullup(out, -1);
	if ((strstr(text, line) != NULL) != shown)
		fail_msg("%s %s in:\n%s", line, shown ? "not" : "is", text);
	evbuffer_free(out);
}

static void
the_processes_of_a_pod_are_one_series_on_each_device(void **state)
{
	struct fixture *f = *state;

	connect_qp(f, 0, 17, 5);
	connect_qp(f, 0, 18, 6);
	connect_qp(f, 1, 19, 6);
	name_process(f, 5, "python3", "pod:0b4f7a3e");
	name_process(f, 6, "python3", "pod:0b4f7a3e");
	assert_shown(f,
	    "rackmesh_agent_user_qps{device=\"rxe0\",port=\"1\",service=\"pod:"
	    "0b4f7a3e\","
	    "pod_uid=\"0b4f7a3e\",process=\"python3\"} 2\n",
	    true);
	assert_shown(f,
	    "rackmesh_agent_user_qps{device=\"rxe1\",port=\"1\",service=\"pod:"
	    "0b4f7a3e\","
	    "pod_uid=\"0b4f7a3e\",process=\"python3\"} 1\n",
	    true);
	assert_shown(f, "rackmesh_agent_user_qps_over_limit 0\n", true);
}

static void
a_name_cannot_break_out_of_its_label(void **state)
{
	struct fixture *f = *state;

	connect_qp(f, 0, 17, 5);
	name_process(f, 5, "a\"} 1\\", "unit:dev-a\\x2db.service");
	assert_shown(f,
	    "service=\"unit:dev-a\\\\x2db.service\",pod_uid=\"\","
	    "process=\"a\\\"} 1\\\\\"} 1\n",
	    true);
}

static void
a_user_without_qps_has_no_series_any_more(void **state)
{
	struct fixture *f = *state;
	struct qp_event end = services_end(0, 17);

	connect_qp(f, 0, 17, 5);
	assert_shown(f, "process=\"app5\"", true);
	assert_int_equal(services_event(f->services, &end, services_at(1)), 0);
	assert_shown(f, "process=\"app5\"", false);
}

/* Sums all series of user_qps of this device. */
static double
sum_shown(const struct fixture *f, const char *device)
{
	static const char name[] = "\nrackmesh_agent_user_qps{device=\"";
	struct evbuffer *out = evbuffer_new();
	double sum = 0;

	assert_non_null(out);
	assert_int_equal(rm_metrics_render(f->metrics, out), 0);
	evbuffer_add(out, "", 1);
	for (const char *line = strstr((const char *)evbuffer_pullup(out, -1), name);
	     line != NULL; line = strstr(line + 1, name))
		if (strncmp(line + strlen(name), device, strlen(device)) == 0)
			sum += strtod(strstr(line, "} ") + 2, NULL);
	evbuffer_free(out);
	return sum;
}

#define OTHERS(device)                                                                \
	"rackmesh_agent_user_qps{device=\"" device "\",port=\"1\",service=\"other\"," \
	"pod_uid=\"\",process=\"\"} "

static void
beyond_the_limit_the_largest_users_are_shown(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < AGENT_METRICS_USERS + 3; i++)
		connect_qp(f, i % 2, 100 + i, 1000 + i);
	assert_shown(f, "rackmesh_agent_user_qps_over_limit 3\n", true);
	/* The last three users get a second QP and become the largest. */
	for (uint32_t i = AGENT_METRICS_USERS; i < AGENT_METRICS_USERS + 3; i++)
		connect_qp(f, i % 2, 1000 + i, 1000 + i);
	assert_shown(f, "process=\"app1256\"} 2\n", true);
	assert_shown(f, "process=\"app1258\"} 2\n", true);
	assert_shown(f, "rackmesh_agent_user_qps_over_limit 3\n", true);
	assert_int_equal(sum_shown(f, "rxe0"), 130 + 2);
	assert_int_equal(sum_shown(f, "rxe1"), 129 + 1);
	assert_shown(f, OTHERS("rxe1") "3\n", true);
	assert_shown(f, OTHERS("rxe0"), false);
}

static void
qps_beyond_the_limit_of_flows_still_count_for_their_users(void **state)
{
	struct fixture *f = *state;
	struct qp_event event;

	for (uint32_t n = 0; n < SERVICES_MAX_FLOWS + 10; n++) {
		event = services_qp(0, 1 + n, n % 250, (uint16_t)(0xc000 + n), 5);
		assert_int_equal(services_event(f->services, &event, services_at(0)),
		    n < SERVICES_MAX_FLOWS ? 0 : -ENOSPC);
	}
	event = services_qp(1, 1, 2, 0xc001, 6);
	assert_int_equal(services_event(f->services, &event, services_at(0)), -ENOSPC);
	assert_shown(f, "process=\"app5\"} 4106\n", true);
	assert_shown(f, "process=\"app6\"} 1\n", true);
	name_process(f, 6, "python3", "pod:0b4f7a3e");
	assert_shown(f, "pod_uid=\"0b4f7a3e\",process=\"python3\"} 1\n", true);
	assert_shown(f, "rackmesh_agent_user_qps_over_limit 0\n", true);
	event = services_end(0, SERVICES_MAX_FLOWS + 10);
	services_event(f->services, &event, services_at(1));
	assert_shown(f, "process=\"app5\"} 4105\n", true);
}

static void
qps_without_room_count_as_others_until_they_end(void **state)
{
	struct fixture *f = *state;
	struct qp_list list = { .rows = NULL };
	struct qp_event event;

	for (uint32_t n = 0; n < SERVICES_MAX_QPS + 5; n++) {
		event = services_qp(0, 1 + n, 2, 0xc001, 5);
		services_event(f->services, &event, services_at(0));
	}
	assert_shown(f, "process=\"app5\"} 32768\n", true);
	assert_shown(f, OTHERS("rxe0") "5\n", true);
	assert_shown(f, "rackmesh_agent_user_qps_over_limit 5\n", true);
	event = services_end(0, SERVICES_MAX_QPS + 1);
	services_event(f->services, &event, services_at(1));
	assert_shown(f, OTHERS("rxe0") "4\n", true);
	assert_int_equal(sum_shown(f, "rxe0"), SERVICES_MAX_QPS + 4);
	services_listed(f->services, &list, services_at(2), services_at(3));
	assert_int_equal(sum_shown(f, "rxe0"), 0);
	assert_shown(f, OTHERS("rxe0"), false);
}

/* Without BPF, QPs are known only from the kernel's lists, which contain no peer. */
static void
qps_known_only_from_lists_count_for_their_users(void **state)
{
	struct fixture *f = *state;
	struct qp_list_device device = { 1, "rxe0" };
	struct qp_list_row rows[] = { services_row(17, 1017, 2),
		services_row(18, 0, 0) };
	struct qp_list list = { &device, 1, rows, 2, false, 0, 0 };

	for (int again = 0; again < 2; again++) {
		services_listed(f->services, &list, services_at(2 * again),
		    services_at(2 * again + 1));
		name_process(f, 77, "nccl", "job:7");
		assert_shown(
		    f, "service=\"job:7\",pod_uid=\"\",process=\"nccl\"} 2\n", true);
		assert_shown(f, "rackmesh_agent_user_qps_over_limit 0\n", true);
		assert_int_equal(services_counts(f->services).unresolved, 1);
		assert_int_equal(services_counts(f->services).qps, 1);
		assert_int_equal(services_counts(f->services).older, 1);
	}
	list.row_count = 0;
	services_listed(f->services, &list, services_at(8), services_at(9));
	assert_int_equal(sum_shown(f, "rxe0"), 0);
	assert_int_equal(services_counts(f->services).missed, 1);
}

static void
a_qp_gets_its_flow_when_there_is_room_and_keeps_its_name(void **state)
{
	struct fixture *f = *state;
	struct qp_list_device device = { 1, "rxe1" };
	struct qp_list_row row = services_row(17, 1017, 2);
	struct qp_list list = { &device, 1, &row, 1, false, 0, 0 };
	struct qp_event event;

	for (uint32_t n = 0; n < SERVICES_MAX_FLOWS; n++) {
		event = services_qp(0, 1 + n, n % 250, (uint16_t)(0xc000 + n), 5);
		services_event(f->services, &event, services_at(0));
	}
	services_listed(f->services, &list, services_at(0), services_at(1));
	name_process(f, 77, "nccl", "job:7");
	assert_shown(f, "process=\"nccl\"} 1\n", true);
	assert_int_equal(services_counts(f->services).refused, 1);
	services_listed(f->services, &list, services_at(2), services_at(3));
	assert_int_equal(services_counts(f->services).flows, 0);
	services_listed(f->services, &list, services_at(4), services_at(5));
	assert_int_equal(services_counts(f->services).flows, 1);
	assert_string_equal(services_flow(f->services, 17).service, "job:7");
	assert_shown(f, "process=\"nccl\"} 1\n", true);
}

/* The packets of this QP leave no RNIC, but the QP still counts for the device. */
static void
a_qp_to_the_own_rnic_counts_for_its_user(void **state)
{
	struct fixture *f = *state;
	struct qp_event event = services_qp(0, 17, 0, 0xc001, 5);

	event.dgid[14] = 0; /* 10.0.0.0 is the RNIC's own address */
	assert_int_equal(services_event(f->services, &event, services_at(0)), 0);
	assert_int_equal(services_counts(f->services).local, 1);
	assert_int_equal(services_counts(f->services).flows, 0);
	assert_shown(f, "process=\"app5\"} 1\n", true);
}

#define POD_UID "0b4f7a3e-6f1d-4c2a-9d55-0c1e2f3a4b01"

static void
a_pod_with_qps_has_the_names_that_the_kubelet_reports(void **state)
{
	struct kubelet_fixture k = { .kubelet = NULL };
	struct fixture *f = *state;
	struct agent_pods pods;

	assert_int_equal(
	    kubelet_fixture_new(&k, 3600 * RM_NS_PER_S, RM_NS_PER_MS, 0), 0);
	pods = (struct agent_pods){ f->services, k.kubelet };
	assert_int_equal(agent_metrics_pods(f->metrics, &pods), 0);
	connect_qp(f, 0, 17, 5);
	connect_qp(f, 1, 18, 6);
	connect_qp(f, 1, 19, 7);
	name_process(f, 5, "python3", "pod:" POD_UID);
	name_process(f, 6, "other", "pod:" POD_UID);
	name_process(f, 7, "python3", "pod:0b4f7a3e-6f1d-4c2a-9d55-0c1e2f3a4b02");
	assert_shown(f, "rackmesh_agent_kubelet_up 0\n", true);
	assert_shown(f, "rackmesh_agent_kubelet_age_seconds -1\n", true);
	assert_shown(f, "rackmesh_agent_pod_info{", false);

	k.answer = KUBELET_POD(POD_UID, "trainer-0");
	kubelet_fixture_run(&k, 1);
	/* The series of this pod appears once, and no other pod has one. */
	assert_shown(f,
	    "# TYPE rackmesh_agent_pod_info gauge\n"
	    "rackmesh_agent_pod_info{pod_uid=\"" POD_UID "\",namespace=\"ml\","
	    "pod=\"trainer-0\",owner_kind=\"StatefulSet\",owner_name=\"trainer\"} "
	    "1\n#",
	    true);
	assert_shown(f, "rackmesh_agent_kubelet_up 1\n", true);
	assert_shown(f, "rackmesh_agent_kubelet_pods 1\n", true);
	assert_shown(f, "rackmesh_agent_kubelet_reads_total 1\n", true);
	rm_metrics_forget(f->metrics, k.kubelet);
	kubelet_fixture_free(&k);
}

static void
without_a_kubelet_there_are_no_kubelet_metrics(void **state)
{
	struct fixture *f = *state;
	const struct agent_pods pods = { f->services, NULL };

	assert_int_equal(agent_metrics_pods(f->metrics, &pods), 0);
	assert_shown(f, "kubelet", false);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_processes_of_a_pod_are_one_series_on_each_device),
		TEST(a_name_cannot_break_out_of_its_label),
		TEST(a_user_without_qps_has_no_series_any_more),
		TEST(beyond_the_limit_the_largest_users_are_shown),
		TEST(qps_beyond_the_limit_of_flows_still_count_for_their_users),
		TEST(qps_without_room_count_as_others_until_they_end),
		TEST(qps_known_only_from_lists_count_for_their_users),
		TEST(a_qp_gets_its_flow_when_there_is_room_and_keeps_its_name),
		TEST(a_qp_to_the_own_rnic_counts_for_its_user),
		TEST(a_pod_with_qps_has_the_names_that_the_kubelet_reports),
		TEST(without_a_kubelet_there_are_no_kubelet_metrics),
	};

	return cmocka_run_group_tests_name("agent_metrics_users", tests, NULL, NULL);
}
