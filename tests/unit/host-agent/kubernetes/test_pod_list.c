#include "host-agent/kubernetes/pod_list.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"

#define UID(n) "0b4f7a3e-6f1d-4c2a-9d55-0c1e2f3a4b" n
#define POD(uid, more)                                                               \
	"{\"metadata\":{\"uid\":\"" uid "\",\"namespace\":\"ml\",\"name\":\"web-1\"" \
	"" more "},\"spec\":{},\"status\":{}}"
#define LIST(pods) "{\"kind\":\"PodList\",\"items\":[" pods "]}"
#define REPLICA_SET(name, hash)                                                \
	",\"labels\":{\"pod-template-hash\":\"" hash "\"},"                    \
	"\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\","       \
	"\"name\":\"n\"},{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\"," \
	"\"name\":\"" name "\",\"controller\":true}]"

static struct pod_list *
read_list(const char *text)
{
	struct pod_list *list = NULL;
	struct rm_error error = { .text = "" };

	if (pod_list_parse(text, strlen(text), &list, &error) < 0)
		fail_msg("%s: %s", text, error.text);
	return list;
}

static void
assert_refused(const char *text, const char *error)
{
	struct pod_list *list = NULL;
	struct rm_error failure = { .text = "" };

	assert_int_equal(pod_list_parse(text, strlen(text), &list, &failure), -EPROTO);
	assert_null(list);
	if (strstr(failure.text, error) == NULL)
		fail_msg("%s: %s", text, failure.text);
}

static void
assert_owner(const struct pod_list *list, const char *uid, const char *cgroup_name,
    const char *kind, const char *name)
{
	const struct pod *pod = pod_list_find(list, uid);

	assert_non_null(pod);
	assert_string_equal(pod->name, cgroup_name);
	assert_string_equal(pod->owner_kind, kind);
	assert_string_equal(pod->owner_name, name);
}

static void
the_pods_of_a_kubelets_answer_are_found_by_uid(void **state)
{
	struct pod_list *list;
	uint8_t *text;
	size_t len;

	assert_int_equal(rm_file_read(KUBELET, 1 << 20, &text, &len), 0);
	list = read_list((const char *)text);
	free(text);
	assert_int_equal(pod_list_count(list), 7);
	assert_int_equal(pod_list_refused(list), 0);
	assert_owner(list, UID("01"), "web-6d4cf56db6-x2k9v", "Deployment", "web");
	assert_owner(list, UID("02"), "trainer-0", "StatefulSet", "trainer");
	assert_owner(list, UID("03"), "llm-worker-3", "PyTorchJob", "llm");
	assert_owner(list, UID("04"), "rdma-device-plugin-qk4ns", "DaemonSet",
	    "rdma-device-plugin");
	/* A static pod is identified by the hash in its cgroup name. */
	assert_owner(
	    list, "3f1e9c2b7a6d5e4f8c0b1a2d3e4f5061", "kube-proxy-gpu17", "", "");
	assert_owner(list, UID("06"), "debug", "", "");
	/* The hash label differs from the ReplicaSet's name: the owner is no
	 * Deployment. */
	assert_owner(
	    list, UID("07"), "rollout-7f9b-abcde", "ReplicaSet", "rollout-7f9b");
	assert_string_equal(pod_list_find(list, UID("02"))->namespace, "ml");
	assert_null(pod_list_find(list, UID("08")));
	assert_null(pod_list_find(list, ""));
	assert_null(pod_list_find(list, UID("02") "0"));
	pod_list_free(list);
}

static void
a_replica_set_is_a_deployments_only_if_the_pods_hash_proves_it(void **state)
{
	struct pod_list *list =
	    read_list(LIST(POD(UID("01"), REPLICA_SET("web-5d4f", "5d4f")) "," //
		POD(UID("02"), REPLICA_SET("web-5d4f", "d4f")) ","             //
		POD(UID("03"), REPLICA_SET("web-5d4f", "other")) ","           //
		POD(UID("04"), REPLICA_SET("-5d4f", "5d4f")) ","               //
		POD(UID("05"), REPLICA_SET("5d4f", "5d4f")) ","                //
		POD(UID("06"), REPLICA_SET("web-", ""))));

	assert_owner(list, UID("01"), "web-1", "Deployment", "web");
	assert_owner(list, UID("02"), "web-1", "ReplicaSet", "web-5d4f");
	assert_owner(list, UID("03"), "web-1", "ReplicaSet", "web-5d4f");
	assert_owner(list, UID("04"), "web-1", "ReplicaSet", "-5d4f");
	assert_owner(list, UID("05"), "web-1", "ReplicaSet", "5d4f");
	assert_owner(list, UID("06"), "web-1", "ReplicaSet", "web-");
	pod_list_free(list);
}

static void
a_malformed_pod_does_not_hide_others(void **state)
{
	static const char *const bad[] = { "7", "{}", "{\"metadata\":[]}",
		"{\"metadata\":{\"uid\":1}}",
		"{\"metadata\":{\"uid\":\"" UID("09") "\"}}", POD("short", ""),
		POD(UID("0G"), ""), POD(UID("09"), ",\"name\":\"a\\\"b\""),
		POD(UID("09"), ",\"x\":tru"), POD(UID("09"), ",\"name\":\"a\\u0000b\""),
		POD(UID("01"), "") };
	char text[2048];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct pod_list *list;

		snprintf(text, sizeof(text), LIST(POD(UID("01"), "") ",%s"), bad[i]);
		list = read_list(text);
		if (pod_list_count(list) != 1 || pod_list_refused(list) != 1)
			fail_msg("%s: %zu pods", bad[i], pod_list_count(list));
		assert_non_null(pod_list_find(list, UID("01")));
		pod_list_free(list);
	}
}

static void
an_answer_that_is_not_a_pod_list_is_refused(void **state)
{
	assert_refused("", "not JSON");
	assert_refused("Unauthorized", "not JSON");
	assert_refused("[]", "not JSON");
	assert_refused("{}", "not a PodList");
	assert_refused("{\"kind\":\"Status\",\"code\":403}", "not a PodList");
	assert_refused("{\"kind\":\"PodList\"}", "not a PodList");
	assert_refused("{\"items\":[]}", "not a PodList");
	assert_refused("{\"kind\":\"PodList\",\"items\":{}}", "list of pods");
	assert_refused("{\"kind\":\"PodList\",\"items\":[{}", "cut");
	assert_refused("{\"kind\":\"PodList\",\"items\":[{\"a", "cut");
	assert_refused("{\"kind\":\"PodList\",\"items\":[{},]}", "list of pods");
	assert_refused("{\"kind\":\"PodList\",\"items\":[{}{}]}", "list of pods");
	assert_refused("{\"kind\":\"PodList\",\"items\":[]} x", "cut");
	assert_refused("{\"kind\" \"PodList\"}", "cut");
	assert_refused("{kind:\"PodList\"}", "cut");
	assert_refused("{", "cut");
}

static void
a_host_without_pods_has_an_empty_list(void **state)
{
	static const char *const texts[] = { LIST(""),
		" { \"items\" : null , \"kind\" : \"PodList\" } \n" };

	for (size_t i = 0; i < 2; i++) {
		struct pod_list *list = read_list(texts[i]);

		assert_int_equal(pod_list_count(list), 0);
		assert_null(pod_list_find(list, UID("01")));
		pod_list_free(list);
	}
	assert_null(pod_list_find(NULL, UID("01")));
	assert_int_equal(pod_list_count(NULL), 0);
}

static void
no_more_pods_than_the_limit_are_kept(void **state)
{
	const size_t size = 200 * (POD_LIST_MAX_PODS + 2);
	char *text = malloc(size);
	struct pod_list *list;
	size_t used;

	assert_non_null(text);
	used = (size_t)snprintf(text, size, "{\"kind\":\"PodList\",\"items\":[");
	for (unsigned i = 0; i <= POD_LIST_MAX_PODS; i++)
		used += (size_t)snprintf(text + used, size - used,
		    "%s{\"metadata\":{\"uid\":\"0b4f7a3e-6f1d-4c2a-9d55-0c1e2f3a%04x\","
		    "\"namespace\":\"ml\",\"name\":\"p-%u\"}}",
		    i == 0 ? "" : ",", i, i);
	snprintf(text + used, size - used, "]}");
	list = read_list(text);
	assert_int_equal(pod_list_count(list), POD_LIST_MAX_PODS);
	assert_int_equal(pod_list_refused(list), 1);
	assert_non_null(pod_list_find(list, "0b4f7a3e-6f1d-4c2a-9d55-0c1e2f3a03ff"));
	pod_list_free(list);
	free(text);
}

static void
an_answer_beyond_the_bounds_is_refused(void **state)
{
	const size_t size = POD_LIST_MAX_BYTES + 1;
	struct rm_error error = { .text = "" };
	struct pod_list *list = NULL;
	char *text = malloc(size);
	int head;

	assert_non_null(text);
	memset(text, ' ', size);
	assert_int_equal(pod_list_parse(text, size, &list, &error), -EPROTO);
	assert_non_null(strstr(error.text, "16 MiB"));
	/* A value of metadata above the size limit is skipped: here nested arrays, as
	 * deep as the limit has bytes. */
	head = snprintf(text, size, "{\"kind\":\"PodList\",\"items\":[{\"metadata\":");
	memset(text + head, '[', POD_LIST_MAX_METADATA);
	memset(text + head + POD_LIST_MAX_METADATA, ']', POD_LIST_MAX_METADATA);
	memcpy(text + head + 2 * POD_LIST_MAX_METADATA, "}]}", 3);
	assert_int_equal(
	    pod_list_parse(
		text, (size_t)head + 2 * POD_LIST_MAX_METADATA + 3, &list, &error),
	    0);
	assert_int_equal(pod_list_refused(list), 1);
	pod_list_free(list);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pods_of_a_kubelets_answer_are_found_by_uid),
		cmocka_unit_test(
		    a_replica_set_is_a_deployments_only_if_the_pods_hash_proves_it),
		cmocka_unit_test(a_malformed_pod_does_not_hide_others),
		cmocka_unit_test(an_answer_that_is_not_a_pod_list_is_refused),
		cmocka_unit_test(a_host_without_pods_has_an_empty_list),
		cmocka_unit_test(no_more_pods_than_the_limit_are_kept),
		cmocka_unit_test(an_answer_beyond_the_bounds_is_refused),
	};

	return cmocka_run_group_tests_name("pod_list", tests, NULL, NULL);
}
