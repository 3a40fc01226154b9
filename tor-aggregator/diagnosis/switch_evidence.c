#include "tor-aggregator/diagnosis/switch_evidence.h"

#include <stdio.h>
#include <string.h>

#include "tor-aggregator/diagnosis/evidence.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_table.h"

/* With the names of switch_rows[]. */
static const struct {
	const char *name;
	uint8_t number;
} numbers[] = {
	{ "tx_ucast_pkts", SWITCH_TX_PKTS },
	{ "ecn_marked", SWITCH_ECN_MARKED },
	{ "queue_ecn_marked", SWITCH_ECN_MARKED },
	{ "rx_err", SWITCH_RX_ERR },
	{ "fec_uncorr", SWITCH_FEC_UNCORR },
	{ "tx_discards", SWITCH_TX_DISCARDS },
	{ "tx_buffer_drops", SWITCH_TX_BUFFER_DROPS },
	{ "wred_drops", SWITCH_WRED_DROPS },
	{ "queue_drop_pkts", SWITCH_QUEUE_DROP_PKTS },
	{ "pfc_rx_frames", SWITCH_PFC_RX_FRAMES },
	{ "pfc_tx_frames", SWITCH_PFC_TX_FRAMES },
	{ "pfc_rx_pause_us", SWITCH_PFC_RX_PAUSE_US },
	{ "pfc_tx_pause_us", SWITCH_PFC_TX_PAUSE_US },
	{ "oper_up", SWITCH_OPER_UP },
	{ "pfc_on", SWITCH_PFC_ON },
	{ "pfcwd_stormed", SWITCH_PFCWD_STORMED },
	{ "pfcwd_detected", SWITCH_PFCWD_DETECTED },
	{ "group_drop_pkts", SWITCH_GROUP_DROP_PKTS },
	{ "optics_rx_lowest_nw", SWITCH_OPTICS_RX_LOWEST_NW },
	{ "optics_rx_highest_nw", SWITCH_OPTICS_RX_HIGHEST_NW },
	{ "optics_rx_low_alarm_nw", SWITCH_OPTICS_RX_LOW_ALARM_NW },
	{ "rx_giants", SWITCH_GIANTS },
	{ "oper_changes", SWITCH_OPER_CHANGES },
	{ "wred_green_drops", SWITCH_WRED_DROPS },
	{ "wred_yellow_drops", SWITCH_WRED_DROPS },
	{ "wred_red_drops", SWITCH_WRED_DROPS },
	{ "fec_corrected_bits", SWITCH_FEC_CORRECTED_BITS },
	{ "fec_codewords", SWITCH_FEC_WORST },
	{ "speed_mbps", SWITCH_SPEED_MBPS },
	{ "lanes", SWITCH_LANES },
	{ "optics_lane_mbps", SWITCH_LANE_MBPS },
	{ "rx_buffer_drops", SWITCH_RX_BUFFER_DROPS },
	{ "gpause_rx_frames", SWITCH_GPAUSE_RX_FRAMES },
	{ "gpause_tx_frames", SWITCH_GPAUSE_TX_FRAMES },
};

static unsigned
number_of(const char *name)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(numbers[i].name, name) == 0)
			return numbers[i].number;
	return 0;
}

static bool
has_counted(const struct counter_state *state)
{
	return state->there && !state->back &&
	       (state->change == COUNTER_COUNTED || state->change == COUNTER_WRAPPED);
}

static bool
is_optics(unsigned number)
{
	return number == SWITCH_OPTICS_RX_LOWEST_NW ||
	       number == SWITCH_OPTICS_RX_HIGHEST_NW ||
	       number == SWITCH_OPTICS_RX_LOW_ALARM_NW;
}

/* The delta of a counter, or the value of a gauge. For received power, it returns the
 * higher value of two readings (delta is the reading before), because a lane counts as
 * dark only if both readings are dark. */
static uint64_t
value_of(
    const struct switch_row *row, unsigned number, const struct counter_state *state)
{
	if (!row->gauge)
		return state->delta;
	if (number == SWITCH_OPTICS_RX_LOWEST_NW)
		return state->delta > state->total ? state->delta : state->total;
	if (number == SWITCH_OPTICS_RX_HIGHEST_NW)
		return state->delta < state->total ? state->delta : state->total;
	return state->total;
}

/* The number of the module's slot; UINT64_MAX: not known, or the object is no port. */
static uint64_t
module_of(const struct switch_list *list, size_t i)
{
	const struct switch_object *object =
	    i < switch_list_count(list) ? switch_list_get(list, i) : NULL;
	const struct counter_state *state = object == NULL ? NULL : object->states;

	if (object == NULL || object->part != SWITCH_PORT)
		return UINT64_MAX;
	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		if (row->part != SWITCH_PORT)
			continue;
		if (strcmp(row->name, "module") == 0)
			return state->there ? state->total : UINT64_MAX;
		state += switch_row_values(row);
	}
	return UINT64_MAX;
}

/* True: the port is a part of a module: on a Nexus, Ethernet1/36/2 is a part of the
 * module in slot 36. */
static bool
is_broken_out(const char *port)
{
	const char *slash = strchr(port, '/');

	return slash != NULL && strchr(slash + 1, '/') != NULL;
}

/* True: another port uses the same module; such ports are next to each other in the
 * list. The lanes of the module are reported for one of the ports, and it is not known
 * which lanes belong to which port. */
static bool
shares_module(const struct switch_list *list, size_t i)
{
	const uint64_t own = module_of(list, i);

	if (is_broken_out(switch_list_get(list, i)->port))
		return true;
	return own != UINT64_MAX && (own == module_of(list, i + 1) ||
					(i > 0 && own == module_of(list, i - 1)));
}

static void
forget_optics(struct evidence *evidence)
{
	for (unsigned number = 0; number < EVIDENCE_NUMBERS; number++)
		if (is_optics(number))
			evidence->there[number] = 0;
}

/* False: the counter is for one colour, and the switch also counts the sum, which is
 * earlier in the table. */
static bool
is_reported(const struct switch_row *row, bool has_sum)
{
	return has_sum && strncmp(row->name, "wred_", 5) == 0 &&
	       strcmp(row->name, "wred_drops") != 0;
}

/* Returns the number of evidence for a value; 0: the value is not used. A switch counts
 * codewords by their number of symbol errors; only the counters of the largest numbers
 * that the FEC decoder can correct are used. */
static unsigned
number_at(const struct switch_row *row, unsigned number, unsigned i)
{
	if (row->by != SWITCH_BY_ERRORS || i >= EVIDENCE_WORST_ERRORS)
		return number;
	return i >= EVIDENCE_SHORT_ERRORS && i <= EVIDENCE_SHORT_MOST
		   ? SWITCH_FEC_WORST_SHORT
		   : 0;
}

static unsigned
index_of(const struct switch_object *object, const struct switch_row *row, unsigned i)
{
	return row->by == SWITCH_BY_ERRORS ? 0 : (object->index + i) % EVIDENCE_INDEXES;
}

/* Adds the values that are not set yet: values of a queue under its number, and the sum
 * over counters by number of errors. */
static void
take_object(const struct switch_object *object, unsigned without, struct evidence *ret)
{
	const struct counter_state *state = object->states;
	bool has_sum = false;

	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		const unsigned named =
		    row->part == object->part ? number_of(row->name) : 0;

		for (unsigned i = 0;
		     row->part == object->part && i < switch_row_values(row);
		     i++, state++) {
			const unsigned number = number_at(row, named, i);

			if (number == 0 || number == without || !has_counted(state) ||
			    is_reported(row, has_sum))
				continue;
			if (row->gauge ||
			    evidence_is_possible(number, state->delta, ret->switch_ns))
				evidence_add(ret, number, index_of(object, row, i),
				    value_of(row, number, state));
			else
				ret->impossible++;
		}
		has_sum |= named == SWITCH_WRED_DROPS &&
			   strcmp(row->name, "wred_drops") == 0 &&
			   ret->there[named] != 0;
	}
}

/* Adds the values of a port's queues or groups. In the list, queues come after ports,
 * and groups after queues, all in the order of ports (strverscmp). *at: the position
 * from which the search continues. */
static void
take_part(const struct switch_list *list, enum switch_part part, size_t *at,
    unsigned without, struct evidence *ret)
{
	for (; *at < switch_list_count(list); ++*at) {
		const struct switch_object *object = switch_list_get(list, *at);
		const int order =
		    object->part < part ? -1 : strverscmp(object->port, ret->port);

		if (object->part > part || order > 0)
			return;
		if (order == 0)
			take_object(object, without, ret);
	}
}

bool
switch_evidence_next(struct switch_evidence *walk, struct evidence *ret)
{
	while (walk->port < switch_list_count(walk->list)) {
		const size_t at = walk->port++;
		const struct switch_object *object = switch_list_get(walk->list, at);

		if (object->part != SWITCH_PORT)
			return false;
		if (switch_port_is_internal(object->port))
			continue;
		*ret = (struct evidence){ .switch_ns = walk->ns };
		snprintf(ret->port, sizeof(ret->port), "%s", object->port);
		take_object(object, 0, ret);
		if (shares_module(walk->list, at))
			forget_optics(ret);
		take_part(walk->list, SWITCH_QUEUE, &walk->queue,
		    ret->there[SWITCH_ECN_MARKED] != 0 ? SWITCH_ECN_MARKED : 0, ret);
		take_part(walk->list, SWITCH_GROUP, &walk->group, 0, ret);
		return true;
	}
	return false;
}
