/* Of what has no verdict now: is it well? */
#include <string.h>

#include "analyzer/blind/blind_state.h"

/* Nobody knows it any more, and whoever lives has had the time to come: it was taken
 * away, which ends its incident. */
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

	/* The part has no region: a name that two regions share is good when one is. */
	for (a = blind->aggregators; a != NULL; a = a->hh.next) {
		if (strcmp(a->name, name) != 0)
			continue;
		known = true;
		if (!blind_is_silent(blind, a, now) && a->connected)
			return RM_HEALTH_GOOD;
	}
	return known ? RM_HEALTH_UNKNOWN : health_of_unknown(blind, now);
}

/* Until it has said so, nobody knows. */
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

/* Some aggregator is heard: whoever it is connected to would say so through it. */
static enum rm_health
controller_health(const struct blind *blind, const char *name, rm_mono_t now)
{
	const struct blind_aggregator *a;

	if (blind_says_ending(blind, name, now) != NULL)
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
