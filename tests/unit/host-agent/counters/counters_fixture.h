/*
 * counters_fixture - a device as its driver shows it: files, and what ethtool answers.
 *
 * Include it after cmocka.h. Everything asserts.
 */
#ifndef TESTS_UNIT_HOST_AGENT_COUNTERS_FIXTURE_H
#define TESTS_UNIT_HOST_AGENT_COUNTERS_FIXTURE_H

#include <linux/ethtool.h>

#include "host-agent/counters/counter_kernel.h"
#include "host-agent/counters/counter_port.h"
#include "tests/unit/host-agent/rnic/rdma_fixture.h"

#define FIXTURE_MAX_STATS 1024

struct counters_fixture {
	struct rdma_fixture files;
	struct counter_kernel kernel;
	struct counter_port_place place;
	char names[FIXTURE_MAX_STATS][ETH_GSTRING_LEN];
	uint64_t values[FIXTURE_MAX_STATS];
	uint32_t count;
	unsigned calls;
	/* Before each answer, in the thread that asks. NULL: nothing. */
	void (*hook)(struct counters_fixture *fixture, const char *netdev);
};

static inline int
counters_fixture_ethtool(void *arg, const char *netdev, void *command)
{
	struct counters_fixture *fixture = arg;
	struct ethtool_sset_info *sets = command;
	struct ethtool_gstrings *names = command;
	struct ethtool_stats *values = command;

	fixture->calls++;
	if (fixture->hook != NULL)
		fixture->hook(fixture, netdev);
	if (fixture->count == 0)
		return -EOPNOTSUPP;
	switch (sets->cmd) {
	case ETHTOOL_GSSET_INFO:
		memcpy(sets->data, &fixture->count, sizeof(fixture->count));
		return 0;
	case ETHTOOL_GSTRINGS:
		names->len = fixture->count;
		memcpy(names->data, fixture->names,
		    fixture->count * (size_t)ETH_GSTRING_LEN);
		return 0;
	case ETHTOOL_GSTATS:
		values->n_stats = fixture->count;
		memcpy(values->data, fixture->values,
		    fixture->count * sizeof(fixture->values[0]));
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static inline void
counters_fixture_make(struct counters_fixture *fixture, const char *driver)
{
	memset(fixture, 0, sizeof(*fixture));
	rdma_fixture_make(&fixture->files);
	fixture->kernel = (struct counter_kernel){ .sysfs = fixture->files.root,
		.ethtool = counters_fixture_ethtool,
		.arg = fixture };
	strcpy(fixture->place.rdma_device, "rdma0");
	fixture->place.port = 1;
	strcpy(fixture->place.netdev, "eth1");
	snprintf(fixture->place.driver, sizeof(fixture->place.driver), "%s", driver);
	rdma_fixture_put(&fixture->files, "1.0", "class/infiniband/rdma0/fw_ver");
	rdma_fixture_put(&fixture->files, "7", "class/net/eth1/ifindex");
}

static inline void
counters_fixture_free(const struct counters_fixture *fixture)
{
	rdma_fixture_free(&fixture->files);
}

/* place: the letter of the table. */
static inline void
counters_fixture_put(
    struct counters_fixture *fixture, char place, const char *name, const char *text)
{
	const char *folder = place == 'h'   ? "infiniband/rdma0/ports/1/hw_counters"
			     : place == 'H' ? "infiniband/rdma0/hw_counters"
			     : place == 'c' ? "infiniband/rdma0/ports/1/counters"
			     : place == 'p' ? "infiniband/rdma0/ports/1"
					    : "net/eth1";
	uint32_t i = 0;

	if (place != 'e') {
		rdma_fixture_put(&fixture->files, text, "class/%s/%s", folder, name);
		return;
	}
	while (i < fixture->count &&
	       strncmp(fixture->names[i], name, ETH_GSTRING_LEN) != 0)
		i++;
	assert_true(i < FIXTURE_MAX_STATS);
	strncpy(fixture->names[i], name, ETH_GSTRING_LEN);
	fixture->values[i] = strtoull(text, NULL, 10);
	if (i == fixture->count)
		fixture->count++;
}

/* The index of a counter among the values of the table. */
static inline size_t
counters_fixture_value(const char *name, unsigned index)
{
	size_t at = 0;

	for (const struct counter_row *row = counter_rows; row->name != NULL; row++) {
		if (strcmp(row->name, name) == 0)
			return at + index;
		at += counter_row_values(row);
	}
	fail_msg("the table has no %s", name);
	return 0;
}

#endif
