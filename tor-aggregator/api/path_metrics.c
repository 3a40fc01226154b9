#include "tor-aggregator/api/path_metrics.h"

#include <stddef.h>

#include "rackmesh/metrics/metrics.h"
#include "tor-aggregator/controller/brake_store.h"
#include "tor-aggregator/controller/resolver.h"
#include "tor-aggregator/orders.h"
#include "tor-aggregator/paths/lossy_ends.h"
#include "tor-aggregator/paths/path_ends.h"
#include "tor-aggregator/paths/path_rows.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/rack/tor_rack.h"

#define N(name) "rackmesh_aggregator_" name

#define T(field) offsetof(struct path_table_counts, field)
#define R(field) offsetof(struct path_rows_counts, field)
#define E(field) offsetof(struct path_ends_counts, field)
#define L(field) offsetof(struct lossy_ends_counts, field)
#define B(field) offsetof(struct brake_store_counts, field)
#define Q(field) offsetof(struct resolver_counts, field)
#define O(field) offsetof(struct orders_counts, field)

/* clang-format off */
static const struct metrics_counter table_counters[] = {
	{ N("paths_learned_total"), "", T(learned), "Traces that told a flow's path, new or again." },
	{ N("paths_changed_total"), "", T(changed), "Traces that told another path than before." },
	{ N("paths_incomplete_total"), "", T(incomplete), "Traces that did not reach the destination: a path that did stands." },
	{ N("paths_unexpected_total"), "", T(unexpected), "Paths that do not begin at our ToR or do not end at theirs." },
	{ N("paths_refused_total"), "reason=\"flows\"", T(refused_flows), "Traces that found no room." },
	{ N("paths_refused_total"), "reason=\"paths\"", T(refused_paths), "Traces that found no room." },
	{ N("paths_aged_total"), "", T(aged), "Flows forgotten that no plan names any more." },
	{ 0 }
};

static const struct metrics_counter row_counters[] = {
	{ N("path_rows_seconds_total"), "", R(seconds), "Seconds added up by path." },
	{ N("path_rows_lossy_seconds_total"), "", R(lossy), "Seconds in which something was lost along a path." },
	{ N("path_rows_skipped_seconds_total"), "", R(skipped), "Seconds cut by our own start or stall." },
	{ N("path_rows_messages_total"), "", R(messages), "Summaries that told of paths." },
	{ N("path_rows_total"), "", R(rows), "Rows in them." },
	{ N("path_rows_refused_total"), "kind=\"result\"", R(refused_flows), "What found no room." },
	{ N("path_rows_refused_total"), "kind=\"row\"", R(refused_rows), "What found no room." },
	{ N("path_rows_not_a_witness_total"), "", R(not_a_witness), "Probes left out: their source is bad, or its host stalled, paused or gone." },
	{ N("path_rows_untraced_total"), "", R(untraced), "Probes whose path is not known." },
	{ N("path_rows_forgotten_total"), "", R(forgotten), "Probes left out: of seconds cut by our own start or stall, or by a new numbering of RNICs." },
	{ 0 }
};

static const struct metrics_counter end_counters[] = {
	{ N("path_rows_remote_dead_total"), "", E(foreign_dead), "Probes left out: their target is dead itself." },
	{ N("path_rows_own_dead_total"), "", E(own_dead), "Probes left out: all that their source sends out is lost." },
	{ 0 }
};

static const struct metrics_counter lossy_counters[] = {
	{ N("path_rows_remote_lossy_total"), "", L(foreign), "Probes left out: their target itself loses a part of all it gets or sends." },
	{ N("path_rows_own_lossy_total"), "", L(own), "Probes left out: their source itself loses a part of all it sends or gets." },
	{ 0 }
};

static const struct metrics_counter brake_counters[] = {
	{ N("brakes_taken_total"), "", B(taken), "Newer settings of the brake." },
	{ N("brakes_stale_total"), "", B(stale), "Settings not newer than ours." },
	{ N("brakes_refused_total"), "", B(refused), "Settings out of range." },
	{ N("brakes_written_total"), "", B(written), "Settings written to the state folder." },
	{ N("brakes_write_failed_total"), "", B(write_failed), "Settings that could not be written there." },
	{ 0 }
};

static const struct metrics_counter resolver_counters[] = {
	{ N("resolves_asked_total"), "", Q(asked), "Addresses and other ends of QPs that the controller was asked about." },
	{ N("resolves_answered_total"), "", Q(answered), "Those that it answered." },
	{ N("resolves_expired_total"), "", Q(expired), "Those that it did not answer in time." },
	{ N("resolves_refused_total"), "", Q(refused), "Questions beyond what may wait at a time." },
	{ N("resolves_unknown_total"), "", Q(unknown), "Answers for which nobody was waiting." },
	{ 0 }
};

static const struct metrics_counter order_counters[] = {
	{ N("brakes_sent_total"), "", O(brakes_sent), "Brakes sent to agents." },
	{ N("brakes_failed_total"), "", O(brakes_failed), "Brakes that an agent did not take." },
	{ N("resolved_here_total"), "", O(resolved_here), "Addresses that our own racks know." },
	{ N("joins_unauthorized_total"), "", O(strangers), "Questions for the other end of QPs of RNICs that the agent does not speak for." },
	{ N("service_peers_learned_total"), "", O(learned), "RNICs that services talk to, told to a rack." },
	{ N("service_peers_failed_total"), "", O(learn_failed), "Those that found no room, or made no sense." },
	{ N("resolve_answers_failed_total"), "", O(resolve_failed), "Answers that an agent did not take." },
	{ N("drills_total"), "", O(drills), "Drill-downs asked for over a link." },
	{ N("drills_failed_total"), "", O(drills_failed), "Those that could not be answered." },
	{ 0 }
};
/* clang-format on */

static double
read_flows(const void *arg)
{
	return (double)path_table_flows(tor_rack_paths(arg));
}

static double
read_paths(const void *arg)
{
	return (double)path_table_paths(tor_rack_paths(arg));
}

static double
read_brake(const void *arg)
{
	return brake_store_get(orders_brake(arg))->rate_permille;
}

int
path_metrics_of_rack(
    const struct tor_rack *rack, const char *label, struct rm_metrics *metrics)
{
	const struct path_rows *rows = tor_rack_path_rows(rack);
	int r;

	r = metrics_table_add(
	    metrics, table_counters, path_table_counts(tor_rack_paths(rack)), label);
	if (r == 0)
		r = metrics_table_add(
		    metrics, row_counters, path_rows_counts(rows), label);
	if (r == 0)
		r = metrics_table_add(
		    metrics, end_counters, path_rows_ends(rows), label);
	if (r == 0)
		r = metrics_table_add(
		    metrics, lossy_counters, path_rows_lossy_ends(rows), label);
	if (r == 0)
		r = rm_metrics_gauge(metrics, rack, N("path_flows"), label,
		    "Flows that leave the rack, traced or not.", read_flows, rack);
	if (r == 0)
		r = rm_metrics_gauge(metrics, rack, N("paths"), label,
		    "Distinct paths that they take.", read_paths, rack);
	return r;
}

int
path_metrics_of_orders(const struct orders *orders, struct rm_metrics *metrics)
{
	const struct brake_store *brake = orders_brake(orders);
	int r;

	r = metrics_table_add(metrics, brake_counters, brake_store_counts(brake), "");
	if (r == 0)
		r = metrics_table_add(metrics, resolver_counters,
		    resolver_counts(orders_resolver(orders)), "");
	if (r == 0)
		r = metrics_table_add(
		    metrics, order_counters, orders_counts(orders), "");
	if (r == 0)
		r = rm_metrics_gauge(metrics, orders, N("brake_permille"), "",
		    "Of what pinglists ask for, how much may be probed.", read_brake,
		    orders);
	return r;
}
