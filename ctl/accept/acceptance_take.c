/* Reads the answers of the daemons. Answers are not trusted: any key may be missing, or
 * of a wrong kind. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/accept/acceptance_state.h"
#include "ctl/accept/pair_counts.h"
#include "rackmesh/metrics/sketch.h"

/* Younger results are not used, since other results of the same time may not have
 * arrived yet. */
#define SETTLE_MS 2000

static const char *
text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value == NULL ? "" : value;
}

static bool
is(const json_t *object, const char *key, const char *value)
{
	return strcmp(text(object, key), value) == 0;
}

static unsigned
count_of(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value < 0 || value > UINT16_MAX ? 0 : (unsigned)value;
}

#define COPY(to, from) snprintf(to, sizeof(to), "%s", from)

/* ---- RNICs ---- */

static struct accept_rnic *
rnic_of(struct acceptance *acceptance, const char *name)
{
	size_t at = acceptance_find(acceptance, name);

	if (at != SIZE_MAX)
		return &acceptance->rnics[at];
	if (acceptance->rnic_count == ACCEPTANCE_MAX_RNICS)
		return NULL;
	if (acceptance->rnic_count == acceptance->rnic_allocated) {
		size_t count = acceptance->rnic_allocated == 0
				   ? 32
				   : 2 * acceptance->rnic_allocated;
		struct accept_rnic *list =
		    realloc(acceptance->rnics, count * sizeof(*list));

		if (list == NULL)
			return NULL;
		acceptance->rnics = list;
		acceptance->rnic_allocated = count;
	}
	at = acceptance->rnic_count++;
	acceptance->rnics[at] = (struct accept_rnic){ 0 };
	COPY(acceptance->rnics[at].name, name);
	return &acceptance->rnics[at];
}

void
acceptance_take_rnics(struct acceptance *acceptance, const json_t *answer)
{
	const json_t *each;
	size_t i;

	for (i = 0; i < acceptance->rnic_count; i++)
		acceptance->rnics[i].listed = false;
	json_array_foreach (json_object_get(answer, "rnics"), i, each) {
		struct accept_rnic *rnic;
		char name[ACCEPTANCE_NAME];

		if (!is(each, "tor", acceptance->tor))
			continue;
		snprintf(name, sizeof(name), "%s/%s", text(each, "host"),
		    text(each, "device"));
		rnic = rnic_of(acceptance, name);
		if (rnic == NULL)
			continue;
		rnic->listed = true;
		rnic->planned = json_is_true(json_object_get(each, "planned"));
		rnic->registered = json_is_true(json_object_get(each, "registered"));
		COPY(rnic->health, text(each, "health"));
		rnic->looks++;
		rnic->unknown_looks += is(each, "health", "unknown");
		COPY(rnic->link, text(each, "link"));
		COPY(rnic->transport, text(each, "transport"));
	}
}

/* ---- results ---- */

/* Converts "2026-11-25T18:40:13.123Z" to ms since the epoch; < 0: not a time. */
static int64_t
when_ms(const char *stamp)
{
	struct tm tm = { 0 };
	int ms = 0;

	if (sscanf(stamp, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ", &tm.tm_year, &tm.tm_mon,
		&tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &ms) < 6)
		return -1;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	return (int64_t)timegm(&tm) * 1000 + ms;
}

static int64_t
newest_ms(const json_t *results)
{
	const json_t *result;
	int64_t newest = -1;
	size_t i;

	json_array_foreach (results, i, result) {
		int64_t sent = when_ms(text(result, "sent"));

		newest = sent > newest ? sent : newest;
	}
	return newest;
}

static void
add_rtt(struct accept_rnic *rnic, const json_t *result)
{
	json_int_t rtt = json_integer_value(json_object_get(result, "rtt_ns"));

	if (rtt <= 0)
		rtt = json_integer_value(json_object_get(result, "round_trip_ns"));
	if (rnic->rtt == NULL)
		rnic->rtt = rm_sketch_new();
	if (rtt > 0 && rnic->rtt != NULL)
		rm_sketch_add(rnic->rtt, (uint64_t)rtt);
}

static void
take_result(struct acceptance *acceptance, size_t from, const json_t *result)
{
	struct accept_rnic *rnic = &acceptance->rnics[from];
	size_t to = acceptance_find(acceptance, text(result, "to"));
	bool answered = is(result, "outcome", "ok");
	/* A result of a probe that was sent late or not at all shows nothing about the
	 * network. */
	bool lost = is(result, "outcome", "no_reply");

	rnic->unsent += is(result, "outcome", "send_failed");
	/* A probe shows nothing either if it was lost while the agent at one end was
	 * stalled, restarting or paused. */
	if (lost && text(result, "excuse")[0] != '\0') {
		acceptance->excused++;
		lost = false;
	}
	if (!answered && !lost) {
		rnic->other++;
		return;
	}
	rnic->out.answered += answered;
	rnic->out.lost += lost;
	if (to == SIZE_MAX) {
		rnic->outside.answered += answered;
		rnic->outside.lost += lost;
		return;
	}
	acceptance->rnics[to].in.answered += answered;
	acceptance->rnics[to].in.lost += lost;
	pair_counts_add(acceptance->pairs, (uint32_t)from, (uint32_t)to, lost);
	if (answered)
		add_rtt(rnic, result);
}

void
acceptance_take_drill(struct acceptance *acceptance, size_t rnic, const json_t *answer)
{
	const json_t *results = json_object_get(answer, "results"), *result;
	struct accept_rnic *from = &acceptance->rnics[rnic];
	int64_t newest = newest_ms(results), to_ms = newest - SETTLE_MS;
	size_t i;

	/* Results from before the burn-in are not counted. */
	if (!from->has_begun) {
		from->has_begun = true;
		from->counted_to_ms = newest;
		return;
	}
	json_array_foreach (results, i, result) {
		int64_t sent = when_ms(text(result, "sent"));

		if (sent > from->counted_to_ms && sent <= to_ms &&
		    is(result, "from", from->name))
			take_result(acceptance, rnic, result);
	}
	if (to_ms > from->counted_to_ms)
		from->counted_to_ms = to_ms;
}

/* ---- hosts, incidents, paths ---- */

static struct accept_host *
host_of(struct acceptance *acceptance, const char *name)
{
	for (size_t i = 0; i < acceptance->host_count; i++)
		if (strcmp(acceptance->hosts[i].name, name) == 0)
			return &acceptance->hosts[i];
	if (acceptance->host_count == MAX_HOSTS)
		return NULL;
	COPY(acceptance->hosts[acceptance->host_count].name, name);
	return &acceptance->hosts[acceptance->host_count++];
}

void
acceptance_take_hosts(struct acceptance *acceptance, const json_t *answer)
{
	const json_t *each;
	size_t i;

	for (i = 0; i < acceptance->host_count; i++)
		acceptance->hosts[i].is_ok = acceptance->hosts[i].connected = false;
	json_array_foreach (json_object_get(answer, "hosts"), i, each) {
		const char *slowed = text(each, "slowed");
		struct accept_host *host;

		host = is(each, "tor", acceptance->tor)
			   ? host_of(acceptance, text(each, "host"))
			   : NULL;
		if (host == NULL)
			continue;
		host->looks++;
		host->connected = json_is_true(json_object_get(each, "connected"));
		host->stalled_looks += is(each, "state", "stalled");
		host->is_ok = is(each, "state", "ok") ||
			      is(each, "state", "stuttered") ||
			      is(each, "state", "stalled");
		if (!host->is_ok || !host->connected) {
			host->bad_looks++;
			COPY(host->state,
			    host->is_ok ? "not connected" : text(each, "state"));
		}
		if (slowed[0] != '\0' && strcmp(slowed, "none") != 0) {
			host->slowed_looks++;
			COPY(host->slowed, slowed);
		}
	}
}

void
acceptance_take_incidents(struct acceptance *acceptance, const json_t *answer)
{
	const json_t *each;
	size_t i;

	json_array_foreach (json_object_get(answer, "incidents"), i, each) {
		const char *id = text(each, "id");
		bool known = false;

		if (!is(each, "state", "open"))
			continue;
		for (size_t k = 0; k < acceptance->incident_count; k++)
			known = known || strcmp(acceptance->incidents[k].id, id) == 0;
		if (known || acceptance->incident_count == MAX_INCIDENTS)
			continue;
		COPY(acceptance->incidents[acceptance->incident_count].id, id);
		COPY(acceptance->incidents[acceptance->incident_count++].sentence,
		    text(each, "sentence"));
	}
}

/* Returns NULL if there is no room. */
static struct accept_uplink *
uplink_of(struct acceptance *acceptance, const char *name)
{
	for (size_t i = 0; i < acceptance->uplink_count; i++)
		if (strcmp(acceptance->uplinks[i].name, name) == 0)
			return &acceptance->uplinks[i];
	if (acceptance->uplink_count == MAX_UPLINKS || name[0] == '\0')
		return NULL;
	COPY(acceptance->uplinks[acceptance->uplink_count].name, name);
	return &acceptance->uplinks[acceptance->uplink_count++];
}

/* Marks the switch after the rack's own ToR in "tor1@10.0.0.1 spine2@10.0.0.5
 * tor2@...". */
static void
mark_uplink(struct acceptance *acceptance, const char *path)
{
	const char *second = strchr(path, ' ');
	struct accept_uplink *uplink;
	char name[72];

	if (second == NULL)
		return;
	snprintf(
	    name, sizeof(name), "%.*s", (int)strcspn(second + 1, "@ "), second + 1);
	uplink = uplink_of(acceptance, name);
	if (uplink != NULL)
		uplink->seen = true;
}

void
acceptance_take_paths(struct acceptance *acceptance, const json_t *answer)
{
	const json_t *each;
	size_t i;

	acceptance->flows = acceptance->traced = 0;
	json_array_foreach (json_object_get(answer, "flows"), i, each) {
		const char *path = text(each, "path");

		acceptance->flows++;
		if (path[0] == '\0')
			continue;
		acceptance->traced++;
		mark_uplink(acceptance, path);
	}
}

/* ---- the controller's answers ---- */

static void
expect_uplink(struct acceptance *acceptance, const char *name)
{
	struct accept_uplink *uplink = uplink_of(acceptance, name);

	if (uplink != NULL)
		uplink->expected = true;
}

void
acceptance_take_topology(struct acceptance *acceptance, const json_t *answer)
{
	const json_t *each, *links = json_object_get(answer, "links");
	size_t i;

	acceptance->has_topology = json_is_array(links);
	json_array_foreach (links, i, each) {
		/* A link that only traces have found is not expected. */
		if (is(each, "known", "traced"))
			continue;
		if (is(each, "a", acceptance->tor))
			expect_uplink(acceptance, text(each, "b"));
		else if (is(each, "b", acceptance->tor))
			expect_uplink(acceptance, text(each, "a"));
	}
}

void
acceptance_take_plan(struct acceptance *acceptance, const json_t *answer)
{
	const json_t *each, *aggregator;
	size_t i, k;

	json_array_foreach (json_object_get(answer, "racks"), i, each) {
		if (!is(each, "tor", acceptance->tor))
			continue;
		acceptance->has_plan = true;
		acceptance->expected_rnics = count_of(each, "expected_rnics");
		acceptance->expected_hosts = count_of(each, "expected_hosts");
		acceptance->plan_is_held = false;
		json_array_foreach (json_object_get(each, "aggregators"), k, aggregator)
			acceptance->plan_is_held =
			    acceptance->plan_is_held ||
			    json_is_true(json_object_get(aggregator, "has_plan"));
	}
}

static void
add_refused(struct acceptance *acceptance, const json_t *rnic)
{
	const json_t *tors = json_object_get(rnic, "tors"), *tor;
	bool ours = is(rnic, "tor", acceptance->tor);
	size_t i;

	json_array_foreach (tors, i, tor)
		ours = ours || (json_is_string(tor) && strcmp(json_string_value(tor),
							   acceptance->tor) == 0);
	if (ours)
		json_array_append_new(acceptance->refused,
		    json_sprintf("%s/%s (%s): %s", text(rnic, "host"),
			text(rnic, "device"), text(rnic, "reason"),
			text(rnic, "sentence")));
}

void
acceptance_take_refused(struct acceptance *acceptance, const json_t *answer)
{
	const json_t *each;
	size_t i;

	json_array_clear(acceptance->refused);
	json_array_foreach (json_object_get(answer, "unplaced"), i, each)
		add_refused(acceptance, each);
	json_array_foreach (json_object_get(answer, "malformed"), i, each)
		add_refused(acceptance, each);
}
