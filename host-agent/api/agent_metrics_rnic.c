/* The metrics of one RNIC. */
#include <stddef.h>
#include <stdio.h>

#include "host-agent/api/agent_metrics.h"
#include "host-agent/probe/port.h"
#include "host-agent/reflector/reflector.h"
#include "host-agent/rnic/rnic.h"
#include "host-agent/rnic/rnic_names.h"
#include "host-agent/verbs/nic_clock.h"
#include "host-agent/verbs/verbs_ah.h"
#include "rackmesh/metrics/metrics.h"
#include "schemas/wire/text.h"

#define GROUP_LABEL 160
#define LABELS 256
#define INFO_LABELS 512

#define P(field) offsetof(struct prober_counts, field)
#define R(field) offsetof(struct reflector_counts, field)
#define Q(field) offsetof(struct port_counts, field)
#define H(field) offsetof(struct verbs_ah_counts, field)
#define N(field) offsetof(struct nic_clock_counts, field)

/* clang-format off */
static const struct metrics_counter prober_counters[] = {
	{ "rackmesh_agent_probes_asked_total", "", P(due), "Probes that became due." },
	{ "rackmesh_agent_probes_skipped_total", "", P(skipped), "Probes not sent because they were overdue for too long or had no socket." },
	{ "rackmesh_agent_probes_sent_total", "", P(sent), "Probes handed to the kernel." },
	{ "rackmesh_agent_probes_send_failed_total", "", P(send_failed), "Probes that the kernel refused." },
	{ "rackmesh_agent_probes_late_total", "", P(late_sends), "Probes sent later than scheduled." },
	{ "rackmesh_agent_replies_unknown_total", "", P(unknown_replies), "Replies that match no probe in flight." },
	{ "rackmesh_agent_replies_malformed_total", "", P(malformed_replies), "Malformed replies." },
	{ "rackmesh_agent_replies_unverified_total", "", P(unverified_replies), "Replies whose message authentication code is wrong or missing." },
	{ "rackmesh_agent_results_split_total", "", P(split_replies), "Results with all three delays: prober, network and responder." },
	{ "rackmesh_agent_sends_held_total", "", P(held), "Times that the built-in limit of packets and bytes delayed packets that were due." },
	{ 0 }
};

static const struct metrics_counter reflector_counters[] = {
	{ "rackmesh_agent_reflector_received_total", "", R(received), "Packets received at the reflector's port." },
	{ "rackmesh_agent_replies_sent_total", "", R(replied), "Replies handed to the kernel." },
	{ "rackmesh_agent_replies_send_failed_total", "", R(send_failed), "Replies that the kernel refused." },
	{ "rackmesh_agent_reflector_refused_total", "reason=\"unknown_peer\"", R(refused_unknown), "Packets at the reflector's port that were not answered, by reason." },
	{ "rackmesh_agent_reflector_refused_total", "reason=\"port\"", R(refused_port), "Packets at the reflector's port that were not answered, by reason." },
	{ "rackmesh_agent_reflector_refused_total", "reason=\"malformed\"", R(refused_malformed), "Packets at the reflector's port that were not answered, by reason." },
	{ "rackmesh_agent_reflector_refused_total", "reason=\"full\"", R(refused_full), "Packets at the reflector's port that were not answered, by reason." },
	{ "rackmesh_agent_reflector_refused_total", "reason=\"bad_mac\"", R(refused_mac), "Packets at the reflector's port that were not answered, by reason." },
	{ "rackmesh_agent_reflector_refused_total", "reason=\"unauthenticated\"", R(refused_plain), "Packets at the reflector's port that were not answered, by reason." },
	{ "rackmesh_agent_reflector_refused_total", "reason=\"replayed\"", R(refused_replayed), "Packets at the reflector's port that were not answered, by reason." },
	{ "rackmesh_agent_reflector_authenticated_total", "", R(authenticated), "Packets at the reflector's port with a correct message authentication code." },
	{ 0 }
};

static const struct metrics_counter port_counters[] = {
	{ "rackmesh_agent_port_overruns_total", "", Q(overruns), "Packets lost because a receive queue of the agent was full." },
	{ "rackmesh_agent_port_truncated_total", "", Q(truncated), "Packets larger than any probe." },
	{ "rackmesh_agent_port_stamps_missing_total", "", Q(stamps_missing), "Sent packets whose send timestamp was not delivered." },
	{ "rackmesh_agent_port_stamps_unmatched_total", "", Q(stamps_unmatched), "Send timestamps that match no sent packet." },
	{ "rackmesh_agent_port_stamps_resynced_total", "", Q(stamps_resynced), "Times that send timestamps were matched to packets again after a failed send." },
	{ "rackmesh_agent_port_socket_errors_total", "", Q(socket_errors), "Errors that sockets reported, such as ICMP errors." },
	{ "rackmesh_agent_port_flows_refused_total", "", Q(refused_flows), "Flows that could not get a socket." },
	{ 0 }
};

static const struct metrics_counter verbs_counters[] = {
	{ "rackmesh_agent_verbs_errors_total", "", Q(errors), "Completions with an error status." },
	{ "rackmesh_agent_verbs_no_header_total", "", Q(no_header), "Packets received without a readable GRH." },
	{ "rackmesh_agent_verbs_receives_low_total", "", Q(receives_low), "Times that a receive queue was nearly empty." },
	{ "rackmesh_agent_verbs_refills_refused_total", "", Q(refills_refused), "Times that the device refused receive buffers." },
	{ "rackmesh_agent_verbs_rebuilt_total", "", Q(rebuilt), "QPs created again, with another number." },
	{ "rackmesh_agent_verbs_reset_total", "", Q(reset), "QPs that were reset and kept their QP number." },
	{ "rackmesh_agent_verbs_handles_waited_total", "", Q(handles_waited), "Replies that waited for an address handle." },
	{ "rackmesh_agent_verbs_handles_refused_total", "", Q(handles_refused), "Packets not sent because no address handle was available." },
	{ 0 }
};

static const struct metrics_counter handle_counters[] = {
	{ "rackmesh_agent_verbs_handles_found_total", "", H(hits), "Times that the address handle of a target was cached." },
	{ "rackmesh_agent_verbs_handles_created_total", "", H(created), "Address handles created." },
	{ "rackmesh_agent_verbs_handles_destroyed_total", "", H(destroyed), "Address handles destroyed." },
	{ "rackmesh_agent_verbs_handles_evicted_total", "", H(evicted), "Address handles evicted to make room for others." },
	{ "rackmesh_agent_verbs_handles_refreshed_total", "", H(refreshed), "Address handles renewed before they became outdated." },
	{ "rackmesh_agent_verbs_handles_failed_total", "", H(failures), "Failed attempts to create an address handle, renewals included." },
	{ "rackmesh_agent_verbs_handles_refresh_failed_total", "", H(refresh_failed), "Failed attempts to renew an address handle; the old one stays in use." },
	{ "rackmesh_agent_verbs_handles_destroy_failed_total", "", H(destroy_failed), "Address handles that could not be destroyed; they are leaked." },
	{ "rackmesh_agent_verbs_handles_denied_total", "reason=\"full\"", H(refused_full), "Requests for an address handle refused: all are in use, or the target could not be resolved shortly before." },
	{ "rackmesh_agent_verbs_handles_denied_total", "reason=\"unresolved\"", H(refused_bad), "Requests for an address handle refused: all are in use, or the target could not be resolved shortly before." },
	{ 0 }
};

static const struct metrics_counter clock_counters[] = {
	{ "rackmesh_agent_nic_clock_stamps_total", "", N(converted), "Timestamps of the NIC's clock that were used." },
	{ "rackmesh_agent_nic_clock_missing_total", "", N(missing), "Completions without a timestamp." },
	{ "rackmesh_agent_nic_clock_backward_total", "", N(backward), "Timestamps of the NIC that are before an earlier one; normal with several queues." },
	{ "rackmesh_agent_nic_clock_jumps_total", "", N(jumps), "Impossible timestamps of the NIC; its clock is then not used for some seconds." },
	{ "rackmesh_agent_nic_clock_untrusted_total", "", N(untrusted), "Timestamps of the NIC not used because of a recent impossible one." },
	{ "rackmesh_agent_nic_clock_imprecise_total", "", N(imprecise), "Comparisons of the NIC's clock with the host's clock that were not used because they took too long." },
	{ 0 }
};
/* clang-format on */

static int
add_results(struct rm_metrics *metrics, const struct rnic *rnic, const char *label,
    const struct prober_counts *counts)
{
	char labels[LABELS];
	int r = 0;

	for (size_t i = 0; i < WIRE_OUTCOMES && r == 0; i++) {
		snprintf(labels, sizeof(labels), "%s,outcome=\"%s\"", label,
		    wire_outcome_str(i));
		r = rm_metrics_counter(metrics, rnic, "rackmesh_agent_results_total",
		    labels, "Results, by the outcome of the probe.",
		    &counts->outcomes[i]);
	}
	for (int i = TARGET_FINE + 1; i < TARGET_REFUSALS && r == 0; i++) {
		snprintf(labels, sizeof(labels), "%s,reason=\"%s\"", label,
		    target_refusal_str((enum target_refusal)i));
		r = rm_metrics_counter(metrics, rnic,
		    "rackmesh_agent_targets_refused_total", labels,
		    "Targets that are never probed, by reason.",
		    &counts->refused_targets[i]);
	}
	for (size_t i = WIRE_VALID + 1; i < WIRE_INVALID_REASONS && r == 0; i++) {
		snprintf(labels, sizeof(labels), "%s,reason=\"%s\"", label,
		    wire_invalid_str(i));
		r = rm_metrics_counter(metrics, rnic, "rackmesh_agent_invalid_total",
		    labels, "Results with an impossible timestamp, by reason.",
		    &counts->invalid[i]);
	}
	return r;
}

static double
read_targets(const void *arg)
{
	const struct prober *prober = rnic_prober(arg);

	return prober == NULL ? 0 : (double)prober_targets(prober);
}

static double
read_keyed(const void *arg)
{
	const struct prober *prober = rnic_prober(arg);

	return prober == NULL ? 0 : (double)prober_keyed_targets(prober);
}

/* ---- state of an RDMA port ---------------------------------------------------- */

static double
read_receives_lowest(const void *arg)
{
	struct port_verbs_facts facts;

	return rnic_verbs(arg, &facts) ? facts.receives_lowest : 0;
}

static double
read_handles(const void *arg)
{
	struct port_verbs_facts facts;

	return rnic_verbs(arg, &facts) ? (double)facts.handles : 0;
}

static double
read_flow_qps(const void *arg)
{
	struct port_verbs_facts facts;

	return rnic_verbs(arg, &facts) ? (double)facts.flow_count : 0;
}

static double
read_drift(const void *arg)
{
	struct port_verbs_facts facts;

	return rnic_verbs(arg, &facts) ? facts.clock_drift_ppb : 0;
}

static int
add_verbs(struct rm_metrics *metrics, const struct rnic *rnic, const char *label)
{
	static const struct {
		const char *name, *help;
		double (*read)(const void *arg);
	} gauges[] = {
		{ "rackmesh_agent_verbs_receives_lowest",
		    "Lowest number of free receive buffers for small probes so far.",
		    read_receives_lowest },
		{ "rackmesh_agent_verbs_handles", "Address handles held.",
		    read_handles },
		{ "rackmesh_agent_verbs_flow_qps", "QPs used to send probes.",
		    read_flow_qps },
	};
	struct port_verbs_facts facts;
	int r;

	if (!rnic_verbs(rnic, &facts))
		return 0;
	r = metrics_table_add_owned(
	    metrics, rnic, verbs_counters, rnic_port_counts(rnic), label);
	if (r == 0)
		r = metrics_table_add_owned(
		    metrics, rnic, handle_counters, facts.handle_counts, label);
	if (r == 0 && facts.clock_counts != NULL)
		r = metrics_table_add_owned(
		    metrics, rnic, clock_counters, facts.clock_counts, label);
	if (r == 0 && facts.clock_counts != NULL)
		r = rm_metrics_gauge(metrics, rnic,
		    "rackmesh_agent_nic_clock_drift_ppb", label,
		    "How much faster than CLOCK_MONOTONIC the NIC's clock runs, in "
		    "parts per billion.",
		    read_drift, rnic);
	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]) && r == 0; i++)
		r = rm_metrics_gauge(metrics, rnic, gauges[i].name, label,
		    gauges[i].help, gauges[i].read, rnic);
	return r;
}

static double
read_one(const void *arg)
{
	return 1;
}

/* Registers one metric whose labels are the attributes that do not change while the
 * RNIC is open. */
static int
add_info(struct rm_metrics *metrics, const struct rnic *rnic, const char *label)
{
	const struct rnic_facts *facts = rnic_facts(rnic);
	char labels[INFO_LABELS];

	snprintf(labels, sizeof(labels),
	    "%s,transport=\"%s\",netdev=\"%s\",rdma_device=\"%s\",driver=\"%s\","
	    "stamps=\"%s\",flows=\"%s\"",
	    label, rnic_transport_str(facts->transport), facts->netdev,
	    facts->rdma_device, facts->driver, rnic_stamps_str(rnic_stamps(rnic)),
	    rnic_flows_str(rnic_flows(rnic)));
	return rm_metrics_gauge(metrics, rnic, "rackmesh_agent_rnic_info", labels,
	    "Always 1. The labels show how this RNIC sends probes.", read_one, rnic);
}

static double
read_up(const void *arg)
{
	return rnic_up(arg) ? 1 : 0;
}

static double
read_link_down(const void *arg)
{
	return rnic_link(arg) == WIRE_LINK_DOWN ? 1 : 0;
}

static double
read_mismatch(const void *arg)
{
	return tor_choice_mismatch(rnic_tors(arg)) ? 1 : 0;
}

int
agent_metrics_rnic_state(struct rm_metrics *metrics, const struct rnic *rnic)
{
	/* These gauges stay when the RNIC closes and its counters are forgotten: so
	 * they have another owner than the counters. */
	const void *owner = rnic_device(rnic);
	char label[GROUP_LABEL];
	int r;

	snprintf(label, sizeof(label), "device=\"%s\"", rnic_device(rnic));
	r = rm_metrics_gauge(metrics, owner, "rackmesh_agent_rnic_up", label,
	    "0: the RNIC is missing, or cannot be opened.", read_up, rnic);
	if (r == 0)
		r = rm_metrics_gauge(metrics, owner, "rackmesh_agent_rnic_link_down",
		    label, "1: its link is down.", read_link_down, rnic);
	if (r == 0)
		r = rm_metrics_gauge(metrics, owner,
		    "rackmesh_agent_rnic_lldp_mismatch", label,
		    "1: LLDP names another ToR than the config.", read_mismatch, rnic);
	return r;
}

int
agent_metrics_rnic(struct rm_metrics *metrics, const struct rnic *rnic)
{
	const struct prober_counts *prober = prober_counts(rnic_prober(rnic));
	char label[GROUP_LABEL];
	int r;

	snprintf(label, sizeof(label), "device=\"%s\"", rnic_device(rnic));
	r = metrics_table_add_owned(metrics, rnic, prober_counters, prober, label);
	if (r == 0)
		r = add_results(metrics, rnic, label, prober);
	if (r == 0)
		r = metrics_table_add_owned(metrics, rnic, reflector_counters,
		    reflector_counts(rnic_reflector(rnic)), label);
	if (r == 0)
		r = metrics_table_add_owned(
		    metrics, rnic, port_counters, rnic_port_counts(rnic), label);
	if (r == 0)
		r = add_verbs(metrics, rnic, label);
	if (r == 0)
		r = add_info(metrics, rnic, label);
	if (r == 0)
		r = rm_metrics_gauge(metrics, rnic, "rackmesh_agent_targets", label,
		    "Targets being probed.", read_targets, rnic);
	if (r == 0)
		r = rm_metrics_gauge(metrics, rnic, "rackmesh_agent_targets_keyed",
		    label, "Targets whose probes carry a message authentication code.",
		    read_keyed, rnic);
	return r;
}
