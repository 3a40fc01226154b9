/*
 * counters_fixture - a fake device: the files that its driver shows in sysfs, and its
 * answers over netlink and ethtool.
 *
 * Include it after cmocka.h. Every failure fails the test.
 */
#ifndef TESTS_UNIT_HOST_AGENT_COUNTERS_FIXTURE_H
#define TESTS_UNIT_HOST_AGENT_COUNTERS_FIXTURE_H

#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>

#include "host-agent/counters/counter_port.h"
#include "host-agent/counters/link_stats.h"
#include "host-agent/kernel/counter_kernel.h"
#include "host-agent/kernel/netlink_reply.h"
#include "tests/unit/host-agent/rnic/rdma_fixture.h"

#define FIXTURE_MAX_STATS 1024
#define FIXTURE_DEVICE 5     /* the kernel's number of the device */
#define FIXTURE_ETHTOOL 0x1d /* the kernel's number of the ethtool family */

/* The memory of an optical module, in half pages of 128 bytes. */
struct fixture_module {
	uint8_t lower[128], diagnostics[128], upper[18][128];
	uint32_t fails; /* bit mask of the pages that cannot be read */
	int error;      /* error of every read; 0: none */
};

struct counters_fixture {
	struct rdma_fixture files;
	struct counter_kernel kernel;
	struct counter_port_place place;
	char names[FIXTURE_MAX_STATS][ETH_GSTRING_LEN];
	uint64_t values[FIXTURE_MAX_STATS];
	uint32_t count;
	unsigned calls, questions;
	uint32_t active_fec;

	/* Over netlink: RDMA counters and resources are answered, and DCB is
	 * answered. */
	bool rdma_netlink, has_dcb;
	struct fixture_list {
		char names[256][64];
		uint64_t values[256];
		size_t count;
	} stats, resources;
	/* Groups of QPs with counters of their own. pid 0: the group has no process. */
	struct fixture_group {
		uint32_t port, pid;
		const char *name;
		uint64_t value;
	} groups[160];
	size_t group_count;
	struct ieee_pfc pfc;
	unsigned dscp_rules; /* DSCP rules, besides one rule for an EtherType */
	struct fixture_module module;
	/* By enum link_stat. For FEC: first the sum, then the value of each lane. */
	bool link_there[LINK_STATS];
	uint64_t link[LINK_STATS];
	unsigned link_questions[LINK_KINDS];
	/* Called before each answer, in the thread that sent the request. NULL:
	 * none. */
	void (*hook)(struct counters_fixture *fixture, const char *netdev);
};

static inline int
counters_fixture_ethtool(void *arg, const char *netdev, void *command)
{
	struct counters_fixture *fixture = arg;
	struct ethtool_sset_info *sets = command;
	struct ethtool_gstrings *names = command;
	struct ethtool_stats *values = command;
	struct ethtool_fecparam *fec = command;

	fixture->calls++;
	if (fixture->hook != NULL)
		fixture->hook(fixture, netdev);
	if (fec->cmd == ETHTOOL_GFECPARAM && fixture->active_fec != 0) {
		fec->active_fec = fixture->active_fec;
		return 0;
	}
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

struct fixture_answer {
	uint8_t *bytes;
	size_t len, room;
};

static inline size_t
fixture_begin(struct fixture_answer *answer, size_t head)
{
	const size_t at = answer->len;

	assert_true(answer->len + head <= answer->room);
	memset(answer->bytes + at, 0, head);
	answer->len += head;
	return at;
}

static inline void
fixture_end_nested(struct fixture_answer *answer, size_t at, uint16_t type)
{
	const struct nlattr head = { (uint16_t)(answer->len - at), type };

	memcpy(answer->bytes + at, &head, sizeof(head));
}

static inline void
fixture_attribute(
    struct fixture_answer *answer, uint16_t type, const void *data, size_t len)
{
	const size_t at = fixture_begin(answer, NLA_ALIGN(NLA_HDRLEN + len));
	const struct nlattr head = { (uint16_t)(NLA_HDRLEN + len), type };

	memcpy(answer->bytes + at, &head, sizeof(head));
	memcpy(answer->bytes + at + NLA_HDRLEN, data, len);
}

static inline void
fixture_end(struct fixture_answer *answer, size_t at, uint16_t type)
{
	const struct nlmsghdr head = { .nlmsg_len = (uint32_t)(answer->len - at),
		.nlmsg_type = type };

	memcpy(answer->bytes + at, &head, sizeof(head));
}

static inline void
fixture_table(struct fixture_answer *answer, const struct fixture_list *list,
    const uint16_t types[4])
{
	const size_t table = fixture_begin(answer, NLA_HDRLEN);

	for (size_t i = 0; i < list->count; i++) {
		const size_t entry = fixture_begin(answer, NLA_HDRLEN);

		fixture_attribute(
		    answer, types[2], list->names[i], strlen(list->names[i]) + 1);
		fixture_attribute(answer, types[3], &list->values[i], 8);
		fixture_end_nested(answer, entry, types[1] | NLA_F_NESTED);
	}
	fixture_end_nested(answer, table, types[0] | NLA_F_NESTED);
}

static inline void
fixture_app_table(struct fixture_answer *answer, unsigned dscp_rules)
{
	const struct dcb_app type = { IEEE_8021QAZ_APP_SEL_ETHERTYPE, 3, 0x8915 };
	const size_t table = fixture_begin(answer, NLA_HDRLEN);

	fixture_attribute(answer, DCB_ATTR_IEEE_APP, &type, sizeof(type));
	for (unsigned i = 0; i < dscp_rules; i++) {
		const struct dcb_app dscp = { IEEE_8021QAZ_APP_SEL_DSCP, 3,
			(uint16_t)(24 + i) };

		fixture_attribute(answer, DCB_ATTR_IEEE_APP, &dscp, sizeof(dscp));
	}
	fixture_end_nested(answer, table, DCB_ATTR_IEEE_APP_TABLE);
}

/* Builds an entry like the kernel's fill_res_counter_entry. */
static inline void
fixture_groups(struct fixture_answer *answer, const struct counters_fixture *fixture)
{
	static const uint16_t types[] = { RDMA_NLDEV_ATTR_STAT_HWCOUNTERS,
		RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY,
		RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME,
		RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE };
	static struct fixture_list list = { .names = { "out_of_buffer" }, .count = 2 };
	const size_t table = fixture_begin(answer, NLA_HDRLEN);

	for (size_t i = 0; i < fixture->group_count; i++) {
		const struct fixture_group *group = &fixture->groups[i];
		const uint32_t id = (uint32_t)i + 1, mode = RDMA_COUNTER_MODE_AUTO,
			       qpn = 100 + id;
		const size_t entry = fixture_begin(answer, NLA_HDRLEN);
		size_t qps, qp;

		fixture_attribute(answer, RDMA_NLDEV_ATTR_PORT_INDEX, &group->port, 4);
		fixture_attribute(answer, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, &id, 4);
		fixture_attribute(answer, RDMA_NLDEV_ATTR_STAT_MODE, &mode, 4);
		if (group->pid != 0)
			fixture_attribute(
			    answer, RDMA_NLDEV_ATTR_RES_PID, &group->pid, 4);
		qps = fixture_begin(answer, NLA_HDRLEN);
		qp = fixture_begin(answer, NLA_HDRLEN);
		fixture_attribute(answer, RDMA_NLDEV_ATTR_RES_LQPN, &qpn, 4);
		fixture_end_nested(
		    answer, qp, RDMA_NLDEV_ATTR_RES_QP_ENTRY | NLA_F_NESTED);
		fixture_end_nested(answer, qps, RDMA_NLDEV_ATTR_RES_QP | NLA_F_NESTED);
		snprintf(list.names[1], sizeof(list.names[1]), "%s", group->name);
		list.values[1] = group->value;
		fixture_table(answer, &list, types);
		fixture_end_nested(
		    answer, entry, RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY | NLA_F_NESTED);
	}
	fixture_end_nested(answer, table, RDMA_NLDEV_ATTR_STAT_COUNTER | NLA_F_NESTED);
}

/* Returns the requested half page. NULL: the kernel refuses the request. */
static inline const uint8_t *
fixture_module_half(
    const struct fixture_module *module, const struct nlmsghdr *question)
{
	struct netlink_reader reader = { (const uint8_t *)question + NLMSG_HDRLEN +
					     GENL_HDRLEN,
		question->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN, false };
	uint32_t numbers[ETHTOOL_A_MODULE_EEPROM_MAX + 1] = { 0 };
	struct netlink_attribute attribute, device;

	while (netlink_next(&reader, &attribute)) {
		assert_true(attribute.type < ETHTOOL_A_MODULE_EEPROM_DATA);
		if (attribute.type == ETHTOOL_A_MODULE_EEPROM_HEADER) {
			struct netlink_reader inside = netlink_inside(&attribute);

			assert_true(netlink_next(&inside, &device));
			assert_int_equal(device.type, ETHTOOL_A_HEADER_DEV_NAME);
			assert_string_equal((const char *)device.data, "eth1");
			continue;
		}
		memcpy(&numbers[attribute.type], attribute.data, attribute.len);
	}
	assert_false(reader.damaged);
	assert_int_equal(numbers[ETHTOOL_A_MODULE_EEPROM_LENGTH], 128);
	if (numbers[ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS] == 0x51)
		return module->diagnostics;
	assert_int_equal(numbers[ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS], 0x50);
	if (numbers[ETHTOOL_A_MODULE_EEPROM_OFFSET] == 0)
		return module->lower;
	assert_int_equal(numbers[ETHTOOL_A_MODULE_EEPROM_OFFSET], 128);
	assert_true(numbers[ETHTOOL_A_MODULE_EEPROM_PAGE] < 18);
	if ((module->fails >> numbers[ETHTOOL_A_MODULE_EEPROM_PAGE] & 1) != 0)
		return NULL;
	return module->upper[numbers[ETHTOOL_A_MODULE_EEPROM_PAGE]];
}

/* Builds statistics like the kernel's fec_put_stats and stats_put_stats. */
static inline void
fixture_link_put(const struct counters_fixture *fixture, struct fixture_answer *answer,
    enum link_stat stat, uint16_t type, size_t count)
{
	if (fixture->link_there[stat])
		fixture_attribute(answer, type, &fixture->link[stat], 8 * count);
}

static inline void
fixture_link_one(const struct counters_fixture *fixture, struct fixture_answer *answer,
    enum link_stat stat, uint16_t type)
{
	const size_t at = fixture_begin(answer, NLA_HDRLEN);

	fixture_link_put(fixture, answer, stat, type, 1);
	fixture_end_nested(answer, at, ETHTOOL_A_STATS_GRP_STAT | NLA_F_NESTED);
}

static inline size_t
fixture_group(struct fixture_answer *answer, uint32_t group)
{
	const size_t at = fixture_begin(answer, NLA_HDRLEN);

	fixture_attribute(answer, ETHTOOL_A_STATS_GRP_ID, &group, 4);
	return at;
}

static inline int
fixture_link(
    struct counters_fixture *fixture, struct fixture_answer *answer, uint8_t command)
{
	const struct counters_fixture *f = fixture;
	size_t at;

	if (command == ETHTOOL_MSG_PAUSE_GET) {
		fixture->link_questions[LINK_PAUSE]++;
		at = fixture_begin(answer, NLA_HDRLEN);
		fixture_link_put(
		    f, answer, LINK_PAUSE_TX, ETHTOOL_A_PAUSE_STAT_TX_FRAMES, 1);
		fixture_link_put(
		    f, answer, LINK_PAUSE_RX, ETHTOOL_A_PAUSE_STAT_RX_FRAMES, 1);
		fixture_end_nested(answer, at, ETHTOOL_A_PAUSE_STATS | NLA_F_NESTED);
		return 0;
	}
	if (command == ETHTOOL_MSG_FEC_GET) {
		fixture->link_questions[LINK_FEC]++;
		at = fixture_begin(answer, NLA_HDRLEN);
		fixture_link_put(
		    f, answer, LINK_FEC_CORRECTED, ETHTOOL_A_FEC_STAT_CORRECTED, 1);
		fixture_link_put(
		    f, answer, LINK_FEC_UNCORRECTED, ETHTOOL_A_FEC_STAT_UNCORR, 1);
		fixture_link_put(f, answer, LINK_FEC_BITS, ETHTOOL_A_FEC_STAT_CORR_BITS,
		    f->link_there[LINK_FEC_LANE] ? 1 + LINK_LANES : 1);
		fixture_end_nested(answer, at, ETHTOOL_A_FEC_STATS | NLA_F_NESTED);
		return 0;
	}
	if (command != ETHTOOL_MSG_STATS_GET)
		return -EOPNOTSUPP;
	fixture->link_questions[LINK_STANDARD]++;
	at = fixture_group(answer, ETHTOOL_STATS_ETH_PHY);
	fixture_link_one(
	    f, answer, LINK_SYMBOL_ERRORS, ETHTOOL_A_STATS_ETH_PHY_5_SYM_ERR);
	fixture_end_nested(answer, at, ETHTOOL_A_STATS_GRP | NLA_F_NESTED);
	at = fixture_group(answer, ETHTOOL_STATS_ETH_MAC);
	fixture_link_one(f, answer, LINK_TX_PKTS, ETHTOOL_A_STATS_ETH_MAC_2_TX_PKT);
	fixture_link_one(f, answer, LINK_RX_PKTS, ETHTOOL_A_STATS_ETH_MAC_5_RX_PKT);
	fixture_link_one(f, answer, LINK_FCS_ERRORS, ETHTOOL_A_STATS_ETH_MAC_6_FCS_ERR);
	fixture_link_one(f, answer, LINK_TX_BYTES, ETHTOOL_A_STATS_ETH_MAC_8_TX_BYTES);
	fixture_link_one(f, answer, LINK_RX_BYTES, ETHTOOL_A_STATS_ETH_MAC_14_RX_BYTES);
	fixture_end_nested(answer, at, ETHTOOL_A_STATS_GRP | NLA_F_NESTED);
	return 0;
}

static inline int
fixture_generic(struct counters_fixture *fixture, const struct nlmsghdr *question,
    uint8_t *bytes, size_t room)
{
	const uint16_t family = FIXTURE_ETHTOOL;
	const struct genlmsghdr *generic =
	    (const struct genlmsghdr *)((const uint8_t *)question + NLMSG_HDRLEN);
	struct fixture_answer answer = { bytes, 0, room };
	size_t at = fixture_begin(&answer, NLMSG_HDRLEN);

	fixture_begin(&answer, GENL_HDRLEN);
	if (question->nlmsg_type == GENL_ID_CTRL) {
		fixture_attribute(&answer, CTRL_ATTR_FAMILY_NAME, "ethtool", 8);
		fixture_attribute(&answer, CTRL_ATTR_FAMILY_ID, &family, 2);
	} else if (generic->cmd != ETHTOOL_MSG_MODULE_EEPROM_GET) {
		int r = fixture_link(fixture, &answer, generic->cmd);

		if (r < 0)
			return r;
	} else {
		const uint8_t *half = fixture_module_half(&fixture->module, question);

		assert_int_equal(question->nlmsg_type, FIXTURE_ETHTOOL);
		if (fixture->hook != NULL)
			fixture->hook(fixture, "module");
		if (fixture->module.error < 0 || half == NULL)
			return half == NULL ? -EIO : fixture->module.error;
		fixture_attribute(&answer, ETHTOOL_A_MODULE_EEPROM_DATA, half, 128);
	}
	fixture_end(&answer, at, question->nlmsg_type);
	at = fixture_begin(&answer, NLMSG_HDRLEN + sizeof(struct nlmsgerr));
	fixture_end(&answer, at, NLMSG_ERROR); /* error 0: end of the answer */
	return (int)answer.len;
}

static inline int
counters_fixture_netlink(void *arg, int protocol, const struct nlmsghdr *question,
    uint8_t *bytes, size_t room)
{
	static const uint16_t stats[] = { RDMA_NLDEV_ATTR_STAT_HWCOUNTERS,
		RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY,
		RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME,
		RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE };
	static const uint16_t resources[] = { RDMA_NLDEV_ATTR_RES_SUMMARY,
		RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY,
		RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME,
		RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR };
	const uint32_t device = FIXTURE_DEVICE, other = 4;
	struct counters_fixture *fixture = arg;
	struct fixture_answer answer = { bytes, 0, room };
	size_t at;

	if (protocol == NETLINK_GENERIC) /* called from a worker thread */
		return fixture_generic(fixture, question, bytes, room);
	at = fixture_begin(&answer, NLMSG_HDRLEN);
	fixture->questions++;
	if (protocol == NETLINK_RDMA && !fixture->rdma_netlink)
		return -EPROTONOSUPPORT;
	if (protocol == NETLINK_ROUTE) {
		size_t ieee;

		if (!fixture->has_dcb)
			return -EOPNOTSUPP;
		fixture_begin(&answer, NLMSG_ALIGN(sizeof(struct dcbmsg)));
		fixture_attribute(&answer, DCB_ATTR_IFNAME, "eth1", 5);
		ieee = fixture_begin(&answer, NLA_HDRLEN);
		fixture_attribute(
		    &answer, DCB_ATTR_IEEE_PFC, &fixture->pfc, sizeof(fixture->pfc));
		fixture_app_table(&answer, fixture->dscp_rules);
		fixture_end_nested(&answer, ieee, DCB_ATTR_IEEE);
		fixture_end(&answer, at, RTM_GETDCB);
	} else if (RDMA_NL_GET_OP(question->nlmsg_type) == RDMA_NLDEV_CMD_GET) {
		fixture_attribute(&answer, RDMA_NLDEV_ATTR_DEV_INDEX, &other, 4);
		fixture_attribute(&answer, RDMA_NLDEV_ATTR_DEV_NAME, "rdma00", 7);
		fixture_end(&answer, at, question->nlmsg_type);
		at = fixture_begin(&answer, NLMSG_HDRLEN);
		fixture_attribute(&answer, RDMA_NLDEV_ATTR_DEV_INDEX, &device, 4);
		fixture_attribute(&answer, RDMA_NLDEV_ATTR_DEV_NAME, "rdma0", 6);
		fixture_end(&answer, at, question->nlmsg_type);
	} else {
		const bool counters =
		    RDMA_NL_GET_OP(question->nlmsg_type) == RDMA_NLDEV_CMD_STAT_GET;
		uint32_t asked;

		memcpy(
		    &asked, (const uint8_t *)question + NLMSG_HDRLEN + NLA_HDRLEN, 4);
		assert_int_equal(asked, FIXTURE_DEVICE);
		fixture_attribute(&answer, RDMA_NLDEV_ATTR_DEV_INDEX, &device, 4);
		if ((question->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP)
			fixture_groups(&answer, fixture);
		else
			fixture_table(&answer,
			    counters ? &fixture->stats : &fixture->resources,
			    counters ? stats : resources);
		fixture_end(&answer, at, question->nlmsg_type);
	}
	at = fixture_begin(&answer, NLMSG_HDRLEN + sizeof(struct nlmsgerr));
	fixture_end(&answer, at, NLMSG_ERROR); /* error 0: end of the answer */
	return (int)answer.len;
}

static inline void
counters_fixture_make(struct counters_fixture *fixture, const char *driver)
{
	memset(fixture, 0, sizeof(*fixture));
	rdma_fixture_make(&fixture->files);
	fixture->kernel = (struct counter_kernel){ .sysfs = fixture->files.root,
		.ethtool = counters_fixture_ethtool,
		.netlink = counters_fixture_netlink,
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

static inline void
fixture_list_put(struct fixture_list *list, const char *name, uint64_t value)
{
	size_t i = 0;
	int length;

	while (i < list->count && strcmp(list->names[i], name) != 0)
		i++;
	assert_true(i < 256);
	length = snprintf(list->names[i], sizeof(list->names[i]), "%s", name);
	assert_in_range(length, 1, sizeof(list->names[i]) - 1);
	list->values[i] = value;
	if (i == list->count)
		list->count++;
}

static inline void
fixture_link_set(struct counters_fixture *fixture, const char *name, uint64_t value)
{
	static const char *const names[LINK_STATS] = { "pause_rx", "pause_tx",
		"fec_corrected", "fec_uncorrected", "fec_corrected_bits", "fec_lane_0",
		"fec_lane_1", "fec_lane_2", "fec_lane_3", "fec_lane_4", "fec_lane_5",
		"fec_lane_6", "fec_lane_7", "symbol_errors", "fcs_errors", "rx_bytes",
		"tx_bytes", "rx_pkts", "tx_pkts" };
	size_t i = 0;

	while (strcmp(names[i], name) != 0)
		assert_true(++i < LINK_STATS);
	fixture->link_there[i] = true;
	fixture->link[i] = value;
}

static inline void
fixture_dcb_put(struct counters_fixture *fixture, const char *name, uint64_t value)
{
	const unsigned priority = (unsigned)(name[strlen(name) - 1] - '0');

	fixture->has_dcb = true;
	if (strncmp(name, "pfc_rx_", 7) == 0)
		fixture->pfc.indications[priority] = value;
	else if (strncmp(name, "pfc_tx_", 7) == 0)
		fixture->pfc.requests[priority] = value;
	else
		fixture->pfc.pfc_en |= (uint8_t)(value << priority);
}

/* place: the letter that the counter table uses for the source. */
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

	if (place == 'h')
		fixture_list_put(&fixture->stats, name, strtoull(text, NULL, 10));
	if (place == 'r')
		fixture_list_put(&fixture->resources, name, strtoull(text, NULL, 10));
	else if (place == 'd')
		fixture_dcb_put(fixture, name, strtoull(text, NULL, 10));
	else if (place == 's')
		fixture_link_set(fixture, name, strtoull(text, NULL, 10));
	else if (place != 'e')
		rdma_fixture_put(&fixture->files, text, "class/%s/%s", folder, name);
	if (place != 'e')
		return;
	while (i < fixture->count &&
	       strncmp(fixture->names[i], name, ETH_GSTRING_LEN) != 0)
		i++;
	assert_true(i < FIXTURE_MAX_STATS);
	memset(fixture->names[i], 0, ETH_GSTRING_LEN);
	memcpy(fixture->names[i], name, strnlen(name, ETH_GSTRING_LEN));
	fixture->values[i] = strtoull(text, NULL, 10);
	if (i == fixture->count)
		fixture->count++;
}

/* Returns the index of a counter among the values of the table. */
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
