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

static void
take_object(const struct switch_object *object, struct evidence *evidence)
{
	const struct counter_state *state = object->states;

	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		const unsigned number =
		    row->part == object->part ? number_of(row->name) : 0;

		for (unsigned i = 0;
		     row->part == object->part && i < switch_row_values(row);
		     i++, state++)
			if (number != 0 && has_counted(state))
				evidence_add(evidence, number, i, state->delta);
	}
}

/* Queues stand behind the ports, in the same order of ports: strverscmp's. */
static void
take_queues(
    struct switch_evidence *walk, const char *port, bool wanted, struct evidence *ret)
{
	for (; walk->queue < switch_list_count(walk->list); walk->queue++) {
		const struct switch_object *object =
		    switch_list_get(walk->list, walk->queue);
		const int order =
		    object->part < SWITCH_QUEUE ? -1 : strverscmp(object->port, port);

		if (object->part > SWITCH_QUEUE || order > 0)
			return;
		if (order == 0 && wanted)
			take_object(object, ret);
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
		take_object(object, ret);
		take_queues(
		    walk, object->port, ret->there[SWITCH_ECN_MARKED] == 0, ret);
		return true;
	}
	return false;
}
