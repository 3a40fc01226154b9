#include "analyzer/api/drills.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/intake/intake.h"
#include "analyzer/racks/racks.h"
#include "rackmesh/http/http_server.h"

#define SECONDS 10
#define MAX_SECONDS 86400
#define LIMIT 1000
#define MAX_LIMIT 10000
#define PATIENCE_NS (10 * RM_NS_PER_S)

struct drill {
	uint64_t token; /* ours; 0: free */
	uint64_t session, http;
	rm_mono_t until;
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

/* Those that were never answered: their clients have been told. */
static void
forget_late(struct drills *drills, rm_mono_t now)
{
	for (size_t i = 0; i < DRILLS_MAX; i++)
		if (rm_mono_since(now, drills->waiting[i].until) > 0)
			drills->waiting[i].token = 0;
}

/* Its own aggregator, or another one of the rack. */
static const struct intake_info *
who_knows(const struct drills *drills, const struct rack_rnic *rnic)
{
	const struct intake_info *session =
	    intake_find(drills->intake, rnic->region, rnic->aggregator);
	const struct rack *rack;

	if (session != NULL)
		return session;
	rack = racks_find(drills->racks, rnic->region, rnic->tor);
	for (size_t i = 0; rack != NULL && session == NULL && i < RACKS_AGGREGATORS;
	     i++)
		session =
		    intake_find(drills->intake, rnic->region, rack->aggregators[i]);
	return session;
}

static void
ask(struct drills *drills, struct rm_http_request *request, uint64_t session,
    const struct wire_drill *drill)
{
	rm_mono_t now = rm_mono_now();
	struct drill *place;
	uint64_t http;
	int r;

	forget_late(drills, now);
	place = find(drills, 0);
	r = place == NULL ? -EAGAIN : intake_drill(drills->intake, session, drill);
	if (r == 0)
		r = rm_http_defer(request, PATIENCE_NS, &http);
	if (r < 0) {
		drills->counts.refused++;
		rm_http_reply_error(request, 503,
		    r == -EAGAIN ? "too many are asking at once; try again"
				 : "its aggregator cannot be asked now; try again");
		return;
	}
	*place = (struct drill){ drill->token, session, http,
		rm_mono_add(now, PATIENCE_NS) };
	drills->counts.asked++;
}

void
drills_ask(struct rm_http_request *request, void *arg)
{
	struct drills *drills = arg;
	uint64_t seconds = SECONDS, limit = LIMIT;
	const struct intake_info *session;
	const struct rack_rnic *rnic;
	struct wire_drill drill;
	char id[RM_RNIC_ID_TEXT];

	if (!rm_http_query_number(request, "seconds", 1, MAX_SECONDS, &seconds) ||
	    !rm_http_query_number(request, "limit", 1, MAX_LIMIT, &limit))
		return;
	rnic = racks_rnic(drills->racks, rm_http_path_rest(request));
	if (rnic == NULL) {
		rm_http_reply_error(request, 404,
		    "no aggregator has reported that RNIC yet: give its id or "
		    "host/device; figures of single RNICs come once a minute");
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
	ask(drills, request, session->id, &drill);
}

void
drills_answer(
    struct drills *drills, uint64_t session, const struct wire_drill_answer *answer)
{
	struct drill *drill = answer->token != 0 ? find(drills, answer->token) : NULL;
	bool sane = answer->status >= 200 && answer->status < 600;

	/* Too late, or nobody asked that one. */
	if (drill == NULL || drill->session != session) {
		drills->counts.refused++;
		return;
	}
	drills->counts.answered++;
	drill->token = 0;
	rm_http_reply_text(rm_http_deferred(drills->server, drill->http),
	    sane ? answer->status : 500, (const char *)answer->json.data,
	    answer->json.len);
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
		    "its aggregator has gone; try again");
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
