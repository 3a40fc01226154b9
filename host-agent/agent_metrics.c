#include "host-agent/agent_metrics.h"

#include <stddef.h>
#include <stdio.h>

#include "host-agent/brake_file.h"
#include "host-agent/outbox.h"
#include "host-agent/pinglist_cache.h"
#include "host-agent/plans.h"
#include "host-agent/port.h"
#include "host-agent/reflector.h"
#include "host-agent/rnic.h"
#include "host-agent/uplink.h"
#include "rackmesh/base/metrics.h"
#include "schemas/wire_text.h"

#define GROUP_LABEL 160
#define LABELS 256

/* One line of a table: a uint64_t at an offset of some struct of counters. */
struct counter {
	const char *name;
	const char *label; /* "" or e.g. "reason=\"full\"" */
	size_t offset;
	const char *help;
};

#define P(field) offsetof(struct prober_counts, field)
#define R(field) offsetof(struct reflector_counts, field)
#define Q(field) offsetof(struct port_counts, field)
#define O(field) offsetof(struct outbox_counts, field)
#define U(field) offsetof(struct uplink_counts, field)
#define L(field) offsetof(struct plans_counts, field)
#define C(field) offsetof(struct pinglist_cache_counts, field)
#define A(field) offsetof(struct agent_counts, field)
#define B(field) offsetof(struct brake_file_counts, field)

/* clang-format off */
static const struct counter prober_counters[] = {
	{ "rackmesh_agent_probes_asked_total", "", P(asked), "Probes that became due." },
	{ "rackmesh_agent_probes_skipped_total", "", P(skipped), "Probes due too long ago to be made up, or without a socket." },
	{ "rackmesh_agent_probes_sent_total", "", P(sent), "Probes handed to the kernel." },
	{ "rackmesh_agent_probes_send_failed_total", "", P(send_failed), "Probes that the kernel refused." },
	{ "rackmesh_agent_probes_late_total", "", P(late_sends), "Probes that left later than their pace allows." },
	{ "rackmesh_agent_replies_unknown_total", "", P(unknown_replies), "Replies to no probe in flight." },
	{ "rackmesh_agent_replies_malformed_total", "", P(malformed_replies), "Replies that were none." },
	{ "rackmesh_agent_results_split_total", "", P(split_replies), "Results with all three delay terms." },
	{ "rackmesh_agent_targets_refused_total", "", P(refused_targets), "Targets beyond a ceiling, or impossible." },
	{ 0 }
};

static const struct counter reflector_counters[] = {
	{ "rackmesh_agent_reflector_received_total", "", R(received), "Packets at the reflector's port." },
	{ "rackmesh_agent_replies_sent_total", "", R(replied), "Replies handed to the kernel." },
	{ "rackmesh_agent_replies_send_failed_total", "", R(send_failed), "Replies that the kernel refused." },
	{ "rackmesh_agent_reflector_refused_total", "reason=\"stranger\"", R(refused_stranger), "Packets that got no reply." },
	{ "rackmesh_agent_reflector_refused_total", "reason=\"port\"", R(refused_port), "Packets that got no reply." },
	{ "rackmesh_agent_reflector_refused_total", "reason=\"malformed\"", R(refused_malformed), "Packets that got no reply." },
	{ "rackmesh_agent_reflector_refused_total", "reason=\"full\"", R(refused_full), "Packets that got no reply." },
	{ 0 }
};

static const struct counter port_counters[] = {
	{ "rackmesh_agent_port_overruns_total", "", Q(overruns), "Packets that our own receive queues dropped." },
	{ "rackmesh_agent_port_truncated_total", "", Q(truncated), "Packets larger than any probe." },
	{ "rackmesh_agent_port_stamps_missing_total", "", Q(stamps_missing), "Send stamps that never came." },
	{ "rackmesh_agent_port_stamps_unmatched_total", "", Q(stamps_unmatched), "Send stamps of no packet we know." },
	{ "rackmesh_agent_port_stamps_resynced_total", "", Q(stamps_resynced), "Send stamps numbered anew after a failed send." },
	{ "rackmesh_agent_port_socket_errors_total", "", Q(socket_errors), "ICMP errors and the like." },
	{ "rackmesh_agent_port_refused_flows_total", "", Q(refused_flows), "Flows without a socket." },
	{ 0 }
};

static const struct counter outbox_counters[] = {
	{ "rackmesh_agent_batches_made_total", "", O(made.batches), "Batches made." },
	{ "rackmesh_agent_batches_sent_total", "", O(sent.batches), "Batches sent, each once." },
	{ "rackmesh_agent_batches_resent_total", "", O(resent.batches), "Batches sent again in a later session." },
	{ "rackmesh_agent_batches_acked_total", "", O(acked.batches), "Batches that the aggregator has counted." },
	{ "rackmesh_agent_batches_dropped_total", "reason=\"full\"", O(dropped[OUTBOX_DROP_FULL].batches), "Batches never counted anywhere." },
	{ "rackmesh_agent_batches_dropped_total", "reason=\"old\"", O(dropped[OUTBOX_DROP_OLD].batches), "Batches never counted anywhere." },
	{ "rackmesh_agent_batches_dropped_total", "reason=\"memory\"", O(dropped[OUTBOX_DROP_MEMORY].batches), "Batches never counted anywhere." },
	{ "rackmesh_agent_results_batched_total", "", O(made.results), "Results in batches made." },
	{ "rackmesh_agent_results_sent_total", "", O(sent.results), "Results in batches sent, each once." },
	{ "rackmesh_agent_results_acked_total", "", O(acked.results), "Results that the aggregator has counted." },
	{ "rackmesh_agent_results_dropped_total", "reason=\"full\"", O(dropped[OUTBOX_DROP_FULL].results), "Results never counted anywhere." },
	{ "rackmesh_agent_results_dropped_total", "reason=\"old\"", O(dropped[OUTBOX_DROP_OLD].results), "Results never counted anywhere." },
	{ "rackmesh_agent_results_dropped_total", "reason=\"memory\"", O(dropped[OUTBOX_DROP_MEMORY].results), "Results never counted anywhere." },
	{ 0 }
};

static const struct counter uplink_counters[] = {
	{ "rackmesh_agent_sessions_total", "", U(sessions), "Times that the aggregator said welcome." },
	{ "rackmesh_agent_refusals_total", "", U(refusals), "Times that the aggregator refused us." },
	{ "rackmesh_agent_frames_refused_total", "", U(refused_frames), "Frames from the aggregator that made no sense." },
	{ "rackmesh_agent_pinglists_received_total", "", U(pinglists), "Pinglists from this aggregator." },
	{ "rackmesh_agent_focuses_received_total", "", U(focuses), "Focus orders from this aggregator." },
	{ "rackmesh_agent_brakes_received_total", "", U(brakes), "Words about the brake from this aggregator." },
	{ "rackmesh_agent_acks_received_total", "", U(acks), "Acknowledgements from this aggregator." },
	{ "rackmesh_agent_pings_received_total", "", U(pings), "Pings from this aggregator." },
	{ "rackmesh_agent_heartbeats_sent_total", "", U(heartbeats), "Heartbeats sent." },
	{ "rackmesh_agent_heartbeats_behind_total", "", U(heartbeats_behind), "Heartbeats sent while batches waited for acknowledgements." },
	{ "rackmesh_agent_count_rows_sent_total", "", U(count_rows), "Rows of receive counts sent." },
	{ "rackmesh_agent_paths_sent_total", "", U(paths), "Traced paths sent." },
	{ "rackmesh_agent_registrations_sent_total", "", U(registrations), "Registrations sent." },
	{ 0 }
};

static const struct counter plans_counters[] = {
	{ "rackmesh_agent_pinglists_total", "says=\"new\"", L(taken), "Pinglists by what became of them." },
	{ "rackmesh_agent_pinglists_total", "says=\"same\"", L(same), "Pinglists by what became of them." },
	{ "rackmesh_agent_pinglists_total", "says=\"old\"", L(old), "Pinglists by what became of them." },
	{ "rackmesh_agent_pinglists_total", "says=\"malformed\"", L(malformed), "Pinglists by what became of them." },
	{ "rackmesh_agent_pinglists_total", "says=\"foreign\"", L(foreign), "Pinglists by what became of them." },
	{ "rackmesh_agent_pinglists_total", "says=\"no_memory\"", L(no_memory), "Pinglists by what became of them." },
	{ "rackmesh_agent_pinglists_expired_total", "", L(expired), "Pinglists forgotten for their age." },
	{ 0 }
};

static const struct counter cache_counters[] = {
	{ "rackmesh_agent_cache_loads_total", "says=\"good\"", C(loaded), "Pinglists on disk, as found at the start." },
	{ "rackmesh_agent_cache_loads_total", "says=\"expired\"", C(expired), "Pinglists on disk, as found at the start." },
	{ "rackmesh_agent_cache_loads_total", "says=\"damaged\"", C(damaged), "Pinglists on disk, as found at the start." },
	{ "rackmesh_agent_cache_saves_total", "says=\"good\"", C(saved), "Pinglists written to disk." },
	{ "rackmesh_agent_cache_saves_total", "says=\"failed\"", C(save_failed), "Pinglists written to disk." },
	{ "rackmesh_agent_cache_saves_total", "says=\"skipped\"", C(save_skipped), "Pinglists written to disk." },
	{ 0 }
};

static const struct counter brake_counters[] = {
	{ "rackmesh_agent_brake_saves_total", "says=\"good\"", B(saved), "Brakes written to disk." },
	{ "rackmesh_agent_brake_saves_total", "says=\"failed\"", B(save_failed), "Brakes written to disk." },
	{ "rackmesh_agent_brake_saves_total", "says=\"skipped\"", B(save_skipped), "Brakes written to disk." },
	{ 0 }
};

static const struct counter agent_counters[] = {
	{ "rackmesh_agent_loop_stalls_total", "", A(loop_stalls), "Times that the event loop did not turn for 100 ms." },
	{ "rackmesh_agent_reloads_total", "says=\"good\"", A(reloads), "Reloads of the config." },
	{ "rackmesh_agent_reloads_total", "says=\"refused\"", A(reloads_refused), "Reloads of the config." },
	{ "rackmesh_agent_focus_refused_total", "", A(focus_refused), "Focus orders for RNICs that are not ours." },
	{ "rackmesh_agent_count_rows_no_memory_total", "", A(rows_no_memory), "Reports of receive counts cut for want of memory." },
	{ 0 }
};
/* clang-format on */

/* base: the struct that the table's offsets are of. label: of the whole group. */
static int
add_counters(struct rm_metrics *metrics, const void *owner, const char *label,
    const struct counter *table, const void *base)
{
	for (const struct counter *at = table; at->name != NULL; at++) {
		const uint64_t *value =
		    (const uint64_t *)((const char *)base + at->offset);
		const char *comma = label[0] != 0 && at->label[0] != 0 ? "," : "";
		char labels[LABELS];
		int r;

		snprintf(labels, sizeof(labels), "%s%s%s", label, comma, at->label);
		r = rm_metrics_counter(
		    metrics, owner, at->name, labels, at->help, value);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
add_results(struct rm_metrics *metrics, const struct rnic *rnic, const char *label,
    const struct prober_counts *counts)
{
	char labels[LABELS];
	int r = 0;

	for (size_t i = 0; i < WIRE_OUTCOMES && r == 0; i++) {
		snprintf(labels, sizeof(labels), "%s,outcome=\"%s\"", label,
		    wire_outcome_word(i));
		r = rm_metrics_counter(metrics, rnic, "rackmesh_agent_results_total",
		    labels, "Results by what became of the probe.",
		    &counts->outcomes[i]);
	}
	for (size_t i = WIRE_VALID + 1; i < WIRE_INVALID_REASONS && r == 0; i++) {
		snprintf(labels, sizeof(labels), "%s,reason=\"%s\"", label,
		    wire_invalid_word(i));
		r = rm_metrics_counter(metrics, rnic, "rackmesh_agent_invalid_total",
		    labels, "Results with an impossible time stamp.",
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

int
agent_metrics_rnic(struct rm_metrics *metrics, const struct rnic *rnic)
{
	const struct prober_counts *prober = prober_counts(rnic_prober(rnic));
	char label[GROUP_LABEL];
	int r;

	snprintf(label, sizeof(label), "device=\"%s\"", rnic_device(rnic));
	r = add_counters(metrics, rnic, label, prober_counters, prober);
	if (r == 0)
		r = add_results(metrics, rnic, label, prober);
	if (r == 0)
		r = add_counters(metrics, rnic, label, reflector_counters,
		    reflector_counts(rnic_reflector(rnic)));
	if (r == 0)
		r = add_counters(
		    metrics, rnic, label, port_counters, rnic_port_counts(rnic));
	if (r == 0)
		r = rm_metrics_gauge(metrics, rnic, "rackmesh_agent_targets", label,
		    "Targets being probed.", read_targets, rnic);
	return r;
}

static double
read_session(const void *arg)
{
	return uplink_has_session(arg) ? 1 : 0;
}

static double
read_waiting(const void *arg)
{
	return (double)outbox_counts(uplink_outbox(arg))->waiting.batches;
}

static double
read_waiting_results(const void *arg)
{
	return (double)outbox_counts(uplink_outbox(arg))->waiting.results;
}

static double
read_waiting_bytes(const void *arg)
{
	return (double)outbox_bytes(uplink_outbox(arg));
}

static double
read_doubtful(const void *arg)
{
	return (double)outbox_counts(uplink_outbox(arg))->doubtful.batches;
}

static double
read_doubtful_results(const void *arg)
{
	return (double)outbox_counts(uplink_outbox(arg))->doubtful.results;
}

int
agent_metrics_uplink(struct rm_metrics *metrics, const struct uplink *uplink)
{
	static const struct {
		const char *name, *help;
		double (*read)(const void *arg);
	} gauges[] = {
		{ "rackmesh_agent_aggregator_connected", "1 during a session.",
		    read_session },
		{ "rackmesh_agent_batches_waiting", "Batches not acknowledged yet.",
		    read_waiting },
		{ "rackmesh_agent_results_waiting", "Results in those.",
		    read_waiting_results },
		{ "rackmesh_agent_batches_waiting_bytes", "Bytes of those.",
		    read_waiting_bytes },
		{ "rackmesh_agent_batches_doubtful",
		    "Batches given up, whose acknowledgement may still come.",
		    read_doubtful },
		{ "rackmesh_agent_results_doubtful", "Results in those.",
		    read_doubtful_results },
	};
	char label[GROUP_LABEL];
	int r;

	snprintf(label, sizeof(label), "aggregator=\"%s\"", uplink_address(uplink));
	r = add_counters(
	    metrics, uplink, label, uplink_counters, uplink_counts(uplink));
	if (r == 0)
		r = add_counters(metrics, uplink, label, outbox_counters,
		    outbox_counts(uplink_outbox(uplink)));
	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]) && r == 0; i++)
		r = rm_metrics_gauge(metrics, uplink, gauges[i].name, label,
		    gauges[i].help, gauges[i].read, uplink);
	return r;
}

int
agent_metrics_plans(struct rm_metrics *metrics, const struct plans *plans)
{
	int r = add_counters(metrics, plans, "", plans_counters, plans_counts(plans));

	if (r == 0 && plans_cache_counts(plans) != NULL)
		r = add_counters(
		    metrics, plans, "", cache_counters, plans_cache_counts(plans));
	return r;
}

static double
read_bool(const void *arg)
{
	return *(const bool *)arg ? 1 : 0;
}

static double
read_brake(const void *arg)
{
	return ((const struct wire_brake *)arg)->rate_permille;
}

int
agent_metrics_brake(struct rm_metrics *metrics, const struct wire_brake *brake,
    const struct brake_file *file)
{
	int r =
	    add_counters(metrics, file, "", brake_counters, brake_file_counts(file));

	if (r == 0)
		r = rm_metrics_gauge(metrics, brake, "rackmesh_agent_brake_permille",
		    "", "Of the probes that pinglists ask for, how many may leave.",
		    read_brake, brake);
	return r;
}

int
agent_metrics_agent(
    struct rm_metrics *metrics, const struct agent_counts *counts, const bool *paused)
{
	int r = add_counters(metrics, counts, "", agent_counters, counts);

	if (r == 0)
		r = rm_metrics_gauge(metrics, counts, "rackmesh_agent_paused", "",
		    "1 while a person has paused probing on this host.", read_bool,
		    paused);
	return r;
}
