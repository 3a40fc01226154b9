/*
 * Any bytes as the kernel's netlink answers to requests for counters. Each name found
 * is a name that was learned, and the number of learned names is limited.
 *
 * Input: the first byte selects the request; then the answers, each preceded by its
 * length in two bytes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/counters/dcb_pfc.h"
#include "host-agent/counters/link_stats.h"
#include "host-agent/counters/qp_counters.h"
#include "host-agent/counters/rdma_stats.h"
#include "host-agent/kernel/counter_kernel.h"
#include "tests/fuzz/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int
answer(void *arg, int protocol, const struct nlmsghdr *question, uint8_t *bytes,
    size_t room)
{
	struct fuzz_bytes *all = arg;
	size_t len = fuzz_u8(all);

	len = len << 8 | fuzz_u8(all);
	if (len > all->left)
		len = all->left;
	if (len > room)
		len = room;
	memcpy(bytes, all->at, len);
	all->at += len;
	all->left -= len;
	return len == 0 ? -EOPNOTSUPP : (int)len;
}

static void
read_stats(struct fuzz_bytes *bytes, const struct counter_kernel *kernel,
    enum rdma_stats_table table)
{
	struct rdma_stats *stats = calloc(1, sizeof(*stats));

	if (stats == NULL)
		return;
	if (rdma_stats_look(stats, table, kernel, "rdma0", 1) == 0) {
		for (size_t i = 0; i < stats->count; i++) {
			int at = rdma_stats_find(stats, stats->names[i]);

			if (at < 0 || (size_t)at > i)
				abort();
		}
		/* Without names there is no further request. */
		while (bytes->left > 0 && stats->count > 0)
			if ((rdma_stats_read(stats, table, kernel) == 0) !=
			    stats->there)
				abort();
	} else if (stats->count != 0) {
		abort();
	}
	if (stats->count > RDMA_STATS_MAX)
		abort();
	free(stats);
}

static void
read_apart(const struct counter_kernel *kernel)
{
	struct qp_counters *all = calloc(1, sizeof(*all));
	uint8_t *reply = malloc(QP_COUNTERS_REPLY_BYTES);

	if (all != NULL && reply != NULL) {
		int r = qp_counters_read(all, kernel, "rdma0", 1, reply);

		if (all->name_count > QP_COUNTERS_NAMES ||
		    all->process_count > QP_COUNTERS_PROCESSES ||
		    (r < 0 && all->process_count + all->name_count > 0))
			abort();
		for (size_t i = 0; i < all->process_count; i++)
			if (all->processes[i].pid == 0)
				abort();
	}
	free(reply);
	free(all);
}

static void
read_pfc(const struct counter_kernel *kernel)
{
	const char *const kinds[] = { "pfc_rx_", "pfc_tx_", "pfc_enabled_" };
	struct dcb_pfc pfc;

	if ((dcb_pfc_read(&pfc, kernel, "eth1") == 0) != pfc.there)
		abort();
	for (unsigned i = 0; i < 3 * DCB_PRIORITIES; i++) {
		char name[32];
		int at;

		snprintf(name, sizeof(name), "%s%u", kinds[i / DCB_PRIORITIES],
		    i % DCB_PRIORITIES);
		at = dcb_pfc_find(&pfc, name);
		if (pfc.there ? at != (int)i : at != -ENOENT)
			abort();
		if (dcb_pfc_value(&pfc, i) > 1 && i >= 2 * DCB_PRIORITIES)
			abort();
	}
	for (unsigned i = 0; !pfc.dscp && i < DCB_DSCPS; i++)
		if (pfc.dscps[i] != DCB_NO_PRIORITY)
			abort();
}

static void
read_link(const struct counter_kernel *kernel)
{
	struct link_stats link;

	link_stats_look(&link, kernel, "eth1");
	(void)link_stats_find(&link, "pause_rx");
	(void)link_stats_find(&link, "fcs_errors");
	if (link_stats_find(&link, "fec_lane_7") >= 0 && !link.there[LINK_FEC_LANE + 7])
		abort();
	if (link_stats_find(&link, "fec_lane_8") != -ENOENT)
		abort();
	link_stats_read(&link, kernel, "eth1");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_bytes bytes = { data, len };
	const struct counter_kernel kernel = { .netlink = answer, .arg = &bytes };
	const uint8_t which = fuzz_u8(&bytes) % 5;

	if (which < 2)
		read_stats(&bytes, &kernel, (enum rdma_stats_table)which);
	else if (which == 3)
		read_apart(&kernel);
	else if (which == 4)
		read_link(&kernel);
	else
		read_pfc(&kernel);
	return 0;
}
