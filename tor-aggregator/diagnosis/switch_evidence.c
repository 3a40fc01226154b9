#include "tor-aggregator/diagnosis/switch_evidence.h"

#include <stdio.h>
#include <string.h>

#include "tor-aggregator/diagnosis/evidence.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_table.h"

/* As switch_rows[] names them. */
static const struct {
	const char *name;
	uint8_t number;
} numbers[] = {
	{ "tx_ucast_pkts", SWITCH_TX_PKTS },
	{ "ecn_marked", SWITCH_ECN_MARKED },
	{ "queue_ecn_marked", SWITCH_ECN_MARKED },
	{ "tx_discards", SWITCH_TX_DISCARDS },
	{ "wred_drops", SWITCH_WRED_DROPS },
	{ "queue_drop_pkts", SWITCH_QUEUE_DROP_PKTS },
	{ "pfc_rx_frames", SWITCH_PFC_RX_FRAMES },
	{ "pfc_tx_frames", SWITCH_PFC_TX_FRAMES },
	{ "pfc_rx_pause_us", SWITCH_PFC_RX_PAUSE_US },
	{ "pfc_tx_pause_us", SWITCH_PFC_TX_PAUSE_US },
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

/* Without what is there already; of a queue by its number. */
static void
take_object(const struct switch_object *object, unsigned without, struct evidence *ret)
{
	const struct counter_state *state = object->states;

	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		const unsigned number =
		    row->part == object->part ? number_of(row->name) : 0;

		for (unsigned i = 0;
		     row->part == object->part && i < switch_row_values(row);
		     i++, state++)
			if (number != 0 && number != without && has_counted(state))
				evidence_add(ret, number,
				    (object->index + i) % EVIDENCE_INDEXES,
				    state->delta);
	}
}

/* Queues stand behind the ports, in the same order of ports: strverscmp's. */
static void
take_queues(struct switch_evidence *walk, const char *port, struct evidence *ret)
{
	const unsigned without =
	    ret->there[SWITCH_ECN_MARKED] != 0 ? SWITCH_ECN_MARKED : 0;

	for (; walk->queue < switch_list_count(walk->list); walk->queue++) {
		const struct switch_object *object =
		    switch_list_get(walk->list, walk->queue);
		const int order =
		    object->part < SWITCH_QUEUE ? -1 : strverscmp(object->port, port);

		if (object->part > SWITCH_QUEUE || order > 0)
			return;
		if (order == 0)
			take_object(object, without, ret);
	}
}

bool
switch_evidence_next(struct switch_evidence *walk, struct evidence *ret)
{
	while (walk->port < switch_list_count(walk->list)) {
		const struct switch_object *object =
		    switch_list_get(walk->list, walk->port++);

		if (object->part != SWITCH_PORT)
			return false;
		if (switch_port_is_internal(object->port))
			continue;
		*ret = (struct evidence){ .switch_ns = walk->ns };
		snprintf(ret->port, sizeof(ret->port), "%s", object->port);
		take_object(object, 0, ret);
		take_queues(walk, object->port, ret);
		return true;
	}
	return false;
}
