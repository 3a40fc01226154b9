/* How the pairs are: for the API and the metrics. */
#include <stddef.h>
#include <stdio.h>

#include "rackmesh/metrics/metrics.h"
#include "rackmesh/metrics/metrics_table.h"
#include "tor-aggregator/pairs_state.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/standby/peer_link.h"
#include "tor-aggregator/tor_aggregator_state.h"

#define N(name) "rackmesh_aggregator_" name
#define L(field) offsetof(struct peer_link_counts, field)
#define P(field) offsetof(struct peer, field)

/* clang-format off */
static const struct metrics_counter link_counters[] = {
	{ N("peer_sessions_total"), "", L(sessions), "Sessions with other aggregators of our ToRs." },
	{ N("peer_refused_total"), "", L(refused), "Welcomes that were none." },
	{ N("peer_silent_total"), "", L(silent), "Links to other aggregators dropped for silence." },
	{ N("peer_messages_total"), "kind=\"standing\"", L(standings), "Messages of other aggregators." },
	{ N("peer_messages_total"), "kind=\"incident\"", L(incidents), "Messages of other aggregators." },
	{ N("peer_sent_total"), "", L(sent), "Messages to other aggregators." },
	{ N("peer_unsent_total"), "", L(unsent), "Messages that a link did not take, which ended it." },
	{ N("peer_bad_frames_total"), "", L(bad_frames), "Frames of other aggregators that made no sense." },
	{ 0 }
};

static const struct metrics_counter peer_counters[] = {
	{ N("taken_over_total"), "", P(taken), "Times that we began to speak for the ToR." },
	{ N("given_over_total"), "", P(given), "Times that we ended to." },
	{ 0 }
};
/* clang-format on */

json_t *
pairs_show(const struct pairs *pairs, size_t tor, rm_mono_t now)
{
	const struct pair *pair = &pairs->pairs[tor];

	if (pair->other == PAIRS_NOBODY)
		return json_null();
	return json_pack("{s:s, s:b, s:b, s:b, s:b, s:i, s:b, s:b, s:i, s:i, s:b, s:b}",
	    "name", pairs->names[pair->other], "connected",
	    peer_links_connected(pairs->links, pair->other), "heard",
	    peer_is_heard(&pair->peer, now), "speaks", pair->peer.other_speaks,
	    "delivers", pair->peer.other_delivers, "agents",
	    (int)pair->peer.other_agents, "we_deliver", pair->own.delivers,
	    "we_are_warm", pair->own.warm, "agents_that_lost_it", (int)pair->own.lost,
	    "agents_that_find_it_mute", (int)pair->own.mute, "we_are_primary",
	    pair->peer.primary, "quarrel", pair->quarrel);
}

const char *
pairs_quarrel(const struct pairs *pairs)
{
	for (size_t i = 0; i < pairs->aggregator->rack_count; i++)
		if (pairs->pairs[i].quarrel)
			return pairs->aggregator->tors[i];
	return NULL;
}

static double
read_speaks(const void *arg)
{
	return tor_rack_speaks(arg);
}

static double
read_quarrel(const void *arg)
{
	return ((const struct pair *)arg)->quarrel;
}

int
pairs_metrics(struct pairs *pairs, struct rm_metrics *metrics)
{
	const struct tor_aggregator *aggregator = pairs->aggregator;
	int r = 0;

	if (pairs->links != NULL)
		r = metrics_table_add(
		    metrics, link_counters, peer_links_counts(pairs->links), "");
	for (size_t i = 0; r == 0 && i < aggregator->rack_count; i++) {
		const struct tor_rack *rack = aggregator->racks[i];
		char label[METRICS_LABEL_BYTES];

		snprintf(label, sizeof(label), "tor=\"%s\"", aggregator->tors[i]);
		r = metrics_table_add(
		    metrics, peer_counters, &pairs->pairs[i].peer, label);
		if (r == 0)
			r = rm_metrics_gauge(metrics, pairs, N("speaks"), label,
			    "1 while alerts and what the analyzer hears are ours.",
			    read_speaks, rack);
		if (r == 0)
			r = rm_metrics_gauge(metrics, pairs, N("pair_quarrel"), label,
			    "1 while speaks is the same at both aggregators of the "
			    "ToR.",
			    read_quarrel, &pairs->pairs[i]);
	}
	return r;
}
