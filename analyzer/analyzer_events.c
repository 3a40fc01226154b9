#include "analyzer/analyzer_events.h"

#include <errno.h>
#include <string.h>

#include "analyzer/analyzer_config.h"
#include "analyzer/analyzer_state.h"
#include "analyzer/api/drills.h"
#include "analyzer/blind/blind.h"
#include "analyzer/history/history.h"
#include "analyzer/incidents/incident_table.h"
#include "analyzer/incidents/region.h"
#include "analyzer/incidents/suppression.h"
#include "analyzer/intake/intake.h"
#include "analyzer/racks/known_aggregators.h"
#include "analyzer/racks/rack_source.h"
#include "analyzer/racks/racks.h"
#include "analyzer/racks/tor_mesh.h"
#include "analyzer/sla/sla.h"
#include "analyzer/sla/sla_file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/identity/sight_counts.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/notify.h"
#include "rackmesh/tls/credentials.h"
#include "rackmesh/tls/tls.h"

_Static_assert(ANALYZER_MAX_REGIONS <= RM_SIGHT_REGIONS, "each has its own count");

/* ---- messages of aggregators; their connects and disconnects ---- */

static const char *
on_hello(const struct intake_info *session, void *arg)
{
	struct analyzer *analyzer = arg;
	const char *tors[WIRE_MAX_TORS];
	rm_mono_t now = rm_mono_now();
	struct region *region;

	if (analyzer_region_get(analyzer, session->region, &region) < 0)
		return "the table of regions is full";
	for (size_t i = 0; i < session->tor_count; i++) {
		tors[i] = session->tors[i];
		racks_served(
		    analyzer->racks, session->region, tors[i], session->name, now);
	}
	blind_connected(region_blind(region), session->region, session->name, tors,
	    session->tor_count, now);
	blind_row_interval(region_blind(region), session->region, session->name,
	    session->row_interval_ns);
	region_row_interval(region, now);
	if (known_seen(analyzer->known, session->region, session->name, session->tors,
		session->tor_count, rm_wall_now()) < 0)
		rm_log_warn(0,
		    "cannot persist aggregator %s: after a restart its silence is not "
		    "reported",
		    session->name);
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

/* An aggregator that is connected to another analyzer is not reported as missing. */
static void
on_left(const struct intake_info *session, void *arg)
{
	struct analyzer *analyzer = arg;
	struct region *region = analyzer_region(analyzer, session->region);

	rm_log_info("%s: moved to another analyzer", session->name);
	blind_left(region_blind(region), session->region, session->name);
	known_left(analyzer->known, session->region, session->name);
	if (!blind_is_connected(region_blind(region)))
		region_leave(region);
}

static void
on_seen(const struct intake_info *session, void *arg)
{
	const struct analyzer *analyzer = arg;
	struct blind *blind = region_blind(analyzer_region(analyzer, session->region));

	if (session->is_held)
		blind_held(blind, session->region, session->name, session->last_seen);
	else
		blind_seen(blind, session->region, session->name, session->last_seen);
	blind_certificates(blind, session->region, session->name, session->ends_s,
	    session->controller, session->controller_ends_s);
}

static int
take_summary(const struct wire_summary_view *view, uint64_t *ticket, void *arg)
{
	const struct analyzer *analyzer = arg;

	return history_take_summary(analyzer->history, view, ticket);
}

static int
take_incident(const struct wire_incident *incident, uint64_t *ticket, void *arg)
{
	const struct analyzer *analyzer = arg;

	return history_take_incident(analyzer->history, incident, ticket);
}

/* Returns by how many ns the end of the summary is before our wall clock's time. An end
 * out of range counts as infinitely early. */
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
	const int64_t lag_ns = lag_of(summary);
	rm_mono_t now = rm_mono_now();

	racks_summary(analyzer->racks, view, region_row_interval_ns(region), now);
	if (!repeated) {
		if (summary->row_count == 0 ||
		    rack_source_take(analyzer->turns, summary->head.region,
			summary->tor, summary->head.aggregator, summary->start_wall_ns,
			summary->end_wall_ns, now)) {
			sla_summary(analyzer->sla, view);
			tor_mesh_summary(analyzer->tor_mesh, view,
			    rm_mono_add(now, lag_ns > 0 ? -lag_ns : 0));
		} else {
			analyzer->counts.overlaps++;
		}
		region_summary(region, view, now);
	}
	if (summary->has_state)
		blind_rack(region_blind(region), summary->head.region,
		    summary->head.aggregator, summary->tor, &summary->state, lag_ns,
		    now);
}

static int
on_incident(const struct wire_incident *incident, void *arg)
{
	struct analyzer *analyzer = arg;
	int r;

	r = incident_table_edge(analyzer->table, incident);
	if (r > 0)
		region_incident(analyzer_region(analyzer, incident->head.region),
		    incident, rm_mono_now());
	/* An incident that is refused for good is counted by the region; history keeps
	 * it all the same. */
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
		.on_seen = on_seen,
		.take_summary = take_summary,
		.take_incident = take_incident,
		.on_summary = on_summary,
		.on_incident = on_incident,
		.on_drilled = on_drilled,
		.arg = analyzer,
	};
}

#define TICK_NS (50 * RM_NS_PER_MS)
#define TICKS_PER_JUDGEMENT 5
#define TICKS_PER_S 20
#define TICKS_PER_HOUR (3600 * TICKS_PER_S)
/* If a tick comes later than this, the process was stopped: sockets are read before
 * anything is judged. */
#define STALL_NS (300 * RM_NS_PER_MS)
#define HOLD_NS (500 * RM_NS_PER_MS)
/* A judgement that takes longer has kept the process from reading its sockets. */
#define SOCKETS_UNREAD_NS RM_NS_PER_S
/* The rows of a minute arrive up to one row interval late. This time is added for their
 * transport. */
#define SLA_MARGIN_NS (5 * RM_NS_PER_S)
#define FORGET_NS (86400 * RM_NS_PER_S)

/* ---- regions ---- */

struct region *
analyzer_region(const struct analyzer *analyzer, const char *name)
{
	for (size_t i = 0; i < analyzer->region_count; i++)
		if (strcmp(region_name(analyzer->regions[i]), name) == 0)
			return analyzer->regions[i];
	return NULL;
}

/* Adds an incident of this analyzer to the table of incidents and to the history. */
static void
on_own_incident(const char *region, enum wire_incident_state state,
    const struct rm_incident *incident, void *arg)
{
	struct analyzer *analyzer = arg;
	int r;

	r = incident_table_own(
	    analyzer->table, region, analyzer->config->name, state, incident);
	if (r < 0)
		rm_log_warn(r, "cannot list an incident of region %s", region);
	r = history_incident(analyzer->history, region, state, incident);
	if (r < 0)
		analyzer->counts.unkept++;
}

static bool
is_explained(
    const char *region, const struct rm_verdict *verdict, rm_wall_t now, void *arg)
{
	const struct analyzer *analyzer = arg;

	return suppressed_by_racks(analyzer->table, region, verdict, now);
}

int
analyzer_region_get(struct analyzer *analyzer, const char *name, struct region **ret)
{
	const struct analyzer_config *config = analyzer->config;
	const struct region_options options = {
		.loop = analyzer->loop,
		.worker = analyzer->worker,
		.http = analyzer->http,
		.analyzer = config->name,
		.state_folder = config->state_folder,
		.record_folder = config->record_folder,
		.record_max_bytes = config->record_max_mib << 20,
		.resolve_after_ns = (int64_t)config->resolve_after_ms * RM_NS_PER_MS,
		.flap_within_ns = (int64_t)config->flapping_within_s * RM_NS_PER_S,
		.blind_grace_ns = (int64_t)config->blind_grace_ms * RM_NS_PER_MS,
		.blind_start_ns = (int64_t)config->blind_start_ms * RM_NS_PER_MS,
		.alerts = &config->alerts,
		.first = config->primary,
	};
	const struct region_callbacks callbacks = {
		.on_incident = on_own_incident,
		.is_explained = is_explained,
		.arg = analyzer,
	};
	int r;

	*ret = analyzer_region(analyzer, name);
	if (*ret != NULL)
		return 0;
	if (analyzer->region_count == ANALYZER_MAX_REGIONS) {
		analyzer->counts.refused_regions++;
		return -ENOBUFS;
	}
	r = region_new(&options, name, &callbacks, ret);
	if (r < 0) {
		rm_log_error(r, "cannot watch region %s", name);
		return r;
	}
	analyzer->regions[analyzer->region_count++] = *ret;
	/* Regions from before a restart are created before the metrics exist. */
	if (analyzer->metrics != NULL)
		(void)analyzer_metrics_region(*ret, analyzer->metrics);
	return 0;
}

static void
on_durable(enum wire_lane lane, uint64_t ticket, void *arg)
{
	const struct analyzer *analyzer = arg;

	/* Points from before a restart may become durable before the intake exists. */
	if (analyzer->intake != NULL)
		intake_durable(analyzer->intake, lane, ticket);
}

void
analyzer_history_callbacks(struct analyzer *analyzer, struct history_callbacks *ret)
{
	*ret = (struct history_callbacks){ .on_durable = on_durable, .arg = analyzer };
}

/* ---- time passes ---- */

static void
note_sockets_unread(struct analyzer *analyzer, rm_mono_t now)
{
	for (size_t i = 0; i < analyzer->region_count; i++)
		blind_stalled(region_blind(analyzer->regions[i]), now);
	intake_stalled(analyzer->intake, now);
}

static void
notice_stall(struct analyzer *analyzer, rm_mono_t now)
{
	int64_t late_ns = rm_mono_since(now, analyzer->deadline);

	if (late_ns <= STALL_NS)
		return;
	analyzer->counts.stalls++;
	analyzer->counts.stalled_ns += (uint64_t)late_ns;
	analyzer->hold_until = rm_mono_add(now, HOLD_NS);
	note_sockets_unread(analyzer, now);
	rm_log_warn(
	    0, "event loop stalled for %lld ms", (long long)(late_ns / RM_NS_PER_MS));
}

/* Ignores the last rows of a rack that stopped reporting. */
static void
note_seen(struct analyzer *analyzer, rm_mono_t now)
{
	const struct rack *rack;

	for (size_t i = 0; (rack = racks_get(analyzer->racks, i)) != NULL; i++) {
		struct region *region = analyzer_region(analyzer, rack->region);

		region_rack_is_seen(region, rack->tor,
		    blind_rack_is_seen(
			region_blind(region), rack->region, rack->tor, now),
		    now);
	}
}

static rm_wall_t
quiet(const char *region, const char *source, const char *tor, rm_wall_t changed,
    void *arg)
{
	const struct analyzer *analyzer = arg;

	return racks_quiet(analyzer->racks, region, source, tor, changed);
}

static void
on_ended(const struct incident_table_entry *entry, void *arg)
{
	const struct analyzer *analyzer = arg;
	struct region *region = analyzer_region(analyzer, entry->region);
	struct wire_incident incident = { .incident_id = entry->id,
		.state = WIRE_RESOLVED,
		.tor = entry->tor,
		.part_type = entry->part_type,
		.part = entry->part,
		.kind = entry->kind,
		.opened_wall_ns = (uint64_t)entry->opened.ns,
		.changed_wall_ns = (uint64_t)entry->changed.ns,
		.evidence_json = entry->evidence_json };

	rm_log_info("%s: %s: incident resolved: the rack reports no such incident",
	    entry->region, entry->part);
	/* Resolves it in the name of each aggregator that reported it. */
	for (size_t i = 0; i < entry->source_count; i++) {
		incident.head.aggregator = entry->sources[i];
		region_incident(region, &incident, rm_mono_now());
	}
}

static void
judge(struct analyzer *analyzer, rm_mono_t now, rm_wall_t wall, bool also_blind)
{
	rm_mono_t done;
	int64_t took_ns;

	for (size_t i = 0; i < analyzer->region_count; i++) {
		int r;

		blind_own_certificate(region_blind(analyzer->regions[i]),
		    analyzer->config->name,
		    rm_tls_ending_wall_s(rm_credentials_tls(analyzer->credentials),
			wall.ns / RM_NS_PER_S));
		region_update_ends(analyzer->regions[i], analyzer->table);
		r = region_judge(analyzer->regions[i], now, wall, also_blind);
		analyzer->counts.judgements++;
		analyzer->counts.failed_judgements += r < 0;
	}
	done = rm_mono_now();
	took_ns = rm_mono_since(done, now);
	analyzer->counts.judging_ns += (uint64_t)took_ns;
	if (took_ns > SOCKETS_UNREAD_NS)
		note_sockets_unread(analyzer, done);
}

static void
on_minute(const struct sla_minute *minute, void *arg)
{
	struct analyzer *analyzer = arg;

	if (history_sla(analyzer->history, minute) < 0)
		analyzer->counts.unkept++;
}

/* Returns how long after its end a minute is closed, at most SLA_MAX_WAIT_NS: later its
 * slot, which all regions share, would be overwritten by another minute. Rows of slower
 * aggregators are then too late. */
static int64_t
sla_wait_ns(const struct analyzer *analyzer)
{
	int64_t longest_ns = 0;

	for (size_t i = 0; i < analyzer->region_count; i++) {
		int64_t interval_ns = region_row_interval_ns(analyzer->regions[i]);

		longest_ns = interval_ns > longest_ns ? interval_ns : longest_ns;
	}
	longest_ns += SLA_MARGIN_NS;
	return longest_ns < SLA_MAX_WAIT_NS ? longest_ns : SLA_MAX_WAIT_NS;
}

static void
every_second(struct analyzer *analyzer, rm_mono_t now, rm_wall_t wall)
{
	note_seen(analyzer, now);
	incident_table_end_quiet(analyzer->table, quiet, on_ended, analyzer);
	if (sla_file_ready(analyzer->sla_file, wall))
		sla_close(
		    analyzer->sla, wall, sla_wait_ns(analyzer), on_minute, analyzer);
	sla_file_save(analyzer->sla_file);
	known_keep(analyzer->known, wall, FORGET_NS);
}

static void
every_hour(struct analyzer *analyzer, rm_mono_t now, rm_wall_t wall)
{
	const struct intake_info *session;

	racks_expire(analyzer->racks, now);
	tor_mesh_expire(analyzer->tor_mesh, now);
	for (size_t i = 0; (session = intake_get(analyzer->intake, i)) != NULL; i++)
		if (session->is_welcome)
			(void)known_seen(analyzer->known, session->region,
			    session->name, session->tors, session->tor_count, wall);
}

static void
on_tick(void *arg)
{
	struct analyzer *analyzer = arg;
	rm_mono_t now = rm_mono_now();
	rm_wall_t wall = rm_wall_now();
	bool whole_second;

	notice_stall(analyzer, now);
	whole_second = ++analyzer->ticks % TICKS_PER_S == 0;
	if (whole_second)
		every_second(analyzer, now, wall);
	if (analyzer->ticks % TICKS_PER_HOUR == 0)
		every_hour(analyzer, now, wall);
	if (analyzer->ticks % TICKS_PER_JUDGEMENT == 0 &&
	    now.ns >= analyzer->hold_until.ns)
		judge(analyzer, now, wall, whole_second);
	/* Ticks that were missed are not repeated. The time that this tick took does
	 * not count as a stall. */
	now = rm_mono_now();
	while (analyzer->deadline.ns <= now.ns)
		analyzer->deadline = rm_mono_add(analyzer->deadline, TICK_NS);
	rm_timer_at(analyzer->tick, analyzer->deadline);
	rm_notify_worked(rm_loop_notify(analyzer->loop), analyzer->worker, now);
}

int
analyzer_start_ticking(struct analyzer *analyzer)
{
	const rm_wall_t wall = rm_wall_now();
	int r = rm_timer_new(analyzer->loop, on_tick, analyzer, &analyzer->tick);

	if (r < 0)
		return r;
	/* From here on each minute is closed, however late the first tick comes. */
	if (sla_file_ready(analyzer->sla_file, wall))
		sla_close(analyzer->sla, wall, SLA_MAX_WAIT_NS, on_minute, analyzer);
	analyzer->deadline = rm_mono_add(rm_mono_now(), TICK_NS);
	rm_timer_at(analyzer->tick, analyzer->deadline);
	return 0;
}
