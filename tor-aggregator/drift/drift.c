#include "tor-aggregator/drift/drift.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/drift/drift_groups.h"

struct drift {
	struct drift_rnic *rnics;
	size_t count, capacity;
	uint64_t refused;
};

int
drift_new(struct drift **ret)
{
	struct drift *drift = calloc(1, sizeof(*drift));

	if (drift == NULL)
		return -ENOMEM;
	*ret = drift;
	return 0;
}

void
drift_free(struct drift *drift)
{
	if (drift == NULL)
		return;
	free(drift->rnics);
	free(drift);
}

void
drift_report_again(struct drift *drift, const char *host)
{
	for (size_t i = 0; i < drift->count; i++)
		if (!drift->rnics[i].is_port && strcmp(drift->rnics[i].host, host) == 0)
			drift->rnics[i].there = false;
}

void
drift_ports_again(struct drift *drift, const char *switch_name)
{
	for (size_t i = 0; i < drift->count; i++)
		if (drift->rnics[i].is_port &&
		    strcmp(drift->rnics[i].host, switch_name) == 0)
			drift->rnics[i].there = false;
}

static struct drift_rnic *
find(struct drift *drift, struct wire_rnic_id id)
{
	for (size_t i = 0; i < drift->count; i++)
		if (!drift->rnics[i].is_port && drift->rnics[i].id.guid == id.guid &&
		    drift->rnics[i].id.port == id.port)
			return &drift->rnics[i];
	return NULL;
}

static struct drift_rnic *
find_port(struct drift *drift, const char *switch_name, const char *port)
{
	for (size_t i = 0; i < drift->count; i++)
		if (drift->rnics[i].is_port &&
		    strcmp(drift->rnics[i].device, port) == 0 &&
		    strcmp(drift->rnics[i].host, switch_name) == 0)
			return &drift->rnics[i];
	return NULL;
}

/* Returns the entry of an RNIC that no agent reports, for reuse; NULL: there is
 * none. */
static struct drift_rnic *
reuse(struct drift *drift)
{
	for (size_t i = 0; i < drift->count; i++)
		if (!drift->rnics[i].there)
			return &drift->rnics[i];
	return NULL;
}

static int
add(struct drift *drift, struct drift_rnic **ret)
{
	const size_t capacity = drift->capacity == 0 ? 16 : 2 * drift->capacity;
	struct drift_rnic *rnics;

	if (drift->count == DRIFT_MAX_RNICS) {
		*ret = reuse(drift);
		drift->refused += *ret == NULL;
		return *ret == NULL ? -ENOSPC : 0;
	}
	if (drift->count == drift->capacity) {
		rnics = reallocarray(drift->rnics, capacity, sizeof(*rnics));
		if (rnics == NULL)
			return -ENOMEM;
		drift->rnics = rnics;
		drift->capacity = capacity;
	}
	*ret = &drift->rnics[drift->count++];
	return 0;
}

static void
take_state(
    struct drift_rnic *rnic, unsigned setting, enum drift_state state, rm_wall_t now)
{
	const enum drift_state was = rnic->states[setting];
	struct drift_known *known = &rnic->known[setting];

	if (state == was)
		return;
	if (state == DRIFT_UNKNOWN)
		*known = (struct drift_known){ was, rnic->since[setting] };
	rnic->states[setting] = state;
	rnic->since[setting] =
	    was == DRIFT_UNKNOWN && state == known->state ? known->since : now;
}

static void
compare(struct drift_rnic *rnic, rm_wall_t now)
{
	for (unsigned i = 0; i < WIRE_SETTINGS; i++)
		take_state(rnic, i,
		    drift_settings_compare(
			&rnic->expected, &rnic->actual, (enum wire_setting)i),
		    now);
}

int
drift_report(struct drift *drift, const struct drift_groups *groups,
    const struct wire_rnic *rnic, const struct wire_settings *settings, rm_wall_t now)
{
	struct drift_rnic *at = find(drift, rnic->id);
	int r = 0;

	if (!rm_name_valid(rnic->host) || !rm_name_valid(rnic->device))
		return -EINVAL;
	if (at == NULL) {
		r = add(drift, &at);
		if (r < 0)
			return r;
		*at = (struct drift_rnic){ .id = rnic->id };
	}
	snprintf(at->host, sizeof(at->host), "%s", rnic->host);
	snprintf(at->device, sizeof(at->device), "%s", rnic->device);
	at->there = true;
	at->actual = (struct drift_settings){ 0 };
	if (settings != NULL)
		drift_settings_take(&at->actual, settings);
	drift_groups_find(groups, false, at->host, at->device, &at->expected);
	compare(at, now);
	return 0;
}

int
drift_report_port(struct drift *drift, const struct drift_groups *groups,
    const char *switch_name, const char *port, const struct wire_settings *settings,
    rm_wall_t now)
{
	struct drift_rnic *at = find_port(drift, switch_name, port);
	struct drift_settings expected;
	int r;

	if (!rm_name_valid(switch_name) || !rm_name_valid(port))
		return -EINVAL;
	drift_groups_find(groups, true, switch_name, port, &expected);
	if (at == NULL && expected.known == 0)
		return 0;
	if (at == NULL) {
		r = add(drift, &at);
		if (r < 0)
			return r;
		*at = (struct drift_rnic){ .is_port = true };
		snprintf(at->host, sizeof(at->host), "%s", switch_name);
		snprintf(at->device, sizeof(at->device), "%s", port);
	}
	at->there = true;
	at->expected = expected;
	at->actual = (struct drift_settings){ 0 };
	if (settings != NULL)
		drift_settings_take(&at->actual, settings);
	compare(at, now);
	return 0;
}

void
drift_regroup(struct drift *drift, const struct drift_groups *groups, rm_wall_t now)
{
	for (size_t i = 0; i < drift->count; i++) {
		struct drift_rnic *rnic = &drift->rnics[i];

		drift_groups_find(
		    groups, rnic->is_port, rnic->host, rnic->device, &rnic->expected);
		compare(rnic, now);
	}
}

size_t
drift_count(const struct drift *drift)
{
	return drift->count;
}

const struct drift_rnic *
drift_get(const struct drift *drift, size_t i)
{
	return &drift->rnics[i];
}

struct drift_sums
drift_sums(const struct drift *drift)
{
	struct drift_sums sums = { 0 };

	for (size_t i = 0; i < drift->count; i++) {
		const struct drift_rnic *rnic = &drift->rnics[i];
		bool different = false;

		if (!rnic->there)
			continue;
		for (unsigned k = 0; k < WIRE_SETTINGS; k++) {
			sums.states[rnic->states[k]]++;
			different |= rnic->states[k] == DRIFT_DIFFERENT;
		}
		if (rnic->is_port) {
			sums.ports++;
			sums.ports_different += different;
		} else {
			sums.rnics++;
			sums.rnics_different += different;
		}
	}
	return sums;
}

const uint64_t *
drift_refused(const struct drift *drift)
{
	return &drift->refused;
}
