#include "tor-aggregator/tor_aggregator_diagnosis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/verdict.h"
#include "schemas/wire.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/diagnosis/diagnoses.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/switch/switch_collector.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/tor_aggregator_state.h"
#include "tor-aggregator/window/roster.h"

int
tor_aggregator_start_diagnosis(struct tor_aggregator *aggregator)
{
	aggregator->proofs =
	    calloc(aggregator->rack_count, sizeof(aggregator->proofs[0]));
	if (aggregator->proofs == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < aggregator->rack_count; i++) {
		aggregator->diagnoses[i] = diagnoses_new();
		if (aggregator->diagnoses[i] == NULL)
			return -ENOMEM;
	}
	return 0;
}

void
tor_aggregator_end_diagnosis(struct tor_aggregator *aggregator)
{
	for (size_t i = 0; i < aggregator->rack_count; i++)
		diagnoses_free(aggregator->diagnoses[i]);
	free(aggregator->proofs);
}

static struct diagnoses *
diagnoses_of(const struct tor_aggregator *aggregator, const struct tor_rack *rack)
{
	for (size_t i = 0; i < aggregator->rack_count; i++)
		if (aggregator->racks[i] == rack)
			return aggregator->diagnoses[i];
	return NULL;
}

void
tor_aggregator_on_counters(
    struct agent *agent, const struct wire_counter_report *view, void *arg)
{
	struct tor_aggregator *aggregator = arg;
	size_t hint = 0;

	for (size_t i = 0; i < view->rnic_count; i++) {
		const struct agent_rnic *own;
		const struct roster_rnic *rnic;
		struct wire_rnic_counters counters;

		wire_counter_report_rnic(view, i, &counters);
		own = agent_owns(agent, counters.id, &hint);
		rnic = own == NULL || own->rack == NULL
			   ? NULL
			   : roster_find(tor_rack_roster(own->rack), counters.id);
		if (rnic == NULL)
			aggregator->readings_elsewhere++;
		else
			diagnoses_report(diagnoses_of(aggregator, own->rack),
			    rnic->host, rnic->device, &counters, rm_mono_now());
	}
}

void
tor_aggregator_counters_tell(const struct tor_aggregator *aggregator,
    const struct tor_rack *rack, struct rm_verdict *verdict)
{
	const struct wire_rnic_id id = { verdict->rnic.guid, verdict->rnic.port };
	const struct diagnoses *diagnoses = diagnoses_of(aggregator, rack);

	/* Of "A or B" nobody knows which one it is. */
	if (diagnoses != NULL && verdict->part.type == RM_PART_RNIC &&
	    strstr(verdict->part.name, RM_PART_OR) == NULL)
		diagnoses_tell(diagnoses, id, verdict->evidence.counters,
		    sizeof(verdict->evidence.counters));
}

static void
take_probes(struct diagnoses *diagnoses, const struct tor_rack *rack)
{
	const struct roster *roster = tor_rack_roster(rack);

	for (size_t i = 0; i < roster_members(roster); i++) {
		const struct tor_rack_traffic traffic = tor_rack_traffic(rack, i);

		diagnoses_probes(diagnoses, roster_member(roster, i)->id,
		    traffic.sound_sent, traffic.sound_lost);
	}
}

/* ---- the proof ---- */

/* As switch_rows[] names them. */
static const struct {
	const char *name;
	uint8_t number;
} switch_numbers[] = {
	{ "tx_ucast_pkts", SWITCH_TX_PKTS },
	{ "ecn_marked", SWITCH_ECN_MARKED },
	{ "queue_ecn_marked", SWITCH_ECN_MARKED },
	{ "pfc_rx_frames", SWITCH_PFC_RX_FRAMES },
	{ "pfc_tx_frames", SWITCH_PFC_TX_FRAMES },
	{ "pfc_rx_pause_us", SWITCH_PFC_RX_PAUSE_US },
	{ "pfc_tx_pause_us", SWITCH_PFC_TX_PAUSE_US },
};

static unsigned
switch_number(const char *name)
{
	for (size_t i = 0; i < sizeof(switch_numbers) / sizeof(switch_numbers[0]); i++)
		if (strcmp(switch_numbers[i].name, name) == 0)
			return switch_numbers[i].number;
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
		    row->part == object->part ? switch_number(row->name) : 0;

		for (unsigned i = 0;
		     row->part == object->part && i < switch_row_values(row);
		     i++, state++)
			if (number != 0 && has_counted(state))
				evidence_add(evidence, number, i, state->delta);
	}
}

/* The marks of its queues, where the port has no count of its own. Both are ordered by
 * port; *at is where to go on. */
static void
take_queues(const struct switch_list *list, const char *port, size_t *at,
    struct evidence *evidence)
{
	const bool counted = evidence->there[SWITCH_ECN_MARKED] != 0;

	for (; *at < switch_list_count(list); (*at)++) {
		const struct switch_object *object = switch_list_get(list, *at);
		const int order = strcmp(object->port, port);

		if (object->part > SWITCH_QUEUE ||
		    (object->part == SWITCH_QUEUE && order > 0))
			return;
		if (object->part == SWITCH_QUEUE && order == 0 && !counted)
			take_object(object, evidence);
	}
}

static void
prove_switch(struct rack_proof *proof, const struct switch_collector *collector)
{
	struct switch_collector_shown shown;
	size_t queue = 0;

	if (collector == NULL)
		return;
	shown = switch_collector_shown(collector);
	if (shown.list == NULL || shown.reading.interval_ns <= 0 ||
	    shown.reading.at.ns == proof->switch_at.ns)
		return;
	proof->switch_at = shown.reading.at;
	for (size_t i = 0; i < switch_list_count(shown.list); i++) {
		const struct switch_object *object = switch_list_get(shown.list, i);
		struct evidence evidence = { .switch_ns = shown.reading.interval_ns };

		if (object->part != SWITCH_PORT)
			return;
		snprintf(evidence.port, sizeof(evidence.port), "%.31s", object->port);
		take_object(object, &evidence);
		take_queues(shown.list, object->port, &queue, &evidence);
		proof_add_port(&proof->proof, &evidence);
	}
}

/* Before they are judged: what was judged before is of another round. */
static void
prove(struct rack_proof *proof, const struct diagnoses *diagnoses,
    const struct tor_rack *rack, const struct switch_collector *collector,
    rm_mono_t now)
{
	const struct summary_marks marks = summary_marks(tor_rack_summary(rack));

	for (size_t i = 0; i < diagnoses_rnics(diagnoses); i++)
		if (!diagnoses_rnic(diagnoses, i)->judged)
			proof_add_rnic(
			    &proof->proof, &diagnoses_rnic(diagnoses, i)->evidence);
	prove_switch(proof, collector);
	proof_add_probes(&proof->proof, marks.markable - proof->marks.markable,
	    marks.marked - proof->marks.marked);
	proof->marks = marks;
	proof_end_round(
	    &proof->proof, proof->ended.ns == 0 ? 0 : rm_mono_since(now, proof->ended));
	proof->ended = now;
}

void
tor_aggregator_diagnosis_tick(
    struct tor_aggregator *aggregator, rm_mono_t now, rm_wall_t wall)
{
	size_t i;

	if (!diagnoses_turn(&aggregator->diagnosed, aggregator->rack_count, now, &i))
		return;
	prove(&aggregator->proofs[i], aggregator->diagnoses[i], aggregator->racks[i],
	    aggregator->switches[i], now);
	take_probes(aggregator->diagnoses[i], aggregator->racks[i]);
	diagnoses_judge(aggregator->diagnoses[i], now, wall);
}
