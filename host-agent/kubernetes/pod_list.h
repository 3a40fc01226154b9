/*
 * pod_list - the pods of a host by their UIDs, from a kubelet's answer: a PodList of
 * Kubernetes' v1 API, as JSON. Pure.
 *
 * Only the metadata of each pod is parsed; parsing all of it would take ten times the
 * memory. A pod that cannot be parsed, or that is beyond the limit, is left out, and
 * the others are kept.
 */
#ifndef HOST_AGENT_KUBERNETES_POD_LIST_H
#define HOST_AGENT_KUBERNETES_POD_LIST_H

#include <stddef.h>
#include <stdint.h>

#define POD_LIST_MAX_BYTES (16u << 20) /* largest answer */
#define POD_LIST_MAX_PODS 1024         /* Kubernetes supports 110 per node */
#define POD_LIST_MAX_METADATA (512u << 10)

/* The limits of Kubernetes, with the terminating 0 byte. */
#define POD_UID_BYTES 37
#define POD_NAMESPACE_BYTES 64
#define POD_OBJECT_BYTES 254 /* name of a pod or an owner */
#define POD_KIND_BYTES 64

struct rm_error;

/* Names consist of letters, digits, '-' and '.', so they need no quoting. */
struct pod {
	/* for a static pod: the hash that is in the name of its cgroup */
	char uid[POD_UID_BYTES];
	char namespace[POD_NAMESPACE_BYTES], name[POD_OBJECT_BYTES];
	char full_name[POD_NAMESPACE_BYTES + POD_OBJECT_BYTES]; /* "namespace/name" */
	/* The pod's owner: the Deployment, if the pod's ReplicaSet certainly belongs to
	 * one, otherwise the pod's controller. "": the pod has no owner. */
	char owner_kind[POD_KIND_BYTES], owner_name[POD_OBJECT_BYTES];
};

struct pod_list;

/* -EPROTO: not a PodList; error has the reason. -ENOMEM. */
int pod_list_parse(
    const char *text, size_t len, struct pod_list **ret, struct rm_error *error);
void pod_list_free(struct pod_list *list); /* NULL is allowed */

size_t pod_list_count(const struct pod_list *list);
uint64_t pod_list_refused(const struct pod_list *list); /* pods that were left out */
/* Returns NULL if there is no such pod; borrowed as long as the list. list: NULL is
 * allowed. */
const struct pod *pod_list_find(const struct pod_list *list, const char *uid);

#endif
