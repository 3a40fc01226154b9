#include "host-agent/api/agent_api.h"
#include "host-agent/api/agent_api_counters.h"
#include "host-agent/api/agent_api_paths.h"
#include "host-agent/api/agent_api_rnics.h"
#include "host-agent/api/agent_api_services.h"

#include <stdio.h>

#include "host-agent/api/agent_show.h"
#include "host-agent/pinglist/pinglist.h"
#include "host-agent/pinglist/pinglist_store.h"
#include "host-agent/report/aggregator_link.h"
#include "host-agent/report/outbox.h"
#include "rackmesh/core/address.h"
#include "rackmesh/http/http_server.h"
#include "schemas/wire/text.h"

/* The most targets in one answer. An answer with all targets would block the event loop
 * for longer than a stall may last. */
#define PINGLIST_PAGE 1000

static json_t *
show_ports(const uint16_t *values, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_integer(values[i]));
	return list;
}

static json_t *
show_target(const struct wire_target *target)
{
	json_t *object = json_object(), *dscps = json_array();

	json_object_set_new(object, "src", agent_show_id(target->src));
	json_object_set_new(object, "dst", agent_show_id(target->dst));
	json_object_set_new(
	    object, "kind", json_string(wire_probe_kind_str(target->kind)));
	json_object_set_new(object, "address", agent_show_address(&target->address));
	agent_show_u64(object, "interval_us", target->interval_us);
	json_object_set_new(object, "paired", json_boolean(target->paired));
	json_object_set_new(
	    object, "flows", show_ports(target->flows, target->flow_count));
	for (size_t i = 0; i < target->dscp_count; i++)
		json_array_append_new(dscps, json_integer(target->dscps[i]));
	json_object_set_new(object, "dscps", dscps);
	json_object_set_new(
	    object, "sizes", show_ports(target->sizes, target->size_count));
	return object;
}

/* The part of the list to show; the list has the targets of all pinglists, one pinglist
 * after the other. */
struct page {
	uint64_t offset, limit;
};

static json_t *
show_targets(const struct wire_pinglist_view *view, struct page *page)
{
	size_t count = view->pinglist.target_count;
	size_t first = page->offset < count ? (size_t)page->offset : count;
	json_t *list = json_array();

	page->offset -= first;
	for (size_t i = first; i < count && page->limit > 0; i++, page->limit--) {
		struct wire_target target;

		wire_pinglist_target(view, i, &target);
		json_array_append_new(list, show_target(&target));
	}
	return list;
}

static json_t *
show_pinglist(const struct pinglist *pinglist, struct page *page, size_t *targets)
{
	const struct wire_pinglist_view *view = pinglist_view(pinglist);
	size_t count = view == NULL ? 0 : view->pinglist.target_count;
	json_t *object = json_object();

	json_object_set_new(object, "tor", json_string(pinglist_tor(pinglist)));
	json_object_set_new(object, "held", json_boolean(view != NULL));
	json_object_set_new(object, "expired", json_boolean(pinglist_slow(pinglist)));
	if (view != NULL) {
		agent_show_u64(object, "version", view->pinglist.version);
		agent_show_u64(object, "rotation", view->pinglist.rotation);
		agent_show_u64(object, "roster", view->pinglist.roster_count);
	}
	agent_show_u64(object, "target_count", count);
	json_object_set_new(
	    object, "targets", view == NULL ? json_array() : show_targets(view, page));
	*targets += count;
	return object;
}

static void
get_pinglist(struct rm_http_request *request, void *arg)
{
	const struct agent_api *api = arg;
	struct page page = { .limit = PINGLIST_PAGE };
	json_t *all, *list;
	size_t targets = 0;

	if (!rm_http_query_number(request, "offset", 0, UINT32_MAX, &page.offset) ||
	    !rm_http_query_number(request, "limit", 1, PINGLIST_PAGE, &page.limit))
		return;
	all = json_object();
	list = json_array();
	for (size_t i = 0; i < pinglist_store_tors(api->pinglists); i++)
		json_array_append_new(
		    list, show_pinglist(
			      pinglist_store_at(api->pinglists, i), &page, &targets));
	agent_show_u64(all, "target_count", targets);
	json_object_set_new(all, "pinglists", list);
	rm_http_reply_json(request, 200, all);
}

static json_t *
show_tally(struct outbox_tally tally)
{
	json_t *object = json_object();

	agent_show_u64(object, "batches", tally.batches);
	agent_show_u64(object, "results", tally.results);
	return object;
}

static json_t *
show_aggregator_link(const struct aggregator_link *aggregator_link)
{
	const struct outbox *outbox = aggregator_link_outbox(aggregator_link);
	const struct outbox_counts *counts = outbox_counts(outbox);
	json_t *object = json_object();

	json_object_set_new(
	    object, "address", json_string(aggregator_link_address(aggregator_link)));
	json_object_set_new(object, "connected",
	    json_boolean(aggregator_link_has_session(aggregator_link)));
	json_object_set_new(
	    object, "name", json_string(aggregator_link_peer(aggregator_link)));
	agent_show_u64(
	    object, "sessions", aggregator_link_counts(aggregator_link)->sessions);
	agent_show_u64(
	    object, "refusals", aggregator_link_counts(aggregator_link)->refusals);
	agent_show_u64(
	    object, "heartbeats", aggregator_link_counts(aggregator_link)->heartbeats);
	json_object_set_new(object, "made", show_tally(counts->made));
	json_object_set_new(object, "acked", show_tally(counts->acked));
	json_object_set_new(object, "dropped", show_tally(outbox_dropped(outbox)));
	json_object_set_new(object, "waiting", show_tally(counts->waiting));
	json_object_set_new(object, "unconfirmed", show_tally(counts->doubtful));
	return object;
}

static void
get_aggregators(struct rm_http_request *request, void *arg)
{
	const struct agent_api *api = arg;
	json_t *all = json_object(), *list = json_array();

	for (size_t i = 0; i < api->aggregator_link_count; i++)
		json_array_append_new(
		    list, show_aggregator_link(api->aggregator_links[i]));
	json_object_set_new(all, "aggregators", list);
	rm_http_reply_json(request, 200, all);
}

static void
reply_paused(struct rm_http_request *request, const struct agent_api *api)
{
	json_t *object = json_object();

	json_object_set_new(object, "paused", json_boolean(*api->paused));
	rm_http_reply_json(request, 200, object);
}

static void
post_pause(struct rm_http_request *request, void *arg)
{
	struct agent_api *api = arg;

	api->pause(true, api->arg);
	reply_paused(request, api);
}

static void
post_resume(struct rm_http_request *request, void *arg)
{
	struct agent_api *api = arg;

	api->pause(false, api->arg);
	reply_paused(request, api);
}

static bool
api_ready(char *sentence, size_t len, void *arg)
{
	const struct agent_api *api = arg;
	bool connected = false;

	for (size_t i = 0; i < api->aggregator_link_count; i++)
		connected |= aggregator_link_has_session(api->aggregator_links[i]);
	if (!pinglist_store_any(api->pinglists))
		snprintf(sentence, len, "no pinglist yet");
	else if (!connected)
		snprintf(
		    sentence, len, "no aggregator, probing from the last pinglist");
	else
		snprintf(sentence, len, "probing");
	return connected && pinglist_store_any(api->pinglists);
}

int
agent_api_serve(struct rm_http_server *server, const struct rm_metrics *metrics,
    struct agent_api *api)
{
	static const struct {
		enum rm_http_verb verb;
		const char *path;
		rm_http_handler *handler;
	} routes[] = {
		{ RM_HTTP_READ, "/v1/rnics", agent_api_rnics },
		{ RM_HTTP_READ, "/v1/pinglist", get_pinglist },
		{ RM_HTTP_READ, "/v1/aggregators", get_aggregators },
		{ RM_HTTP_READ, "/v1/paths", agent_api_paths },
		{ RM_HTTP_READ, "/v1/services", agent_api_services },
		{ RM_HTTP_READ, "/v1/counters", agent_api_counters },
		{ RM_HTTP_CHANGE, "/v1/pause", post_pause },
		{ RM_HTTP_CHANGE, "/v1/resume", post_resume },
	};
	int r = rm_http_serve_health(server, metrics, api_ready, api);

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]) && r == 0; i++)
		r = rm_http_route(
		    server, routes[i].verb, routes[i].path, routes[i].handler, api);
	return r;
}
