/*
 * Any bytes as a kubelet's answer about its pods. No more pods than the limit are kept,
 * each can be found, and no name needs quoting.
 */
#include <stdlib.h>
#include <string.h>

#include "host-agent/kubernetes/pod_list.h"
#include "rackmesh/core/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
check_name(const char *name)
{
	if (strlen(name) >= POD_OBJECT_BYTES || strpbrk(name, "\"\\\n/ ") != NULL)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* The UID in the corpus, and the shortest one of a static pod. */
	static const char *const uids[] = { "0b4f7a3e-6f1d-4c2a-9d55-0c1e2f3a4b01",
		"3f1e9c2b7a6d5e4f8c0b1a2d3e4f5061", "" };
	struct rm_error error = { .text = "" };
	struct pod_list *list;

	if (pod_list_parse((const char *)data, len, &list, &error) < 0)
		return 0;
	if (pod_list_count(list) > POD_LIST_MAX_PODS)
		abort();
	for (size_t i = 0; i < sizeof(uids) / sizeof(uids[0]); i++) {
		const struct pod *pod = pod_list_find(list, uids[i]);

		if (pod == NULL)
			continue;
		if (strcmp(pod->uid, uids[i]) != 0 || pod->name[0] == '\0' ||
		    (pod->owner_kind[0] == '\0') != (pod->owner_name[0] == '\0'))
			abort();
		check_name(pod->namespace);
		check_name(pod->name);
		check_name(pod->owner_kind);
		check_name(pod->owner_name);
	}
	pod_list_free(list);
	return 0;
}
