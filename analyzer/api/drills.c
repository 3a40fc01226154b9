#include "analyzer/api/drills.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/intake/intake.h"
#include "analyzer/racks/racks.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/identity/sight.h"

/* the parameter of the request, and the option of rackmeshctl */
#define CHOOSE_REGION "choose one of them (?region=, --region)"
#define SECONDS 10
#define MAX_SECONDS 86400
#define LIMIT 1000
#define MAX_LIMIT 10000
#define PATIENCE_NS (10 * RM_NS_PER_S)

struct drill {
	uint64_t token; /* number of the request; 0: the slot is free */
	uint64_t session, http;
	rm_mono_t until;
	/* region of a query about a rack, whose answer does not name it; else "" */
	char region[RM_NAME_BYTES];
	bool counted; /* a query about a rack: for its counters, not for its mesh */
};

struct drills {
	struct rm_http_server *server;
	struct intake *intake;
	const struct racks *racks;
	struct drill waiting[DRILLS_MAX];
	uint64_t last_token;
	struct drills_counts counts;
};

static struct drill *
find(struct drills *drills, uint64_t token)
{
	for (size_t i = 0; i < DRILLS_MAX; i++)
		if (drills->waiting[i].token == token)
			return &drills->waiting[i];
	return NULL;
}

/* Frees the slots of queries that timed out; their clients have been answered. */
static void
forget_late(struct drills *drills, rm_mono_t now)
{
	for (size_t i = 0; i < DRILLS_MAX; i++)
		if (rm_mono_since(now, drills->waiting[i].until) > 0)
			drills->waiting[i].token = 0;
}

/* Returns the connected aggregator that reported the rack last; NULL: none is
 * connected. */
static const struct intake_info *
who_serves(const struct drills *drills, const struct rack *rack)
{
	const struct intake_info *session = NULL;

	for (size_t i = 0; rack != NULL && session == NULL && i < RACKS_AGGREGATORS;
	     i++)
		session =
		    intake_find(drills->intake, rack->region, rack->aggregators[i]);
	return session;
}

/* Returns the connected aggregator that reported the RNIC, or else another connected
 * one of its rack; NULL: none is connected. */
static const struct intake_info *
who_knows(const struct drills *drills, const struct rack_rnic *rnic)
{
	const struct intake_info *session =
	    intake_find(drills->intake, rnic->region, rnic->aggregator);

	if (session != NULL)
		return session;
	return who_serves(drills, racks_find(drills->racks, rnic->region, rnic->tor));
}

static void
ask(struct drills *drills, struct rm_http_request *request,
    const struct intake_info *session, const struct wire_drill *drill)
{
	rm_mono_t now = rm_mono_now();
	struct drill *place;
	uint64_t http;
	int r;

	forget_late(drills, now);
	place = find(drills, 0);
	r = place == NULL ? -EAGAIN : intake_drill(drills->intake, session->id, drill);
	if (r == 0)
		r = rm_http_defer(request, PATIENCE_NS, &http);
	if (r < 0) {
		drills->counts.refused++;
		rm_http_reply_error(request, 503,
		    r == -EAGAIN ? "too many requests at once; try again"
				 : "its aggregator cannot be reached now; try again");
		return;
	}
	*place = (struct drill){ .token = drill->token,
		.session = session->id,
		.http = http,
		.until = rm_mono_add(now, PATIENCE_NS),
		.counted = drill->counted != NULL };
	if (drill->mesh != NULL || drill->counted != NULL)
		snprintf(place->region, sizeof(place->region), "%s", session->region);
	drills->counts.asked++;
}

void
drills_ask(struct rm_http_request *request, void *arg)
{
	struct drills *drills = arg;
	uint64_t seconds = SECONDS, limit = LIMIT;
	const struct intake_info *session;
	const struct rack_rnic *rnic, *other;
	struct wire_drill drill;
	struct rm_sight sight;
	char id[RM_RNIC_ID_TEXT];

	if (!rm_http_query_number(request, "seconds", 1, MAX_SECONDS, &seconds) ||
	    !rm_http_query_number(request, "limit", 1, MAX_LIMIT, &limit))
		return;
	rm_sight_of(&sight, request);
	rnic = racks_rnic(drills->racks, rm_http_path_rest(request), &sight, &other);
	if (rnic == NULL) {
		rm_http_reply_error(request, 404,
		    "no aggregator has reported that RNIC yet: give its id or "
		    "host/device; figures of single RNICs come once a minute");
		return;
	}
	if (other != NULL) {
		rm_http_reply_error(request, 400,
		    "%s and %s both have such an RNIC: " CHOOSE_REGION, rnic->region,
		    other->region);
		return;
	}
	session = who_knows(drills, rnic);
	if (session == NULL) {
		rm_http_reply_error(
		    request, 503, "aggregator %s is not connected", rnic->aggregator);
		return;
	}
	rm_rnic_id_format(rnic->id, id);
	drill = (struct wire_drill){ .token = ++drills->last_token,
		.rnic = id,
		.seconds = (uint32_t)seconds,
		.limit = (uint32_t)limit };
	ask(drills, request, session, &drill);
}

/* Returns the rack that the path of the request names. NULL: an error has been sent as
 * the answer. */
static const struct rack *
rack_of(const struct drills *drills, struct rm_http_request *request)
{
	const char *tor = rm_http_path_rest(request);
	const struct rack *rack, *found = NULL;
	struct rm_sight sight;

	rm_sight_of(&sight, request);
	for (size_t i = 0; (rack = racks_get(drills->racks, i)) != NULL; i++) {
		if (strcmp(rack->tor, tor) != 0 ||
		    !rm_sight_shows(&sight, rack->region))
			continue;
		if (found != NULL) {
			rm_http_reply_error(request, 400,
			    "%s and %s both have such a ToR: " CHOOSE_REGION,
			    found->region, rack->region);
			return NULL;
		}
		found = rack;
	}
	if (found == NULL)
		rm_http_reply_error(
		    request, 404, "no aggregator has reported that ToR, see /v1/racks");
	return found;
}

static void
ask_rack(struct drills *drills, struct rm_http_request *request,
    const struct rack *rack, struct wire_drill *drill)
{
	const struct intake_info *session = who_serves(drills, rack);

	if (session == NULL) {
		rm_http_reply_error(
		    request, 503, "no aggregator of %s is connected", rack->tor);
		return;
	}
	drill->token = ++drills->last_token;
	ask(drills, request, session, drill);
}

void
drills_ask_mesh(struct rm_http_request *request, void *arg)
{
	struct drills *drills = arg;
	const char *period = rm_http_query(request, "period");
	const bool hour = period != NULL && strcmp(period, "hour") == 0;
	struct wire_drill drill = { .seconds = hour ? 3600 : 60 };
	const struct rack *rack;

	if (period != NULL && !hour && strcmp(period, "minute") != 0) {
		rm_http_reply_error(request, 400, "?period= is minute or hour");
		return;
	}
	rack = rack_of(drills, request);
	if (rack == NULL)
		return;
	drill.mesh = rack->tor;
	ask_rack(drills, request, rack, &drill);
}

static void
ask_counted(struct drills *drills, struct rm_http_request *request, bool hosts_only)
{
	const struct rack *rack = rack_of(drills, request);
	struct wire_drill drill = { .hosts_only = hosts_only };

	if (rack == NULL)
		return;
	drill.counted = rack->tor;
	ask_rack(drills, request, rack, &drill);
}

void
drills_ask_counted(struct rm_http_request *request, void *arg)
{
	ask_counted(arg, request, false);
}

void
drills_ask_hosts(struct rm_http_request *request, void *arg)
{
	ask_counted(arg, request, true);
}

/* Sends the aggregator's answer, with the region added. */
static void
reply_rack(const struct drill *drill, struct rm_http_request *request, int status,
    const struct wire_drill_answer *answer)
{
	const char *json = (const char *)answer->json.data;
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (drill->counted ? !answer->counted : !answer->mesh) {
		rm_http_reply_error(request, 501,
		    "the rack's aggregator runs a release that %s: upgrade it",
		    drill->counted ? "does not report counters"
				   : "does not store pairs");
		return;
	}
	if (status != 200 || answer->json.len < 2 || json[0] != '{') {
		rm_http_reply_text(request, status, json, answer->json.len);
		return;
	}
	out = open_memstream(&text, &len);
	if (out == NULL) {
		rm_http_reply_error(request, 500, "out of memory");
		return;
	}
	fprintf(out, "{\"region\":\"%s\",", drill->region);
	fwrite(json + 1, 1, answer->json.len - 1, out);
	if (fclose(out) == 0)
		rm_http_reply_text(request, status, text, len);
	else
		rm_http_reply_error(request, 500, "out of memory");
	free(text);
}

void
drills_answer(
    struct drills *drills, uint64_t session, const struct wire_drill_answer *answer)
{
	struct drill *drill = answer->token != 0 ? find(drills, answer->token) : NULL;
	const int status =
	    answer->status >= 200 && answer->status < 600 ? answer->status : 500;
	struct rm_http_request *request;

	/* The answer came too late, or from an aggregator that was not asked. */
	if (drill == NULL || drill->session != session) {
		drills->counts.refused++;
		return;
	}
	drills->counts.answered++;
	drill->token = 0;
	request = rm_http_deferred(drills->server, drill->http);
	if (drill->region[0] != '\0')
		reply_rack(drill, request, status, answer);
	else
		rm_http_reply_text(
		    request, status, (const char *)answer->json.data, answer->json.len);
}

void
drills_gone(struct drills *drills, uint64_t session)
{
	for (size_t i = 0; i < DRILLS_MAX; i++) {
		struct drill *drill = &drills->waiting[i];

		if (drill->token == 0 || drill->session != session)
			continue;
		drill->token = 0;
		rm_http_reply_error(rm_http_deferred(drills->server, drill->http), 503,
		    "its aggregator has disconnected; try again");
	}
}

int
drills_new(struct rm_http_server *server, struct intake *intake,
    const struct racks *racks, struct drills **ret)
{
	struct drills *drills = calloc(1, sizeof(*drills));

	if (drills == NULL)
		return -ENOMEM;
	drills->server = server;
	drills->intake = intake;
	drills->racks = racks;
	*ret = drills;
	return 0;
}

void
drills_free(struct drills *drills)
{
	free(drills);
}

const struct drills_counts *
drills_counts(const struct drills *drills)
{
	return &drills->counts;
}
