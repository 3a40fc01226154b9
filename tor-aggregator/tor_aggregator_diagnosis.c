#include "tor-aggregator/tor_aggregator_diagnosis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/verdict.h"
#include "schemas/wire.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/diagnosis/diagnoses.h"
#include "tor-aggregator/diagnosis/evidence.h"
#include "tor-aggregator/diagnosis/proof.h"
#include "tor-aggregator/diagnosis/switch_evidence.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/switch/switch_collector.h"
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
		aggregator->proofs[i].proof = proof_new();
		if (aggregator->diagnoses[i] == NULL ||
		    aggregator->proofs[i].proof == NULL)
			return -ENOMEM;
	}
	return 0;
}

void
tor_aggregator_end_diagnosis(struct tor_aggregator *aggregator)
{
	for (size_t i = 0; i < aggregator->rack_count; i++) {
		diagnoses_free(aggregator->diagnoses[i]);
		if (aggregator->proofs != NULL)
			proof_free(aggregator->proofs[i].proof);
	}
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

static void
prove_switch(struct rack_proof *proof, const struct switch_collector *collector)
{
	struct switch_collector_shown shown;
	struct switch_evidence walk;
	struct evidence evidence;

	if (collector == NULL)
		return;
	shown = switch_collector_shown(collector);
	if (shown.list == NULL || shown.reading.interval_ns <= 0 ||
	    shown.reading.at.ns == proof->switch_at.ns)
		return;
	proof->switch_at = shown.reading.at;
	walk = (struct switch_evidence){ shown.list, shown.reading.interval_ns, 0, 0 };
	while (switch_evidence_next(&walk, &evidence))
		proof_add_port(proof->proof, &evidence, shown.reading.at);
}

/* Before they are judged: what was judged before is of another round. */
static void
prove(struct rack_proof *proof, const struct diagnoses *diagnoses,
    const struct tor_rack *rack, rm_mono_t now)
{
	const struct summary_marks marks = summary_marks(tor_rack_summary(rack));

	for (size_t i = 0; i < diagnoses_rnics(diagnoses); i++)
		if (!diagnoses_rnic(diagnoses, i)->judged)
			proof_add_rnic(
			    proof->proof, &diagnoses_rnic(diagnoses, i)->evidence, now);
	if (proof->ended.ns != 0)
		proof_add_probes(proof->proof, marks.markable - proof->marks.markable,
		    marks.marked - proof->marks.marked,
		    rm_mono_since(now, proof->ended), now);
	proof->marks = marks;
	proof->ended = now;
}

void
tor_aggregator_diagnosis_tick(
    struct tor_aggregator *aggregator, rm_mono_t now, rm_wall_t wall)
{
	size_t i;

	for (i = 0; i < aggregator->rack_count; i++)
		prove_switch(&aggregator->proofs[i], aggregator->switches[i]);
	if (!diagnoses_turn(&aggregator->diagnosed, aggregator->rack_count, now, &i))
		return;
	prove(&aggregator->proofs[i], aggregator->diagnoses[i], aggregator->racks[i],
	    now);
	take_probes(aggregator->diagnoses[i], aggregator->racks[i]);
	diagnoses_judge(aggregator->diagnoses[i], now, wall);
}
