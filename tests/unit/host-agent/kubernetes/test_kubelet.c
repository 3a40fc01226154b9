#include "host-agent/kubernetes/kubelet.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/support/loopback.h"
#include "tests/unit/host-agent/kubernetes/kubelet_fixture.h"

#define UID(n) "0b4f7a3e-6f1d-4c2a-9d55-0c1e2f3a4b" n

static int
setup(void **state)
{
	static struct kubelet_fixture fixture;

	*state = &fixture;
	fixture.kubelet = NULL;
	return kubelet_fixture_new(&fixture, 3600 * RM_NS_PER_S, RM_NS_PER_MS, 0);
}

static int
teardown(void **state)
{
	kubelet_fixture_free(*state);
	return 0;
}

static void
an_unknown_pod_causes_a_request_at_once(void **state)
{
	struct kubelet_fixture *f = *state;

	assert_int_equal(kubelet_age_ns(f->kubelet, rm_mono_now()), -1);
	f->answer = KUBELET_POD(UID("01"), "trainer-0");
	kubelet_fixture_run(f, 1);
	assert_int_equal(f->r, 0);
	assert_true(kubelet_up(f->kubelet));
	assert_string_equal(kubelet_pod(f->kubelet, UID("01"))->name, "trainer-0");

	kubelet_want(f->kubelet, UID("01")); /* already known: no request */
	f->answer = KUBELET_POD(UID("02"), "trainer-1");
	kubelet_want(f->kubelet, UID("02"));
	kubelet_fixture_run(f, 2); /* not by the timer: its interval is an hour */
	assert_string_equal(kubelet_pod(f->kubelet, UID("02"))->name, "trainer-1");
	assert_null(kubelet_pod(f->kubelet, UID("01"))); /* the pod no longer exists */
	assert_true(kubelet_age_ns(f->kubelet, rm_mono_now()) >= 0);
}

static void
a_pod_unknown_to_the_kubelet_is_requested_once(void **state)
{
	struct kubelet_fixture *f = *state;

	f->answer = KUBELET_POD(UID("01"), "trainer-0");
	kubelet_fixture_run(f, 1);
	kubelet_want(f->kubelet, UID("09"));
	kubelet_fixture_run(f, 2);
	assert_null(kubelet_pod(f->kubelet, UID("09")));
	kubelet_want(f->kubelet, UID("09")); /* already asked once: no request */
	f->answer = KUBELET_POD(UID("02"), "trainer-1");
	kubelet_want(f->kubelet, UID("02"));
	kubelet_fixture_run(f, 3);
	assert_int_equal(f->asked, 3);
	assert_non_null(kubelet_pod(f->kubelet, UID("02")));
}

static void
known_pods_stay_while_the_kubelet_fails(void **state)
{
	static const struct {
		int status;
		const char *answer, *reason;
	} failures[] = {
		{ 401, "Unauthorized", "token_file" },
		{ 403, "Forbidden", "nodes/pods" },
		{ 404, "", "is it a kubelet" },
		{ 200, "", "not JSON" },
		{ 200, "{\"kind\":\"Status\"}", "not a PodList" },
		{ 200, "{\"kind\":\"PodList\",\"items\":null}", "any pod yet" },
	};
	struct kubelet_fixture *f = *state;
	unsigned count = 1;

	f->answer = KUBELET_POD(UID("01"), "trainer-0");
	kubelet_fixture_run(f, count++);
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		f->status = failures[i].status;
		f->answer = failures[i].answer;
		if (i == 0)
			kubelet_want(f->kubelet, UID("02"));
		/* The client repeats its request by itself: kubelet_want is called only
		 * once. */
		kubelet_fixture_run(f, count++);
		assert_true(f->r < 0);
		assert_false(kubelet_up(f->kubelet));
		if (strstr(f->reason, failures[i].reason) == NULL)
			fail_msg("%s is not in %s", failures[i].reason, f->reason);
		assert_string_equal(kubelet_error(f->kubelet), f->reason);
		assert_non_null(kubelet_pod(f->kubelet, UID("01")));
	}
	f->status = 200;
	f->answer = KUBELET_POD(UID("02"), "trainer-1");
	kubelet_fixture_run(f, count);
	assert_true(kubelet_up(f->kubelet));
	assert_string_equal(kubelet_error(f->kubelet), "");
	assert_non_null(kubelet_pod(f->kubelet, UID("02")));
	assert_int_equal(kubelet_counts(f->kubelet)->reads, count);
	assert_int_equal(kubelet_counts(f->kubelet)->failed, count - 2);
}

static void
run_statuses(struct kubelet_fixture *f, size_t count, const int statuses[], bool news[])
{
	f->answer = KUBELET_POD(UID("01"), "trainer-0");
	for (size_t i = 0; i < count; i++) {
		/* Not by the timer: its interval is an hour. */
		if (i > 0 && f->status == 200)
			kubelet_want(f->kubelet, i % 2 == 0 ? UID("02") : UID("03"));
		f->status = statuses[i];
		kubelet_fixture_run(f, (unsigned)i + 1);
		news[i] = f->news;
	}
}

static void
a_new_reason_and_the_recovery_are_logged(void **state)
{
	static const int statuses[] = { 401, 401, 403, 404, 500, 500, 200, 200, 500 };
	static const bool wanted[] = { true, false, true, true, true, false, true,
		false, true };
	bool news[9];

	run_statuses(*state, 9, statuses, news);
	assert_memory_equal(news, wanted, sizeof(wanted));
}

static void
failures_are_logged_rarely_but_not_lost(void **state)
{
	static const int statuses[] = { 401, 403, 500, 401, 200, 403, 401 };
	static const bool wanted[] = { true, false, false, false, true, true, false };
	struct kubelet_fixture *f = *state;
	bool news[7];

	kubelet_fixture_free(f);
	f->kubelet = NULL;
	assert_int_equal(kubelet_fixture_new(
			     f, 3600 * RM_NS_PER_S, RM_NS_PER_MS, 3600 * RM_NS_PER_S),
	    0);
	run_statuses(f, 7, statuses, news);
	assert_memory_equal(news, wanted, sizeof(wanted));
}

static void
a_token_file_that_others_can_read_is_not_used(void **state)
{
	struct kubelet_fixture *f = *state;

	f->answer = KUBELET_POD(UID("01"), "trainer-0");
	assert_int_equal(chmod(f->token_file, 0644), 0);
	kubelet_fixture_run(f, 1);
	assert_int_equal(f->r, -EACCES);
	assert_non_null(strstr(f->reason, f->token_file));
	assert_int_equal(f->asked, 0);
	assert_int_equal(chmod(f->token_file, 0600), 0);
	kubelet_fixture_run(f, 2); /* the token file is read again */
	assert_int_equal(f->r, 0);
}

static void
pods_that_are_left_out_are_counted(void **state)
{
	struct kubelet_fixture *f = *state;

	f->answer = KUBELET_POD("no-uid", "trainer-0");
	kubelet_fixture_run(f, 1);
	assert_int_equal(f->r, 0);
	assert_int_equal(kubelet_pods(f->kubelet), 0);
	assert_int_equal(kubelet_counts(f->kubelet)->refused, 1);
}

static void
a_kubelet_can_be_freed_during_a_reading(void **state)
{
	struct kubelet_fixture *f = *state;

	f->answer = KUBELET_POD(UID("01"), "trainer-0");
	kubelet_fixture_run(f, 1);
	kubelet_want(f->kubelet, UID("02"));
	LOOPBACK_WAIT(f->loop, f->asked == 2);
	assert_int_equal(f->ended, 1);
	kubelet_free(f->kubelet);
	f->kubelet = NULL;
	loopback_run(f->loop, 20 * RM_NS_PER_MS);
	assert_int_equal(f->ended, 1);
}

static void
without_a_kubelet_no_pod_is_known(void **state)
{
	kubelet_want(NULL, UID("01"));
	assert_null(kubelet_pod(NULL, UID("01")));
	assert_false(kubelet_up(NULL));
	assert_string_equal(kubelet_error(NULL), "");
	assert_int_equal(kubelet_pods(NULL), 0);
	assert_int_equal(kubelet_age_ns(NULL, rm_mono_now()), -1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_unknown_pod_causes_a_request_at_once),
		TEST(a_pod_unknown_to_the_kubelet_is_requested_once),
		TEST(known_pods_stay_while_the_kubelet_fails),
		TEST(a_new_reason_and_the_recovery_are_logged),
		TEST(failures_are_logged_rarely_but_not_lost),
		TEST(a_token_file_that_others_can_read_is_not_used),
		TEST(pods_that_are_left_out_are_counted),
		TEST(a_kubelet_can_be_freed_during_a_reading),
		cmocka_unit_test(without_a_kubelet_no_pod_is_known),
	};

	return cmocka_run_group_tests_name("kubelet", tests, NULL, NULL);
}
