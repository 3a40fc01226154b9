/* What aggregators bring, and that they come and go. */
#include <errno.h>
#include <string.h>

#include "analyzer/analyzer_events.h"
#include "analyzer/analyzer_state.h"
#include "analyzer/api/drills.h"
#include "analyzer/blind/blind.h"
#include "analyzer/history/history.h"
#include "analyzer/incidents/board.h"
#include "analyzer/incidents/region.h"
#include "analyzer/intake/intake.h"
#include "analyzer/racks/known.h"
#include "analyzer/racks/rack_turns.h"
#include "analyzer/racks/racks.h"
#include "analyzer/sla/sla.h"
#include "rackmesh/core/log.h"

static const char *
on_hello(const struct intake_info *session, void *arg)
{
	struct analyzer *analyzer = arg;
	const char *tors[WIRE_MAX_TORS];
	rm_mono_t now = rm_mono_now();
	struct region *region;

	if (analyzer_region_get(analyzer, session->region, &region) < 0)
		return "no room for one more region";
	for (size_t i = 0; i < session->tor_count; i++) {
		tors[i] = session->tors[i];
		racks_served(
		    analyzer->racks, session->region, tors[i], session->name, now);
	}
	blind_connected(region_blind(region), session->region, session->name, tors,
	    session->tor_count, now);
	if (known_heard(analyzer->known, session->region, session->name, session->tors,
		session->tor_count, rm_wall_now()) < 0)
		rm_log_warn(
		    0, "%s will not be missed after a restart of ours", session->name);
	return NULL;
}

static void
on_gone(const struct intake_info *session, void *arg)
{
	struct analyzer *analyzer = arg;
	struct region *region = analyzer_region(analyzer, session->region);

	blind_disconnected(
	    region_blind(region), session->region, session->name, rm_mono_now());
	drills_gone(analyzer->drills, session->id);
}

/* Nothing is to be said of whom another analyzer hears. */
static void
on_left(const struct intake_info *session, void *arg)
{
	struct analyzer *analyzer = arg;
	struct region *region = analyzer_region(analyzer, session->region);

	rm_log_info("%s: goes to another analyzer", session->name);
	blind_left(region_blind(region), session->region, session->name);
	known_left(analyzer->known, session->region, session->name);
	if (!blind_is_connected(region_blind(region)))
		region_leave(region);
}

static void
on_heard(const struct intake_info *session, void *arg)
{
	const struct analyzer *analyzer = arg;
	struct blind *blind = region_blind(analyzer_region(analyzer, session->region));

	if (session->is_held)
		blind_held(blind, session->region, session->name, session->heard);
	else
		blind_heard(blind, session->region, session->name, session->heard);
	blind_certificates(blind, session->region, session->name, session->ends_s,
	    session->controller, session->controller_ends_s);
}

static int
take(enum wire_lane lane, const uint8_t *data, size_t len, uint64_t *ticket, void *arg)
{
	const struct analyzer *analyzer = arg;

	return history_take(analyzer->history, lane, data, len, ticket);
}

/* Behind our wall time; what is no time at all is as far off as can be. */
static int64_t
lag_of(const struct wire_summary *summary)
{
	return summary->end_wall_ns > INT64_MAX
		   ? INT64_MIN / 2
		   : rm_wall_now().ns - (int64_t)summary->end_wall_ns;
}

static void
on_summary(const struct wire_summary_view *view, bool repeated, void *arg)
{
	struct analyzer *analyzer = arg;
	const struct wire_summary *summary = &view->summary;
	struct region *region = analyzer_region(analyzer, summary->head.region);
	rm_mono_t now = rm_mono_now();

	racks_summary(analyzer->racks, view, now);
	if (!repeated) {
		if (summary->row_count == 0 ||
		    rack_turns_take(analyzer->turns, summary->head.region, summary->tor,
			summary->head.aggregator, summary->start_wall_ns,
			summary->end_wall_ns, now))
			sla_summary(analyzer->sla, view);
		else
			analyzer->counts.overlaps++;
		region_summary(region, view, now);
	}
	if (summary->has_state)
		blind_rack(region_blind(region), summary->head.region,
		    summary->head.aggregator, summary->tor, &summary->state,
		    lag_of(summary), now);
}

static int
on_incident(const struct wire_incident *incident, void *arg)
{
	struct analyzer *analyzer = arg;
	int r;

	r = board_edge(analyzer->board, incident);
	if (r > 0)
		region_incident(analyzer_region(analyzer, incident->head.region),
		    incident, rm_mono_now());
	/* What is refused for good is counted there, and kept by history. */
	return r == -ENOMEM ? r : 0;
}

static void
on_drilled(const struct intake_info *session, const struct wire_drill_answer *answer,
    void *arg)
{
	const struct analyzer *analyzer = arg;

	drills_answer(analyzer->drills, session->id, answer);
}

void
analyzer_intake_callbacks(struct analyzer *analyzer, struct intake_callbacks *ret)
{
	*ret = (struct intake_callbacks){
		.on_hello = on_hello,
		.on_gone = on_gone,
		.on_left = on_left,
		.on_heard = on_heard,
		.take = take,
		.on_summary = on_summary,
		.on_incident = on_incident,
		.on_drilled = on_drilled,
		.arg = analyzer,
	};
}
