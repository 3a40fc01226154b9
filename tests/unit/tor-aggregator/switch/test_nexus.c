#include "tor-aggregator/switch/nexus.h"

#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tor-aggregator/switch/nexus_list.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_neighbor.h"

/* The answer to one command; read_switch() joins several. */
#define OUTPUT(command, body)   \
	"{\"input\":\"" command \
	"\",\"msg\":\"Success\",\"code\":\"200\",\"body\":" body "}"

#define COUNTERS                                                                       \
	OUTPUT("show interface counters",                                              \
	    "{\"TABLE_rx_counters\":{\"ROW_rx_counters\":["                            \
	    "{\"interface_rx\":\"mgmt0\",\"eth_inbytes\":\"7\",\"eth_inucast\":\"7\"}" \
	    ","                                                                        \
	    "{\"interface_rx\":\"Ethernet1/"                                           \
	    "2\",\"eth_inbytes\":\"1000\",\"eth_inucast\":"                            \
	    "10},"                                                                     \
	    "{\"interface_rx\":\"Ethernet1/2\",\"eth_inmcast\":\"3\",\"eth_inbcast\":" \
	    "\"4\"},"                                                                  \
	    "{\"interface_rx\":\"Vlan10\",\"eth_inbytes\":\"9\"},"                     \
	    "{\"interface_rx\":\"ii1/1/1\",\"eth_inbytes\":\"9,286,478\"}]},"          \
	    "\"TABLE_tx_counters\":{\"ROW_tx_counters\":"                              \
	    "{\"interface_tx\":\"Eth1/"                                                \
	    "2\",\"eth_outbytes\":2000,\"eth_outucast\":20}}}")

#define ERRORS                                                                         \
	OUTPUT("show interface counters errors",                                       \
	    "{\"TABLE_interface\":{\"ROW_interface\":["                                \
	    "{\"interface\":\"Eth1/2\",\"eth_align_err\":\"1\",\"eth_fcs_err\":\"2\"," \
	    "\"eth_xmit_err\":\"3\",\"eth_rcv_err\":\"4\",\"eth_undersize\":\"5\","    \
	    "\"eth_outdisc\":\"6\"},"                                                  \
	    "{\"interface\":\"Eth1/"                                                   \
	    "2\",\"eth_single_col\":\"1\",\"eth_multi_col\":\"2\","                    \
	    "\"eth_late_col\":\"--\",\"eth_excess_col\":\"4\",\"eth_carri_sen\":"      \
	    "\"7\","                                                                   \
	    "\"eth_runts\":\"8\"},"                                                    \
	    "{\"interface\":\"Eth1/"                                                   \
	    "2\",\"eth_giants\":\"9\",\"eth_deferred_tx\":\"10\","                     \
	    "\"eth_inmactx_err\":\"11\",\"eth_inmacrx_err\":\"12\",\"eth_symbol_"      \
	    "err\":"                                                                   \
	    "\"13\"},"                                                                 \
	    "{\"interface\":\"Eth1/2\",\"eth_indisc\":\"14\"}]}}")

#define FLOWCONTROL                                        \
	OUTPUT("show interface flowcontrol",               \
	    "{\"TABLE_flowcontrol\":{\"ROW_flowcontrol\":" \
	    "{\"interface\":\"Eth1/2\",\"rx-pause\":\"7\",\"tx-pause\":\"8\"}}}")

#define PFC                                                                            \
	OUTPUT("show interface priority-flow-control",                                 \
	    "{\"TABLE_module\":{\"ROW_module\":{\"TABLE_pfc_interface\":"              \
	    "{\"ROW_pfc_interface\":["                                                 \
	    "{\"if_name_str\":\"Ethernet1/2\",\"admin\":\"Auto\",\"oper\":\"On (8)\"," \
	    "\"rx-stats\":\"4088353\",\"tx-stats\":\"1890\"},"                         \
	    "{\"if_name_str\":\"ii1/1/1\",\"admin\":\"On\",\"oper\":\"Off\","          \
	    "\"rx-stats\":\"9286478\",\"tx-stats\":100}]}}}}")

#define QUEUING                                                                        \
	OUTPUT("show queuing interface",                                               \
	    "{\"TABLE_module\":{\"ROW_module\":{\"TABLE_queuing_interface\":"          \
	    "{\"ROW_queuing_interface\":["                                             \
	    "{\"dir\":\"Egress\",\"if_name_str\":\"Ethernet1/2 [System]\","            \
	    "\"TABLE_qosgrp_egress_stats\":{\"ROW_qosgrp_egress_stats\":["             \
	    "{\"eq-qosgrp\":\"3\",\"TABLE_qosgrp_egress_stats_entry\":"                \
	    "{\"ROW_qosgrp_egress_stats_entry\":["                                     \
	    "{\"eq-stat-type\":\"Tx\",\"eq-stat-units\":\"Pkts\",\"eq-uc-stat-"        \
	    "value\":"                                                                 \
	    "\"12\",\"eq-oobfc-uc-stat-value\":\"22\",\"eq-mc-stat-value\":\"34\"},"   \
	    "{\"eq-stat-type\":\"Tx\",\"eq-stat-units\":\"Byts\",\"eq-uc-stat-"        \
	    "value\":"                                                                 \
	    "\"1200\"},"                                                               \
	    "{\"eq-stat-type\":\"Dropped\",\"eq-stat-units\":\"Pkts\","                \
	    "\"eq-uc-stat-value\":\"1\",\"eq-mc-stat-value\":\"2\"},"                  \
	    "{\"eq-stat-type\":\"Q Depth\",\"eq-stat-units\":\"Byts\","                \
	    "\"eq-uc-stat-value\":\"4096\"}]}},"                                       \
	    "{\"eq-qosgrp\":\"CONTROL QOS "                                            \
	    "GROUP\",\"TABLE_qosgrp_egress_stats_entry\":"                             \
	    "{\"ROW_qosgrp_egress_stats_entry\":{\"eq-stat-type\":\"Tx\","             \
	    "\"eq-stat-units\":\"Pkts\",\"eq-uc-stat-value\":\"50\"}}}]},"             \
	    "\"TABLE_egress_stats_entry\":{\"ROW_egress_stats_entry\":"                \
	    "{\"ep-stat-type\":\"WRED Drop\",\"ep-stat-units\":\"Pkts\","              \
	    "\"ep-stat-value\":\"9\"}}},"                                              \
	    "{\"dir\":\"Ingress\",\"if_name_str\":\"Ethernet1/2\","                    \
	    "\"TABLE_ingress_stats_entry\":{\"ROW_ingress_stats_entry\":["             \
	    "{\"ip-stat-type\":\"Ingress MMU Drop\",\"ip-stat-units\":\"Pkts\","       \
	    "\"ip-stat-value\":\"6493907\"},"                                          \
	    "{\"ip-stat-type\":\"Ingress MMU Drop\",\"ip-stat-units\":\"Byts\","       \
	    "\"ip-stat-value\":\"1024\"}]},\"tx-ppp\":\"11\",\"rx-ppp\":\"12\","       \
	    "\"TABLE_pfc_stats\":{\"ROW_pfc_stats\":["                                 \
	    "{\"cos\":\"3\",\"pfc-qosgrp\":\"2\",\"pfc-pg\":\"3\",\"tx-pause-state\":" \
	    "\"Inactive\",\"tx-pause-count\":\"7\",\"rx-pause-state\":\"Active\","     \
	    "\"rx-pause-count\":\"8\"},"                                               \
	    "{\"cos\":\"4\",\"pfc-qosgrp\":\"-\",\"pfc-pg\":\"-\",\"tx-pause-state\":" \
	    "\"Inactive\",\"tx-pause-count\":\"0\",\"rx-pause-state\":\"Inactive\","   \
	    "\"rx-pause-count\":\"0\"}]}}]}}}}")

#define TABULAR                                                                       \
	OUTPUT("show queuing tabular",                                                \
	    "{\"TABLE_queuing_interface\":{\"ROW_queuing_interface\":"                \
	    "{\"if_name_str\":\"Eth1/2\",\"qos_group_name_3\":\"QOS GROUP 3\","       \
	    "\"tx_uc_pkt_qos_3\":\"99\",\"tx_uc_ecn_pkt_qos_3\":\"17\","              \
	    "\"tx_uc_ecn_byte_qos_3\":\"1700\",\"tx_uc_pkt_qos_1\":\"5\","            \
	    "\"tx_mc_pkt_qos_1\":\"6\",\"tx_uc_drop_byte_qos_1\":\"70\","             \
	    "\"pfc_rx_qos_3\":\"21\",\"pfc_tx_qos_3\":\"22\",\"tx_uc_pkt_qos_span\":" \
	    "\"1\",\"ing_drop_pkt\":\"77\"}}}")

#define PFC_QUEUE                                                                      \
	OUTPUT("show queuing pfc-queue detail",                                        \
	    "{\"glb-wd-status\":\"Enabled\",\"TABLE_queuing_interface\":"              \
	    "{\"ROW_queuing_interface\":{\"if_name_str\":\"Ethernet1/"                 \
	    "2\",\"wd-status\":"                                                       \
	    "\"Enabled\",\"TABLE_qosgrp_stats\":{\"ROW_qosgrp_stats\":"                \
	    "{\"eq-qosgrp\":\"3\",\"eq-qosgrp-state\":\"Shutdown\",\"pfc-"             \
	    "configured\":"                                                            \
	    "\"YES\",\"pfc-cos\":\"3\",\"TABLE_qosgrp_stats_entry\":"                  \
	    "{\"ROW_qosgrp_stats_entry\":{\"q-stat-type\":\"x\",\"q-shutdown\":\"4\"," \
	    "\"q-restored\":\"3\",\"q-pkt-drained\":\"31\",\"q-pkt-dropped\":\"32\","  \
	    "\"q-aggr-pkt-dropped\":\"33\",\"q-ing-aggr-pkt-dropped\":\"34\"}}}}}}}")

#define BURST                                                         \
	OUTPUT("show queuing burst-detect",                           \
	    "{\"TABLE_instance\":{\"ROW_instance\":["                 \
	    "{\"if-str\":\"Eth1/"                                     \
	    "2\",\"queue\":\"U3\",\"threshold\":\"310000\",\"peak\":" \
	    "\"310128\",\"duration\":\"21.32 us\"},"                  \
	    "{\"if-str\":\"Eth1/2\",\"queue\":\"M0\",\"peak\":\"5\"}]}}")

#define LANE(number, rx, tx)                                                       \
	"{\"lane_number\":\"" number "\",\"temperature\":\"34.48\",\"temp_flag\":" \
	"null,\"current\":\"6.49\",\"tx_pwr\":\"" tx                               \
	"\",\"tx_pwr_alrm_lo\":\"-9.50\",\"rx_pwr\":\"" rx                         \
	"\",\"rx_pwr_alrm_lo\":\"-14.10\"}"
#define OPTICS_OF(rows)                              \
	OUTPUT("show interface transceiver details", \
	    "{\"TABLE_interface\":{\"ROW_interface\":" rows "}}")
#define MODULE(port, lanes)                                                           \
	"{\"interface\":\"" port "\",\"sfp\":\"present\",\"type\":\"QSFP-100G-SR4\"," \
	"\"nom_bitrate\":\"25500\",\"TABLE_lane\":"                                   \
	"{\"ROW_lane\":" lanes "}}"
#define OPTICS                                                                         \
	OPTICS_OF("[{\"interface\":\"Ethernet1/1\",\"sfp\":\"not present\"}," MODULE(  \
	    "Ethernet1/2",                                                             \
	    "[" LANE("1", "-2.00", "-1.78") "," LANE("2", "-30.00", "-1.80") "," LANE( \
		"3", "-40.00", "-40.00") "]") "," MODULE("Ethernet1/9/1",              \
	    LANE("1", "-3.00", "-1.00")) "]")

#define ALL                                                                           \
	COUNTERS ",\n" ERRORS ",\n" FLOWCONTROL ",\n" PFC ",\n" QUEUING ",\n" TABULAR \
		 ",\n" PFC_QUEUE ",\n" BURST ",\n" LLDP ",\n" OPTICS

#define LLDP_OF(rows)                                    \
	"{\"input\":\"show lldp neighbors "              \
	"detail\",\"msg\":\"Success\",\"code\":\"200\"," \
	"\"body\":{\"TABLE_nbor_detail\":{\"ROW_nbor_detail\":" rows "}}}"
#define ROW(port, name, id, what)                                                 \
	"{\"chassis_type\":\"4\",\"l_port_id\":\"" port "\",\"sys_name\":\"" name \
	"\",\"port_id\":\"" id "\",\"port_desc\":\"" what "\"}"
#define LLDP                                                 \
	LLDP_OF("[" ROW("mgmt0", "oob", "Eth1", "") "," ROW( \
	    "Eth1/2", "spine1.lab", "Ethernet3/1", "null") "]")

struct talk {
	struct switch_counts counts;
	struct switch_list *list;
	struct rm_error error;
	bool no_neighbors; /* neither neighbours nor modules are requested */
};

/* One whole reading of this text; the list stays until the next one. */
static int
read_bytes(struct talk *talk, const char *text)
{
	struct nexus_values *values;
	struct switch_list *list;
	int r = nexus_parse(text, strlen(text),
	    talk->no_neighbors ? 0 : NEXUS_NEIGHBORS | NEXUS_OPTICS, &values,
	    &talk->error);

	if (r < 0)
		return r;
	r = nexus_list(values, talk->list, &talk->counts, &list, &talk->error);
	nexus_values_free(values);
	if (r < 0)
		return r;
	switch_list_free(talk->list);
	talk->list = list;
	return 0;
}

static int
read_switch(struct talk *talk, const char *outputs)
{
	static char text[32768];

	snprintf(text, sizeof(text),
	    "{\"ins_api\":{\"type\":\"cli_show\",\"version\":\"1.0\",\"sid\":\"eoc\","
	    "\"outputs\":{\"output\":[%s]}}}",
	    outputs);
	return read_bytes(talk, text);
}

static const struct counter_state *
state_of(const struct talk *talk, enum switch_part part, const char *port, int index,
    const char *name, unsigned priority)
{
	for (size_t i = 0; i < switch_list_count(talk->list); i++) {
		const struct switch_object *object = switch_list_get(talk->list, i);
		const struct counter_state *state = object->states;

		if (object->part != part || strcmp(object->port, port) != 0 ||
		    object->index != index)
			continue;
		for (const struct switch_row *row = switch_rows; row->name != NULL;
		     row++) {
			if (row->part != part)
				continue;
			if (strcmp(row->name, name) == 0)
				return &state[priority];
			state += switch_row_values(row);
		}
	}
	return NULL;
}

#define MISSING UINT64_MAX

static uint64_t
value(const struct talk *talk, enum switch_part part, const char *port, int index,
    const char *name, unsigned priority)
{
	const struct counter_state *state =
	    state_of(talk, part, port, index, name, priority);

	return state == NULL || !state->there ? MISSING : state->total;
}

#define port_value(port, name) value(talk, SWITCH_PORT, port, 0, name, 0)
#define priority_value(name, i) value(talk, SWITCH_PORT, "Ethernet1/2", 0, name, i)
#define queue_value(i, name) value(talk, SWITCH_QUEUE, "Ethernet1/2", i, name, 0)

static size_t compared; /* counts comparisons of port names */

int __real_strverscmp(const char *a, const char *b);
int __wrap_strverscmp(const char *a, const char *b);

int
__wrap_strverscmp(const char *a, const char *b)
{
	compared++;
	return __real_strverscmp(a, b);
}

static void
all_commands_are_in_one_request(void **state)
{
	char *question = nexus_question(NEXUS_NEIGHBORS | NEXUS_OPTICS);
	json_t *root = json_loads(question, 0, NULL);
	const json_t *api = json_object_get(root, "ins_api");
	const char *input = json_string_value(json_object_get(api, "input"));

	assert_non_null(input);
	assert_string_equal(
	    json_string_value(json_object_get(api, "type")), "cli_show");
	assert_string_equal(
	    json_string_value(json_object_get(api, "output_format")), "json");
	assert_non_null(strstr(input, "show interface counters ;"));
	assert_non_null(strstr(input, " ;show queuing pfc-queue detail ;"));
	json_decref(root);
	free(question);
}

static void
ports_are_read_whatever_their_shape(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, ALL), 0);
	assert_int_equal(port_value("Ethernet1/2", "rx_bytes"), 1000);
	assert_int_equal(port_value("Ethernet1/2", "rx_ucast_pkts"), 10);
	assert_int_equal(port_value("Ethernet1/2", "rx_other_pkts"), 7);
	assert_int_equal(port_value("Ethernet1/2", "tx_bytes"), 2000);
	assert_int_equal(port_value("Ethernet1/2", "tx_ucast_pkts"), 20);
	assert_int_equal(port_value("Ethernet1/2", "tx_other_pkts"), MISSING);
	assert_int_equal(port_value("ii1/1/1", "rx_bytes"), 9286478);
	assert_null(state_of(talk, SWITCH_PORT, "mgmt0", 0, "rx_bytes", 0));
	assert_null(state_of(talk, SWITCH_PORT, "Vlan10", 0, "rx_bytes", 0));
	assert_int_equal(talk->counts.parse_errors, 0);
	assert_int_equal(talk->counts.commands_refused, 0);
	assert_int_equal(talk->counts.refused, 0);
}

static void
the_first_of_two_entries_of_a_port_counts(void **state)
{
	struct talk *talk = *state;
	static char rows[16384];
	size_t used = 0;

	/* Many rows, so that a sort that is not stable would exchange equal ones. */
	for (int i = 0; i < 200; i++)
		used += (size_t)snprintf(rows + used, sizeof(rows) - used,
		    "%s{\"interface_rx\":\"Ethernet1/%d\",\"eth_inbytes\":%d}",
		    i == 0 ? "" : ",", i % 20 + 1, 1000 + i);
	snprintf(rows + used, sizeof(rows) - used, "]}");
	for (int round = 0; round < 2; round++) {
		static char text[16384 + 256];

		talk->counts = (struct switch_counts){ 0 };
		snprintf(text, sizeof(text),
		    OUTPUT("show interface counters", "{\"ROW\":[%s"), rows);
		assert_int_equal(read_switch(talk, text), 0);
		for (int i = 0; i < 20; i++) {
			char port[32];

			snprintf(port, sizeof(port), "Ethernet1/%d", i + 1);
			assert_int_equal(port_value(port, "rx_bytes"), 1000 + i);
		}
		assert_int_equal(talk->counts.parse_errors, 180);
		assert_int_equal(talk->counts.resets, 0);
	}
}

/* A JSON parser would refuse the whole answer for each of these. */
static void
a_malformed_number_or_letter_costs_only_its_value(void **state)
{
	static const struct {
		const char *value;
		uint64_t read, parse_errors;
	} all[] = {
		{ "9223372036854775808", UINT64_C(9223372036854775808), 0 },
		{ "123456789012345678", UINT64_C(123456789012345678), 0 },
		{ "18446744073709551616", MISSING, 1 },
		{ "-9223372036854775809", MISSING, 1 },
		{ "99999999999999999999999999999999", MISSING, 1 },
		{ "1e400", MISSING, 1 },
		{ "NaN", MISSING, 1 },
		{ "007", 7, 0 },
		{ "\"\xff\"", MISSING, 1 },
		{ "\"1\x01\"", MISSING, 1 },
		{ "\"\xc0\x80\"", MISSING, 1 },
		{ "\"\xed\xa0\x80\"", MISSING, 1 },
		{ "\"\xf4\x90\x80\x80\"", MISSING, 1 },
		{ "\"\xe2\x82\"", MISSING, 1 },
		{ "\"\\u0000\"", MISSING, 1 },
		{ "\"\\ud800\"", MISSING, 1 },
		{ "\"\\uzz\"", MISSING, 1 },
		{ "\"\\q\"", MISSING, 1 },
		{ "\"\\u0037\"", 7, 0 },
		{ "\"7 us\"", 7, 0 },
	};
	struct talk *talk = *state;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char text[1024];

		talk->counts = (struct switch_counts){ 0 };
		switch_list_free(talk->list);
		talk->list = NULL;
		snprintf(text, sizeof(text),
		    OUTPUT("show interface counters",
			"{\"ROW\":[{\"interface_rx\":\"Eth1/1\",\"name\":\"\xc3\xa9\","
			"\"eth_inbytes\":%s},"
			"{\"interface_rx\":\"Ethernet1\\/2\",\"eth_inbytes\":5}]}"),
		    all[i].value);
		if (read_switch(talk, text) != 0 ||
		    port_value("Ethernet1/2", "rx_bytes") != 5 ||
		    port_value("Ethernet1/1", "rx_bytes") != all[i].read ||
		    talk->counts.parse_errors != all[i].parse_errors)
			fail_msg("%s: %s", all[i].value, talk->error.text);
	}
}

static void
errors_are_read_of_several_rows(void **state)
{
	struct talk *talk = *state;
	static const struct {
		const char *name;
		uint64_t value;
	} errors[] = { { "rx_align_err", 1 }, { "rx_fcs_err", 2 }, { "tx_err", 3 },
		{ "rx_err", 4 }, { "rx_undersize", 5 }, { "tx_discards", 6 },
		{ "collisions", 7 }, { "carrier_err", 7 }, { "rx_runts", 8 },
		{ "rx_giants", 9 }, { "tx_deferred", 10 }, { "tx_mac_err", 11 },
		{ "rx_mac_err", 12 }, { "rx_symbol_err", 13 }, { "rx_discards", 14 } };

	assert_int_equal(read_switch(talk, ALL), 0);
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		assert_int_equal(
		    port_value("Ethernet1/2", errors[i].name), errors[i].value);
}

static void
pauses_are_distinguished(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, ALL), 0);
	assert_int_equal(port_value("Ethernet1/2", "gpause_rx_frames"), 7);
	assert_int_equal(port_value("Ethernet1/2", "gpause_tx_frames"), 8);
	assert_int_equal(port_value("Ethernet1/2", "port_pfc_rx_frames"), 4088353);
	assert_int_equal(port_value("Ethernet1/2", "port_pfc_tx_frames"), 1890);
	assert_int_equal(port_value("Ethernet1/2", "pfc_on"), 1);
	assert_int_equal(port_value("ii1/1/1", "pfc_on"), 0);
	assert_int_equal(priority_value("pfc_tx_frames", 3), 7);
	assert_int_equal(priority_value("pfc_rx_frames", 3), 8);
	assert_int_equal(priority_value("pfc_rx_paused", 3), 1);
	assert_int_equal(priority_value("pfc_tx_paused", 3), 0);
	assert_int_equal(priority_value("pfc_queue", 3), 2);
	assert_int_equal(priority_value("pfc_queue", 4), MISSING);
	assert_int_equal(priority_value("pfc_rx_frames", 4), 0);
	assert_int_equal(priority_value("pfc_rx_frames", 5), MISSING);
}

static void
queues_marks_and_drops_are_read(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, ALL), 0);
	assert_int_equal(queue_value(3, "queue_tx_pkts"), 12 + 22 + 34);
	assert_int_equal(queue_value(3, "queue_tx_bytes"), 1200);
	assert_int_equal(queue_value(3, "queue_drop_pkts"), 3);
	assert_int_equal(queue_value(3, "queue_occupancy_bytes"), 4096);
	assert_int_equal(queue_value(3, "queue_ecn_marked"), 17);
	assert_int_equal(queue_value(3, "queue_ecn_marked_bytes"), 1700);
	assert_int_equal(queue_value(3, "queue_pfc_rx_frames"), 21);
	assert_int_equal(queue_value(3, "queue_pfc_tx_frames"), 22);
	assert_int_equal(queue_value(1, "queue_tx_pkts"), 11);
	assert_int_equal(queue_value(1, "queue_drop_bytes"), 70);
	assert_int_equal(queue_value(NEXUS_CONTROL_QUEUE, "queue_tx_pkts"), 50);
	assert_int_equal(queue_value(NEXUS_SPAN_QUEUE, "queue_tx_pkts"), 1);
	assert_int_equal(port_value("Ethernet1/2", "wred_drops"), 9);
	assert_int_equal(port_value("Ethernet1/2", "rx_buffer_drops"), 6493907);
	assert_int_equal(port_value("Ethernet1/2", "rx_buffer_drop_bytes"), 1024);
}

static void
the_watchdog_and_bursts_are_read(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, ALL), 0);
	assert_int_equal(queue_value(3, "pfcwd_stormed"), 1);
	assert_int_equal(queue_value(3, "pfcwd_detected"), 4);
	assert_int_equal(queue_value(3, "pfcwd_restored"), 3);
	assert_int_equal(queue_value(3, "pfcwd_drained"), 31);
	assert_int_equal(queue_value(3, "pfcwd_drops"), 32);
	assert_int_equal(queue_value(3, "pfcwd_tx_drops"), 33);
	assert_int_equal(queue_value(3, "pfcwd_rx_drops"), 34);
	assert_int_equal(queue_value(3, "queue_burst_peak_bytes"), 310128);
	assert_int_equal(queue_value(3, "queue_burst_threshold_bytes"), 310000);
	assert_int_equal(queue_value(3, "queue_burst_us"), 21);
}

/* Every source in the table occurs in the fixture, or is another name for one that
 * does. */
static void
every_row_of_the_table_is_in_the_fixture(void **state)
{
	struct talk *talk = *state;
	unsigned rows = 0;

	assert_int_equal(read_switch(talk, ALL), 0);
	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		bool there =
		    row->nexus[0] == '\0' || strcmp(row->name, "tx_other_pkts") == 0;

		rows += row->nexus[0] != '\0';
		for (unsigned i = 0; i < switch_row_values(row); i++)
			there = there ||
				value(talk, (enum switch_part)row->part, "Ethernet1/2",
				    row->part == SWITCH_QUEUE ? 3 : 0, row->name,
				    i) != MISSING;
		if (!there && strcmp(row->name, "queue_drop_bytes") != 0)
			fail_msg("%s is not in the fixture", row->name);
	}
	print_message("%u rows of the table are read of a Nexus\n", rows);
}

static const struct switch_neighbor *
neighbor_of(const struct talk *talk, const char *port)
{
	size_t i;

	assert_int_equal(switch_list_find_port(talk->list, port, &i), 0);
	return switch_list_neighbor(talk->list, i);
}

static void
neighbours_are_read_and_bounded(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, ALL), 0);
	assert_string_equal(neighbor_of(talk, "Ethernet1/2")->name, "spine1.lab");
	assert_string_equal(neighbor_of(talk, "Ethernet1/2")->port, "Ethernet3/1");
	assert_string_equal(neighbor_of(talk, "Ethernet1/2")->description, "");
	assert_null(neighbor_of(talk, "ii1/1/1"));
	assert_int_equal(talk->counts.parse_errors, 0);

	/* One row of a port that does not exist; then a name that is too long. */
	assert_int_equal(
	    read_switch(talk, FLOWCONTROL "," LLDP_OF(ROW("Eth9/9", "a", "b", "c"))),
	    0);
	assert_null(neighbor_of(talk, "Ethernet1/2"));
	assert_int_equal(read_switch(talk, FLOWCONTROL "," LLDP_OF(ROW("Eth1/2",
					       "012345678901234567890123456789012345678"
					       "9012345678901234567890123456",
					       "02:00:00:00:00:01", ""))),
	    0);
	assert_string_equal(neighbor_of(talk, "Ethernet1/2")->name, "");
	assert_string_equal(
	    neighbor_of(talk, "Ethernet1/2")->port, "02:00:00:00:00:01");
	assert_int_equal(talk->counts.parse_errors, 1);
}

/* Most readings do not request them: the neighbours stay, and no command counts as
 * refused. */
static void
neighbours_stay_between_their_requests(void **state)
{
	struct talk *talk = *state;
	char *question = nexus_question(0);

	assert_null(strstr(question, "lldp"));
	assert_null(strstr(question, "transceiver"));
	assert_non_null(strstr(question, "show queuing burst-detect"));
	free(question);
	assert_int_equal(read_switch(talk, ALL), 0);
	assert_string_equal(neighbor_of(talk, "Ethernet1/2")->name, "spine1.lab");
	talk->no_neighbors = true;
	talk->counts = (struct switch_counts){ 0 };
	assert_int_equal(read_switch(talk, FLOWCONTROL), 0);
	assert_string_equal(neighbor_of(talk, "Ethernet1/2")->name, "spine1.lab");
	assert_int_equal(
	    talk->counts.commands_refused, 7); /* one of eight commands was answered */
	assert_int_equal(talk->counts.parse_errors, 0);
	assert_int_equal(read_switch(talk, ALL), 0);
	assert_int_equal(
	    talk->counts.parse_errors, 2); /* tables that were not requested */
}

static void
modules_are_reported_by_their_darkest_lane(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, ALL), 0);
	assert_int_equal(port_value("Ethernet1/2", "optics_rx_lowest_nw"), 1000);
	assert_int_equal(port_value("Ethernet1/2", "optics_rx_highest_nw"), 630957);
	assert_int_equal(port_value("Ethernet1/2", "optics_tx_lowest_nw"), 100);
	assert_int_equal(port_value("Ethernet1/2", "optics_rx_low_alarm_nw"), 38905);
	assert_int_equal(port_value("Ethernet1/2", "optics_celsius"), 34);
	assert_int_equal(port_value("Ethernet1/2", "optics_lane_mbps"), 25500);
	/* A module alone does not create a port: only counters do. */
	assert_null(
	    state_of(talk, SWITCH_PORT, "Ethernet1/9/1", 0, "optics_celsius", 0));
	assert_int_equal(talk->counts.parse_errors, 0);

	/* Most readings do not request modules: the module stays. Then it was removed.
	 */
	talk->no_neighbors = true;
	assert_int_equal(read_switch(talk, COUNTERS), 0);
	assert_int_equal(port_value("Ethernet1/2", "optics_rx_lowest_nw"), 1000);
	talk->no_neighbors = false;
	assert_int_equal(
	    read_switch(talk, COUNTERS "," OPTICS_OF("{\"interface\":\"Ethernet1/"
						     "2\",\"sfp\":\"present\"}")),
	    0);
	assert_int_equal(port_value("Ethernet1/2", "optics_rx_lowest_nw"), MISSING);
}

static void
a_module_with_odd_values_does_not_hide_others(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(
	    read_switch(talk,
		COUNTERS "," OPTICS_OF("[" MODULE("Eth1/2",
		    "[" LANE("1", "N/A", "--") "," LANE("2", " -3.01 ", "1e9") "," LANE(
			"3", "0x3", "-2") ",7]") ",{\"interface\":\"Vlan3\",\"rx_pwr\":"
						 "\"-1\"},{\"interface\":\"ii1/1/1\","
						 "\"rx_pwr\":-2.5,\"tx_pwr\":null}]")),
	    0);
	assert_int_equal(port_value("Ethernet1/2", "optics_rx_lowest_nw"), 500035);
	assert_int_equal(port_value("ii1/1/1", "optics_rx_highest_nw"), 562341);
	assert_int_equal(talk->counts.parse_errors, 2);
}

static uint64_t
lane_mbps_of(struct talk *talk, const char *rate)
{
	char answer[4096];

	snprintf(answer, sizeof(answer),
	    COUNTERS "," OPTICS_OF("{\"interface\":\"Ethernet1/2\",\"sfp\":"
				   "\"present\",\"type\":\"QSFP-100G-PCC\","
				   "\"nom_bitrate\":%s}"),
	    rate);
	assert_int_equal(read_switch(talk, answer), 0);
	return port_value("Ethernet1/2", "optics_lane_mbps");
}

/* Also of copper cables, which have no monitors. */
static void
the_speed_of_a_lane_is_that_of_the_module(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(lane_mbps_of(talk, "\"25500\""), 25500);
	assert_int_equal(lane_mbps_of(talk, "10300"), 10300);
	assert_int_equal(lane_mbps_of(talk, "\"425000\""), 425000);
	assert_int_equal(talk->counts.parse_errors, 0);
	assert_int_equal(
	    lane_mbps_of(talk, "\"56\""), MISSING); /* as a CPAK reports it */
	assert_int_equal(lane_mbps_of(talk, "\"--\""), MISSING);
	assert_int_equal(lane_mbps_of(talk, "null"), MISSING);
	assert_int_equal(talk->counts.parse_errors, 0);
	assert_int_equal(lane_mbps_of(talk, "\"25500 MBit\""), MISSING);
	assert_int_equal(talk->counts.parse_errors, 1);
}

static void
the_named_one_of_several_neighbours_counts(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, FLOWCONTROL
			     "," LLDP_OF("[" ROW("Eth1/2", "", "0200.0000.0001",
				 "") "," ROW("Eth1/2", "h1", "r0", "") "]")),
	    0);
	assert_string_equal(neighbor_of(talk, "Ethernet1/2")->name, "h1");
	assert_int_equal(
	    read_switch(talk,
		FLOWCONTROL "," LLDP_OF("[" ROW("Eth1/2", "h1", "r0", "") "," ROW(
		    "Eth1/2", "h2", "r0", "") "," ROW("Eth1/2", "h1", "r0", "") "]")),
	    0);
	assert_string_equal(neighbor_of(talk, "Ethernet1/2")->name, "");
	assert_string_equal(neighbor_of(talk, "Ethernet1/2")->port, "(several)");
}

static void
one_command_alone_is_an_object(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(
	    read_bytes(
		talk, "{\"ins_api\":{\"outputs\":{\"output\":" FLOWCONTROL "}}}"),
	    0);
	assert_int_equal(port_value("Ethernet1/2", "gpause_rx_frames"), 7);
	assert_int_equal(talk->counts.commands_refused, 9);
}

static void
a_refused_command_does_not_hide_others(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(
	    read_switch(talk, COUNTERS ",{\"input\":\"show queuing tabular\",\"msg\":"
				       "\"Input CLI command error\",\"code\":\"400\","
				       "\"clierror\":\"% Invalid command\"}"),
	    0);
	assert_int_equal(port_value("Ethernet1/2", "rx_bytes"), 1000);
	assert_int_equal(talk->counts.commands_refused, 9);
	assert_int_equal(talk->counts.parse_errors, 0);
}

static void
deltas_and_resets_are_counted(void **state)
{
	struct talk *talk = *state;
	const struct counter_state *rx;

	assert_int_equal(read_switch(talk, COUNTERS), 0);
	assert_int_equal(
	    read_switch(talk, OUTPUT("show interface counters",
				  "{\"TABLE_rx_counters\":{\"ROW_rx_counters\":"
				  "{\"interface_rx\":\"Ethernet1/2\",\"eth_inbytes\":"
				  "\"1500\",\"eth_inucast\":\"2\"}}}")),
	    0);
	rx = state_of(talk, SWITCH_PORT, "Ethernet1/2", 0, "rx_bytes", 0);
	assert_int_equal(rx->delta, 500);
	assert_int_equal(talk->counts.resets, 1);
	assert_int_equal(port_value("Ethernet1/2", "rx_ucast_pkts"), 12);
	assert_int_equal(port_value("Ethernet1/2", "rx_other_pkts"), MISSING);
}

/* One addend of a sum is missing once: the smaller rest must not look like a reset. */
static void
a_missing_summand_is_no_reset(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(read_switch(talk, COUNTERS), 0);
	assert_int_equal(
	    read_switch(talk, OUTPUT("show interface counters",
				  "{\"TABLE_rx_counters\":{\"ROW_rx_counters\":"
				  "{\"interface_rx\":\"Ethernet1/2\",\"eth_inmcast\":"
				  "\"3\"}}}")),
	    0);
	assert_int_equal(talk->counts.resets, 0);
	assert_int_equal(port_value("Ethernet1/2", "rx_other_pkts"), 7);
}

static void
malformed_values_are_counted_and_left_out(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(
	    read_switch(talk, OUTPUT("show interface counters",
				  "{\"TABLE_rx_counters\":{\"ROW_rx_counters\":["
				  "{\"interface_rx\":\"Ethernet1/2\",\"eth_inbytes\":"
				  "\"99999999999999999999999\",\"eth_inucast\":-4},"
				  "{\"interface_rx\":\"Ethernet1/3\",\"eth_inbytes\":"
				  "\"NaN\",\"eth_inucast\":1.5},"
				  "{\"eth_inbytes\":\"5\"},"
				  "{\"interface_rx\":\"Ethernet1/4\",\"eth_inbytes\":"
				  "null,\"eth_inucast\":\"8\"}]}}")),
	    0);
	assert_int_equal(talk->counts.parse_errors, 5);
	assert_int_equal(switch_list_count(talk->list), 1);
	assert_int_equal(port_value("Ethernet1/4", "rx_ucast_pkts"), 8);
	assert_int_equal(port_value("Ethernet1/4", "rx_bytes"), MISSING);
}

static void
a_tree_of_too_many_values_is_refused_before_it_is_made(void **state)
{
	struct talk *talk = *state;
	const size_t len = 3 * (size_t)NEXUS_MAX_NODES;
	char *text = malloc(len + 1);

	assert_non_null(text);
	for (size_t i = 0; i < len; i += 3)
		memcpy(text + i, "{},", 3);
	text[len] = '\0';
	assert_int_equal(read_bytes(talk, text), -EPROTO);
	assert_non_null(strstr(talk->error.text, "more than"));
	free(text);
}

static void
other_servers_and_empty_switches_are_named(void **state)
{
	struct talk *talk = *state;

	assert_int_equal(read_bytes(talk, "<html>login</html>"), -EPROTO);
	assert_non_null(strstr(talk->error.text, "not JSON"));
	assert_int_equal(read_bytes(talk, "[]"), -EPROTO);
	assert_non_null(strstr(talk->error.text, "is it NX-API"));
	assert_int_equal(
	    read_switch(
		talk, "{\"input\":\"show interface counters\",\"code\":\"501\"}"),
	    -EPROTO);
	assert_non_null(strstr(talk->error.text, "none of the commands"));
	assert_int_equal(
	    read_switch(talk, OUTPUT("show interface counters", "\"\"")), -EPROTO);
	assert_non_null(strstr(talk->error.text, "no Ethernet port"));
}

static void
no_more_ports_than_the_limit_are_kept(void **state)
{
	struct talk *talk = *state;
	static char rows[1200 * 64 + 256];
	size_t used = 0;

	used += (size_t)snprintf(rows, sizeof(rows), "%s",
	    "{\"input\":\"show interface flowcontrol\",\"code\":\"200\",\"body\":[");
	for (int i = 0; i < 1200; i++)
		used += (size_t)snprintf(rows + used, sizeof(rows) - used,
		    "%s{\"interface\":\"Eth1/%d\",\"rx-pause\":\"1\"}",
		    i == 0 ? "" : ",", i);
	snprintf(rows + used, sizeof(rows) - used, "]}");
	{
		static char text[sizeof(rows) + 128];

		snprintf(text, sizeof(text),
		    "{\"ins_api\":{\"outputs\":{\"output\":%s}}}", rows);
		assert_int_equal(read_bytes(talk, text), 0);
	}
	assert_int_equal(switch_list_count(talk->list), SWITCH_MAX_PORTS);
	assert_int_equal(talk->counts.refused, 1200 - SWITCH_MAX_PORTS);
}

static int
setup(void **state)
{
	static struct talk talk;

	talk = (struct talk){ 0 };
	*state = &talk;
	return 0;
}

static int
teardown(void **state)
{
	struct talk *talk = *state;

	switch_list_free(talk->list);
	return 0;
}

#define MANY_PORTS 1000

/* Parses many objects and their queues, in another order; skip: some are left out. */
static struct nexus_values *
parse_many(struct talk *talk, int skip)
{
	static char text[2 * 1024 * 1024];
	struct nexus_values *values = NULL;
	size_t used;

	used = (size_t)snprintf(text, sizeof(text),
	    "{\"ins_api\":{\"outputs\":{\"output\":{\"input\":\"show queuing tabular\","
	    "\"code\":\"200\",\"body\":{\"TABLE_queuing_interface\":{"
	    "\"ROW_queuing_interface\":[");
	for (int i = 0; i < MANY_PORTS; i++) {
		const int port = (i * 617) % MANY_PORTS + 1;

		if (skip > 0 && port % skip == 0)
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used,
		    "{\"if_name_str\":\"Eth1/%d\",\"ing_drop_pkt\":\"77\"", port);
		for (int queue = 0; queue < 8; queue++)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
			    ",\"tx_uc_pkt_qos_%d\":\"9\",\"tx_mc_pkt_qos_%d\":\"9\","
			    "\"pfc_rx_qos_%d\":\"1\",\"pfc_tx_qos_%d\":\"2\"",
			    queue, queue, queue, queue);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "},");
	}
	used--; /* removes the comma */
	used += (size_t)snprintf(text + used, sizeof(text) - used, "]}}}}}}");
	assert_int_equal(
	    nexus_parse(text, used, NEXUS_NEIGHBORS, &values, &talk->error), 0);
	return values;
}

/* The loop must not be held up: port names are compared a few times for each object,
 * however many objects there are, and whichever are missing. */
static void
a_large_switch_is_joined_in_linear_time(void **state)
{
	struct talk *talk = *state;
	const int skips[] = { 0, 0, 3, 5 };

	for (size_t i = 0; i < sizeof(skips) / sizeof(skips[0]); i++) {
		struct nexus_values *values = parse_many(talk, skips[i]);
		struct switch_list *list = NULL;

		compared = 0;
		assert_int_equal(
		    nexus_list(values, talk->list, &talk->counts, &list, &talk->error),
		    0);
		if (skips[i] == 0)
			assert_int_equal(switch_list_count(list), 9 * MANY_PORTS);
		assert_in_range(compared, 1, 12 * 9 * MANY_PORTS);
		nexus_values_free(values);
		switch_list_free(talk->list);
		talk->list = list;
	}
	assert_int_equal(port_value("Ethernet1/6", "rx_buffer_drops"),
	    77); /* the port was missing before */
	assert_int_equal(port_value("Ethernet1/5", "rx_buffer_drops"), MISSING);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_commands_are_in_one_request),
		TEST(ports_are_read_whatever_their_shape),
		TEST(errors_are_read_of_several_rows),
		TEST(pauses_are_distinguished),
		TEST(queues_marks_and_drops_are_read),
		TEST(the_watchdog_and_bursts_are_read),
		TEST(every_row_of_the_table_is_in_the_fixture),
		TEST(neighbours_are_read_and_bounded),
		TEST(modules_are_reported_by_their_darkest_lane),
		TEST(the_speed_of_a_lane_is_that_of_the_module),
		TEST(a_module_with_odd_values_does_not_hide_others),
		TEST(neighbours_stay_between_their_requests),
		TEST(the_named_one_of_several_neighbours_counts),
		TEST(one_command_alone_is_an_object),
		TEST(a_refused_command_does_not_hide_others),
		TEST(deltas_and_resets_are_counted),
		TEST(a_missing_summand_is_no_reset),
		TEST(the_first_of_two_entries_of_a_port_counts),
		TEST(a_malformed_number_or_letter_costs_only_its_value),
		TEST(malformed_values_are_counted_and_left_out),
		TEST(a_tree_of_too_many_values_is_refused_before_it_is_made),
		TEST(other_servers_and_empty_switches_are_named),
		TEST(no_more_ports_than_the_limit_are_kept),
		TEST(a_large_switch_is_joined_in_linear_time),
	};

	return cmocka_run_group_tests_name("nexus", tests, NULL, NULL);
}
