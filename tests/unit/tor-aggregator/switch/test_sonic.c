#include "tor-aggregator/switch/sonic.h"

#include <errno.h>
#include <event2/buffer.h>
#include <hiredis/hiredis.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schemas/wire.h"
#include "tor-aggregator/redis/redis_reader.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_neighbor.h"

/* A switch's answer to a question, in the protocol of Redis. */
struct pair {
	const char *question, *field; /* field: NULL: all fields */
	const char *answer;
};

struct talk {
	struct sonic *sonic;
	struct switch_counts counts;
	struct evbuffer *asked;
	struct switch_list *list;
	struct rm_error error;
	int questions, selects;
	unsigned answered; /* a bit for each additional question that was answered */
};

static const struct pair plain[] = {
	{ "COUNTERS_PORT_NAME_MAP", NULL,
	    "*4\r\n$9\r\nEthernet8\r\n$9\r\noid:0x100\r\n$9\r\nEthernet0\r\n$9\r\noid:"
	    "0x101\r\n" },
	{ "COUNTERS_QUEUE_NAME_MAP", NULL,
	    "*2\r\n$11\r\nEthernet0:3\r\n$9\r\noid:0x150\r\n" },
	{ "COUNTERS_PG_NAME_MAP", NULL,
	    "*2\r\n$11\r\nEthernet0:3\r\n$9\r\noid:0x1a0\r\n" },
	{ "COUNTERS:oid:0x101", "SAI_PORT_STAT_IF_IN_OCTETS", "18446744073709551615" },
	{ "COUNTERS:oid:0x101", "SAI_PORT_STAT_PFC_3_RX_PKTS", "77" },
	{ "COUNTERS:oid:0x101", "EST_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US", "5" },
	{ "COUNTERS:oid:0x101", "SAI_PORT_STAT_IF_IN_ERRORS", "N/A" },
	{ "COUNTERS:oid:0x101", "SAI_PORT_STAT_IF_OUT_ERRORS", "-4" },
	{ "COUNTERS:oid:0x101", "SAI_PORT_STAT_IF_IN_FEC_CODEWORD_ERRORS_S0", "900" },
	{ "COUNTERS:oid:0x101", "SAI_PORT_STAT_IF_IN_FEC_CODEWORD_ERRORS_S12", "4" },
	{ "COUNTERS:oid:0x101", "SAI_PORT_STAT_YELLOW_WRED_DROPPED_PACKETS", "6" },
	{ "COUNTERS:oid:0x150", "PFC_WD_STATUS", "stormed" },
	{ "COUNTERS:oid:0x150", "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", "12" },
	{ "COUNTERS:oid:0x1a0", "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS",
	    "9" },
	{ "PORT_TABLE:Ethernet0", "oper_status", "up" },
	{ "PORT_TABLE:Ethernet0", "speed", "400000" },
	{ "PORT_TABLE:Ethernet0", "lanes", "0,1,2,3,4,5,6,7" },
	{ "LLDP_ENTRY_TABLE:Ethernet8", "lldp_rem_sys_name", "spine1" },
	{ "LLDP_ENTRY_TABLE:Ethernet8", "lldp_rem_port_id", "Ethernet4" },
	{ "TRANSCEIVER_DOM_SENSOR|Ethernet0", "rx1power", "-2.0" },
	{ "TRANSCEIVER_DOM_SENSOR|Ethernet0", "rx2power", "-inf" },
	{ "TRANSCEIVER_DOM_SENSOR|Ethernet0", "rx3power", "0.0" },
	{ "TRANSCEIVER_DOM_SENSOR|Ethernet0", "rx5power", "N/A" },
	{ "TRANSCEIVER_DOM_SENSOR|Ethernet0", "tx1power", "-10" },
	{ "TRANSCEIVER_DOM_SENSOR|Ethernet0", "temperature", "43.7" },
	{ 0 },
};

static const struct pair *
find(const struct pair *pairs, const char *question, const char *field)
{
	for (; pairs->question != NULL; pairs++)
		if (strcmp(pairs->question, question) == 0 &&
		    (pairs->field == NULL || strcmp(pairs->field, field) == 0))
			return pairs;
	return NULL;
}

/* words: the arguments of one question. */
static void
answer_one(struct talk *talk, const struct pair *pairs, const redisReply *arguments,
    struct evbuffer *out)
{
	const char *verb = arguments->element[0]->str,
		   *key = arguments->element[1]->str;
	const struct pair *whole = find(pairs, key, "");

	talk->questions++;
	if (strcmp(verb, "SELECT") == 0 || strcmp(verb, "AUTH") == 0) {
		talk->selects++;
		whole = find(pairs, verb, "");
		evbuffer_add_printf(
		    out, "%s", whole == NULL ? "+OK\r\n" : whole->answer);
		return;
	}
	if (whole != NULL && whole->field == NULL) {
		evbuffer_add_printf(out, "%s", whole->answer);
		return;
	}
	if (strcmp(verb, "HGETALL") == 0) {
		evbuffer_add_printf(out, "*0\r\n");
		return;
	}
	assert_string_equal(verb, "HMGET");
	evbuffer_add_printf(out, "*%zu\r\n", arguments->elements - 2);
	for (size_t i = 2; i < arguments->elements; i++) {
		const struct pair *pair = find(pairs, key, arguments->element[i]->str);

		if (pair == NULL)
			evbuffer_add_printf(out, "$-1\r\n");
		else
			evbuffer_add_printf(
			    out, "$%zu\r\n%s\r\n", strlen(pair->answer), pair->answer);
	}
}

/* Answers all questions in `from`, into `to`. */
static void
answer_all(struct talk *talk, const struct pair *pairs, struct evbuffer *from,
    struct evbuffer *to)
{
	struct redis_reader *reader = redis_reader_new();
	const size_t len = evbuffer_get_length(from);
	redisReply *arguments;

	assert_int_equal(redis_reader_feed(reader, evbuffer_pullup(from, -1), len), 0);
	evbuffer_drain(from, len);
	while (redis_reader_next(reader, &arguments) == 1) {
		answer_one(talk, pairs, arguments, to);
		freeReplyObject(arguments);
	}
	redis_reader_free(reader);
}

static int
take_all(struct talk *talk, struct redis_reader *reader, struct evbuffer *answers)
{
	const size_t len = evbuffer_get_length(answers);
	redisReply *answer;
	int r = redis_reader_feed(reader, evbuffer_pullup(answers, -1), len);

	evbuffer_drain(answers, len);
	while (r == 0 && (r = redis_reader_next(reader, &answer)) == 1) {
		r = sonic_answer(talk->sonic, answer, &talk->error);
		freeReplyObject(answer);
	}
	return r;
}

/* One whole reading; the list stays until the next one. */
static int
read_also(
    struct talk *talk, const char *password, unsigned also, const struct pair *pairs)
{
	struct redis_reader *reader = redis_reader_new();
	struct evbuffer *questions = evbuffer_new(), *answers = evbuffer_new();
	int r = 0;

	talk->questions = talk->selects = 0;
	assert_int_equal(
	    sonic_new(password, also, talk->list, &talk->counts, &talk->sonic), 0);
	while (r == 0 && !sonic_is_done(talk->sonic)) {
		assert_true(sonic_is_answered(talk->sonic));
		assert_int_equal(sonic_ask(talk->sonic, questions), 0);
		answer_all(talk, pairs, questions, answers);
		r = take_all(talk, reader, answers);
	}
	if (r == 0) {
		struct switch_list *list = sonic_take_list(talk->sonic);

		talk->answered = sonic_answered_also(talk->sonic);
		switch_list_free(talk->list);
		talk->list = list;
	}
	sonic_free(talk->sonic);
	redis_reader_free(reader);
	evbuffer_free(questions);
	evbuffer_free(answers);
	return r;
}

static int
read_switch(struct talk *talk, const char *password, const struct pair *pairs)
{
	return read_also(talk, password, SONIC_NEIGHBORS | SONIC_OPTICS, pairs);
}

static const struct counter_state *
state_of(const struct talk *talk, size_t object, const char *name, unsigned priority)
{
	const struct switch_object *of = switch_list_get(talk->list, object);
	const struct counter_state *state = of->states;

	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		if (row->part != of->part)
			continue;
		if (strcmp(row->name, name) == 0)
			return state + priority;
		state += switch_row_values(row);
	}
	fail_msg("no counter %s of object %zu", name, object);
	return NULL;
}

static int
setup(void **state)
{
	*state = calloc(1, sizeof(struct talk));
	return *state == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	struct talk *talk = *state;

	switch_list_free(talk->list);
	free(talk);
	return 0;
}

static void
ports_queues_and_groups_are_found_and_read(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, "", plain), 0);
	assert_int_equal(switch_list_count(talk->list), 4);
	assert_string_equal(switch_list_get(talk->list, 0)->port, "Ethernet0");
	assert_string_equal(switch_list_get(talk->list, 1)->port, "Ethernet8");
	assert_int_equal(switch_list_get(talk->list, 2)->part, SWITCH_QUEUE);
	assert_int_equal(switch_list_get(talk->list, 2)->index, 3);
	assert_int_equal(state_of(talk, 0, "rx_bytes", 0)->total, UINT64_MAX);
	assert_int_equal(state_of(talk, 0, "pfc_rx_frames", 3)->total, 77);
	assert_false(state_of(talk, 0, "pfc_rx_frames", 4)->there);
	assert_int_equal(state_of(talk, 0, "pfc_rx_pause_us", 3)->total, 5);
	assert_int_equal(state_of(talk, 0, "fec_codewords", 0)->total, 900);
	assert_false(state_of(talk, 0, "fec_codewords", 1)->there);
	assert_int_equal(state_of(talk, 0, "fec_codewords", 12)->total, 4);
	assert_int_equal(state_of(talk, 0, "wred_yellow_drops", 0)->total, 6);
	assert_false(state_of(talk, 0, "wred_drops", 0)->there);
	assert_int_equal(state_of(talk, 0, "oper_up", 0)->total, 1);
	assert_int_equal(state_of(talk, 0, "speed_mbps", 0)->total, 400000);
	assert_int_equal(state_of(talk, 0, "lanes", 0)->total, 8);
	assert_int_equal(state_of(talk, 2, "pfcwd_stormed", 0)->total, 1);
	assert_int_equal(state_of(talk, 2, "queue_ecn_marked", 0)->total, 12);
	assert_int_equal(state_of(talk, 3, "group_drop_pkts", 0)->total, 9);
}

static void
neighbours_are_read_and_none_costs_a_counter(void **state)
{
	static const struct pair bad[] = {
		{ "LLDP_ENTRY_TABLE:Ethernet0", NULL, "-WRONGTYPE not a hash\r\n" },
		{ "LLDP_ENTRY_TABLE:Ethernet8", "lldp_rem_sys_name", "\x1b[2J" },
		{ "LLDP_ENTRY_TABLE:Ethernet8", "lldp_rem_port_id", " Eth1/1 " },
	};
	struct pair pairs[sizeof(plain) / sizeof(plain[0]) + 3];
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, "", plain), 0);
	assert_null(switch_list_neighbor(talk->list, 0));
	assert_string_equal(switch_list_neighbor(talk->list, 1)->name, "spine1");
	assert_string_equal(switch_list_neighbor(talk->list, 1)->port, "Ethernet4");
	assert_null(switch_list_neighbor(talk->list, 2)); /* a queue has no neighbour */
	assert_int_equal(talk->counts.parse_errors, 1);

	memcpy(pairs, bad, sizeof(bad));
	memcpy(pairs + 3, plain, sizeof(plain));
	assert_int_equal(read_switch(talk, "", pairs), 0);
	assert_null(switch_list_neighbor(talk->list, 0));
	assert_string_equal(switch_list_neighbor(talk->list, 1)->name, "");
	assert_string_equal(switch_list_neighbor(talk->list, 1)->port, "Eth1/1");
	assert_int_equal(state_of(talk, 0, "speed_mbps", 0)->total, 400000);
	assert_int_equal(talk->counts.parse_errors, 4);
}

static void
optics_are_reported_by_their_darkest_lane_and_cost_nothing(void **state)
{
	static const struct pair bad[] = {
		{ "TRANSCEIVER_DOM_SENSOR|Ethernet0", "rx1power", "nan" },
		{ "TRANSCEIVER_DOM_SENSOR|Ethernet0", "rx2power", "0x10" },
		{ "TRANSCEIVER_DOM_SENSOR|Ethernet0", "rx3power", "1e9" },
		{ "TRANSCEIVER_DOM_SENSOR|Ethernet0", "tx1power", "-2.5 dBm" },
		{ "TRANSCEIVER_DOM_SENSOR|Ethernet8", NULL, ":1\r\n" },
		{ "TRANSCEIVER_DOM_SENSOR|Ethernet0", "temperature", "-7.2" },
	};
	enum { BAD = sizeof(bad) / sizeof(bad[0]) };
	struct pair pairs[BAD + sizeof(plain) / sizeof(plain[0])];
	struct talk *talk = *state;
	uint64_t before;

	assert_int_equal(read_switch(talk, "", plain), 0);
	assert_true(state_of(talk, 0, "optics_rx_lowest_nw", 0)->there);
	assert_int_equal(state_of(talk, 0, "optics_rx_lowest_nw", 0)->total, 0);
	assert_int_equal(state_of(talk, 0, "optics_rx_highest_nw", 0)->total, 1000000);
	assert_int_equal(state_of(talk, 0, "optics_tx_lowest_nw", 0)->total, 100000);
	assert_int_equal(state_of(talk, 0, "optics_celsius", 0)->total, 44);
	assert_false(state_of(talk, 1, "optics_rx_lowest_nw", 0)->there);

	memcpy(pairs, bad, sizeof(bad));
	memcpy(pairs + BAD, plain, sizeof(plain));
	before = talk->counts.parse_errors;
	assert_int_equal(read_switch(talk, "", pairs), 0);
	assert_false(state_of(talk, 0, "optics_rx_lowest_nw", 0)->there);
	assert_false(state_of(talk, 0, "optics_tx_lowest_nw", 0)->there);
	assert_int_equal(state_of(talk, 0, "optics_celsius", 0)->total, 0);
	assert_int_equal(state_of(talk, 0, "speed_mbps", 0)->total, 400000);
	assert_true(talk->counts.parse_errors > before + 5);
}

/* Lanes whose own transmitter is off are not in use, and may be dark. */
static void
a_lane_that_is_not_in_use_is_not_the_darkest(void **state)
{
	struct pair pairs[3 + sizeof(plain) / sizeof(plain[0])] = {
		{ "TRANSCEIVER_DOM_SENSOR|Ethernet0", "tx2power", "-inf" },
		{ "TRANSCEIVER_DOM_SENSOR|Ethernet0", "tx3power", "0.1" },
		{ "PORT_TABLE:Ethernet0", "index", "7" },
	};
	struct talk *talk = *state;

	memcpy(pairs + 3, plain, sizeof(plain));
	assert_int_equal(read_switch(talk, "", pairs), 0);
	assert_int_equal(state_of(talk, 0, "optics_rx_lowest_nw", 0)->total, 630957);
	assert_int_equal(state_of(talk, 0, "optics_rx_highest_nw", 0)->total, 1000000);
	assert_int_equal(state_of(talk, 0, "optics_tx_lowest_nw", 0)->total, 0);
	assert_int_equal(state_of(talk, 0, "module", 0)->total, 7);
	assert_false(state_of(talk, 1, "module", 0)->there);
}

/* In a table of its own, or, in older releases of SONiC, in the table of the optics. */
static void
the_alarm_of_a_module_is_read_from_either_table(void **state)
{
	static const char *const keys[] = { "TRANSCEIVER_DOM_THRESHOLD|Ethernet0",
		"TRANSCEIVER_DOM_SENSOR|Ethernet0" };
	struct pair pairs[2 + sizeof(plain) / sizeof(plain[0])] = {
		{ "TRANSCEIVER_DOM_THRESHOLD|Ethernet0", "rxpowerlowalarm", "-14" },
		{ "TRANSCEIVER_DOM_THRESHOLD|Ethernet8", "rxpowerlowalarm", "N/A" },
	};
	struct talk *talk = *state;
	const struct counter_state *alarm;

	memcpy(pairs + 2, plain, sizeof(plain));
	for (unsigned i = 0; i < 4; i++) {
		pairs[0].question = keys[i / 2];
		assert_int_equal(read_switch(talk, "", pairs), 0);
		alarm = state_of(talk, 0, "optics_rx_low_alarm_nw", 0);
		assert_true(alarm->there);
		assert_false(alarm->back);
		assert_int_equal(alarm->total, 39811);
	}
	assert_false(state_of(talk, 1, "optics_rx_low_alarm_nw", 0)->there);
	assert_int_equal(talk->counts.parse_errors, 4); /* those of the plain answers */
	pairs[0].answer = "low";
	assert_int_equal(read_switch(talk, "", pairs), 0);
	assert_false(state_of(talk, 0, "optics_rx_low_alarm_nw", 0)->there);
	assert_int_equal(talk->counts.parse_errors, 6);
}

/* Two ports: 4 questions before the values, values of 4 objects, a change of the
 * database, 2 states. */
#define FAST_QUESTIONS (4 + 4 + 1 + 2)

static void
slowly_changing_data_is_requested_seldom(void **state)
{
	struct pair pairs[2 + sizeof(plain) / sizeof(plain[0])] = {
		{ "LLDP_ENTRY_TABLE:Ethernet8", "lldp_rem_sys_name", "spine2" },
		{ "TRANSCEIVER_DOM_SENSOR|Ethernet0", "temperature", "50" },
	};
	struct talk *talk = *state;

	memcpy(pairs + 2, plain, sizeof(plain));
	assert_int_equal(read_switch(talk, "", plain), 0);
	assert_int_equal(talk->questions, FAST_QUESTIONS + 2 + 1 + 2 + 2);
	assert_int_equal(read_also(talk, "", 0, pairs), 0);
	assert_int_equal(talk->questions, FAST_QUESTIONS);
	assert_string_equal(switch_list_neighbor(talk->list, 1)->name, "spine1");
	assert_null(switch_list_neighbor(talk->list, 0));
	assert_int_equal(state_of(talk, 0, "optics_celsius", 0)->total, 44);
	assert_true(state_of(talk, 0, "optics_celsius", 0)->there);
	assert_int_equal(read_also(talk, "", SONIC_NEIGHBORS, pairs), 0);
	assert_int_equal(talk->questions, FAST_QUESTIONS + 2);
	assert_string_equal(switch_list_neighbor(talk->list, 1)->name, "spine2");
	assert_int_equal(state_of(talk, 0, "optics_celsius", 0)->total, 44);
	assert_int_equal(read_also(talk, "", SONIC_OPTICS, pairs), 0);
	assert_int_equal(talk->questions, FAST_QUESTIONS + 1 + 2 + 2);
	assert_int_equal(state_of(talk, 0, "optics_celsius", 0)->total, 50);
	assert_string_equal(switch_list_neighbor(talk->list, 1)->name, "spine2");
}

#define TWO_PORTS                                                                      \
	{                                                                              \
		"COUNTERS_PORT_NAME_MAP", NULL,                                        \
		    "*4\r\n$9\r\nEthernet8\r\n$9\r\noid:0x100\r\n$9\r\nEthernet0\r\n$" \
		    "9"                                                                \
		    "\r\noid:0x101\r\n"                                                \
	}

static void
settings_are_read_from_the_config(void **state)
{
	static const struct pair configured[] = {
		TWO_PORTS,
		{ "PORT|Ethernet0", "mtu", "9100" },
		{ "PORT|Ethernet0", "speed", "400000" },
		{ "PORT|Ethernet0", "fec", "rs" },
		{ "PORT_QOS_MAP|Ethernet0", "pfc_enable", "3,4" },
		{ "PORT_QOS_MAP|Ethernet0", "dscp_to_tc_map", "AZURE" },
		{ "PORT|Ethernet8", "mtu", "1500" },
		{ "PORT_QOS_MAP|Ethernet8", "dscp_to_tc_map", "[DSCP_TO_TC_MAP|OLD]" },
		{ "DSCP_TO_TC_MAP|AZURE", NULL,
		    "*4\r\n$2\r\n26\r\n$1\r\n3\r\n$2\r\n48\r\n$1\r\n6\r\n" },
		{ "DSCP_TO_TC_MAP|OLD", NULL, "*2\r\n$2\r\n26\r\n$1\r\n0\r\n" },
		{ 0 },
	};
	static const struct pair unconfigured[] = { TWO_PORTS, { 0 } };
	struct talk *talk = *state;
	const struct wire_settings *settings;

	assert_int_equal(read_also(talk, "", SONIC_SETTINGS, configured), 0);
	assert_int_equal(talk->answered, SONIC_SETTINGS);
	for (int i = 0; i < 2; i++) {
		settings = switch_list_settings(talk->list, 0);
		assert_int_equal(settings->known,
		    1 << WIRE_SETTING_MTU | 1 << WIRE_SETTING_SPEED |
			1 << WIRE_SETTING_FEC | 1 << WIRE_SETTING_PFC |
			1 << WIRE_SETTING_TRUST | 1 << WIRE_SETTING_DSCPS);
		assert_int_equal(settings->numbers[WIRE_SETTING_MTU], 9100);
		assert_int_equal(settings->numbers[WIRE_SETTING_SPEED], 400000);
		assert_int_equal(settings->numbers[WIRE_SETTING_FEC], WIRE_FEC_RS);
		assert_int_equal(settings->numbers[WIRE_SETTING_PFC], 0x18);
		assert_int_equal(
		    settings->numbers[WIRE_SETTING_TRUST], WIRE_TRUST_DSCP);
		assert_int_equal(settings->dscps[26], 3);
		assert_int_equal(settings->dscps[48], 6);
		assert_int_equal(settings->dscps[0], WIRE_NO_PRIORITY);
		settings = switch_list_settings(talk->list, 1);
		assert_int_equal(settings->known,
		    1 << WIRE_SETTING_MTU | 1 << WIRE_SETTING_PFC |
			1 << WIRE_SETTING_TRUST | 1 << WIRE_SETTING_DSCPS);
		assert_int_equal(settings->numbers[WIRE_SETTING_PFC], 0);
		assert_int_equal(settings->dscps[26], 0);
		/* a reading without settings keeps them */
		assert_int_equal(read_also(talk, "", 0, unconfigured), 0);
	}
	assert_int_equal(read_also(talk, "", SONIC_SETTINGS, unconfigured), 0);
	assert_null(switch_list_settings(talk->list, 0));
	assert_int_equal(talk->counts.parse_errors, 0);
}

/* Old releases have one entry for several ports. */
static void
pfc_of_a_port_without_an_entry_of_its_own_is_not_known(void **state)
{
	static const struct pair configured[] = {
		TWO_PORTS,
		{ "PORT|Ethernet0", "mtu", "9100" },
		{ "PORT_QOS_MAP|Ethernet0,Ethernet8", "pfc_enable", "3,4" },
		{ 0 },
	};
	struct talk *talk = *state;

	assert_int_equal(read_also(talk, "", SONIC_SETTINGS, configured), 0);
	assert_int_equal(
	    switch_list_settings(talk->list, 0)->known, 1 << WIRE_SETTING_MTU);
	assert_int_equal(talk->counts.parse_errors, 0);
}

static void
malformed_settings_are_left_out_and_counted(void **state)
{
	static const struct pair malformed[] = {
		TWO_PORTS,
		{ "PORT|Ethernet0", "mtu", "jumbo" },
		{ "PORT|Ethernet0", "speed", "400000" },
		{ "PORT_QOS_MAP|Ethernet0", "pfc_enable", "3;4" },
		{ "PORT_QOS_MAP|Ethernet0", "dscp_to_tc_map", "M" },
		{ "DSCP_TO_TC_MAP|M", NULL,
		    "*4\r\n$2\r\n64\r\n$1\r\n3\r\n$2\r\n48\r\n$1\r\n6\r\n" },
		{ "PORT|Ethernet8", NULL, "-WRONGTYPE key\r\n" },
		{ "PORT_QOS_MAP|Ethernet8", NULL, "*1\r\n$1\r\nx\r\n" },
		{ 0 },
	};
	struct talk *talk = *state;
	const struct wire_settings *settings;

	assert_int_equal(read_also(talk, "", SONIC_SETTINGS, malformed), 0);
	assert_int_equal(talk->answered, 0); /* requested again in the next reading */
	assert_int_equal(talk->counts.parse_errors, 5);
	settings = switch_list_settings(talk->list, 0);
	assert_int_equal(settings->known, 1 << WIRE_SETTING_SPEED |
					      1 << WIRE_SETTING_TRUST |
					      1 << WIRE_SETTING_DSCPS);
	assert_int_equal(settings->dscps[48], 6);
	assert_null(switch_list_settings(talk->list, 1));
}

static void
an_error_as_answer_counts_as_not_read(void **state)
{
	struct pair pairs[2 + sizeof(plain) / sizeof(plain[0])] = {
		{ "TRANSCEIVER_DOM_SENSOR|Ethernet0", NULL, "-LOADING\r\n" },
		{ "none", "", "" },
	};
	struct talk *talk = *state;

	memcpy(pairs + 2, plain, sizeof(plain));
	assert_int_equal(read_also(talk, "", SONIC_NEIGHBORS, plain), 0);
	assert_int_equal(talk->answered, SONIC_NEIGHBORS);
	assert_int_equal(read_switch(talk, "", plain), 0);
	assert_int_equal(talk->answered, SONIC_NEIGHBORS | SONIC_OPTICS);
	assert_int_equal(read_switch(talk, "", pairs), 0);
	assert_int_equal(talk->answered, SONIC_NEIGHBORS);
	pairs[0].question = "LLDP_ENTRY_TABLE:Ethernet8";
	assert_int_equal(read_switch(talk, "", pairs), 0);
	assert_int_equal(talk->answered, SONIC_OPTICS);
}

static void
missing_and_malformed_values_are_left_out(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, "", plain), 0);
	assert_false(state_of(talk, 0, "rx_err", 0)->there); /* N/A */
	assert_false(state_of(talk, 0, "tx_err", 0)->there); /* -4 */
	assert_false(state_of(talk, 1, "rx_bytes", 0)->there);
	assert_int_equal(talk->counts.parse_errors, 1);
}

static void
deltas_continue_when_the_ids_have_changed(void **state)
{
	static const struct pair later[] = {
		{ "COUNTERS_PORT_NAME_MAP", NULL,
		    "*2\r\n$9\r\nEthernet0\r\n$9\r\noid:0x999\r\n" },
		{ "COUNTERS:oid:0x999", "SAI_PORT_STAT_PFC_3_RX_PKTS", "80" },
		{ 0 },
	};
	static const struct pair restarted[] = {
		{ "COUNTERS_PORT_NAME_MAP", NULL,
		    "*2\r\n$9\r\nEthernet0\r\n$9\r\noid:0x998\r\n" },
		{ "COUNTERS:oid:0x998", "SAI_PORT_STAT_PFC_3_RX_PKTS", "2" },
		{ 0 },
	};
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, "", plain), 0);
	assert_int_equal(state_of(talk, 0, "pfc_rx_frames", 3)->delta, 0);
	assert_int_equal(read_switch(talk, "", later), 0);
	assert_int_equal(switch_list_count(talk->list), 1);
	assert_int_equal(state_of(talk, 0, "pfc_rx_frames", 3)->delta, 3);
	assert_int_equal(talk->counts.resets, 0);
	assert_int_equal(read_switch(talk, "", restarted), 0);
	assert_int_equal(state_of(talk, 0, "pfc_rx_frames", 3)->delta, 2);
	assert_int_equal(state_of(talk, 0, "pfc_rx_frames", 3)->total, 82);
	assert_int_equal(talk->counts.resets, 1);
}

static void
a_password_is_given_first_and_its_refusal_is_reported(void **state)
{
	static const struct pair refusing[] = {
		{ "AUTH", NULL, "-WRONGPASS invalid \x01 pair\r\n" },
		{ 0 },
	};
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, "secret", plain), 0);
	assert_int_equal(talk->selects, 4);
	assert_int_equal(read_switch(talk, "secret", refusing), -EACCES);
	assert_non_null(strstr(talk->error.text, "password_file"));
	assert_non_null(strstr(talk->error.text, "WRONGPASS"));
	assert_null(strstr(talk->error.text, "\x01"));
}

static void
a_redis_without_ports_is_reported_as_no_switch(void **state)
{
	static const struct pair empty[] = { { 0 } };
	static const struct pair queues_only[] = {
		{ "COUNTERS_QUEUE_NAME_MAP", NULL,
		    "*2\r\n$11\r\nEthernet0:3\r\n$9\r\noid:0x150\r\n" },
		{ 0 },
	};
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, "", empty), -EPROTO);
	assert_non_null(strstr(talk->error.text, "COUNTERS_PORT_NAME_MAP"));
	assert_int_equal(read_switch(talk, "", queues_only), -EPROTO);
}

static void
a_key_of_another_type_does_not_hide_others(void **state)
{
	struct pair pairs[sizeof(plain) / sizeof(plain[0]) + 1] = {
		{ "COUNTERS:oid:0x150", NULL, "-WRONGTYPE not a hash\r\n" },
	};
	struct talk *talk = *state;

	memcpy(pairs + 1, plain, sizeof(plain));
	assert_int_equal(read_switch(talk, "", plain), 0);
	assert_int_equal(read_switch(talk, "", pairs), 0);
	assert_false(state_of(talk, 2, "queue_ecn_marked", 0)->there);
	assert_int_equal(state_of(talk, 3, "group_drop_pkts", 0)->total, 9);
	assert_int_equal(talk->counts.parse_errors, 3);
}

static void
invalid_names_are_left_out(void **state)
{
	static const struct pair pairs[] = {
		{ "COUNTERS_PORT_NAME_MAP", NULL,
		    "*8\r\n$9\r\nEthernet0\r\n$9\r\noid:0x101\r\n"
		    "$5\r\nE\"t=0\r\n$9\r\noid:0x102\r\n" /* breaks a label */
		    ":7\r\n$9\r\noid:0x103\r\n$9\r\nEthernet1\r\n$6\r\noid:\r\n\r\n" },
		{ "COUNTERS_QUEUE_NAME_MAP", NULL,
		    "*4\r\n$9\r\nEthernet0\r\n$9\r\noid:0x150\r\n"
		    "$15\r\nEthernet0:70000\r\n$9\r\noid:0x151\r\n" },
		{ 0 },
	};
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, "", pairs), 0);
	assert_int_equal(switch_list_count(talk->list), 1);
	assert_int_equal(talk->counts.parse_errors, 5);
}

static void
answers_of_the_wrong_shape_end_the_reading(void **state)
{
	static const char *const wrong[] = { ":1\r\n", "*1\r\n$1\r\na\r\n", "$-1\r\n",
		"-LOADING Redis is loading\r\n" };
	struct talk *talk = *state;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct pair pairs[] = { { "COUNTERS_PORT_NAME_MAP", NULL, wrong[i] },
			{ 0 } };

		talk->error.text[0] = '\0';
		assert_int_equal(read_switch(talk, "", pairs), -EPROTO);
		assert_true(talk->error.text[0] != '\0');
	}
}

static void
a_batch_is_bounded(void **state)
{
	struct evbuffer *map = evbuffer_new();
	struct pair pairs[] = { { "COUNTERS_PORT_NAME_MAP", NULL, NULL }, { 0 } };
	struct talk *talk = *state;

	evbuffer_add_printf(map, "*%d\r\n", 2 * 3 * SONIC_BATCH);
	for (int i = 0; i < 3 * SONIC_BATCH; i++)
		evbuffer_add_printf(
		    map, "$12\r\nEthernet%04d\r\n$8\r\noid:%04d\r\n", i, i);
	evbuffer_add(map, "", 1);
	pairs[0].answer = (const char *)evbuffer_pullup(map, -1);
	assert_int_equal(read_switch(talk, "", pairs), 0);
	assert_int_equal(switch_list_count(talk->list), 3 * SONIC_BATCH);
	/* 4 before the values, two changes of the database, and for each port its
	 * values, state, neighbour, optics, and alarm of the optics. */
	assert_int_equal(talk->questions, 4 + 2 + 5 * 3 * SONIC_BATCH);
	evbuffer_free(map);
}

#define PORT_1                                    \
	"COUNTERS_PORT_NAME_MAP", NULL,           \
	    "*2\r\n$9\r\nEthernet0\r\n$9\r\noid:" \
	    "0x101\r\n"

#define QUANTA(count)                                                                 \
	{ "COUNTERS_PORT_NAME_MAP", NULL,                                             \
		"*2\r\n$9\r\nEthernet0\r\n$9\r\noid:0x101\r\n" },                     \
	    { "COUNTERS:oid:0x101", "SAI_PORT_STAT_PFC_3_RX_PAUSE_DURATION", count }, \
	{                                                                             \
		"COUNTERS:oid:0x101", "SAI_PORT_STAT_PFC_4_TX_PAUSE_DURATION", count  \
	}

/* 3,906,250 quanta of 512 bits at 400 Gb/s are 5 ms. */
static void
paused_time_is_computed_from_quanta_and_speed(void **state)
{
	static const struct pair speed = { "PORT_TABLE:Ethernet0", "speed", "400000" };
	const struct pair first[] = { QUANTA("1000"), speed, { 0 } };
	const struct pair second[] = { QUANTA("3907250"), speed, { 0 } };
	const struct pair third[] = { QUANTA("7813500"), { 0 } };
	const struct pair fourth[] = { QUANTA("7813600"), { 0 } };
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, "", first), 0);
	assert_false(state_of(talk, 0, "pfc_rx_pause_us", 3)->there); /* no speed yet */
	assert_int_equal(read_switch(talk, "", second), 0);
	assert_true(state_of(talk, 0, "pfc_rx_pause_us", 3)->there);
	assert_int_equal(read_switch(talk, "", third), 0);
	assert_int_equal(state_of(talk, 0, "pfc_rx_pause_us", 3)->delta, 5000);
	assert_int_equal(state_of(talk, 0, "pfc_tx_pause_us", 4)->delta, 5000);
	assert_int_equal(
	    state_of(talk, 0, "pfc_rx_pause_us", 3)->change, COUNTER_COUNTED);
	assert_false(state_of(talk, 0, "pfc_rx_pause_us", 4)->there);
	assert_int_equal(read_switch(talk, "", fourth), 0); /* its speed is not known */
	assert_false(state_of(talk, 0, "pfc_rx_pause_us", 3)->there);
	assert_int_equal(talk->counts.parse_errors + talk->counts.resets, 0);
}

/* The increase since a reset is not known, and must not look like a paused time. */
static void
quanta_that_went_back_give_no_paused_time(void **state)
{
	static const struct pair speed = { "PORT_TABLE:Ethernet0", "speed", "400000" };
	const struct pair before[] = { QUANTA("900000000000000"), speed, { 0 } };
	const struct pair back[] = { QUANTA("899999999999999"), speed, { 0 } };
	const struct pair next[] = { QUANTA("900000003906249"), speed, { 0 } };
	struct talk *talk = *state;

	for (int i = 0; i < 3; i++)
		assert_int_equal(read_switch(talk, "", before), 0);
	assert_true(state_of(talk, 0, "pfc_rx_pause_us", 3)->there);
	assert_int_equal(read_switch(talk, "", back), 0);
	assert_int_equal(
	    state_of(talk, 0, "pfc_rx_pause_quanta", 3)->change, COUNTER_RESET);
	assert_false(state_of(talk, 0, "pfc_rx_pause_us", 3)->there);
	for (int i = 0; i < 2; i++)
		assert_int_equal(read_switch(talk, "", next), 0);
	assert_true(state_of(talk, 0, "pfc_rx_pause_us", 3)->there);
	assert_int_equal(state_of(talk, 0, "pfc_rx_pause_us", 3)->total, 5000);
}

static void
the_time_that_a_switch_counts_is_used(void **state)
{
	static const struct pair counted[] = { QUANTA("7813500"),
		{ "COUNTERS:oid:0x101", "SAI_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US",
		    "40" },
		{ "PORT_TABLE:Ethernet0", "speed", "400000" }, { 0 } };
	struct talk *talk = *state;

	for (int i = 0; i < 2; i++)
		assert_int_equal(read_switch(talk, "", counted), 0);
	assert_int_equal(state_of(talk, 0, "pfc_rx_pause_us", 3)->total, 40);
	assert_int_equal(state_of(talk, 0, "pfc_rx_pause_us", 3)->delta, 0);
}

static void
a_returned_object_continues_its_totals(void **state)
{
	static const struct pair without[] = { { PORT_1 }, { 0 } };
	static const struct pair back[] = {
		{ PORT_1 },
		{ "COUNTERS_QUEUE_NAME_MAP", NULL,
		    "*2\r\n$11\r\nEthernet0:3\r\n$9\r\noid:0x155\r\n" },
		{ "COUNTERS:oid:0x155", "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", "5" },
		{ 0 },
	};
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, "", plain), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(read_switch(talk, "", without), 0);
		assert_int_equal(switch_list_count(talk->list), 1);
	}
	assert_int_equal(read_switch(talk, "", back), 0);
	assert_int_equal(switch_list_count(talk->list), 2);
	assert_int_equal(state_of(talk, 1, "queue_ecn_marked", 0)->total, 12 + 5);
	assert_int_equal(state_of(talk, 1, "queue_ecn_marked", 0)->delta, 5);
	assert_true(state_of(talk, 1, "queue_ecn_marked", 0)->back);
	assert_int_equal(talk->counts.resets, 1);
	assert_int_equal(read_switch(talk, "", back), 0);
	assert_false(state_of(talk, 1, "queue_ecn_marked", 0)->back);
}

static void
an_object_missing_for_long_is_forgotten(void **state)
{
	static const struct pair without[] = { { PORT_1 }, { 0 } };
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, "", plain), 0);
	for (int i = 0; i < SWITCH_AWAY_READINGS + 1; i++)
		assert_int_equal(read_switch(talk, "", without), 0);
	assert_int_equal(read_switch(talk, "", plain), 0);
	assert_int_equal(state_of(talk, 2, "queue_ecn_marked", 0)->total, 12);
	assert_int_equal(state_of(talk, 2, "queue_ecn_marked", 0)->delta, 0);
	assert_int_equal(talk->counts.refused, 0);
}

static void
a_reset_counts_once_though_readings_fail(void **state)
{
	static const struct pair failing[] = {
		{ PORT_1 },
		{ "COUNTERS:oid:0x101", "SAI_PORT_STAT_PFC_3_RX_PKTS", "2" },
		{ "PORT_TABLE:Ethernet0", NULL, ":1\r\n" },
		{ 0 },
	};
	static const struct pair whole[] = {
		{ PORT_1 },
		{ "COUNTERS:oid:0x101", "SAI_PORT_STAT_PFC_3_RX_PKTS", "2" },
		{ 0 },
	};
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, "", plain), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(read_switch(talk, "", failing), -EPROTO);
	assert_int_equal(talk->counts.resets, 0);
	assert_int_equal(read_switch(talk, "", whole), 0);
	assert_int_equal(talk->counts.resets, 1);
	assert_int_equal(state_of(talk, 0, "pfc_rx_frames", 3)->total, 79);
}

static void
a_queue_number_must_be_digits(void **state)
{
	static const struct pair pairs[] = {
		{ PORT_1 },
		{ "COUNTERS_QUEUE_NAME_MAP", NULL,
		    "*6\r\n$12\r\nEthernet0:up\r\n$9\r\noid:0x150\r\n"
		    "$10\r\nEthernet0:\r\n$9\r\noid:0x151\r\n"
		    "$13\r\nEthernet0:N/A\r\n$9\r\noid:0x152\r\n" },
		{ 0 },
	};
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, "", pairs), 0);
	assert_int_equal(switch_list_count(talk->list), 1);
	assert_int_equal(talk->counts.parse_errors, 3);
}

static void
an_error_reports_which_answer_was_wrong_and_how(void **state)
{
	static const struct {
		struct pair pair;
		const char *reports;
	} wrong[] = {
		{ { "COUNTERS_QUEUE_NAME_MAP", NULL, ":1\r\n" },
		    "COUNTERS_QUEUE_NAME_MAP is not a hash of names and ids" },
		{ { "COUNTERS:oid:0x101", NULL, "*1\r\n$1\r\na\r\n" },
		    "the answer to HMGET COUNTERS:oid:0x101 is not the list of" },
		{ { "SELECT", NULL, ":1\r\n" }, "the answer to SELECT is not OK" },
	};
	struct talk *talk = *state;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct pair pairs[] = { wrong[i].pair, { PORT_1 }, { 0 } };

		assert_int_equal(read_switch(talk, "", pairs), -EPROTO);
		assert_non_null(strstr(talk->error.text, wrong[i].reports));
	}
}

static void
ports_beyond_the_limit_are_refused_and_counted(void **state)
{
	struct evbuffer *map = evbuffer_new();
	struct pair pairs[] = { { "COUNTERS_PORT_NAME_MAP", NULL, NULL }, { 0 } };
	struct talk *talk = *state;

	evbuffer_add_printf(map, "*%d\r\n", 2 * (SWITCH_MAX_PORTS + 7));
	for (int i = 0; i < SWITCH_MAX_PORTS + 7; i++)
		evbuffer_add_printf(
		    map, "$12\r\nEthernet%04d\r\n$8\r\noid:%04d\r\n", i, i);
	evbuffer_add(map, "", 1);
	pairs[0].answer = (const char *)evbuffer_pullup(map, -1);
	assert_int_equal(read_switch(talk, "", pairs), 0);
	assert_int_equal(switch_list_count(talk->list), SWITCH_MAX_PORTS);
	assert_int_equal(talk->counts.refused, 7);
	assert_int_equal(talk->counts.parse_errors, 0);
	evbuffer_free(map);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ports_queues_and_groups_are_found_and_read),
		TEST(neighbours_are_read_and_none_costs_a_counter),
		TEST(optics_are_reported_by_their_darkest_lane_and_cost_nothing),
		TEST(a_lane_that_is_not_in_use_is_not_the_darkest),
		TEST(the_alarm_of_a_module_is_read_from_either_table),
		TEST(slowly_changing_data_is_requested_seldom),
		TEST(settings_are_read_from_the_config),
		TEST(pfc_of_a_port_without_an_entry_of_its_own_is_not_known),
		TEST(malformed_settings_are_left_out_and_counted),
		TEST(an_error_as_answer_counts_as_not_read),
		TEST(missing_and_malformed_values_are_left_out),
		TEST(deltas_continue_when_the_ids_have_changed),
		TEST(a_password_is_given_first_and_its_refusal_is_reported),
		TEST(a_redis_without_ports_is_reported_as_no_switch),
		TEST(a_key_of_another_type_does_not_hide_others),
		TEST(invalid_names_are_left_out),
		TEST(answers_of_the_wrong_shape_end_the_reading),
		TEST(a_batch_is_bounded),
		TEST(paused_time_is_computed_from_quanta_and_speed),
		TEST(quanta_that_went_back_give_no_paused_time),
		TEST(the_time_that_a_switch_counts_is_used),
		TEST(a_returned_object_continues_its_totals),
		TEST(an_object_missing_for_long_is_forgotten),
		TEST(a_reset_counts_once_though_readings_fail),
		TEST(a_queue_number_must_be_digits),
		TEST(an_error_reports_which_answer_was_wrong_and_how),
		TEST(ports_beyond_the_limit_are_refused_and_counted),
	};

	return cmocka_run_group_tests_name("sonic", tests, NULL, NULL);
}
