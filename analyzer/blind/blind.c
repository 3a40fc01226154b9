#define HASH_NONFATAL_OOM 1
#include "analyzer/blind/blind.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/blind/blind_state.h"

/* A summary with a larger lag is of a backlog, or its sender's clock is wrong. */
#define ODD_LAG_NS (15 * RM_NS_PER_S)
#define SAME_LAG_NS (2 * RM_NS_PER_S)
/* After this many summaries with the same large lag, the clock is wrong. */
#define ODD_LAGS 4
#define KEEP_ROW_INTERVALS 12 /* the same time for which localise keeps rows */

/* A key of two names; neither contains a blank. */
static void
make_key(char key[BLIND_KEY_BYTES], const char *region, const char *name)
{
	snprintf(key, BLIND_KEY_BYTES, "%.63s %.63s", region, name);
}

int
blind_new(const struct blind_options *options, rm_mono_t now, struct blind **ret)
{
	struct blind *blind = calloc(1, sizeof *blind);

	if (blind == NULL)
		return -ENOMEM;
	blind->options = *options;
	blind->started = now;
	blind->stalled.ns = INT64_MIN / 2;
	*ret = blind;
	return 0;
}

void
blind_clear(struct blind *blind)
{
	struct blind_aggregator *aggregator, *next_aggregator;
	struct blind_rack *rack, *next_rack;

	HASH_ITER (hh, blind->racks, rack, next_rack) {
		HASH_DEL(blind->racks, rack);
		free(rack);
	}
	HASH_ITER (hh, blind->aggregators, aggregator, next_aggregator) {
		HASH_DEL(blind->aggregators, aggregator);
		free(aggregator);
	}
}

void
blind_free(struct blind *blind)
{
	if (blind == NULL)
		return;
	blind_clear(blind);
	free(blind->verdicts);
	free(blind);
}

static struct blind_aggregator *
blind_find_aggregator(const struct blind *blind, const char *region, const char *name)
{
	struct blind_aggregator *aggregator;
	char key[BLIND_KEY_BYTES];

	make_key(key, region, name);
	HASH_FIND_STR(blind->aggregators, key, aggregator);
	return aggregator;
}

struct blind_rack *
blind_find_rack(const struct blind *blind, const char *region, const char *tor)
{
	struct blind_rack *rack;
	char key[BLIND_KEY_BYTES];

	make_key(key, region, tor);
	HASH_FIND_STR(blind->racks, key, rack);
	return rack;
}

static struct blind_aggregator *
get_aggregator(struct blind *blind, const char *region, const char *name, rm_mono_t now)
{
	struct blind_aggregator *aggregator =
	    blind_find_aggregator(blind, region, name);

	if (aggregator != NULL)
		return aggregator;
	if (HASH_COUNT(blind->aggregators) >= BLIND_MAX_AGGREGATORS ||
	    !rm_name_valid(region) || !rm_name_valid(name))
		return NULL;
	aggregator = calloc(1, sizeof *aggregator);
	if (aggregator == NULL)
		return NULL;
	make_key(aggregator->key, region, name);
	snprintf(aggregator->region, RM_NAME_BYTES, "%s", region);
	snprintf(aggregator->name, RM_NAME_BYTES, "%s", name);
	aggregator->last_seen = now;
	aggregator->row_interval_ns = blind->options.row_interval_ns;
	HASH_ADD_STR(blind->aggregators, key, aggregator);
	if (aggregator->hh.tbl == NULL) { /* uthash could not grow */
		free(aggregator);
		return NULL;
	}
	return aggregator;
}

static struct blind_rack *
get_rack(struct blind *blind, const char *region, const char *tor)
{
	struct blind_rack *rack = blind_find_rack(blind, region, tor);

	if (rack != NULL)
		return rack;
	if (HASH_COUNT(blind->racks) >= BLIND_MAX_RACKS || !rm_name_valid(tor))
		return NULL;
	rack = calloc(1, sizeof *rack);
	if (rack == NULL)
		return NULL;
	make_key(rack->key, region, tor);
	snprintf(rack->region, RM_NAME_BYTES, "%s", region);
	snprintf(rack->tor, RM_NAME_BYTES, "%s", tor);
	HASH_ADD_STR(blind->racks, key, rack);
	if (rack->hh.tbl == NULL) {
		free(rack);
		return NULL;
	}
	return rack;
}

/* Returns the slot of an aggregator's report on a rack. If all slots are used, it
 * replaces the aggregator that has been silent for longest. */
static struct blind_source *
get_source(struct blind_rack *rack, struct blind_aggregator *aggregator)
{
	struct blind_source *oldest = &rack->sources[0];

	for (size_t i = 0; i < rack->source_count; i++) {
		struct blind_source *source = &rack->sources[i];

		if (source->aggregator == aggregator)
			return source;
		if (source->aggregator->last_seen.ns < oldest->aggregator->last_seen.ns)
			oldest = source;
	}
	if (rack->source_count < BLIND_SOURCES)
		oldest = &rack->sources[rack->source_count++];
	*oldest = (struct blind_source){ .aggregator = aggregator };
	return oldest;
}

void
blind_connected(struct blind *blind, const char *region, const char *aggregator,
    const char *const *tors, size_t tor_count, rm_mono_t now)
{
	struct blind_aggregator *a = get_aggregator(blind, region, aggregator, now);

	if (a == NULL)
		return;
	a->connected = true;
	a->since = now;
	a->last_seen = now;
	a->ends_s = a->controller_ends_s = 0;
	for (size_t i = 0; i < tor_count; i++) {
		struct blind_rack *rack = get_rack(blind, region, tors[i]);

		if (rack != NULL)
			get_source(rack, a)->has_state = false;
	}
}

void
blind_row_interval(struct blind *blind, const char *region, const char *aggregator,
    int64_t row_interval_ns)
{
	struct blind_aggregator *a = blind_find_aggregator(blind, region, aggregator);

	if (a != NULL)
		a->row_interval_ns = row_interval_ns;
}

int64_t
blind_longest_row_interval(const struct blind *blind, rm_mono_t now)
{
	const struct blind_aggregator *a;
	int64_t longest_ns = 0;

	for (a = blind->aggregators; a != NULL; a = a->hh.next)
		if (a->row_interval_ns > longest_ns &&
		    (a->connected || rm_mono_since(now, a->last_seen) <=
					 KEEP_ROW_INTERVALS * a->row_interval_ns))
			longest_ns = a->row_interval_ns;
	return longest_ns != 0 ? longest_ns : blind->options.row_interval_ns;
}

void
blind_disconnected(
    struct blind *blind, const char *region, const char *aggregator, rm_mono_t now)
{
	struct blind_aggregator *a = blind_find_aggregator(blind, region, aggregator);

	if (a != NULL)
		a->connected = false;
}

void
blind_left(struct blind *blind, const char *region, const char *aggregator)
{
	struct blind_aggregator *a = blind_find_aggregator(blind, region, aggregator);

	if (a != NULL)
		blind_forget(blind, a);
}

bool
blind_is_connected(const struct blind *blind)
{
	const struct blind_aggregator *a;

	for (a = blind->aggregators; a != NULL; a = a->hh.next)
		if (a->connected)
			return true;
	return false;
}

bool
blind_last_seen(const struct blind *blind, rm_mono_t *ret)
{
	const struct blind_aggregator *a = blind->aggregators;

	if (a == NULL)
		return false;
	for (*ret = a->last_seen; a != NULL; a = a->hh.next)
		if (ret->ns < a->last_seen.ns)
			*ret = a->last_seen;
	return true;
}

void
blind_seen(
    struct blind *blind, const char *region, const char *aggregator, rm_mono_t now)
{
	struct blind_aggregator *a = blind_find_aggregator(blind, region, aggregator);

	if (a != NULL)
		a->last_seen = now;
}

void
blind_held(
    struct blind *blind, const char *region, const char *aggregator, rm_mono_t now)
{
	struct blind_aggregator *a = blind_find_aggregator(blind, region, aggregator);

	if (a == NULL)
		return;
	a->last_seen = now;
	a->unread = now;
}

void
blind_certificates(struct blind *blind, const char *region, const char *aggregator,
    int64_t ends_s, const char *controller, int64_t controller_ends_s)
{
	struct blind_aggregator *a = blind_find_aggregator(blind, region, aggregator);

	if (a == NULL)
		return;
	a->ends_s = ends_s;
	a->controller_ends_s = rm_name_valid(controller) ? controller_ends_s : 0;
	snprintf(a->controller, sizeof a->controller, "%.63s", controller);
}

void
blind_own_certificate(struct blind *blind, const char *analyzer, int64_t ends_s)
{
	snprintf(blind->analyzer, sizeof blind->analyzer, "%.63s", analyzer);
	blind->own_ends_s = ends_s;
}

/* True for a summary of a backlog: it describes an earlier time. */
static bool
is_late(struct blind_source *source, int64_t lag_ns)
{
	const int64_t change = lag_ns - source->lag_ns;

	source->lag_ns = lag_ns;
	if (lag_ns > -ODD_LAG_NS && lag_ns < ODD_LAG_NS) {
		source->odd_lags = 0;
		return false;
	}
	if (change > -SAME_LAG_NS / 4 && change < SAME_LAG_NS)
		source->odd_lags += source->odd_lags < ODD_LAGS;
	else
		source->odd_lags = 0;
	return source->odd_lags < ODD_LAGS;
}

void
blind_rack(struct blind *blind, const char *region, const char *aggregator,
    const char *tor, const struct wire_rack_state *state, int64_t lag_ns, rm_mono_t now)
{
	struct blind_aggregator *a = get_aggregator(blind, region, aggregator, now);
	struct blind_rack *rack = a != NULL ? get_rack(blind, region, tor) : NULL;
	struct blind_source *source;

	if (rack == NULL)
		return;
	a->last_seen = now;
	source = get_source(rack, a);
	if (is_late(source, lag_ns))
		return;
	source->state = *state;
	source->has_state = true;
	source->reported_at = now;
	if (wire_rack_state_is_empty(state)) {
		source->empty_since = source->is_empty ? source->empty_since : now;
		source->is_empty = true;
	} else {
		source->is_empty = false;
	}
}

void
blind_stalled(struct blind *blind, rm_mono_t now)
{
	blind->stalled = now;
}

/* ---- how the health of a part is decided ---- */

/* No aggregator reports the part any more, and all had the time to reconnect after our
 * start: the part was removed, which ends its incident. */
static enum rm_health
health_of_unknown(const struct blind *blind, rm_mono_t now)
{
	return rm_mono_since(now, blind->started) < blind->options.start_ns
		   ? RM_HEALTH_UNKNOWN
		   : RM_HEALTH_GOOD;
}

static enum rm_health
aggregator_health(const struct blind *blind, const char *name, rm_mono_t now)
{
	const struct blind_aggregator *a;
	bool known = false;

	/* Incidents of aggregators have no region. A name that occurs in two regions
	 * counts as good when one of the two aggregators is good. */
	for (a = blind->aggregators; a != NULL; a = a->hh.next) {
		if (strcmp(a->name, name) != 0)
			continue;
		known = true;
		if (!blind_is_silent(blind, a, now) && a->connected)
			return RM_HEALTH_GOOD;
	}
	return known ? RM_HEALTH_UNKNOWN : health_of_unknown(blind, now);
}

/* True: an aggregator that is connected reports hosts of the rack. */
static bool
is_seen(const struct blind *blind, const struct blind_rack *rack, rm_mono_t now)
{
	for (size_t i = 0; i < rack->source_count; i++)
		if (!blind_is_silent(blind, rack->sources[i].aggregator, now) &&
		    blind_is_current(blind, &rack->sources[i], now) &&
		    !rack->sources[i].is_empty)
			return true;
	return false;
}

static enum rm_health
rack_health(const struct blind *blind, const char *tor, rm_mono_t now)
{
	const struct blind_rack *rack;
	bool known = false;

	for (rack = blind->racks; rack != NULL; rack = rack->hh.next) {
		if (strcmp(rack->tor, tor) != 0)
			continue;
		known = true;
		if (is_seen(blind, rack, now))
			return RM_HEALTH_GOOD;
	}
	return known ? RM_HEALTH_UNKNOWN : health_of_unknown(blind, now);
}

/* Good if any aggregator is connected, and none reports that the controller's
 * certificate expires: an aggregator that uses the controller would report that. */
static enum rm_health
controller_health(const struct blind *blind, const char *name, rm_mono_t now)
{
	const struct blind_aggregator *a;

	if (blind_reports_ending(blind, name, now) != NULL)
		return RM_HEALTH_BAD;
	for (a = blind->aggregators; a != NULL; a = a->hh.next)
		if (a->connected && !blind_is_silent(blind, a, now))
			return RM_HEALTH_GOOD;
	return RM_HEALTH_UNKNOWN;
}

enum rm_health
blind_health(const struct blind *blind, const struct rm_verdict *verdict, rm_mono_t now)
{
	const char *name = verdict->part.name;
	const struct blind_aggregator *a;
	bool known = false;

	if (verdict->part.type == RM_PART_AGGREGATOR)
		return aggregator_health(blind, name, now);
	if (verdict->part.type == RM_PART_ANALYZER)
		return blind->own_ends_s == 0 ? RM_HEALTH_GOOD : RM_HEALTH_BAD;
	if (verdict->part.type == RM_PART_CONTROLLER)
		return controller_health(blind, name, now);
	if (verdict->part.type == RM_PART_RACK)
		return rack_health(blind, name, now);
	for (a = blind->aggregators; a != NULL; a = a->hh.next) {
		if (strcmp(a->region, name) != 0)
			continue;
		known = true;
		if (!blind_is_silent(blind, a, now))
			return RM_HEALTH_GOOD;
	}
	return known ? RM_HEALTH_UNKNOWN : health_of_unknown(blind, now);
}
