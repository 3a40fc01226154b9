/* The HTTP API; docs/api.md describes it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "analyzer/analyzer_config.h"
#include "analyzer/analyzer_state.h"
#include "analyzer/api/analyzer_api.h"
#include "analyzer/api/drills.h"
#include "analyzer/api/health.h"
#include "analyzer/api/page.h"
#include "analyzer/api/tor_mesh_answer.h"
#include "analyzer/blind/blind.h"
#include "analyzer/history/history.h"
#include "analyzer/incidents/region.h"
#include "analyzer/intake/intake.h"
#include "analyzer/marks/cnp_balance.h"
#include "analyzer/past/past.h"
#include "analyzer/sla/sla.h"
#include "rackmesh/core/address.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/identity/sight.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/net/server.h"

static void
set_u64(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

/* ---- health ---------------------------------------------------------------------- */

static bool
is_seen(const struct rack *rack, rm_mono_t now, void *arg)
{
	const struct analyzer *analyzer = arg;
	struct region *region = analyzer_region(analyzer, rack->region);

	return region != NULL &&
	       blind_rack_is_seen(region_blind(region), rack->region, rack->tor, now);
}

static void
set_loss(json_t *object, uint64_t sent, uint64_t lost)
{
	/* The share is computed in doubles, because counts may be large. */
	json_object_set_new(object, "loss_ppm",
	    sent > 0
		? json_integer((json_int_t)((double)lost * 1e6 / (double)sent + 0.5))
		: json_null());
}

static json_t *
figures_json(const struct rack_figures *figures)
{
	json_t *object = json_object();

	set_u64(object, "sent", figures->sent);
	set_u64(object, "lost", figures->lost);
	set_loss(object, figures->sent, figures->lost);
	if (figures->rtt_p99_ns > 0) {
		set_u64(object, "rtt_p50_ns", figures->rtt_p50_ns);
		set_u64(object, "rtt_p99_ns", figures->rtt_p99_ns);
	}
	return object;
}

static json_t *
by_part_json(const struct health_rack *health)
{
	json_t *object = json_object();

	for (int i = RM_PART_RNIC; i < RM_PART_TYPES; i++)
		if (health->by_part[i] > 0)
			set_u64(object, rm_part_type_str((enum rm_part_type)i),
			    health->by_part[i]);
	return object;
}

static json_t *
rack_json(const struct health_rack *health, rm_mono_t now)
{
	const struct rack *rack = health->rack;
	json_t *object = json_object(), *aggregators = json_array();

	json_object_set_new(object, "region", json_string(rack->region));
	json_object_set_new(object, "tor", json_string(rack->tor));
	json_object_set_new(object, "state", json_string(health_str(health->state)));
	set_u64(object, "rnics", rack->state.rnics);
	set_u64(object, "rnics_good", rack->state.rnics_good);
	set_u64(object, "rnics_bad", rack->state.rnics_bad);
	set_u64(object, "hosts", rack->state.hosts);
	set_u64(object, "hosts_ok", rack->state.hosts_ok);
	set_u64(object, "hosts_paused", rack->state.hosts_paused);
	set_u64(object, "hosts_slowed", rack->state.hosts_slowed);
	set_u64(object, "plan_version", rack->state.plan_version);
	json_object_set_new(object, "brake_permille",
	    rack->has_state ? json_integer(rack->state.brake_permille) : json_null());
	set_u64(object, "incidents_open", health->incidents);
	json_object_set_new(object, "incidents_by_part", by_part_json(health));
	set_loss(object, health->inside.sent + health->outgoing.sent,
	    health->inside.lost + health->outgoing.lost);
	json_object_set_new(object, "inside", figures_json(&health->inside));
	json_object_set_new(object, "outgoing", figures_json(&health->outgoing));
	json_object_set_new(object, "aggregator", json_string(rack->aggregators[0]));
	for (size_t i = 0; i < RACKS_AGGREGATORS; i++)
		if (rack->aggregators[i][0] != '\0')
			json_array_append_new(
			    aggregators, json_string(rack->aggregators[i]));
	json_object_set_new(object, "aggregators", aggregators);
	set_u64(object, "last_heard_ms",
	    (uint64_t)(rm_mono_since(now, rack->last_seen) / RM_NS_PER_MS));
	return object;
}

static json_t *
cnps_json(const struct cnp_finding *finding)
{
	char since[RM_WALL_TEXT];
	json_t *object = json_object();

	rm_wall_format(finding->since, since);
	json_object_set_new(
	    object, "state", json_string(cnp_state_str(finding->state)));
	json_object_set_new(object, "sentence", json_string(finding->sentence));
	json_object_set_new(
	    object, "since", finding->since.ns != 0 ? json_string(since) : json_null());
	set_u64(object, "sent", finding->sent);
	set_u64(object, "received", finding->received);
	set_u64(object, "rnics", finding->rnics);
	set_u64(object, "rnics_counting", finding->rnics_counting);
	json_object_set_new(object, "uncounted", json_string(finding->uncounted));
	return object;
}

static json_t *
region_json(const struct region *region, const struct health_rack *racks, size_t count,
    size_t incidents)
{
	uint64_t states[HEALTH_STATES] = { 0 }, rnics = 0, good = 0, all = 0;
	enum health_state worst = HEALTH_OK;
	json_t *object = json_object();

	for (size_t i = 0; i < count; i++) {
		if (strcmp(racks[i].rack->region, region_name(region)) != 0)
			continue;
		all++;
		states[racks[i].state]++;
		if (racks[i].state < worst)
			worst = racks[i].state;
		rnics += racks[i].rack->state.rnics;
		good += racks[i].rack->state.rnics_good;
	}
	if (all == 0)
		worst = HEALTH_UNKNOWN;
	json_object_set_new(object, "region", json_string(region_name(region)));
	json_object_set_new(object, "state", json_string(health_str(worst)));
	set_u64(object, "racks", all);
	for (int i = 0; i < HEALTH_STATES; i++)
		set_u64(object, health_str((enum health_state)i), states[i]);
	set_u64(object, "rnics", rnics);
	set_u64(object, "rnics_good", good);
	set_u64(object, "incidents_open", incidents);
	json_object_set_new(object, "cnps", cnps_json(region_cnps(region)));
	return object;
}

static size_t
open_incidents(const struct incident_table *table, const char *region)
{
	size_t count = 0;

	for (size_t i = 0; i < incident_table_open(table); i++)
		count += strcmp(incident_table_get(table, i)->region, region) == 0;
	return count;
}

/* False: an error was sent as the answer. */
static bool
get_racks(const struct analyzer *analyzer, struct rm_http_request *request,
    const struct rm_sight *sight, rm_mono_t now, struct health_rack **racks,
    size_t *count)
{
	int r;

	r = health_of(analyzer->racks, analyzer->table, sight, is_seen,
	    (void *)analyzer, now, racks, count);
	if (r < 0)
		rm_http_reply_error(request, 500, "out of memory");
	return r == 0;
}

static json_t *
racks_json(const struct health_rack *racks, size_t count, rm_mono_t now)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, rack_json(&racks[i], now));
	return list;
}

/* The error text of a database may quote rows of any region. */
static const char *
trouble_in(const struct analyzer *analyzer, const struct rm_sight *sight)
{
	const char *trouble = history_trouble(analyzer->history);

	return trouble[0] != '\0' && rm_sight_is_limited(sight)
		   ? "points wait to be written; a viewer of all regions is shown the "
		     "reason"
		   : trouble;
}

static void
get_health(struct rm_http_request *request, void *arg)
{
	char started[RM_WALL_TEXT];
	const struct analyzer *analyzer = arg;
	json_t *all = json_object(), *regions = json_array();
	struct health_rack *racks = NULL;
	rm_mono_t now = rm_mono_now();
	struct rm_sight sight;
	size_t count = 0;

	rm_sight_of(&sight, request);
	if (!get_racks(analyzer, request, &sight, now, &racks, &count)) {
		json_decref(all);
		json_decref(regions);
		return;
	}
	for (size_t i = 0; i < analyzer->region_count; i++) {
		const char *name = region_name(analyzer->regions[i]);

		if (rm_sight_shows(&sight, name))
			json_array_append_new(
			    regions, region_json(analyzer->regions[i], racks, count,
					 open_incidents(analyzer->table, name)));
	}
	rm_wall_format(analyzer->started, started);
	json_object_set_new(all, "analyzer", json_string(analyzer->config->name));
	json_object_set_new(all, "started", json_string(started));
	json_object_set_new(all, "trouble", json_string(trouble_in(analyzer, &sight)));
	json_object_set_new(all, "limited", json_boolean(rm_sight_is_limited(&sight)));
	json_object_set_new(all, "regions", regions);
	json_object_set_new(all, "racks", racks_json(racks, count, now));
	free(racks);
	rm_http_reply_json(request, 200, all);
}

static void
get_rack_list(struct rm_http_request *request, void *arg)
{
	struct health_rack *racks = NULL;
	rm_mono_t now = rm_mono_now();
	struct rm_sight sight;
	size_t count = 0;

	rm_sight_of(&sight, request);
	if (!get_racks(arg, request, &sight, now, &racks, &count))
		return;
	rm_http_reply_json(
	    request, 200, json_pack("{s:o}", "racks", racks_json(racks, count, now)));
	free(racks);
}

/* ---- aggregators, SLA ---- */

static json_t *
session_json(const struct intake_info *session, rm_mono_t now)
{
	json_t *object = json_object(), *tors = json_array();
	char text[RM_ADDRESS_TEXT];

	for (size_t i = 0; i < session->tor_count; i++)
		json_array_append_new(tors, json_string(session->tors[i]));
	json_object_set_new(object, "region", json_string(session->region));
	json_object_set_new(object, "name", json_string(session->name));
	rm_address_format(&session->peer, text);
	json_object_set_new(object, "address", json_string(text));
	rm_wall_format(session->since, text);
	json_object_set_new(object, "since", json_string(text));
	json_object_set_new(object, "tors", tors);
	json_object_set_new(object, "version",
	    session->software[0] != '\0' ? json_string(session->software)
					 : json_null());
	set_u64(object, "summary_interval_s",
	    (uint64_t)(session->row_interval_ns / RM_NS_PER_S));
	set_u64(object, "summaries", session->summaries);
	set_u64(object, "incidents", session->incidents);
	set_u64(object, "unacked", session->unacked);
	json_object_set_new(object, "held", json_boolean(session->is_held));
	set_u64(object, "last_heard_ms",
	    (uint64_t)(rm_mono_since(now, session->last_seen) / RM_NS_PER_MS));
	return object;
}

static void
get_aggregators(struct rm_http_request *request, void *arg)
{
	const struct analyzer *analyzer = arg;
	const struct intake_info *session;
	rm_mono_t now = rm_mono_now();
	json_t *list = json_array();
	struct rm_sight sight;

	rm_sight_of(&sight, request);
	for (size_t i = 0; (session = intake_get(analyzer->intake, i)) != NULL; i++)
		if (session->is_welcome && rm_sight_shows(&sight, session->region))
			json_array_append_new(list, session_json(session, now));
	rm_http_reply_json(request, 200, json_pack("{s:o}", "aggregators", list));
}

static void
get_sla(struct rm_http_request *request, void *arg)
{
	const struct analyzer *analyzer = arg;
	struct rm_sight sight;

	rm_sight_of(&sight, request);
	rm_http_reply_json(request, 200, sla_json(analyzer->sla, &sight));
}

static bool
ready(char *sentence, size_t len, void *arg)
{
	const struct analyzer *analyzer = arg;
	const char *trouble = history_trouble(analyzer->history);

	if (trouble[0] != '\0') {
		snprintf(sentence, len, "%s", trouble);
		return false;
	}
	trouble = "";
	for (size_t i = 0; i < analyzer->region_count && trouble[0] == '\0'; i++)
		trouble = region_alert_trouble(analyzer->regions[i]);
	snprintf(sentence, len, "%zu regions, %llu aggregators%s%s",
	    analyzer->region_count,
	    (unsigned long long)intake_server(analyzer->intake)->count,
	    trouble[0] != '\0' ? "; alerts are not delivered: " : "", trouble);
	return true;
}

int
analyzer_api_serve(struct analyzer *analyzer, struct rm_http_server *server)
{
	const struct {
		const char *path;
		rm_http_handler *handler;
		void *arg;
	} routes[] = {
		/* The answers to these paths list only the regions that the client may
		   see. */
		{ "/v1/health", get_health, analyzer },
		{ "/v1/racks", get_rack_list, analyzer },
		{ "/v1/aggregators", get_aggregators, analyzer },
		{ "/v1/sla", get_sla, analyzer },
		{ "/v1/incidents", analyzer_api_incidents, analyzer },
		{ "/v1/incidents/", analyzer_api_incident, analyzer },
		{ "/v1/drill/", drills_ask, analyzer->drills },
		{ "/v1/mesh/", drills_ask_mesh, analyzer->drills },
		{ "/v1/counters/", drills_ask_counted, analyzer->drills },
		{ "/v1/hosts/", drills_ask_hosts, analyzer->drills },
		{ "/v1/history/", past_ask, analyzer->past },
		{ "/v1/mesh", tor_mesh_answer_get, analyzer->tor_mesh },
	};
	int r;

	r = rm_http_serve_health(server, analyzer->metrics, ready, analyzer);
	if (r == 0)
		r = page_serve(server);
	for (size_t i = 0; r == 0 && i < sizeof(routes) / sizeof(routes[0]); i++)
		r = rm_http_route(server, RM_HTTP_READ_PART, routes[i].path,
		    routes[i].handler, routes[i].arg);
	return r;
}
