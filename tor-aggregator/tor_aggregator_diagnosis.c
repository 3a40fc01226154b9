#include "tor-aggregator/tor_aggregator_diagnosis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/log.h"
#include "rackmesh/judge/verdict.h"
#include "schemas/wire.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/diagnosis/diagnoses.h"
#include "tor-aggregator/diagnosis/evidence.h"
#include "tor-aggregator/diagnosis/hypervisor_evidence.h"
#include "tor-aggregator/diagnosis/pause_graph.h"
#include "tor-aggregator/diagnosis/proof.h"
#include "tor-aggregator/diagnosis/switch_evidence.h"
#include "tor-aggregator/drift/drift.h"
#include "tor-aggregator/hypervisor/hypervisor_collector.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/switch/switch_collector.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_neighbor.h"
#include "tor-aggregator/tor_aggregator_neighbors.h"
#include "tor-aggregator/tor_aggregator_state.h"
#include "tor-aggregator/window/roster.h"

int
tor_aggregator_start_diagnosis(struct tor_aggregator *aggregator)
{
	aggregator->proofs =
	    calloc(aggregator->rack_count, sizeof(aggregator->proofs[0]));
	if (aggregator->proofs == NULL)
		return -ENOMEM;
	if (aggregator->read_switch_count > 0) {
		aggregator->pauses = calloc(1, sizeof(*aggregator->pauses));
		if (aggregator->pauses == NULL)
			return -ENOMEM;
	}
	for (size_t i = 0; i < aggregator->rack_count; i++) {
		aggregator->diagnoses[i] = diagnoses_new(rm_mono_now());
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
	free(aggregator->pauses);
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
tor_aggregator_counters_report(const struct tor_aggregator *aggregator,
    const struct tor_rack *rack, struct rm_verdict *verdict)
{
	const struct wire_rnic_id id = { verdict->rnic.guid, verdict->rnic.port };
	const struct diagnoses *diagnoses = diagnoses_of(aggregator, rack);

	/* A verdict "A or B" does not say which of the two RNICs has the fault. */
	if (diagnoses != NULL && verdict->part.type == RM_PART_RNIC &&
	    strstr(verdict->part.name, RM_PART_OR) == NULL)
		diagnoses_sentence(diagnoses, id, verdict->evidence.counters,
		    sizeof(verdict->evidence.counters));
}

/* Adds up the members that count CNPs, and names the others. */
static void
count_members(const struct proof *proof, const struct roster *roster, rm_mono_t now,
    struct wire_rack_state *state, char uncounted[WIRE_UNCOUNTED_BYTES])
{
	size_t len = 0;

	uncounted[0] = '\0';
	for (size_t i = 0; i < roster_members(roster); i++) {
		const struct roster_rnic *rnic = roster_member(roster, i);
		char name[EVIDENCE_NAME_BYTES];
		enum proof_cnp_counters counters;
		uint64_t sent;
		size_t more;

		snprintf(name, sizeof(name), "%s/%s", rnic->host, rnic->device);
		counters = proof_cnp_counters(proof, name, now, &sent);
		if (counters == PROOF_COUNTS_CNPS) {
			state->rnics_counting++;
			continue;
		}
		if (counters == PROOF_COUNTS_SENT) {
			state->rnics_packets_only++;
			if (__builtin_add_overflow(state->packets_only_sent, sent,
				&state->packets_only_sent))
				state->packets_only_sent = UINT64_MAX;
		}
		more = strlen(name) + (len > 0 ? strlen(", ") : 0);
		if (len + more < WIRE_UNCOUNTED_BYTES)
			len += (size_t)sprintf(
			    uncounted + len, "%s%s", len > 0 ? ", " : "", name);
	}
}

void
tor_aggregator_cnps_report(const struct tor_aggregator *aggregator,
    const struct tor_rack *rack, struct wire_rack_state *state,
    char uncounted[WIRE_UNCOUNTED_BYTES])
{
	const rm_mono_t now = rm_mono_now();

	for (size_t i = 0; i < aggregator->rack_count; i++) {
		struct proof_cnps cnps;

		if (aggregator->racks[i] != rack)
			continue;
		cnps = proof_cnps(aggregator->proofs[i].proof, now);
		state->rnics_counting = state->rnics_packets_only = 0;
		state->packets_only_sent = 0;
		count_members(aggregator->proofs[i].proof, tor_rack_roster(rack), now,
		    state, uncounted);
		state->rdma_sent = cnps.rdma_sent;
		state->rdma_received = cnps.rdma_received;
		state->cnps_sent = cnps.cnps_sent;
		state->cnps_received = cnps.cnps_received;
	}
}

size_t
tor_aggregator_ports_report(const struct tor_aggregator *aggregator,
    const struct tor_rack *rack, struct wire_port_row *rows, size_t room)
{
	struct diagnoses *diagnoses = diagnoses_of(aggregator, rack);

	return diagnoses == NULL ? 0 : diagnoses_ports(diagnoses, rows, room);
}

static void
take_probes(struct diagnoses *diagnoses, const struct tor_rack *rack, rm_mono_t now)
{
	const struct roster *roster = tor_rack_roster(rack);

	for (size_t i = 0; i < roster_members(roster); i++) {
		const struct tor_rack_traffic traffic = tor_rack_traffic(rack, i);
		const struct probe_counts probes = { .sent = traffic.sound_sent,
			.lost = traffic.sound_lost,
			.large_sent = traffic.sound_large_sent,
			.large_lost = traffic.sound_large_lost };

		diagnoses_probes(diagnoses, roster_member(roster, i)->id, &probes, now);
	}
}

/* ---- the proof ---- */

/* A port's counters are evidence on the RNIC at the other end of its cable, if LLDP
 * reports one and its agent reports counters. Otherwise they are evidence on the port
 * itself, in the racks at both ends of the cable. */
static void
diagnose_port(const struct tor_aggregator *aggregator, size_t at,
    const struct switch_list *list, const struct evidence *evidence, rm_mono_t read)
{
	const struct read_switch *one = &aggregator->read_switches[at];
	const struct switch_neighbor *lldp = NULL;
	struct neighbor found = { .kind = NEIGHBOR_NOT_KNOWN };
	size_t port, rack = one->rack;

	if (switch_list_find_port(list, evidence->port, &port) == 0)
		lldp = switch_list_neighbor(list, port);
	if (lldp != NULL)
		found = tor_aggregator_neighbor(aggregator, at, lldp, NULL);
	if (found.kind == NEIGHBOR_RNIC && rack != SIZE_MAX) {
		struct evidence of_rnic = *evidence;

		of_rnic.cables = found.cables;
		if (diagnoses_port(
			aggregator->diagnoses[rack], found.rnic->id, &of_rnic, read))
			return;
	}
	if (rack == SIZE_MAX && found.kind == NEIGHBOR_SWITCH)
		rack = aggregator->read_switches[found.at].rack;
	diagnoses_link(aggregator->diagnoses[rack == SIZE_MAX ? 0 : rack], one->name,
	    found.kind == NEIGHBOR_SWITCH ? aggregator->read_switches[found.at].name
	    : found.kind == NEIGHBOR_RNIC ? ""
	    : lldp != NULL                ? lldp->name
					  : "",
	    evidence, read);
}

/* at: index of a switch that belongs to no rack. */
static void
take_other_switch(struct tor_aggregator *aggregator, size_t at)
{
	struct read_switch *one = &aggregator->read_switches[at];
	const struct switch_collector_shown shown =
	    switch_collector_shown(one->collector);
	struct switch_evidence walk = { .list = shown.list,
		.ns = shown.reading.interval_ns };
	struct evidence evidence;

	if (shown.list == NULL || shown.reading.interval_ns <= 0 ||
	    shown.reading.at.ns == one->judged.ns)
		return;
	one->judged = shown.reading.at;
	while (switch_evidence_next(&walk, &evidence)) {
		one->impossible += evidence.impossible;
		diagnose_port(
		    aggregator, at, shown.list, &evidence, shown.reading.ended);
	}
}

/* Compares the settings of the ports of a rack's switch with the expected ones. */
static void
compare_ports(struct tor_aggregator *aggregator, const struct read_switch *one,
    const struct switch_list *list)
{
	struct drift *drift = aggregator->drifts[one->rack];
	const rm_wall_t now = rm_wall_now();

	drift_ports_again(drift, one->name);
	for (size_t i = 0; i < switch_list_count(list); i++) {
		const struct switch_object *port = switch_list_get(list, i);
		int r;

		if (port->part != SWITCH_PORT)
			break;
		if (switch_port_is_internal(port->port))
			continue;
		r = drift_report_port(drift, aggregator->expected, one->name,
		    port->port, switch_list_settings(list, i), now);
		if (r == -ENOMEM)
			rm_log_warn(r, "cannot compare the settings of port %s of %s",
			    port->port, one->name);
	}
}

/* at: index of a rack's switch, in read_switches. */
static void
take_switch(struct tor_aggregator *aggregator, size_t at)
{
	struct read_switch *one = &aggregator->read_switches[at];
	const struct switch_collector_shown shown =
	    switch_collector_shown(one->collector);
	struct rack_proof *proof = &aggregator->proofs[one->rack];
	struct switch_evidence walk = { .list = shown.list,
		.ns = shown.reading.interval_ns };
	struct evidence evidence;

	if (shown.list == NULL || shown.reading.interval_ns <= 0 ||
	    shown.reading.at.ns == proof->switch_at.ns)
		return;
	proof->switch_at = shown.reading.at;
	compare_ports(aggregator, one, shown.list);
	while (switch_evidence_next(&walk, &evidence)) {
		one->impossible += evidence.impossible;
		proof_add_port(proof->proof, &evidence, shown.reading.at);
		diagnose_port(
		    aggregator, at, shown.list, &evidence, shown.reading.ended);
	}
}

/* i: index of the ESXi host in the config. */
static void
take_hypervisor(struct tor_aggregator *aggregator, size_t i)
{
	const struct hypervisor_shown shown =
	    hypervisor_collector_shown(aggregator->hypervisors[i]);
	const size_t rack = aggregator->hypervisor_racks[i].rack;
	const rm_mono_t now = rm_mono_now();

	if (rack == SIZE_MAX || shown.reading.interval_ns <= 0 ||
	    shown.reading.at.ns == aggregator->hypervisor_racks[i].taken.ns)
		return;
	aggregator->hypervisor_racks[i].taken = shown.reading.at;
	for (size_t n = 0; n < hypervisor_nics_count(shown.nics); n++) {
		const struct hypervisor_nic *nic = hypervisor_nics_get(shown.nics, n);
		struct evidence evidence;

		if (!hypervisor_evidence(
			nic, shown.name, shown.reading.interval_ns, &evidence))
			continue;
		aggregator->hypervisor_racks[i].impossible += evidence.impossible;
		diagnoses_hypervisor(
		    aggregator->diagnoses[rack], shown.name, nic->name, &evidence, now);
	}
}

/* Call it before the RNICs and ports are judged: the last judgement belongs to the
 * round before. */
static void
prove(struct rack_proof *proof, const struct diagnoses *diagnoses,
    const struct tor_rack *rack, rm_mono_t now)
{
	const struct summary_marks marks = summary_marks(tor_rack_summary(rack));

	for (size_t i = 0; i < diagnoses_rnics(diagnoses); i++)
		if (!diagnoses_rnic(diagnoses, i)->judged &&
		    diagnoses_rnic(diagnoses, i)->kind == DIAGNOSED_RNIC)
			proof_add_rnic(
			    proof->proof, &diagnoses_rnic(diagnoses, i)->evidence, now);
	if (proof->ended.ns != 0)
		proof_add_probes(proof->proof, marks.markable - proof->marks.markable,
		    marks.marked - proof->marks.marked,
		    rm_mono_since(now, proof->ended), now);
	proof->marks = marks;
	proof->ended = now;
}

/* ---- the origins of pauses ---- */

static void
add_rate_of_rnic(struct pause_port *port, unsigned p, struct pause_rate sent,
    struct pause_rate received)
{
	port->received[p] = pause_rate_of_both(&port->received[p], &sent);
	port->sent[p] = pause_rate_of_both(&port->sent[p], &received);
}

/* The RNIC at the other end of the cable counts the same pauses. */
static void
add_rates_of_rnic(
    struct pause_port *port, const struct diagnoses *diagnoses, struct wire_rnic_id id)
{
	const struct diagnosed *rnic = diagnoses_find(diagnoses, id);

	if (rnic == NULL || !rnic->fresh)
		return;
	for (unsigned p = 0; p < PAUSE_PRIORITIES; p++)
		add_rate_of_rnic(port, p,
		    pause_rate_of(&rnic->evidence, WIRE_COUNTER_PFC_TX_PAUSE_US,
			WIRE_COUNTER_PFC_TX_FRAMES, p, rnic->reported),
		    pause_rate_of(&rnic->evidence, WIRE_COUNTER_PFC_RX_PAUSE_US,
			WIRE_COUNTER_PFC_RX_FRAMES, p, rnic->reported));
	if (!port->global_off)
		add_rate_of_rnic(port, PAUSE_GLOBAL,
		    pause_rate_of(&rnic->evidence, 0, WIRE_COUNTER_GPAUSE_TX_FRAMES, 0,
			rnic->reported),
		    pause_rate_of(&rnic->evidence, 0, WIRE_COUNTER_GPAUSE_RX_FRAMES, 0,
			rnic->reported));
}

struct port_names { /* memory for names that a port points to */
	char neighbor[PAUSE_NAME_BYTES];
};

/* The name of the ESXi host whose counters are read; NULL: no host matches, or several
 * do. */
static const char *
hypervisor_named(const struct tor_aggregator *aggregator, const char *name)
{
	const char *found = NULL;

	for (size_t i = 0; i < aggregator->hypervisor_count; i++) {
		const char *own =
		    hypervisor_collector_shown(aggregator->hypervisors[i]).name;

		if (!switch_name_is_same(own, name))
			continue;
		if (found != NULL)
			return NULL;
		found = own;
	}
	return found;
}

static bool
is_vmnic(const char *text)
{
	static const char prefix[] = "vmnic";
	const char *digits = text + sizeof(prefix) - 1;

	return strncmp(text, prefix, sizeof(prefix) - 1) == 0 && digits[0] != '\0' &&
	       digits[strspn(digits, "0123456789")] == '\0';
}

/* Finds a vmnic: like an RNIC, it does not forward pauses. False: the vmnic is not
 * known. */
static bool
find_vmnic(const struct tor_aggregator *aggregator,
    const struct switch_neighbor *neighbor, struct pause_port *port,
    struct port_names *names)
{
	const char *host = hypervisor_named(aggregator, neighbor->name);
	const char *nic = is_vmnic(neighbor->port)          ? neighbor->port
			  : is_vmnic(neighbor->description) ? neighbor->description
							    : "";

	if (host == NULL)
		return false;
	port->kind = PAUSE_NEIGHBOR_RNIC;
	snprintf(names->neighbor, sizeof(names->neighbor), "%s%s%s", host,
	    nic[0] == '\0' ? "" : "/", nic);
	return true;
}

static void
find_neighbor(const struct tor_aggregator *aggregator, size_t at,
    const struct switch_neighbor *lldp, struct neighbors_elsewhere *elsewhere,
    struct pause_port *port, struct port_names *names)
{
	const struct neighbor found =
	    tor_aggregator_neighbor(aggregator, at, lldp, elsewhere);
	const size_t rack = aggregator->read_switches[at].rack;

	port->kind = found.kind == NEIGHBOR_LEFT_OUT ? PAUSE_NEIGHBOR_LEFT_OUT
						     : PAUSE_NEIGHBOR_OTHER;
	snprintf(names->neighbor, sizeof(names->neighbor), "%s",
	    lldp->name[0] != '\0' ? lldp->name : lldp->port);
	if (found.kind == NEIGHBOR_SWITCH) {
		port->kind = PAUSE_NEIGHBOR_SWITCH;
		port->far = found.at;
		port->far_port[0] = lldp->port;
		port->far_port[1] = lldp->description;
	} else if (found.rnic == NULL) {
		(void)find_vmnic(aggregator, lldp, port, names);
	} else {
		port->kind = PAUSE_NEIGHBOR_RNIC;
		snprintf(names->neighbor, sizeof(names->neighbor), "%s%s%s",
		    found.rnic->host, found.kind == NEIGHBOR_RNIC ? "/" : "",
		    found.kind == NEIGHBOR_RNIC ? found.rnic->device : "");
		/* a bond's counters do not show which of its cables was paused */
		if (found.kind == NEIGHBOR_RNIC && rack != SIZE_MAX &&
		    found.cables == 1)
			add_rates_of_rnic(
			    port, aggregator->diagnoses[rack], found.rnic->id);
	}
}

static bool
is_quiet(const struct pause_port *port)
{
	for (size_t p = 0; p < PAUSE_CLASSES; p++)
		if (port->received[p].value > 0 || port->sent[p].value > 0)
			return false;
	return true;
}

/* True: the gauge is known, and is 0. */
static bool
is_off(const struct evidence *evidence, unsigned gauge)
{
	return (evidence->there[gauge] & 1) != 0 && evidence->value[gauge][0] == 0;
}

/* True: PFC is in use at the port, so its global pauses are not followed: some
 * platforms count PFC frames among them. */
static bool
uses_pfc(const struct evidence *evidence)
{
	uint64_t frames = 0;

	return (evidence->there[SWITCH_PFC_ON] & 1 &&
		   evidence->value[SWITCH_PFC_ON][0] != 0) ||
	       (evidence_sum(evidence, SWITCH_PFC_RX_FRAMES, 0, &frames) &&
		   frames > 0) ||
	       (evidence_sum(evidence, SWITCH_PFC_TX_FRAMES, 0, &frames) && frames > 0);
}

static void
set_global_rates(
    const struct evidence *evidence, rm_mono_t until, struct pause_port *port)
{
	port->global_off = is_off(evidence, SWITCH_OPER_UP) || uses_pfc(evidence);
	if (port->global_off)
		return;
	port->received[PAUSE_GLOBAL] =
	    pause_rate_of(evidence, 0, SWITCH_GPAUSE_RX_FRAMES, 0, until);
	port->sent[PAUSE_GLOBAL] =
	    pause_rate_of(evidence, 0, SWITCH_GPAUSE_TX_FRAMES, 0, until);
}

/* at: index of the switch, in read_switches and in the graph. */
static int
add_ports(const struct tor_aggregator *aggregator, size_t at,
    struct neighbors_elsewhere *elsewhere, struct pause_graph *graph)
{
	const struct switch_collector_shown shown =
	    switch_collector_shown(aggregator->read_switches[at].collector);
	struct switch_evidence walk = { .list = shown.list,
		.ns = shown.reading.interval_ns };
	const rm_mono_t until = shown.reading.ended;
	struct evidence evidence;
	int r = 0;

	while (r == 0 && switch_evidence_next(&walk, &evidence)) {
		struct pause_port port = {
			.name = evidence.port,
			.neighbor = "",
			.far_port = { "", "" },
			.off = is_off(&evidence, SWITCH_OPER_UP) ||
			       is_off(&evidence, SWITCH_PFC_ON),
		};
		const struct switch_neighbor *neighbor = NULL;
		struct port_names names;
		size_t i;

		for (unsigned p = 0; p < PAUSE_PRIORITIES; p++) {
			port.received[p] = pause_rate_of(&evidence,
			    SWITCH_PFC_RX_PAUSE_US, SWITCH_PFC_RX_FRAMES, p, until);
			port.sent[p] = pause_rate_of(&evidence, SWITCH_PFC_TX_PAUSE_US,
			    SWITCH_PFC_TX_FRAMES, p, until);
		}
		set_global_rates(&evidence, until, &port);
		if (switch_list_find_port(shown.list, evidence.port, &i) == 0)
			neighbor = switch_list_neighbor(shown.list, i);
		if (neighbor != NULL) {
			/* RNICs of other racks are searched only for ports with pauses:
			 * that search is expensive. */
			find_neighbor(aggregator, at, neighbor,
			    is_quiet(&port) ? NULL : elsewhere, &port, &names);
			port.neighbor = names.neighbor;
		}
		r = pause_graph_add_port(graph, at, &port);
	}
	return r;
}

/* True: at least two readings succeeded, the last one is not too old, and no reading
 * has failed since. While a switch does not answer, its neighbours count the pauses
 * that continue. */
static bool
is_recent(const struct collector_shown *reading, rm_mono_t now)
{
	return reading->up && reading->interval_ns > 0 &&
	       rm_mono_since(now, reading->at) <=
		   DIAGNOSES_FRESH_NS + 3 * reading->interval_ns;
}

/* *hold_ns: how long findings must hold: PAUSE_HOLD_NS plus the longest interval
 * between two readings. */
static int
fill_graph(const struct tor_aggregator *aggregator, rm_mono_t now,
    struct pause_graph *graph, int64_t *hold_ns)
{
	struct pauses *pauses = aggregator->pauses;
	const size_t count = aggregator->read_switch_count;
	struct neighbors_elsewhere elsewhere = { .budget = NEIGHBORS_BUDGET };
	int64_t longest = 0;
	int r = 0;

	pauses->old = 0;
	for (size_t i = 0; r == 0 && i < count; i++) {
		const struct read_switch *one = &aggregator->read_switches[i];
		const struct collector_shown reading =
		    switch_collector_shown(one->collector).reading;

		if (!is_recent(&reading, now))
			pauses->old++;
		else if (reading.interval_ns > longest)
			longest = reading.interval_ns;
		r = pause_graph_add_switch(graph, one->name, is_recent(&reading, now));
	}
	for (size_t i = 0; r == 0 && i < count; i++) {
		const struct collector_shown reading =
		    switch_collector_shown(aggregator->read_switches[i].collector)
			.reading;

		if (is_recent(&reading, now))
			r = add_ports(aggregator, i, &elsewhere, graph);
	}
	*hold_ns = PAUSE_HOLD_NS + longest;
	return r;
}

/* True: a switch has been read since the last judgement, and enough time has passed
 * since that judgement. */
static bool
is_due(const struct tor_aggregator *aggregator, rm_mono_t now, rm_mono_t *newest)
{
	const struct pauses *pauses = aggregator->pauses;

	if (pauses == NULL ||
	    (pauses->at.ns != 0 && rm_mono_since(now, pauses->at) < DIAGNOSES_EVERY_NS))
		return false;
	*newest = (rm_mono_t){ 0 };
	for (size_t i = 0; i < aggregator->read_switch_count; i++) {
		const rm_mono_t at =
		    switch_collector_shown(aggregator->read_switches[i].collector)
			.reading.at;

		if (at.ns > newest->ns)
			*newest = at;
	}
	return newest->ns != pauses->newest.ns ||
	       (pauses->at.ns != 0 && rm_mono_since(now, pauses->at) > PAUSE_QUIET_NS);
}

static void
judge_pauses(struct tor_aggregator *aggregator, rm_mono_t now, rm_wall_t wall)
{
	struct pauses *pauses = aggregator->pauses;
	struct pause_finding *found;
	struct pause_graph *graph;
	rm_mono_t newest;
	int64_t hold_ns;

	if (!is_due(aggregator, now, &newest))
		return;
	pauses->at = now;
	pauses->newest = newest;
	found = calloc(PAUSE_MAX_FINDINGS, sizeof(*found));
	graph = pause_graph_new();
	if (graph != NULL && found != NULL &&
	    fill_graph(aggregator, now, graph, &hold_ns) == 0) {
		const size_t count = pause_graph_judge(graph, found);

		pauses->left_out = pause_graph_left_out(graph);
		pause_findings_take(
		    &pauses->findings, found, count, hold_ns, now, wall);
	}
	pause_graph_free(graph);
	free(found);
}

void
tor_aggregator_diagnosis_tick(
    struct tor_aggregator *aggregator, rm_mono_t now, rm_wall_t wall)
{
	size_t i;

	for (i = 0; i < aggregator->read_switch_count; i++)
		if (aggregator->read_switches[i].rack != SIZE_MAX)
			take_switch(aggregator, i);
		else if (aggregator->rack_count > 0)
			take_other_switch(aggregator, i);
	for (i = 0; i < aggregator->hypervisor_count; i++)
		take_hypervisor(aggregator, i);
	judge_pauses(aggregator, now, wall);
	if (!diagnoses_turn(&aggregator->diagnosed, aggregator->rack_count, now, &i))
		return;
	prove(&aggregator->proofs[i], aggregator->diagnoses[i], aggregator->racks[i],
	    now);
	take_probes(aggregator->diagnoses[i], aggregator->racks[i], now);
	diagnoses_judge(aggregator->diagnoses[i], now, wall);
}
