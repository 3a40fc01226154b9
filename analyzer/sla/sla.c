/*
 * A minute is open until it is closed, whatever comes late for it; the last hour is
 * kept by minutes, the last day by hours, of one sketch each.
 */
#include "analyzer/sla/sla.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "rackmesh/judge/part.h"
#include "rackmesh/metrics/sketch.h"

#define SLA_MINUTE_NS (60 * RM_NS_PER_S)
#define SLA_OPEN_MINUTES 4
#define SLA_MINUTES 60
#define SLA_HOURS 25 /* the hour that runs, and a day before it */
#define SLA_KEY_BYTES (RM_NAME_BYTES + 16)
#define SLA_RACK_KEY_BYTES (SLA_KEY_BYTES + RM_NAME_BYTES)

struct sla_figures {
	uint64_t sent, lost, invalid, not_sent;
	uint64_t available, unavailable, unknown; /* minutes of racks */
};

struct sla_open {
	int64_t minute; /* since the epoch; 0: none */
	struct sla_figures figures;
	struct rm_sketch *rtt;
};

struct sla_past {       /* a minute or an hour that was closed */
	int64_t number; /* since the epoch; 0: none */
	struct sla_figures figures;
	struct rm_sketch *rtt;
};

struct sla_scope {
	char key[SLA_KEY_BYTES]; /* region, DSCP, "rack" or "fabric" */
	char region[RM_NAME_BYTES];
	uint8_t dscp;
	bool between;
	struct sla_open open[SLA_OPEN_MINUTES]; /* by minute */
	struct sla_past minutes[SLA_MINUTES];   /* by minute */
	struct sla_past hours[SLA_HOURS];       /* by hour */
	UT_hash_handle hh;
};

struct sla_slice {
	int64_t minute;
	uint64_t sent, lost;
};

struct sla_rack {                     /* of one scope */
	char key[SLA_RACK_KEY_BYTES]; /* the scope's key, a blank, the ToR */
	struct sla_slice slices[SLA_OPEN_MINUTES];
	int64_t last; /* minute */
	UT_hash_handle hh;
};

struct sla {
	struct sla_options options;
	struct sla_scope *scopes;
	struct sla_rack *racks;
	struct sla_rack_minute *told; /* those of the minute that is being closed */
	size_t told_room;
	struct rm_sketch *scratch;
	bool closed_any, now_known;
	int64_t closed, now_minute;
};

int
sla_new(const struct sla_options *options, struct sla **ret)
{
	struct sla *sla = calloc(1, sizeof *sla);

	if (sla == NULL)
		return -ENOMEM;
	sla->options = *options;
	sla->scratch = rm_sketch_new();
	if (sla->scratch == NULL) {
		free(sla);
		return -ENOMEM;
	}
	*ret = sla;
	return 0;
}

static void
free_scope(struct sla_scope *scope)
{
	for (size_t i = 0; i < SLA_OPEN_MINUTES; i++)
		rm_sketch_free(scope->open[i].rtt);
	for (size_t i = 0; i < SLA_MINUTES; i++)
		rm_sketch_free(scope->minutes[i].rtt);
	for (size_t i = 0; i < SLA_HOURS; i++)
		rm_sketch_free(scope->hours[i].rtt);
	free(scope);
}

void
sla_free(struct sla *sla)
{
	struct sla_scope *scope, *next;
	struct sla_rack *rack, *next_rack;

	if (sla == NULL)
		return;
	HASH_ITER (hh, sla->scopes, scope, next) {
		HASH_DEL(sla->scopes, scope);
		free_scope(scope);
	}
	HASH_ITER (hh, sla->racks, rack, next_rack) {
		HASH_DEL(sla->racks, rack);
		free(rack);
	}
	rm_sketch_free(sla->scratch);
	free(sla->told);
	free(sla);
}

static struct sla_scope *
get_scope(struct sla *sla, const char *region, uint8_t dscp, bool between)
{
	struct sla_scope *scope;
	char key[SLA_KEY_BYTES];

	snprintf(
	    key, sizeof key, "%.63s %u %s", region, dscp, between ? "fabric" : "rack");
	HASH_FIND_STR(sla->scopes, key, scope);
	if (scope != NULL || HASH_COUNT(sla->scopes) >= SLA_MAX_SCOPES)
		return scope;
	scope = calloc(1, sizeof *scope);
	if (scope == NULL)
		return NULL;
	snprintf(scope->key, sizeof scope->key, "%s", key);
	snprintf(scope->region, sizeof scope->region, "%.63s", region);
	scope->dscp = dscp;
	scope->between = between;
	HASH_ADD_STR(sla->scopes, key, scope);
	if (scope->hh.tbl == NULL) { /* uthash could not grow */
		free(scope);
		return NULL;
	}
	return scope;
}

/* Whom this scope expects figures from: a rack that sent once, until it is forgotten.
 */
static struct sla_rack *
get_rack(struct sla *sla, const struct sla_scope *scope, const char *tor)
{
	struct sla_rack *rack;
	char key[SLA_RACK_KEY_BYTES];

	snprintf(key, sizeof key, "%s %.63s", scope->key, tor);
	HASH_FIND_STR(sla->racks, key, rack);
	if (rack != NULL || HASH_COUNT(sla->racks) >= SLA_MAX_RACKS)
		return rack;
	rack = calloc(1, sizeof *rack);
	if (rack == NULL)
		return NULL;
	snprintf(rack->key, sizeof rack->key, "%s", key);
	HASH_ADD_STR(sla->racks, key, rack);
	if (rack->hh.tbl == NULL) {
		free(rack);
		return NULL;
	}
	return rack;
}

/* The open minute that began then. NULL: it is closed, or lies ahead of all clocks. */
static struct sla_open *
get_minute(struct sla *sla, struct sla_scope *scope, int64_t minute)
{
	struct sla_open *open = &scope->open[(uint64_t)minute % SLA_OPEN_MINUTES];

	if (sla->closed_any && minute <= sla->closed)
		return NULL;
	if (sla->now_known && minute > sla->now_minute + 1)
		return NULL;
	if (open->minute == minute)
		return open;
	if (open->minute > minute)
		return NULL;
	/* What was there before was not closed in time: a clock has jumped. */
	if (open->rtt == NULL)
		open->rtt = rm_sketch_new();
	if (open->rtt == NULL)
		return NULL;
	rm_sketch_reset(open->rtt);
	open->minute = minute;
	open->figures = (struct sla_figures){ 0 };
	return open;
}

static void
take_row(
    struct sla *sla, const char *region, const struct wire_row *row, int64_t minute)
{
	const bool between = strcmp(row->src_tor, row->dst_tor) != 0;
	struct sla_scope *scope = get_scope(sla, region, row->dscp, between);
	struct sla_open *open;
	struct sla_rack *rack;
	struct sla_slice *slice;
	uint64_t lost;

	if (scope == NULL)
		return;
	open = get_minute(sla, scope, minute);
	rack = get_rack(sla, scope, row->src_tor);
	if (open == NULL || rack == NULL)
		return;
	lost = row->outcomes[WIRE_NO_REPLY];
	open->figures.sent += row->sent;
	open->figures.lost += lost;
	open->figures.invalid += row->outcomes[WIRE_INVALID];
	open->figures.not_sent += row->outcomes[WIRE_SEND_FAILED];
	if (row->rtt.len > 0 &&
	    rm_sketch_decode(sla->scratch, row->rtt.data, row->rtt.len) == 0)
		rm_sketch_merge(open->rtt, sla->scratch);
	slice = &rack->slices[(uint64_t)minute % SLA_OPEN_MINUTES];
	if (slice->minute != minute)
		*slice = (struct sla_slice){ .minute = minute };
	slice->sent += row->sent;
	slice->lost += lost;
	if (minute > rack->last)
		rack->last = minute;
}

void
sla_summary(struct sla *sla, const struct wire_summary_view *view)
{
	const struct wire_summary *summary = &view->summary;
	const int64_t minute =
	    (int64_t)(summary->start_wall_ns / (uint64_t)SLA_MINUTE_NS);

	if (summary->start_wall_ns == 0 || !rm_name_valid(summary->head.region))
		return;
	for (size_t i = 0; i < summary->row_count; i++) {
		struct wire_row row;

		wire_summary_row(view, i, &row);
		if (row.src_tor != NULL && row.dst_tor != NULL &&
		    rm_name_valid(row.src_tor))
			take_row(sla, summary->head.region, &row, minute);
	}
}

/* ---- closing a minute ---- */

#define FORGET_MINUTES 1440 /* a rack that sent nothing for a day was taken away */
#define JUMP_MINUTES 60     /* a clock that goes back so far was wrong before */

static const double quantiles[WIRE_QUANTILES] = {
	[WIRE_P50] = 0.50, [WIRE_P95] = 0.95, [WIRE_P99] = 0.99, [WIRE_MAX] = 1
};

static void
add_figures(struct sla_figures *into, const struct sla_figures *from)
{
	into->sent += from->sent;
	into->lost += from->lost;
	into->invalid += from->invalid;
	into->not_sent += from->not_sent;
	into->available += from->available;
	into->unavailable += from->unavailable;
	into->unknown += from->unknown;
}

static bool
is_of(const struct sla_rack *rack, const struct sla_scope *scope)
{
	const size_t len = strlen(scope->key);

	return strncmp(rack->key, scope->key, len) == 0 && rack->key[len] == ' ';
}

static enum sla_state
rack_state(const struct sla *sla, const struct sla_slice *slice)
{
	if (slice->sent == 0)
		return SLA_UNKNOWN;
	return slice->lost * 1000 < slice->sent * sla->options.unavailable_permille
		   ? SLA_AVAILABLE
		   : SLA_UNAVAILABLE;
}

/* What each rack that was ever heard in this scope did in this minute, into sla->told.
 * Returns how many they are: all, unless there was no memory. */
static size_t
count_racks(struct sla *sla, const struct sla_scope *scope, int64_t minute,
    struct sla_figures *figures)
{
	const struct sla_slice silent = { .minute = minute };
	const struct sla_rack *rack;
	size_t told = 0;

	for (rack = sla->racks; rack != NULL; rack = rack->hh.next) {
		const struct sla_slice *slice =
		    &rack->slices[(uint64_t)minute % SLA_OPEN_MINUTES];
		enum sla_state state;

		if (!is_of(rack, scope))
			continue;
		if (slice->minute != minute)
			slice = &silent;
		state = rack_state(sla, slice);
		figures->unknown += state == SLA_UNKNOWN;
		figures->available += state == SLA_AVAILABLE;
		figures->unavailable += state == SLA_UNAVAILABLE;
		if (told < sla->told_room)
			sla->told[told++] = (struct sla_rack_minute){
				.tor = rack->key + strlen(scope->key) + 1,
				.state = state,
				.sent = slice->sent,
				.lost = slice->lost,
			};
	}
	return told;
}

static void
make_room(struct sla *sla)
{
	const size_t racks = HASH_COUNT(sla->racks);
	struct sla_rack_minute *told;

	if (racks <= sla->told_room)
		return;
	told = realloc(sla->told, racks * sizeof(*told));
	if (told == NULL)
		return;
	sla->told = told;
	sla->told_room = racks;
}

static void
keep(struct sla_past *past, size_t count, int64_t number,
    const struct sla_figures *figures, const struct rm_sketch *rtt)
{
	struct sla_past *at = &past[(uint64_t)number % count];

	if (at->number != number) {
		at->number = number;
		at->figures = (struct sla_figures){ 0 };
		if (at->rtt != NULL)
			rm_sketch_reset(at->rtt);
	}
	add_figures(&at->figures, figures);
	if (rtt == NULL || rm_sketch_count(rtt) == 0)
		return;
	if (at->rtt == NULL)
		at->rtt = rm_sketch_new();
	if (at->rtt != NULL)
		rm_sketch_merge(at->rtt, rtt);
}

static void
close_minute(struct sla *sla, struct sla_scope *scope, int64_t number,
    void (*on_minute)(const struct sla_minute *minute, void *arg), void *arg)
{
	struct sla_open *open = &scope->open[(uint64_t)number % SLA_OPEN_MINUTES];
	const bool has = open->minute == number;
	struct sla_figures figures = { 0 };
	struct sla_minute minute;
	size_t told;

	if (has)
		figures = open->figures;
	told = count_racks(sla, scope, number, &figures);
	keep(scope->minutes, SLA_MINUTES, number, &figures, has ? open->rtt : NULL);
	keep(scope->hours, SLA_HOURS, number / 60, &figures, has ? open->rtt : NULL);
	minute = (struct sla_minute){ .region = scope->region,
		.dscp = scope->dscp,
		.scope = scope->between ? "fabric" : "rack",
		.start = { number * SLA_MINUTE_NS },
		.sent = figures.sent,
		.lost = figures.lost,
		.invalid = figures.invalid,
		.not_sent = figures.not_sent,
		.racks_available = figures.available,
		.racks_unavailable = figures.unavailable,
		.racks_unknown = figures.unknown,
		.racks = sla->told,
		.rack_count = told };
	for (size_t i = 0; has && i < WIRE_QUANTILES; i++)
		minute.rtt_ns[i] = rm_sketch_quantile_ns(open->rtt, quantiles[i]);
	if (has)
		open->minute = 0;
	on_minute(&minute, arg);
}

static void
forget_racks(struct sla *sla, int64_t minute)
{
	struct sla_rack *rack, *next;

	HASH_ITER (hh, sla->racks, rack, next) {
		if (rack->last + FORGET_MINUTES >= minute)
			continue;
		HASH_DEL(sla->racks, rack);
		free(rack);
	}
}

void
sla_close(struct sla *sla, rm_wall_t now, int64_t wait_ns,
    void (*on_minute)(const struct sla_minute *minute, void *arg), void *arg)
{
	const int64_t last = (now.ns - wait_ns) / SLA_MINUTE_NS - 1;
	int64_t minute = sla->closed + 1;

	sla->now_minute = now.ns / SLA_MINUTE_NS;
	sla->now_known = true;
	/* The first call begins; a clock that jumped begins anew where it is. */
	if (!sla->closed_any || last < sla->closed - JUMP_MINUTES ||
	    last > sla->closed + JUMP_MINUTES) {
		sla->closed_any = true;
		sla->closed = last;
		minute = last + 1;
	}
	make_room(sla);
	for (; minute <= last; minute++) {
		struct sla_scope *scope;

		for (scope = sla->scopes; scope != NULL; scope = scope->hh.next)
			close_minute(sla, scope, minute, on_minute, arg);
		sla->closed = minute;
		forget_racks(sla, minute);
	}
}

/* ---- as JSON ---- */

static json_t *
figures_json(const struct sla_figures *f, const struct rm_sketch *rtt)
{
	const uint64_t known = f->available + f->unavailable, all = known + f->unknown;
	json_t *json;

	json = json_pack("{s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:I}", "sent",
	    (json_int_t)f->sent, "lost", (json_int_t)f->lost, "invalid",
	    (json_int_t)f->invalid, "not_sent", (json_int_t)f->not_sent, "loss",
	    f->sent > 0 ? (double)f->lost / (double)f->sent : 0.0,
	    "rack_minutes_available", (json_int_t)f->available,
	    "rack_minutes_unavailable", (json_int_t)f->unavailable,
	    "rack_minutes_unknown", (json_int_t)f->unknown);
	if (json == NULL)
		return NULL;
	/* What is unknown counts as that: not as available, and of all there is. */
	json_object_set_new(json, "availability",
	    all > 0 ? json_real((double)f->available / (double)all) : json_null());
	json_object_set_new(json, "known",
	    all > 0 ? json_real((double)known / (double)all) : json_null());
	json_object_set_new(json, "rtt_ns",
	    rtt != NULL && rm_sketch_count(rtt) > 0
		? json_pack("{s:I, s:I, s:I, s:I}", "p50",
		      (json_int_t)rm_sketch_quantile_ns(rtt, 0.50), "p95",
		      (json_int_t)rm_sketch_quantile_ns(rtt, 0.95), "p99",
		      (json_int_t)rm_sketch_quantile_ns(rtt, 0.99), "max",
		      (json_int_t)rm_sketch_max_ns(rtt))
		: json_null());
	return json;
}

static json_t *
past_json(const struct sla_past *past, size_t count, int64_t from, int64_t to)
{
	struct sla_figures figures = { 0 };
	struct rm_sketch *rtt = rm_sketch_new();
	json_t *json;

	if (rtt == NULL)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (past[i].number < from || past[i].number > to)
			continue;
		add_figures(&figures, &past[i].figures);
		if (past[i].rtt != NULL)
			rm_sketch_merge(rtt, past[i].rtt);
	}
	json = figures_json(&figures, rtt);
	rm_sketch_free(rtt);
	return json;
}

json_t *
sla_json(const struct sla *sla, rm_wall_t now)
{
	const int64_t minute = now.ns / SLA_MINUTE_NS, hour = minute / 60;
	const struct sla_scope *scope;
	json_t *scopes = json_array();

	if (scopes == NULL)
		return NULL;
	for (scope = sla->scopes; scope != NULL; scope = scope->hh.next)
		json_array_append_new(scopes,
		    json_pack("{s:s, s:i, s:s, s:o, s:o}", "region", scope->region,
			"dscp", (int)scope->dscp, "scope",
			scope->between ? "fabric" : "rack", "hour",
			past_json(scope->minutes, SLA_MINUTES, minute - 60, minute),
			"day", past_json(scope->hours, SLA_HOURS, hour - 24, hour)));
	return json_pack("{s:o}", "scopes", scopes);
}
