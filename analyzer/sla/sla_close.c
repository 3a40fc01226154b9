#define HASH_NONFATAL_OOM 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/sla/sla_state.h"

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

/* What each rack that was ever heard in this scope did in this minute. */
static void
count_racks(const struct sla *sla, const struct sla_scope *scope, int64_t minute,
    struct sla_figures *figures)
{
	const struct sla_rack *rack;

	for (rack = sla->racks; rack != NULL; rack = rack->hh.next) {
		const struct sla_slice *slice =
		    &rack->slices[(uint64_t)minute % SLA_OPEN_MINUTES];

		if (!is_of(rack, scope))
			continue;
		if (slice->minute != minute || slice->sent == 0)
			figures->unknown++;
		else if (slice->lost * 1000 <
			 slice->sent * sla->options.unavailable_permille)
			figures->available++;
		else
			figures->unavailable++;
	}
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

	if (has)
		figures = open->figures;
	count_racks(sla, scope, number, &figures);
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
		.racks_unknown = figures.unknown };
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
	for (; minute <= last; minute++) {
		struct sla_scope *scope;

		for (scope = sla->scopes; scope != NULL; scope = scope->hh.next)
			close_minute(sla, scope, minute, on_minute, arg);
		sla->closed = minute;
		forget_racks(sla, minute);
	}
}

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
