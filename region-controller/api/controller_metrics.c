#include <stdio.h>

#include "rackmesh/metrics/metrics.h"
#include "rackmesh/net/strangers.h"
#include "region-controller/aggregators/aggregators.h"
#include "region-controller/api/controller_face.h"
#include "region-controller/plan/publish.h"
#include "region-controller/planner.h"
#include "region-controller/registry/qp_joins.h"
#include "region-controller/registry/registry.h"
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
add_sessions(struct rm_metrics *metrics, const struct controller_face *face)
{
	const struct aggregators_counts *c = aggregators_counts(face->aggregators);
	const struct rm_strangers *s = aggregators_strangers(face->aggregators);
	const struct qp_joins_counts *j = aggregators_joins(face->aggregators);
	const struct traced_counts *t = traced_counts(face->traced);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("connections_accepted_total"), "", "Connections of aggregators", &c->accepted },
		{ NAME("connections_refused_total"), "reason=\"full\"",
		  "Connections turned away", &c->refused_connections },
		{ NAME("connections_refused_total"), "reason=\"hello\"",
		  "Connections turned away", &c->refused_hellos },
		{ NAME("connections_refused_total"), "reason=\"silent\"",
		  "Connections turned away", &s->timed_out },
		{ NAME("connections_refused_total"), "reason=\"too_many_pending\"",
		  "Connections turned away", &s->pushed_out },
		{ NAME("connections_refused_total"), "reason=\"standby\"",
		  "Connections turned away", &c->refused_standby },
		{ NAME("places_total"), "result=\"found\"", "Hosts whose agents asked where they belong", &c->placed },
		{ NAME("places_total"), "result=\"not_found\"", "Hosts whose agents asked where they belong", &c->unplaced },
		{ NAME("resolves_total"), "result=\"found\"", "Addresses that aggregators asked about", &c->resolved },
		{ NAME("resolves_total"), "result=\"not_found\"", "Addresses that aggregators asked about", &c->unresolved },
		{ NAME("joins_total"), "result=\"found\"", "QPs whose other end was asked for", &j->joined },
		{ NAME("joins_total"), "result=\"ambiguous\"", "QPs whose other end was asked for", &j->several },
		{ NAME("joins_asked_total"), "", "Questions for the other end of QPs", &j->asked },
		{ NAME("joins_refused_total"), "reason=\"full\"",
		  "Questions for the other end of QPs that were not remembered", &j->refused },
		{ NAME("joins_refused_total"), "reason=\"unauthorized\"",
		  "Questions for the other end of QPs that were not remembered", &c->join_strangers },
		{ NAME("traced_paths_total"), "", "Paths between racks reported by traces, repeated ones included", &c->traced },
		{ NAME("version_reports_total"), "", "Reports of aggregators about the releases of their peers", &c->versions },
		{ NAME("traced_paths_learned_total"), "", "Paths between racks that this controller has looked at", &t->learned },
		{ NAME("traced_links_found_total"), "", "Links that they showed for the first time", &t->found },
		{ NAME("traced_links_forgotten_total"), "", "Links that no trace has shown for long", &t->forgotten },
		{ NAME("traced_links_folded_total"), "", "Links that a later alias has named", &t->folded },
		{ NAME("traced_links_refused_total"), "", "Links beyond the bound", &t->refused },
		{ NAME("traced_hops_silent_total"), "", "Hops of them that nobody answered at", &t->silent },
		{ NAME("drills_total"), "", "Drill-downs passed on to aggregators", &c->drills },
		{ NAME("drill_answers_total"), "", "Answers to them", &c->drill_answers },
		{ NAME("sessions_replaced_total"), "",
		  "Sessions closed because the same aggregator connected anew", &c->replaced },
		{ NAME("registrations_total"), "", "Registration messages", &c->registrations },
		{ NAME("messages_refused_total"), "", "Damaged, malformed or unknown messages", &c->refused_messages },
		{ NAME("rnics_of_other_tors_total"), "",
		  "RNICs registered by an aggregator that does not serve their ToR", &c->foreign_rnics },
		{ NAME("plans_sent_total"), "", "Plans sent to aggregators", &c->plans_sent },
		{ NAME("plan_bytes_sent_total"), "", "Bytes of them", &c->plan_bytes_sent },
		{ NAME("keys_sent_total"), "", "Messages of keys sent to aggregators", &c->keys_sent },
		{ NAME("plans_not_sent_total"), "",
		  "Plans that a full queue kept back; the session is closed", &c->plans_not_sent },
	};
	/* clang-format on */
	const struct rm_metric sessions = { NAME("sessions"), "",
		"Connections of aggregators now", &c->sessions };
	int r;

	r = rm_metrics_counters(metrics, face, counters, COUNT(counters));
	if (r == 0)
		r = rm_metrics_gauges(metrics, face, &sessions, 1);
	if (r == 0)
		r = rm_metrics_gauge(metrics, face, NAME("joins_waiting"), "",
		    "QPs remembered until their other end is asked for", read_joins,
		    face->aggregators);
	if (r == 0)
		r = rm_metrics_gauge(metrics, face, NAME("traced_links"), "",
		    "Links that traces have shown", read_traced, face->traced);
	return r;
}

static int
add_registry(struct rm_metrics *metrics, const struct controller_face *face)
{
	const struct registry_counts *c = registry_counts(face->registry);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("rnic_registrations_total"), "", "RNICs in registration messages, repeated ones included", &c->told },
		{ NAME("rnics_changed_total"), "", "Registrations that change a plan", &c->changed },
		{ NAME("rnics_moved_total"), "", "RNICs that came up at another ToR", &c->moved },
		{ NAME("rnics_loaded_total"), "", "Changes of RNICs that came from the store", &c->loaded },
		{ NAME("rnics_ambiguous_total"), "", "Claims of an address that another RNIC has, too",
		  &c->ambiguous },
		{ NAME("rnics_forgotten_total"), "", "RNICs that aged out or were removed by hand",
		  &c->forgotten },
		{ NAME("rnics_renamed_total"), "", "RNICs whose host has got another name", &c->renamed },
		{ NAME("rnics_replaced_total"), "", "RNICs that left because their host has another in their place",
		  &c->replaced },
	};
	/* clang-format on */
	int r;

	r = rm_metrics_counters(metrics, face, counters, COUNT(counters));
	for (int i = REGISTRY_PLACED + 1; i < REGISTRY_REFUSALS && r == 0; i++) {
		char labels[64];

		snprintf(labels, sizeof(labels), "reason=\"%s\"",
		    registry_refusal_word((enum registry_refusal)i));
		r = rm_metrics_counter(metrics, face, NAME("rnics_refused_total"),
		    labels, "Registrations that are in no plan", &c->refused[i]);
	}
	if (r == 0)
		r = rm_metrics_gauge(metrics, face, NAME("rnics"), "",
		    "RNICs known, also those in no plan", read_rnics, face->registry);
	return r;
}

static int
add_publishing(struct rm_metrics *metrics, const struct controller_face *face)
{
	const struct publish_counts *p = publish_counts(face->publish);
	const struct planner_counts *n = face->planner_counts;
	const struct controller_counts *c = face->counts;
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("plannings_total"), "", "Times that all plans were made", &n->plannings },
		{ NAME("planning_failures_total"), "", "Times that this failed", &n->failures },
		{ NAME("planning_restarts_total"), "",
		  "Times that it began anew for what had changed meanwhile", &n->restarts },
		{ NAME("planning_slices_total"), "", "Turns of the loop that did a share of it", &n->slices },
		{ NAME("plans_published_total"), "", "New versions of a ToR's plan", &p->published },
		{ NAME("plans_adopted_total"), "",
		  "Those of them that an aggregator held already", &p->adopted },
		{ NAME("plan_updates_total"), "", "Sets of plans compared with what is published", &p->updates },
		{ NAME("plans_unchanged_total"), "", "Plans made that were as before", &p->unchanged },
		{ NAME("plans_failed_total"), "", "Plans too large for a message, unreadable, or for want of memory", &p->failed },
		{ NAME("topology_reloads_total"), "", "Topologies taken into use", &c->topology_reloads },
		{ NAME("topology_refused_total"), "", "Topologies with an error", &c->topology_refused },
	};
	/* clang-format on */
	int r;

	r = rm_metrics_counters(metrics, face, counters, COUNT(counters));
	if (r == 0)
		r = rm_metrics_gauge(metrics, face, NAME("settled"), "",
		    "1 once plans are published after a start", read_bool,
		    face->settled);
	return r;
}

static double
read_us(const void *arg)
{
	return (double)*(const uint64_t *)arg / 1e6;
}

static int
add_plans(struct rm_metrics *metrics, const struct controller_face *face)
{
	const struct plan_counts *p = face->plan_counts;
	/* clang-format off */
	const struct rm_metric gauges[] = {
		{ NAME("racks"), "", "ToRs in the topology", &p->racks },
		{ NAME("members"), "", "RNICs in plans, a bond twice", &p->members },
		{ NAME("entries"), "kind=\"inter_tor\"", "Planned pairs of RNICs", &p->inter_tor_entries },
		{ NAME("entries"), "kind=\"witness\"", "Planned pairs of RNICs", &p->witness_entries },
		{ NAME("entries"), "kind=\"tor_reflector\"", "Planned pairs of RNICs",
		  &p->reflector_entries },
		{ NAME("tor_pairs"), "", "Ordered pairs of ToRs that are probed", &p->pairs },
		{ NAME("tor_pairs_short"), "", "Those with fewer flows than coverage asks for",
		  &p->short_pairs },
		{ NAME("cable_directions_short"), "", "Cables, by direction, below their probe rate",
		  &p->short_cables },
		{ NAME("rnics_short_of_witnesses"), "", "RNICs of small racks with too few witnesses",
		  &p->lonely_rnics },
		{ NAME("entries_dropped"), "", "Pairs beyond what a plan may hold", &p->dropped_entries },
		{ NAME("member_pairs_incompatible"), "",
		  "Pairs of a rack's RNICs that do not probe each other: only one has a QPN",
		  &p->unlike_members },
		{ NAME("tor_pairs_incompatible"), "",
		  "Ordered pairs of ToRs that do not probe each other: only one side has QPNs", &p->unlike_tors },
	};
	/* clang-format on */
	int r;

	r = rm_metrics_gauges(metrics, face, gauges, COUNT(gauges));
	if (r == 0)
		r = rm_metrics_gauge(metrics, face, NAME("planning_seconds"), "",
		    "How long making all plans took", read_us,
		    &face->planner_counts->last_us);
	if (r == 0)
		r = rm_metrics_gauge(metrics, face, NAME("planning_slice_seconds"), "",
		    "The longest that it held up everything else for", read_us,
		    &face->planner_counts->longest_us);
	return r;
}

int
controller_metrics_add(struct rm_metrics *metrics, const struct controller_face *face)
{
	int r;

	r = add_sessions(metrics, face);
	if (r == 0)
		r = add_registry(metrics, face);
	if (r == 0)
		r = add_publishing(metrics, face);
	return r < 0 ? r : add_plans(metrics, face);
}
