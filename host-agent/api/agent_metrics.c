#include "host-agent/api/agent_metrics.h"

#include <stddef.h>
#include <stdio.h>

#include "host-agent/api/agent_metrics_table.h"
#include "host-agent/pinglist/brake_file.h"
#include "host-agent/pinglist/pinglist_cache.h"
#include "host-agent/pinglist/plans.h"
#include "host-agent/report/outbox.h"
#include "host-agent/report/uplink.h"
#include "rackmesh/metrics/metrics.h"

#define GROUP_LABEL 160
#define LABELS 256

#define O(field) offsetof(struct outbox_counts, field)
#define U(field) offsetof(struct uplink_counts, field)
#define L(field) offsetof(struct plans_counts, field)
#define C(field) offsetof(struct pinglist_cache_counts, field)
#define A(field) offsetof(struct agent_counts, field)
#define B(field) offsetof(struct brake_file_counts, field)

/* clang-format off */
static const struct agent_counter outbox_counters[] = {
	{ "rackmesh_agent_batches_made_total", "", O(made.batches), "Batches made." },
	{ "rackmesh_agent_batches_sent_total", "", O(sent.batches), "Batches sent, each once." },
	{ "rackmesh_agent_batches_resent_total", "", O(resent.batches), "Batches sent again in a later session." },
	{ "rackmesh_agent_batches_acked_total", "", O(acked.batches), "Batches that the aggregator has counted." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.0005\"", O(acked_within[0]), "Batches acknowledged within this time of their sending." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.001\"", O(acked_within[1]), "Batches acknowledged within this time of their sending." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.002\"", O(acked_within[2]), "Batches acknowledged within this time of their sending." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.004\"", O(acked_within[3]), "Batches acknowledged within this time of their sending." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.008\"", O(acked_within[4]), "Batches acknowledged within this time of their sending." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.016\"", O(acked_within[5]), "Batches acknowledged within this time of their sending." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.032\"", O(acked_within[6]), "Batches acknowledged within this time of their sending." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.064\"", O(acked_within[7]), "Batches acknowledged within this time of their sending." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.128\"", O(acked_within[8]), "Batches acknowledged within this time of their sending." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.256\"", O(acked_within[9]), "Batches acknowledged within this time of their sending." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.512\"", O(acked_within[10]), "Batches acknowledged within this time of their sending." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"1.024\"", O(acked_within[11]), "Batches acknowledged within this time of their sending." },
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

static const struct agent_counter uplink_counters[] = {
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

static const struct agent_counter plans_counters[] = {
	{ "rackmesh_agent_pinglists_total", "says=\"new\"", L(taken), "Pinglists by what became of them." },
	{ "rackmesh_agent_pinglists_total", "says=\"same\"", L(same), "Pinglists by what became of them." },
	{ "rackmesh_agent_pinglists_total", "says=\"old\"", L(old), "Pinglists by what became of them." },
	{ "rackmesh_agent_pinglists_total", "says=\"malformed\"", L(malformed), "Pinglists by what became of them." },
	{ "rackmesh_agent_pinglists_total", "says=\"foreign\"", L(foreign), "Pinglists by what became of them." },
	{ "rackmesh_agent_pinglists_total", "says=\"no_memory\"", L(no_memory), "Pinglists by what became of them." },
	{ "rackmesh_agent_pinglists_expired_total", "", L(expired), "Pinglists that nobody stood behind for days: slow from then on." },
	{ "rackmesh_agent_pinglists_recovered_total", "", L(recovered), "Expired pinglists that an aggregator stands behind again." },
	{ "rackmesh_agent_pinglists_ended_total", "", L(ended), "Pinglists forgotten for their age." },
	{ 0 }
};

static const struct agent_counter cache_counters[] = {
	{ "rackmesh_agent_cache_loads_total", "says=\"good\"", C(loaded), "Pinglists on disk, as found at the start." },
	{ "rackmesh_agent_cache_loads_total", "says=\"expired\"", C(expired), "Pinglists on disk, as found at the start." },
	{ "rackmesh_agent_cache_loads_total", "says=\"damaged\"", C(damaged), "Pinglists on disk, as found at the start." },
	{ "rackmesh_agent_cache_saves_total", "says=\"good\"", C(saved), "Pinglists written to disk." },
	{ "rackmesh_agent_cache_saves_total", "says=\"failed\"", C(save_failed), "Pinglists written to disk." },
	{ "rackmesh_agent_cache_saves_total", "says=\"skipped\"", C(save_skipped), "Pinglists written to disk." },
	{ 0 }
};

static const struct agent_counter brake_counters[] = {
	{ "rackmesh_agent_brake_saves_total", "says=\"good\"", B(saved), "Brakes written to disk." },
	{ "rackmesh_agent_brake_saves_total", "says=\"failed\"", B(save_failed), "Brakes written to disk." },
	{ "rackmesh_agent_brake_saves_total", "says=\"skipped\"", B(save_skipped), "Brakes written to disk." },
	{ 0 }
};

static const struct agent_counter agent_counters[] = {
	{ "rackmesh_agent_loop_stalls_total", "", A(loop_stalls), "Times that the event loop did not turn for 100 ms." },
	{ "rackmesh_agent_reloads_total", "says=\"good\"", A(reloads), "Reloads of the config." },
	{ "rackmesh_agent_reloads_total", "says=\"refused\"", A(reloads_refused), "Reloads of the config." },
	{ "rackmesh_agent_focus_refused_total", "", A(focus_refused), "Focus orders for RNICs that are not ours." },
	{ "rackmesh_agent_count_rows_no_memory_total", "", A(rows_no_memory), "Reports of receive counts cut for want of memory." },
	{ 0 }
};
/* clang-format on */

int
agent_metrics_table(struct rm_metrics *metrics, const void *owner, const char *label,
    const struct agent_counter *table, const void *base)
{
	for (const struct agent_counter *at = table; at->name != NULL; at++) {
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
	r = agent_metrics_table(
	    metrics, uplink, label, uplink_counters, uplink_counts(uplink));
	if (r == 0)
		r = agent_metrics_table(metrics, uplink, label, outbox_counters,
		    outbox_counts(uplink_outbox(uplink)));
	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]) && r == 0; i++)
		r = rm_metrics_gauge(metrics, uplink, gauges[i].name, label,
		    gauges[i].help, gauges[i].read, uplink);
	return r;
}

static double
read_slow(const void *arg)
{
	return (double)plans_slow(arg);
}

int
agent_metrics_plans(struct rm_metrics *metrics, const struct plans *plans)
{
	int r = agent_metrics_table(
	    metrics, plans, "", plans_counters, plans_counts(plans));

	if (r == 0)
		r = rm_metrics_gauge(metrics, plans, "rackmesh_agent_pinglists_slow",
		    "", "Expired pinglists held: a tenth of their probes leaves.",
		    read_slow, plans);
	if (r == 0 && plans_cache_counts(plans) != NULL)
		r = agent_metrics_table(
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
	int r = agent_metrics_table(
	    metrics, file, "", brake_counters, brake_file_counts(file));

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
	int r = agent_metrics_table(metrics, counts, "", agent_counters, counts);

	if (r == 0)
		r = rm_metrics_gauge(metrics, counts, "rackmesh_agent_paused", "",
		    "1 while a person has paused probing on this host.", read_bool,
		    paused);
	return r;
}
