#include "rackmesh/metrics/metrics.h"
#include "region-controller/etcd/store_etcd_state.h"

#define COUNT(items) (sizeof(items) / sizeof((items)[0]))
#define NAME(name) "rackmesh_controller_etcd_" name

static double
read_revision(const void *arg)
{
	const struct store_etcd *etcd = arg;

	return (double)rm_etcd_mirror_revision(etcd->mirror);
}

static double
read_leads(const void *arg)
{
	return ((const struct store_etcd *)arg)->announced ? 1 : 0;
}

static double
read_waiting(const void *arg)
{
	const struct store_etcd *etcd = arg;

	return (double)(store_writes_counts(etcd->writes)->waiting +
			store_writes_counts(etcd->asked)->waiting);
}

static int
add_client(struct rm_metrics *metrics, const struct store_etcd *etcd)
{
	const struct rm_etcd_counts *c = rm_etcd_counts(etcd->etcd);
	const struct rm_etcd_leader_counts *l = rm_etcd_leader_counts(etcd->leader);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("calls_total"), "", "Calls of etcd", &c->calls },
		{ NAME("calls_failed_total"), "", "Those that failed", &c->failed },
		{ NAME("rotations_total"), "", "Times that another endpoint was turned to", &c->rotations },
		{ NAME("authentications_total"), "", "Tokens fetched", &c->authentications },
		{ NAME("bad_answers_total"), "", "Answers that make no sense", &c->bad_answers },
		{ NAME("campaigns_total"), "", "Attempts to lead", &l->campaigns },
		{ NAME("leaderships_won_total"), "", "Times that this controller came to lead", &l->won },
		{ NAME("leaderships_lost_total"), "", "Times that it stepped down", &l->lost },
	};
	/* clang-format on */

	return rm_metrics_counters(metrics, etcd, counters, COUNT(counters));
}

static int
add_mirror(struct rm_metrics *metrics, const struct store_etcd *etcd)
{
	const struct rm_etcd_mirror_counts *m = rm_etcd_mirror_counts(etcd->mirror);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("lists_total"), "", "Lists of all keys", &m->lists },
		{ NAME("watches_total"), "", "Watches begun", &m->watches },
		{ NAME("watch_breaks_total"), "", "Watches that ended", &m->breaks },
		{ NAME("puts_seen_total"), "", "Changes of keys seen", &m->puts },
		{ NAME("deletes_seen_total"), "", "Deletions of keys seen", &m->deletes },
		{ NAME("healed_total"), "", "Changes that only a list has shown", &m->healed },
		{ NAME("stale_total"), "", "Events and lists older than what was known", &m->stale },
		{ NAME("restarts_total"), "", "Times that the cluster was another, or restored", &m->restarts },
		{ NAME("keys_refused_total"), "", "Keys beyond the bound", &m->refused_keys },
		{ NAME("values_refused_total"), "kind=\"any\"",
		  "Values in etcd that make no sense", &etcd->counts.bad_values },
		{ NAME("values_refused_total"), "kind=\"topology\"",
		  "Values in etcd that make no sense", &etcd->counts.bad_topologies },
	};
	/* clang-format on */

	return rm_metrics_counters(metrics, etcd, counters, COUNT(counters));
}

static int
add_writes(struct rm_metrics *metrics, const struct store_etcd *etcd,
    const struct store_writes *writes, const char *labels)
{
	const struct store_writes_counts *w = store_writes_counts(writes);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("transactions_total"), labels, "Transactions sent", &w->transactions },
		{ NAME("transactions_failed_total"), labels, "Those that failed, each repeated", &w->failed },
		{ NAME("transactions_fenced_total"), labels,
		  "Those that came when somebody else led", &w->fenced },
		{ NAME("writes_total"), labels, "Keys written or deleted", &w->operations },
		{ NAME("written_bytes_total"), labels, "Bytes of values sent", &w->bytes },
		{ NAME("writes_too_large_total"), labels, "Values left out, larger than etcd takes",
		  &w->too_large },
	};
	/* clang-format on */

	return rm_metrics_counters(metrics, etcd, counters, COUNT(counters));
}

static int
add_upkeep(struct rm_metrics *metrics, const struct store_etcd *etcd)
{
	const struct store_compact_counts *c = store_compact_counts(etcd->compact);
	const struct store_inbox_counts *i = store_inbox_counts(etcd->inbox);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("compactions_total"), "", "Times that etcd was made to forget its history", &c->done },
		{ NAME("compactions_failed_total"), "", "Times that this failed", &c->failed },
		{ NAME("inbox_deferred_total"), "",
		  "Changes that waited for a later turn, since there were too many", &i->deferred },
		{ NAME("inbox_undeferred_total"), "", "Those that could not, for want of room", &i->undeferred },
	};
	const struct rm_metric gauges[] = {
		{ NAME("inbox_waiting"), "", "Changes in etcd that wait to be read", &i->waiting },
		{ NAME("inbox_waiting_bytes"), "", "Bytes of them", &i->waiting_bytes },
	};
	/* clang-format on */
	int r;

	r = rm_metrics_counters(metrics, etcd, counters, COUNT(counters));
	return r < 0 ? r : rm_metrics_gauges(metrics, etcd, gauges, COUNT(gauges));
}

int
store_etcd_add_metrics(struct store *store, struct rm_metrics *metrics)
{
	struct store_etcd *etcd = (struct store_etcd *)store;
	int r;

	r = add_client(metrics, etcd);
	if (r == 0)
		r = add_mirror(metrics, etcd);
	if (r == 0)
		r = add_writes(metrics, etcd, etcd->writes, "kind=\"plans\"");
	if (r == 0)
		r = add_writes(metrics, etcd, etcd->asked, "kind=\"requests\"");
	if (r == 0)
		r = add_upkeep(metrics, etcd);
	if (r == 0)
		r = rm_metrics_counter(metrics, etcd, NAME("writes_unchanged_total"),
		    "", "Registrations that etcd had already", &etcd->counts.unchanged);
	if (r == 0)
		r = rm_metrics_gauge(metrics, etcd, NAME("writes_waiting"), "",
		    "Keys to be written", read_waiting, etcd);
	if (r == 0)
		r = rm_metrics_gauge(metrics, etcd, NAME("revision"), "",
		    "Revision of etcd up to which all is known", read_revision, etcd);
	return r < 0 ? r
		     : rm_metrics_gauge(metrics, etcd, NAME("leading"), "",
			   "1 while this controller leads", read_leads, etcd);
}
