#include <stdio.h>

#include "rackmesh/metrics/metrics.h"
#include "rackmesh/net/server.h"
#include "region-controller/aggregators/aggregators.h"
#include "region-controller/api/api_context.h"
#include "region-controller/plan/publish.h"
#include "region-controller/planner.h"
#include "region-controller/registry/qp_joins.h"
#include "region-controller/registry/registry.h"
#include "region-controller/store/store.h"
#include "region-controller/store/store_status.h"
#include "region-controller/topology/traced.h"

static double
read_rnics(const void *registry)
{
	return (double)registry_count(registry);
}

static double
read_joins(const void *aggregators)
{
	return (double)aggregators_joins_waiting(aggregators);
}

static double
read_traced(const void *traced)
{
	return (double)traced_links(traced);
}

static double
read_bool(const void *value)
{
	return *(const bool *)value ? 1 : 0;
}

#define COUNT(items) (sizeof(items) / sizeof((items)[0]))
#define NAME(name) "rackmesh_controller_" name

static int
add_sessions(struct rm_metrics *metrics, const struct api_context *context)
{
	const struct aggregators_counts *c = aggregators_counts(context->aggregators);
	const struct rm_server *s = aggregators_server(context->aggregators);
	const struct qp_joins_counts *j = aggregators_joins(context->aggregators);
	const struct traced_counts *t = traced_counts(context->traced);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("connections_accepted_total"), "", "Connections of aggregators accepted", &s->accepted },
		{ NAME("connections_refused_total"), "reason=\"full\"",
		  "Connections of aggregators refused or closed, by reason", &s->refused },
		{ NAME("connections_refused_total"), "reason=\"hello\"",
		  "Connections of aggregators refused or closed, by reason", &c->refused_hellos },
		{ NAME("connections_refused_total"), "reason=\"silent\"",
		  "Connections of aggregators refused or closed, by reason", &s->pending_conns.timed_out },
		{ NAME("connections_refused_total"), "reason=\"too_many_pending\"",
		  "Connections of aggregators refused or closed, by reason", &s->pending_conns.pushed_out },
		{ NAME("connections_refused_total"), "reason=\"standby\"",
		  "Connections of aggregators refused or closed, by reason", &c->refused_standby },
		{ NAME("places_total"), "result=\"found\"", "Requests of agents for the ToR and aggregators of their host, by result", &c->placed },
		{ NAME("places_total"), "result=\"not_found\"", "Requests of agents for the ToR and aggregators of their host, by result", &c->unplaced },
		{ NAME("resolves_total"), "result=\"found\"", "Requests of aggregators for the RNIC of an address, by result", &c->resolved },
		{ NAME("resolves_total"), "result=\"not_found\"", "Requests of aggregators for the RNIC of an address, by result", &c->unresolved },
		{ NAME("joins_total"), "result=\"found\"", "QPs whose other end was requested", &j->joined },
		{ NAME("joins_total"), "result=\"ambiguous\"", "QPs whose other end was requested", &j->several },
		{ NAME("joins_asked_total"), "", "Requests for the service at the other end of a QP", &j->asked },
		{ NAME("joins_refused_total"), "reason=\"full\"",
		  "Requests for the service at the other end of a QP that were refused, by reason", &j->refused },
		{ NAME("joins_refused_total"), "reason=\"unauthorized\"",
		  "Requests for the service at the other end of a QP that were refused, by reason", &c->joins_unauthorized },
		{ NAME("traced_paths_total"), "", "Paths between racks reported by traces, repeated ones included", &c->traced },
		{ NAME("version_reports_total"), "", "Reports of aggregators on the versions of their peers", &c->versions },
		{ NAME("traced_paths_learned_total"), "", "Traced paths between racks received", &t->learned },
		{ NAME("traced_links_found_total"), "", "Links found in traced paths for the first time", &t->found },
		{ NAME("traced_links_forgotten_total"), "", "Links dropped because no trace has shown them for a long time", &t->forgotten },
		{ NAME("traced_links_folded_total"), "", "Links renamed because an alias declared later names one of their switches", &t->folded },
		{ NAME("traced_links_refused_total"), "", "Links not kept because the table is full", &t->refused },
		{ NAME("traced_hops_silent_total"), "", "Hops of traced paths that did not answer", &t->silent },
		{ NAME("drills_total"), "", "Requests for raw results passed on to aggregators", &c->drills },
		{ NAME("drill_answers_total"), "", "Answers of aggregators to requests for raw results", &c->drill_answers },
		{ NAME("sessions_replaced_total"), "",
		  "Sessions closed because the same aggregator connected again", &c->replaced },
		{ NAME("registrations_total"), "", "Registration messages received", &c->registrations },
		{ NAME("messages_refused_total"), "", "Messages refused because they are damaged, malformed or unknown", &c->refused_messages },
		{ NAME("rnics_of_other_tors_total"), "",
		  "RNICs registered by an aggregator that does not serve their ToR", &c->rnics_of_other_tors },
		{ NAME("plans_sent_total"), "", "Plans sent to aggregators", &c->plans_sent },
		{ NAME("plan_bytes_sent_total"), "", "Bytes of plans sent to aggregators", &c->plan_bytes_sent },
		{ NAME("keys_sent_total"), "", "Messages with probe keys sent to aggregators", &c->keys_sent },
		{ NAME("plans_not_sent_total"), "",
		  "Plans not sent because the queue was full; the session is closed", &c->plans_not_sent },
	};
	/* clang-format on */
	const struct rm_metric sessions = { NAME("sessions"), "",
		"Connections of aggregators open now", &s->count };
	int r;

	r = rm_metrics_counters(metrics, context, counters, COUNT(counters));
	if (r == 0)
		r = rm_metrics_gauges(metrics, context, &sessions, 1);
	if (r == 0)
		r = rm_metrics_gauge(metrics, context, NAME("joins_waiting"), "",
		    "Requests for the other end of a QP kept until the request of that "
		    "end arrives",
		    read_joins, context->aggregators);
	if (r == 0)
		r = rm_metrics_gauge(metrics, context, NAME("traced_links"), "",
		    "Links known from traced paths", read_traced, context->traced);
	return r;
}

static int
add_registry(struct rm_metrics *metrics, const struct api_context *context)
{
	const struct registry_counts *c = registry_counts(context->registry);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("rnic_registrations_total"), "", "RNICs in registration messages, repeated ones included", &c->registrations },
		{ NAME("rnics_changed_total"), "", "Registrations that changed a plan", &c->changed },
		{ NAME("rnics_moved_total"), "", "RNICs that were registered at another ToR than before", &c->moved },
		{ NAME("rnics_loaded_total"), "", "Changes of RNICs read from the store", &c->loaded },
		{ NAME("rnics_ambiguous_total"), "", "Registrations with an address that another RNIC has, too",
		  &c->ambiguous },
		{ NAME("rnics_forgotten_total"), "", "RNICs that expired or were removed by a person",
		  &c->forgotten },
		{ NAME("rnics_renamed_total"), "", "RNICs whose host was renamed", &c->renamed },
		{ NAME("rnics_replaced_total"), "", "RNICs removed because their host has replaced them by another one",
		  &c->replaced },
	};
	/* clang-format on */
	int r;

	r = rm_metrics_counters(metrics, context, counters, COUNT(counters));
	for (int i = REGISTRY_PLACED + 1; i < REGISTRY_REFUSALS && r == 0; i++) {
		char labels[64];

		snprintf(labels, sizeof(labels), "reason=\"%s\"",
		    registry_refusal_str((enum registry_refusal)i));
		r = rm_metrics_counter(metrics, context, NAME("rnics_refused_total"),
		    labels, "Registrations not planned, by reason", &c->refused[i]);
	}
	if (r == 0)
		r = rm_metrics_gauge(metrics, context, NAME("rnics"), "",
		    "RNICs known, also those in no plan", read_rnics,
		    context->registry);
	return r;
}

static double
read_keys_differ(const void *arg)
{
	struct store_status status;

	store_status(arg, rm_mono_now(), &status);
	return status.probe_keys_differ;
}

static int
add_publishing(struct rm_metrics *metrics, const struct api_context *context)
{
	const struct publish_counts *p = publish_counts(context->publish);
	const struct planner_counts *n = context->planner_counts;
	const struct controller_counts *c = context->counts;
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("plannings_total"), "", "Times that all plans were made", &n->plannings },
		{ NAME("planning_failures_total"), "", "Times that making the plans failed", &n->failures },
		{ NAME("planning_restarts_total"), "",
		  "Times that making the plans began again because the topology or RNICs had changed", &n->restarts },
		{ NAME("planning_slices_total"), "", "Steps in which the plans were made", &n->slices },
		{ NAME("plans_published_total"), "", "New versions of a ToR's plan", &p->published },
		{ NAME("plans_adopted_total"), "",
		  "New versions of a plan that an aggregator had already", &p->adopted },
		{ NAME("plan_updates_total"), "", "Sets of plans compared with what is published", &p->updates },
		{ NAME("plans_unchanged_total"), "", "Plans made that are equal to the published ones", &p->unchanged },
		{ NAME("plans_failed_total"), "", "Plans not published because they are too large or unreadable or memory ran out", &p->failed },
		{ NAME("topology_reloads_total"), "", "Times that a new topology came into use", &c->topology_reloads },
		{ NAME("topology_refused_total"), "", "Topologies refused because of an error", &c->topology_refused },
	};
	/* clang-format on */
	int r;

	r = rm_metrics_counters(metrics, context, counters, COUNT(counters));
	if (r == 0)
		r = rm_metrics_gauge(metrics, context, NAME("settled"), "",
		    "1: plans may be published; 0: after its start the controller "
		    "waits for registrations",
		    read_bool, context->settled);
	if (r == 0)
		r = rm_metrics_gauge(metrics, context, NAME("leader_probe_keys_differ"),
		    "",
		    "1 while the controller that leads has another probe secret or "
		    "epoch than this one",
		    read_keys_differ, context->store);
	return r;
}

static double
read_us(const void *arg)
{
	return (double)*(const uint64_t *)arg / 1e6;
}

static int
add_plans(struct rm_metrics *metrics, const struct api_context *context)
{
	const struct plan_counts *p = context->plan_counts;
	/* clang-format off */
	const struct rm_metric gauges[] = {
		{ NAME("racks"), "", "ToRs in the topology", &p->racks },
		{ NAME("members"), "", "RNICs in plans; an RNIC with two ToRs counts twice", &p->members },
		{ NAME("entries"), "kind=\"inter_tor\"", "Planned pairs of RNICs", &p->inter_tor_entries },
		{ NAME("entries"), "kind=\"witness\"", "Planned pairs of RNICs", &p->witness_entries },
		{ NAME("entries"), "kind=\"tor_reflector\"", "Planned pairs of RNICs",
		  &p->reflector_entries },
		{ NAME("tor_pairs"), "", "Ordered pairs of ToRs that are probed", &p->pairs },
		{ NAME("tor_pairs_short"), "", "Ordered pairs of ToRs with fewer flows than coverage requires",
		  &p->short_pairs },
		{ NAME("cable_directions_short"), "", "Directions of cables that get fewer probes than required",
		  &p->short_cables },
		{ NAME("rnics_short_of_witnesses"), "", "RNICs of small racks with too few witnesses",
		  &p->rnics_short_of_witnesses },
		{ NAME("entries_dropped"), "", "Planned pairs dropped because the plan is full", &p->dropped_entries },
		{ NAME("member_pairs_incompatible"), "",
		  "Pairs of a rack's RNICs that do not probe each other: only one has a QPN",
		  &p->incompatible_members },
		{ NAME("tor_pairs_incompatible"), "",
		  "Ordered pairs of ToRs that do not probe each other: only one side has QPNs", &p->incompatible_tors },
	};
	/* clang-format on */
	int r;

	r = rm_metrics_gauges(metrics, context, gauges, COUNT(gauges));
	if (r == 0)
		r = rm_metrics_gauge(metrics, context, NAME("planning_seconds"), "",
		    "Seconds that making all plans took", read_us,
		    &context->planner_counts->last_us);
	if (r == 0)
		r = rm_metrics_gauge(metrics, context, NAME("planning_slice_seconds"),
		    "", "Seconds of the longest step of making the plans", read_us,
		    &context->planner_counts->longest_us);
	return r;
}

int
controller_metrics_add(struct rm_metrics *metrics, const struct api_context *context)
{
	int r;

	r = add_sessions(metrics, context);
	if (r == 0)
		r = add_registry(metrics, context);
	if (r == 0)
		r = add_publishing(metrics, context);
	return r < 0 ? r : add_plans(metrics, context);
}
