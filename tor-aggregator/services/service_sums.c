#include "tor-aggregator/services/service_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct node {
	struct service_sum sum;
	/* The host that was added last, and a bit for each of its RNICs that was
	 * counted. */
	const struct service_host *host;
	uint64_t rnics;
	UT_hash_handle hh; /* keyed by sum.service */
};

static struct node *
get_node(struct node **nodes, const char *service)
{
	struct node *node;

	HASH_FIND_STR(*nodes, service, node);
	if (node != NULL)
		return node;
	node = calloc(1, sizeof(*node));
	if (node == NULL)
		return NULL;
	strcpy(node->sum.service, service);
	HASH_ADD_STR(*nodes, sum.service, node);
	if (node->hh.tbl != NULL)
		return node;
	free(node);
	return NULL;
}

static void
add(struct node *node, const struct service_host *host, const struct service_flow *flow,
    size_t at)
{
	const uint64_t bit = UINT64_C(1) << (at & 63);

	if (node->host != host) {
		node->host = host;
		node->rnics = 0;
		node->sum.hosts++;
	}
	node->sum.rnics += (node->rnics & bit) == 0;
	node->rnics |= bit;
	node->sum.flows++;
	node->sum.probed += flow->probe_port != 0;
	node->sum.qps += flow->qps;
}

static int
by_flows(const void *a, const void *b)
{
	const struct service_sum *one = a, *other = b;

	if (one->flows != other->flows)
		return one->flows > other->flows ? -1 : 1;
	return strcmp(one->service, other->service);
}

/* Copies the sums of all nodes into an array, and frees the nodes. */
static int
take_all(struct node *nodes, struct service_sum **ret, size_t *count)
{
	const size_t all = HASH_COUNT(nodes);
	struct service_sum *list = all > 0 ? calloc(all, sizeof(*list)) : NULL;
	struct node *node, *next;
	size_t i = 0;

	HASH_ITER (hh, nodes, node, next) {
		HASH_DEL(nodes, node);
		if (list != NULL)
			list[i++] = node->sum;
		free(node);
	}
	if (all > 0 && list == NULL)
		return -ENOMEM;
	if (all > 1)
		qsort(list, all, sizeof(*list), by_flows);
	*ret = list;
	*count = all;
	return 0;
}

int
service_sums(const struct service_table *table,
    bool (*is_member)(const char *host, struct wire_rnic_id id, size_t *at, void *arg),
    void *arg, struct service_sum **ret, size_t *count)
{
	const struct service_host *host = NULL;
	struct node *nodes = NULL, *node;
	size_t at = 0;
	int r, lost = 0;

	while ((host = service_table_next(table, host)) != NULL)
		for (size_t i = 0; i < host->flow_count; i++) {
			const struct service_flow *flow = &host->flows[i];

			if (!is_member(host->host, flow->src, &at, arg))
				continue;
			node = get_node(&nodes, flow->service);
			if (node == NULL)
				lost = -ENOMEM;
			else
				add(node, host, flow, at);
		}
	r = take_all(nodes, ret, count);
	if (r == 0 && lost < 0) {
		free(*ret);
		r = lost;
	}
	return r;
}
