/*
 * Rows, also late ones, are added to a minute until it is closed. The last hour is
 * stored by minute, and the last day by hour, each with one sketch. Closed sketches are
 * stored encoded: 11 KB of bins become some hundred bytes.
 */
#include "analyzer/sla/sla.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/sla/sla_state.h"
#include "rackmesh/identity/sight.h"
#include "rackmesh/judge/part.h"
#include "rackmesh/metrics/sketch.h"

/* Scopes summed each second: so all are summed within a minute. */
#define SLA_SUMS_AT_ONCE 64

static const char *const kind_names[] = {
	[SLA_RACK] = "rack", [SLA_FABRIC] = "fabric", [SLA_SERVICE] = "service"
};

int
sla_new(const struct sla_options *options, struct sla **ret)
{
	struct sla *sla = calloc(1, sizeof *sla);

	if (sla == NULL)
		return -ENOMEM;
	sla->options = *options;
	sla->scratch = rm_sketch_new();
	sla->sum = rm_sketch_new();
	if (sla->scratch == NULL || sla->sum == NULL) {
		sla_free(sla);
		return -ENOMEM;
	}
	*ret = sla;
	return 0;
}

/* Returns the counter of racks for this kind of scope. Services have a limit of their
 * own, so that they cannot use all places. */
static size_t *
racks_like(struct sla *sla, const struct sla_scope *scope)
{
	return scope->kind == SLA_SERVICE ? &sla->service_racks : &sla->racks;
}

static void
free_rack(struct sla *sla, struct sla_scope *scope, struct sla_rack *rack)
{
	HASH_DEL(scope->racks, rack);
	free(rack);
	--*racks_like(sla, scope);
}

static void
free_scope(struct sla *sla, struct sla_scope *scope)
{
	struct sla_rack *rack, *next;

	HASH_ITER (hh, scope->racks, rack, next)
		free_rack(sla, scope, rack);
	for (size_t i = 0; i < SLA_OPEN_MINUTES; i++)
		rm_sketch_free(scope->open[i].rtt);
	for (size_t i = 0; i < SLA_MINUTES; i++)
		free(scope->minutes[i].rtt);
	for (size_t i = 0; i < SLA_HOURS; i++)
		free(scope->hours[i].rtt);
	free(scope);
}

void
sla_clear(struct sla *sla)
{
	struct sla_scope *scope, *next;

	HASH_ITER (hh, sla->scopes, scope, next) {
		HASH_DEL(sla->scopes, scope);
		free_scope(sla, scope);
	}
	sla->services = 0;
}

void
sla_free(struct sla *sla)
{
	if (sla == NULL)
		return;
	sla_clear(sla);
	rm_sketch_free(sla->scratch);
	rm_sketch_free(sla->sum);
	free(sla->reported);
	free(sla);
}

static void
forget_service(struct sla *sla, struct sla_scope *scope)
{
	HASH_DEL(sla->scopes, scope);
	free_scope(sla, scope);
	sla->services--;
}

/* Removes the service that has been silent for longest and has no open minute. If none
 * can be removed, the search is not repeated before the next minute. */
static bool
evict_service(struct sla *sla)
{
	struct sla_scope *longest = NULL;

	if (sla->busy == sla->closed)
		return false;
	for (struct sla_scope *scope = sla->scopes; scope != NULL;
	     scope = scope->hh.next)
		if (scope->kind == SLA_SERVICE && scope->last <= sla->closed &&
		    (longest == NULL || scope->last < longest->last))
			longest = scope;
	if (longest == NULL) {
		sla->busy = sla->closed;
		return false;
	}
	forget_service(sla, longest);
	sla->counts.evicted++;
	return true;
}

static bool
has_room(struct sla *sla, enum sla_kind kind)
{
	if (kind != SLA_SERVICE)
		return HASH_COUNT(sla->scopes) - sla->services < SLA_MAX_SCOPES;
	return sla->services < SLA_MAX_SERVICES || evict_service(sla);
}

struct sla_scope *
sla_scope_get(struct sla *sla, const char *region, uint8_t dscp, enum sla_kind kind,
    const char *service)
{
	struct sla_scope *scope;
	char key[SLA_KEY_BYTES];

	snprintf(key, sizeof key, "%.63s %u %s %.*s", region, dscp, kind_names[kind],
	    SLA_SERVICE_BYTES - 1, service);
	HASH_FIND_STR(sla->scopes, key, scope);
	if (scope != NULL || !has_room(sla, kind))
		return scope;
	scope = calloc(1, sizeof *scope);
	if (scope == NULL)
		return NULL;
	snprintf(scope->key, sizeof scope->key, "%s", key);
	snprintf(scope->region, sizeof scope->region, "%.63s", region);
	snprintf(scope->service, sizeof scope->service, "%s", service);
	scope->dscp = dscp;
	scope->kind = kind;
	HASH_ADD_STR(sla->scopes, key, scope);
	if (scope->hh.tbl == NULL) { /* uthash could not grow */
		free(scope);
		return NULL;
	}
	sla->services += kind == SLA_SERVICE;
	return scope;
}

/* Finds or adds the rack in this scope. After its first results a rack is expected to
 * send results until it is deleted. */
struct sla_rack *
sla_rack_get(struct sla *sla, struct sla_scope *scope, const char *tor)
{
	struct sla_rack *rack;

	HASH_FIND_STR(scope->racks, tor, rack);
	if (rack != NULL)
		return rack;
	if (*racks_like(sla, scope) >=
	    (scope->kind == SLA_SERVICE ? SLA_MAX_SERVICE_RACKS : SLA_MAX_RACKS))
		return NULL;
	rack = calloc(1, sizeof *rack);
	if (rack == NULL)
		return NULL;
	snprintf(rack->tor, sizeof rack->tor, "%s", tor);
	HASH_ADD_STR(scope->racks, tor, rack);
	if (rack->hh.tbl == NULL) {
		free(rack);
		return NULL;
	}
	++*racks_like(sla, scope);
	return rack;
}

static bool
is_counted(const struct sla *sla, int64_t minute)
{
	const int64_t hour = minute / 60;
	const struct sla_counted *counted = &sla->counted[(uint64_t)hour % SLA_HOURS];

	return counted->hour == hour &&
	       (counted->minutes >> (uint64_t)minute % 60 & 1) != 0;
}

static bool
is_future(const struct sla *sla, int64_t minute)
{
	return sla->now_known && minute > sla->now_minute + 1;
}

/* Returns the open minute with this number. NULL: it is closed, or is too far in the
 * future. */
static struct sla_open *
get_minute(struct sla *sla, struct sla_scope *scope, int64_t minute)
{
	struct sla_open *open = &scope->open[(uint64_t)minute % SLA_OPEN_MINUTES];

	if ((sla->closed_any && minute <= sla->closed) || is_counted(sla, minute))
		return NULL;
	if (is_future(sla, minute))
		return NULL;
	if (open->minute == minute)
		return open;
	if (open->minute > minute && !is_future(sla, open->minute))
		return NULL;
	/* The minute that used this slot before was not closed in time, or is of the
	 * future: the clock has jumped. */
	if (open->rtt == NULL)
		open->rtt = rm_sketch_new();
	if (open->rtt == NULL)
		return NULL;
	rm_sketch_reset(open->rtt);
	open->minute = minute;
	open->figures = (struct sla_figures){ 0 };
	return open;
}

/* Results of one rack's probers in one minute, in one scope. */
struct prober_minute {
	const char *tor;
	int64_t minute;
	uint64_t sent;
	const uint64_t *outcomes;
	struct wire_bytes rtt;
};

static void
take(struct sla *sla, struct sla_scope *scope, const struct prober_minute *minute)
{
	const uint64_t lost = minute->outcomes[WIRE_NO_REPLY];
	struct sla_open *open;
	struct sla_rack *rack;
	struct sla_slice *slice;

	rack = scope != NULL ? sla_rack_get(sla, scope, minute->tor) : NULL;
	if (rack == NULL) {
		sla->counts.refused++;
		return;
	}
	open = get_minute(sla, scope, minute->minute);
	if (open == NULL) {
		sla->counts.late++;
		return;
	}
	open->figures.sent += minute->sent;
	open->figures.lost += lost;
	open->figures.invalid += minute->outcomes[WIRE_INVALID];
	open->figures.not_sent += minute->outcomes[WIRE_SEND_FAILED];
	if (minute->rtt.len > 0 &&
	    rm_sketch_decode(sla->scratch, minute->rtt.data, minute->rtt.len) == 0)
		rm_sketch_merge(open->rtt, sla->scratch);
	slice = &rack->slices[(uint64_t)minute->minute % SLA_OPEN_MINUTES];
	if (slice->minute != minute->minute)
		*slice = (struct sla_slice){ .minute = minute->minute };
	slice->sent += minute->sent;
	slice->lost += lost;
	if (minute->minute > rack->last)
		rack->last = minute->minute;
	if (minute->minute > scope->last)
		scope->last = minute->minute;
}

static int64_t
minute_of(uint64_t wall_ns)
{
	return (int64_t)(wall_ns / (uint64_t)SLA_MINUTE_NS);
}

static void
take_rows(struct sla *sla, const struct wire_summary_view *view)
{
	const struct wire_summary *summary = &view->summary;

	for (size_t i = 0; summary->start_wall_ns != 0 && i < summary->row_count; i++) {
		struct wire_row row;

		wire_summary_row(view, i, &row);
		if (row.src_tor != NULL && row.dst_tor != NULL &&
		    rm_name_valid(row.src_tor))
			take(sla,
			    sla_scope_get(sla, summary->head.region, row.dscp,
				strcmp(row.src_tor, row.dst_tor) != 0 ? SLA_FABRIC
								      : SLA_RACK,
				""),
			    &(struct prober_minute){ row.src_tor,
				minute_of(summary->start_wall_ns), row.sent,
				row.outcomes, row.rtt });
	}
}

/* Copies the name of a service, which is not trusted: it is cut, and characters that
 * are not printable become '?'. False: there is no name. */
static bool
service_name(const char *reported, char name[SLA_SERVICE_BYTES])
{
	snprintf(name, SLA_SERVICE_BYTES, "%.*s", SLA_SERVICE_BYTES - 1,
	    reported != NULL ? reported : "");
	for (char *c = name; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return name[0] != '\0';
}

static void
take_services(struct sla *sla, const struct wire_summary_view *view)
{
	const struct wire_summary *summary = &view->summary;
	char name[SLA_SERVICE_BYTES];

	if (summary->services_start_wall_ns == 0 || summary->tor == NULL ||
	    !rm_name_valid(summary->tor))
		return;
	for (size_t i = 0; i < summary->service_count; i++) {
		struct wire_service_row row;

		wire_summary_service(view, i, &row);
		if (service_name(row.service, name))
			take(sla,
			    sla_scope_get(
				sla, summary->head.region, row.dscp, SLA_SERVICE, name),
			    &(struct prober_minute){ summary->tor,
				minute_of(summary->services_start_wall_ns), row.sent,
				row.outcomes, row.rtt });
	}
}

void
sla_summary(struct sla *sla, const struct wire_summary_view *view)
{
	if (!rm_name_valid(view->summary.head.region))
		return;
	take_rows(sla, view);
	take_services(sla, view);
}

const struct sla_counts *
sla_counts(const struct sla *sla)
{
	return &sla->counts;
}

/* ---- closing a minute ---- */

/* if it is later by more than this since the last call, nobody measured in between */
#define STEP_MINUTES 2

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

static enum sla_state
rack_state(const struct sla *sla, const struct sla_slice *slice)
{
	if (slice->sent == 0)
		return SLA_UNKNOWN;
	return slice->lost * 1000 < slice->sent * sla->options.unavailable_permille
		   ? SLA_AVAILABLE
		   : SLA_UNAVAILABLE;
}

/* Returns the figures of each known rack of the scope in this minute, and their number.
 * The number is smaller if memory was short. */
static size_t
count_racks(struct sla *sla, const struct sla_scope *scope, int64_t minute,
    struct sla_figures *figures)
{
	const struct sla_slice silent = { .minute = minute };
	const struct sla_rack *rack;
	size_t closed = 0;

	for (rack = scope->racks; rack != NULL; rack = rack->hh.next) {
		const struct sla_slice *slice =
		    &rack->slices[(uint64_t)minute % SLA_OPEN_MINUTES];
		enum sla_state state;

		if (slice->minute != minute && scope->kind == SLA_SERVICE)
			continue; /* the service did not run in this rack in this minute
				   */
		if (slice->minute != minute)
			slice = &silent;
		state = rack_state(sla, slice);
		figures->unknown += state == SLA_UNKNOWN;
		figures->available += state == SLA_AVAILABLE;
		figures->unavailable += state == SLA_UNAVAILABLE;
		if (closed < sla->closed_room)
			sla->reported[closed++] = (struct sla_rack_minute){
				.tor = rack->tor,
				.state = state,
				.sent = slice->sent,
				.lost = slice->lost,
			};
	}
	return closed;
}

static void
make_room(struct sla *sla)
{
	struct sla_rack_minute *closed;
	size_t most = 0;

	for (const struct sla_scope *scope = sla->scopes; scope != NULL;
	     scope = scope->hh.next)
		if (HASH_COUNT(scope->racks) > most)
			most = HASH_COUNT(scope->racks);
	if (most <= sla->closed_room)
		return;
	closed = realloc(sla->reported, most * sizeof(*closed));
	if (closed == NULL)
		return;
	sla->reported = closed;
	sla->closed_room = most;
}

/* Stores the sketch in encoded form. If there is no memory, the old one stays. */
static void
keep_rtt(struct sla *sla, struct sla_past *at, const struct rm_sketch *rtt)
{
	uint8_t *bytes;
	int len;

	if (at->rtt_len > 0 &&
	    rm_sketch_decode(sla->scratch, at->rtt, at->rtt_len) == 0) {
		rm_sketch_merge(sla->scratch, rtt);
		rtt = sla->scratch;
	}
	len = rm_sketch_encode(rtt, sla->encoded, sizeof(sla->encoded));
	bytes = len > 0 ? realloc(at->rtt, (size_t)len) : NULL;
	if (bytes == NULL)
		return;
	memcpy(bytes, sla->encoded, (size_t)len);
	at->rtt = bytes;
	at->rtt_len = (size_t)len;
}

static void
keep(struct sla *sla, struct sla_past *at, int64_t number,
    const struct sla_figures *figures, const struct rm_sketch *rtt)
{
	if (at->number != number) {
		free(at->rtt);
		*at = (struct sla_past){ .number = number };
	}
	add_figures(&at->figures, figures);
	if (rtt != NULL && rm_sketch_count(rtt) > 0)
		keep_rtt(sla, at, rtt);
}

static void
close_minute(struct sla *sla, struct sla_scope *scope, int64_t number,
    void (*on_minute)(const struct sla_minute *minute, void *arg), void *arg)
{
	struct sla_open *open = &scope->open[(uint64_t)number % SLA_OPEN_MINUTES];
	const bool has = open->minute == number;
	struct sla_figures figures = { 0 };
	struct sla_minute minute;
	size_t closed;

	if (has)
		figures = open->figures;
	closed = count_racks(sla, scope, number, &figures);
	keep(sla, &scope->minutes[(uint64_t)number % SLA_MINUTES], number, &figures,
	    has ? open->rtt : NULL);
	keep(sla, &scope->hours[(uint64_t)number / 60 % SLA_HOURS], number / 60,
	    &figures, has ? open->rtt : NULL);
	minute = (struct sla_minute){ .region = scope->region,
		.dscp = scope->dscp,
		.scope = kind_names[scope->kind],
		.service = scope->service,
		.start = { number * SLA_MINUTE_NS },
		.sent = figures.sent,
		.lost = figures.lost,
		.invalid = figures.invalid,
		.not_sent = figures.not_sent,
		.racks_available = figures.available,
		.racks_unavailable = figures.unavailable,
		.racks_unknown = figures.unknown,
		.racks = sla->reported,
		.rack_count = closed };
	for (size_t i = 0; has && i < WIRE_QUANTILES; i++)
		minute.rtt_ns[i] = rm_sketch_quantile_ns(open->rtt, quantiles[i]);
	add_figures(&scope->total, &figures);
	if (figures.sent > 0) {
		scope->newest.figures = figures;
		memcpy(scope->newest.rtt_ns, minute.rtt_ns, sizeof(minute.rtt_ns));
	}
	if (has) {
		rm_sketch_free(open->rtt);
		*open = (struct sla_open){ 0 };
	}
	if (has || scope->kind != SLA_SERVICE)
		on_minute(&minute, arg);
}

void
sla_each(const struct sla *sla,
    void (*report)(const struct sla_total *total, void *arg), void *arg)
{
	for (const struct sla_scope *scope = sla->scopes; scope != NULL;
	     scope = scope->hh.next) {
		const struct sla_figures *all = &scope->total;
		struct sla_total total = { .region = scope->region,
			.scope = kind_names[scope->kind],
			.dscp = scope->dscp,
			.sent = all->sent,
			.lost = all->lost,
			.racks_available = all->available,
			.racks_unavailable = all->unavailable,
			.racks_unknown = all->unknown,
			.last_sent = scope->newest.figures.sent,
			.last_lost = scope->newest.figures.lost };

		if (scope->kind == SLA_SERVICE)
			continue;
		memcpy(
		    total.last_rtt_ns, scope->newest.rtt_ns, sizeof(total.last_rtt_ns));
		report(&total, arg);
	}
}

static void
forget_racks(struct sla *sla, struct sla_scope *scope, int64_t minute)
{
	struct sla_rack *rack, *next;

	HASH_ITER (hh, scope->racks, rack, next) {
		if (rack->last + FORGET_MINUTES < minute)
			free_rack(sla, scope, rack);
	}
}

/* Removes services without results: they come and go with their jobs. */
static void
forget(struct sla *sla, int64_t minute)
{
	struct sla_scope *scope, *next;

	HASH_ITER (hh, sla->scopes, scope, next) {
		forget_racks(sla, scope, minute);
		if (scope->kind != SLA_SERVICE ||
		    scope->last + FORGET_MINUTES >= minute)
			continue;
		forget_service(sla, scope);
	}
}

/* ---- the last hour and day ---- */

static void
sum_past(struct sla *sla, const struct sla_past *past, size_t count, int64_t from,
    int64_t to, struct sla_sum *ret)
{
	*ret = (struct sla_sum){ 0 };
	rm_sketch_reset(sla->sum);
	for (size_t i = 0; i < count; i++) {
		if (past[i].number <= from || past[i].number > to)
			continue;
		add_figures(&ret->figures, &past[i].figures);
		if (past[i].rtt_len > 0 &&
		    rm_sketch_decode(sla->scratch, past[i].rtt, past[i].rtt_len) == 0)
			rm_sketch_merge(sla->sum, sla->scratch);
	}
	for (size_t i = 0; i < WIRE_QUANTILES; i++)
		ret->rtt_ns[i] = rm_sketch_quantile_ns(sla->sum, quantiles[i]);
}

/* False: no minute was closed since the last sum. */
static bool
sum_scope(struct sla *sla, struct sla_scope *scope)
{
	const int64_t minute = sla->closed, hour = minute / 60;

	if (!sla->closed_any || scope->summed == minute)
		return false;
	sum_past(sla, scope->minutes, SLA_MINUTES, minute - SLA_MINUTES, minute,
	    &scope->hour);
	sum_past(sla, scope->hours, SLA_HOURS, hour - SLA_HOURS, hour, &scope->day);
	scope->summed = minute;
	return true;
}

/* Sums up some scopes in advance, because summing up all of them for a request would
 * take too long. */
static void
sum_some(struct sla *sla)
{
	size_t done = 0;

	for (struct sla_scope *scope = sla->scopes;
	     scope != NULL && done < SLA_SUMS_AT_ONCE; scope = scope->hh.next)
		done += sum_scope(sla, scope);
}

/* Notes that the minute was counted. */
static void
note_counted(struct sla *sla, int64_t minute)
{
	const int64_t hour = minute / 60;
	struct sla_counted *counted = &sla->counted[(uint64_t)hour % SLA_HOURS];

	if (counted->hour != hour)
		*counted = (struct sla_counted){ .hour = hour };
	counted->minutes |= UINT64_C(1) << (uint64_t)minute % 60;
}

static void
close_one(struct sla *sla, int64_t minute,
    void (*on_minute)(const struct sla_minute *minute, void *arg), void *arg)
{
	struct sla_scope *scope;

	for (scope = sla->scopes; scope != NULL; scope = scope->hh.next)
		close_minute(sla, scope, minute, on_minute, arg);
	sla->closed = minute;
	note_counted(sla, minute);
	forget(sla, minute);
}

static bool
has_rows(const struct sla *sla, int64_t minute)
{
	for (const struct sla_scope *scope = sla->scopes; scope != NULL;
	     scope = scope->hh.next)
		if (scope->open[(uint64_t)minute % SLA_OPEN_MINUTES].minute == minute)
			return true;
	return false;
}

/* The clock was set forward, or the analyzer was stopped. Closes the minutes before
 * `before` that have results and are not counted yet. The others up to `last` are not
 * counted: nobody measured them, so they are not unknown because of a rack. */
static void
skip_minutes(struct sla *sla, int64_t before, int64_t last,
    void (*on_minute)(const struct sla_minute *minute, void *arg), void *arg)
{
	int64_t minute = before - SLA_OPEN_MINUTES;

	if (minute <= sla->closed)
		minute = sla->closed + 1;
	for (; minute < before; minute++)
		if (has_rows(sla, minute) && !is_counted(sla, minute))
			close_one(sla, minute, on_minute, arg);
	if (sla->closed < last)
		sla->closed = last;
}

/* The clock was set forward. last: the last minute that is not waited for any more. */
static void
step_forward(struct sla *sla, int64_t before, int64_t last,
    void (*on_minute)(const struct sla_minute *minute, void *arg), void *arg)
{
	const int64_t now = sla->now_minute;

	if (now >= sla->reached && now <= sla->reached + STEP_MINUTES)
		/* It was behind only for a while: the minutes that were waited for
		 * before are waited for again. */
		skip_minutes(sla, last + 1, last, on_minute, arg);
	else if (now > sla->reached && before < sla->reached)
		skip_minutes(sla, sla->reached, now - 1, on_minute, arg);
	else
		skip_minutes(sla, before, now - 1, on_minute, arg);
}

/* Closes the minutes up to this one, except those that were counted before the clock
 * was set back. */
static void
close_until(struct sla *sla, int64_t last,
    void (*on_minute)(const struct sla_minute *minute, void *arg), void *arg)
{
	for (int64_t minute = sla->closed + 1; minute <= last; minute++)
		if (is_counted(sla, minute))
			sla->closed = minute;
		else
			close_one(sla, minute, on_minute, arg);
}

void
sla_close(struct sla *sla, rm_wall_t now, int64_t wait_ns,
    void (*on_minute)(const struct sla_minute *minute, void *arg), void *arg)
{
	const int64_t last = (now.ns - wait_ns) / SLA_MINUTE_NS - 1;
	const int64_t before = sla->now_minute;

	sla->now_minute = now.ns / SLA_MINUTE_NS;
	sla->now_known = true;
	if (!sla->closed_any && sla->closed != 0) {
		/* After a restart the racks are known, but not the rows that the former
		 * process had of its open minutes: these and the present one are not
		 * counted. */
		if (sla->closed < sla->now_minute)
			sla->closed = sla->now_minute;
	} else if (!sla->closed_any) {
		sla->closed = last; /* the first call sets the start */
	} else if (sla->now_minute < before) {
		/* The clock was set back. Minutes that are to come are counted, except
		 * those that were counted before. */
		sla->reached = before;
		if (sla->closed >= sla->now_minute)
			sla->closed = sla->now_minute - 1;
	}
	make_room(sla);
	if (sla->closed_any && sla->now_minute > before + STEP_MINUTES)
		step_forward(sla, before, last, on_minute, arg);
	sla->closed_any = true;
	close_until(sla, last, on_minute, arg);
	sum_some(sla);
}

/* ---- as JSON ---- */

static json_t *
sum_json(const struct sla_sum *sum)
{
	const struct sla_figures *f = &sum->figures;
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
	/* Unknown minutes are part of the total, and are not available. */
	json_object_set_new(json, "availability",
	    all > 0 ? json_real((double)f->available / (double)all) : json_null());
	json_object_set_new(json, "known",
	    all > 0 ? json_real((double)known / (double)all) : json_null());
	json_object_set_new(json, "rtt_ns",
	    sum->rtt_ns[WIRE_MAX] > 0 ? json_pack("{s:I, s:I, s:I, s:I}", "p50",
					    (json_int_t)sum->rtt_ns[WIRE_P50], "p95",
					    (json_int_t)sum->rtt_ns[WIRE_P95], "p99",
					    (json_int_t)sum->rtt_ns[WIRE_P99], "max",
					    (json_int_t)sum->rtt_ns[WIRE_MAX])
				      : json_null());
	return json;
}

static json_t *
scope_json(const struct sla_scope *scope)
{
	json_t *json = json_pack("{s:s, s:i, s:o, s:o}", "region", scope->region,
	    "dscp", (int)scope->dscp, "hour", sum_json(&scope->hour), "day",
	    sum_json(&scope->day));

	if (scope->kind == SLA_SERVICE)
		json_object_set_new(json, "service", json_string(scope->service));
	else
		json_object_set_new(
		    json, "scope", json_string(kind_names[scope->kind]));
	return json;
}

int64_t
sla_closed(const struct sla *sla)
{
	return sla->closed_any ? sla->closed : 0;
}

/* Returns the first counted minute of those of which the day is a sum, or the minute
 * that will be closed next. */
static int64_t
first_counted(const struct sla *sla)
{
	int64_t minute = (sla->closed / 60 - SLA_HOURS + 1) * 60;

	while (minute <= sla->closed && !is_counted(sla, minute))
		minute++;
	return minute;
}

/* Returns how many minutes from this one to the last closed one are not counted. */
static json_int_t
missing_from(const struct sla *sla, int64_t minute)
{
	json_int_t missing = 0;

	for (; minute <= sla->closed; minute++)
		missing += !is_counted(sla, minute);
	return missing;
}

json_t *
sla_json(struct sla *sla, const struct rm_sight *sight)
{
	json_t *scopes = json_array(), *services = json_array();
	const int64_t first = first_counted(sla), hour = sla->closed - SLA_MINUTES + 1;
	json_t *since = json_null();
	char text[RM_WALL_TEXT];

	if (first <= sla->closed) {
		rm_wall_format((rm_wall_t){ first * SLA_MINUTE_NS }, text);
		since = json_string(text);
	}
	for (struct sla_scope *scope = sla->scopes; scope != NULL;
	     scope = scope->hh.next) {
		if (!rm_sight_shows(sight, scope->region))
			continue;
		sum_scope(sla, scope);
		json_array_append_new(
		    scope->kind == SLA_SERVICE ? services : scopes, scope_json(scope));
	}
	return json_pack("{s:o, s:{s:I, s:I}, s:o, s:o}", "since", since, "missing",
	    "hour", missing_from(sla, hour > first ? hour : first), "day",
	    missing_from(sla, first), "scopes", scopes, "services", services);
}
