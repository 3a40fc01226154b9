#define HASH_NONFATAL_OOM 1
#include "region-controller/registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/base/log.h"
#include "rackmesh/fabric/topology.h"
#include "region-controller/registry_check.h"

struct registry {
	struct registry_rnic *rnics;
	const struct rm_topology *topology;
	size_t *members;                                       /* of each switch */
	struct registry_refused refused[REGISTRY_MAX_REFUSED]; /* the newest first */
	size_t refused_count;
	struct registry_counts counts;
};

int
registry_new(struct registry **ret)
{
	struct registry *registry = calloc(1, sizeof(*registry));

	if (registry == NULL)
		return -ENOMEM;
	*ret = registry;
	return 0;
}

static void
drop(struct registry *registry, struct registry_rnic *rnic)
{
	HASH_DEL(registry->rnics, rnic);
	free(rnic);
}

void
registry_free(struct registry *registry)
{
	struct registry_rnic *rnic, *next;

	if (registry == NULL)
		return;
	HASH_ITER (hh, registry->rnics, rnic, next)
		drop(registry, rnic);
	free(registry->members);
	free(registry);
}

/* ---- places ---------------------------------------------------------------- */

static void
unplace(struct registry *registry, const struct registry_rnic *rnic)
{
	if (registry->members == NULL || rnic->refusal != REGISTRY_PLACED)
		return;
	for (size_t i = 0; i < rnic->tor_count; i++)
		registry->members[rnic->switches[i]]--;
}

static enum registry_refusal
find_place(const struct registry *registry, struct registry_rnic *rnic)
{
	for (size_t i = 0; i < rnic->tor_count; i++) {
		const struct rm_switch *sw;
		size_t *index = &rnic->switches[i];

		if (registry->topology == NULL ||
		    !rm_topology_find(registry->topology, rnic->tors[i], index))
			return REGISTRY_UNKNOWN_TOR;
		sw = rm_topology_switch(registry->topology, *index);
		if (sw->role != RM_SWITCH_TOR)
			return REGISTRY_NOT_A_TOR;
		if (i > 0 && sw->plane != rnic->plane)
			return REGISTRY_WRONG_PLANE;
		if (registry->members[*index] >= WIRE_MAX_MEMBERS)
			return REGISTRY_RACK_FULL;
		rnic->plane = sw->plane;
	}
	return REGISTRY_PLACED;
}

static void
place(struct registry *registry, struct registry_rnic *rnic)
{
	rnic->refusal = find_place(registry, rnic);
	if (rnic->refusal != REGISTRY_PLACED)
		return;
	for (size_t i = 0; i < rnic->tor_count; i++)
		registry->members[rnic->switches[i]]++;
}

static int
by_id(struct registry_rnic *a, struct registry_rnic *b)
{
	if (a->key.guid != b->key.guid)
		return a->key.guid < b->key.guid ? -1 : 1;
	return (a->key.port > b->key.port) - (a->key.port < b->key.port);
}

int
registry_set_topology(struct registry *registry, const struct rm_topology *topology)
{
	size_t *members = calloc(rm_topology_switches(topology) + 1, sizeof(*members));
	struct registry_rnic *rnic, *next;

	if (members == NULL)
		return -ENOMEM;
	free(registry->members);
	registry->members = members;
	registry->topology = topology;
	/* By id: who finds a full rack must not depend on who came first. */
	HASH_SORT(registry->rnics, by_id);
	HASH_ITER (hh, registry->rnics, rnic, next)
		place(registry, rnic);
	return 0;
}

/* ---- telling --------------------------------------------------------------- */

/* Foreign text, as far as it can be shown. */
static void
show(char ret[RM_NAME_BYTES], const char *text)
{
	rm_log_quote(ret, RM_NAME_BYTES, text, strlen(text));
}

static void
remember_refused(struct registry *registry, const struct wire_rnic *rnic,
    const struct registry_told *told, enum registry_refusal refusal)
{
	struct registry_refused entry = { .refusal = refusal, .last = told->wall };
	size_t i;

	rm_rnic_id_format(
	    (struct rm_rnic_id){ rnic->id.guid, rnic->id.port }, entry.id);
	show(entry.host, told->host);
	show(entry.device, rnic->device);
	show(entry.tor, rnic->tor_count > 0 ? rnic->tors[0] : "");
	show(entry.aggregator, told->aggregator);
	for (i = 0; i < registry->refused_count; i++) {
		const struct registry_refused *old = &registry->refused[i];

		if (old->refusal == refusal && strcmp(old->id, entry.id) == 0 &&
		    strcmp(old->host, entry.host) == 0)
			break;
	}
	if (i < registry->refused_count)
		entry.times = registry->refused[i].times;
	else if (registry->refused_count < REGISTRY_MAX_REFUSED)
		registry->refused_count++;
	else
		i--; /* the oldest makes room */
	entry.times++;
	memmove(&registry->refused[1], &registry->refused[0], i * sizeof(entry));
	registry->refused[0] = entry;
}

static int
refuse(struct registry *registry, const struct wire_rnic *rnic,
    const struct registry_told *told, enum registry_refusal why,
    enum registry_refusal *refusal)
{
	registry->counts.refused[why]++;
	remember_refused(registry, rnic, told, why);
	*refusal = why;
	return -EINVAL;
}

static void
note_teller(struct registry_rnic *rnic, const struct registry_told *told)
{
	memset(rnic->aggregator, 0, sizeof(rnic->aggregator));
	memcpy(rnic->aggregator, told->aggregator,
	    strnlen(told->aggregator, sizeof(rnic->aggregator) - 1));
	if (rnic->tellers[0] != told->session) {
		rnic->tellers[1] = rnic->tellers[0];
		rnic->tellers[0] = told->session;
	}
	rnic->seen = told->now;
	rnic->registered = told->wall;
}

static struct registry_rnic *
find(const struct registry *registry, uint64_t guid, uint8_t port)
{
	struct registry_key key = { guid, port };
	struct registry_rnic *rnic = NULL;

	HASH_FIND(hh, registry->rnics, &key, sizeof(key), rnic);
	return rnic;
}

/* One that nobody has told of yet, without a place. NULL: out of memory. */
static struct registry_rnic *
add(struct registry *registry, const struct wire_rnic *rnic)
{
	struct registry_rnic *fresh = calloc(1, sizeof(*fresh));

	if (fresh == NULL)
		return NULL;
	fresh->id = (struct rm_rnic_id){ rnic->id.guid, rnic->id.port };
	fresh->key = (struct registry_key){ rnic->id.guid, rnic->id.port };
	fresh->refusal = REGISTRY_UNKNOWN_TOR;
	HASH_ADD(hh, registry->rnics, key, sizeof(fresh->key), fresh);
	if (fresh->hh.tbl == NULL) { /* uthash could not grow */
		free(fresh);
		return NULL;
	}
	return fresh;
}

int
registry_tell(struct registry *registry, const struct wire_rnic *rnic,
    const struct registry_told *told, enum registry_refusal *refusal)
{
	enum registry_refusal wrong = registry_check(rnic, told->host);
	struct registry_rnic *known, before;

	registry->counts.told++;
	if (wrong != REGISTRY_PLACED)
		return refuse(registry, rnic, told, wrong, refusal);
	known = find(registry, rnic->id.guid, rnic->id.port);
	if (known != NULL && rnic->incarnation == 0) {
		note_teller(known, told);
		*refusal = known->refusal;
		return 0;
	}
	if (known != NULL && known->replaced == rnic->incarnation &&
	    known->incarnation != rnic->incarnation && known->replaced != 0)
		return refuse(registry, rnic, told, REGISTRY_STALE, refusal);
	if (known == NULL && HASH_COUNT(registry->rnics) >= REGISTRY_MAX_RNICS)
		return refuse(registry, rnic, told, REGISTRY_FULL, refusal);
	if (known == NULL)
		known = add(registry, rnic);
	if (known == NULL)
		return -ENOMEM;

	before = *known;
	unplace(registry, known);
	registry_take_over(known, rnic, told->host);
	if (before.incarnation != known->incarnation)
		known->replaced = before.incarnation;
	place(registry, known);
	note_teller(known, told);
	*refusal = known->refusal;
	if (known->refusal != REGISTRY_PLACED)
		registry->counts.refused[known->refusal]++;
	if (before.tor_count > 0 &&
	    (strcmp(before.host, known->host) != 0 ||
		memcmp(before.tors, known->tors, sizeof(before.tors)) != 0)) {
		known->moves++;
		registry->counts.moved++;
	}
	if (before.refusal == known->refusal && registry_same_plan(&before, known))
		return 0;
	/* What has no place, and had none, is in no plan. */
	if (before.refusal != REGISTRY_PLACED && known->refusal != REGISTRY_PLACED)
		return 0;
	registry->counts.changed++;
	return 1;
}

/* ---- forgetting ------------------------------------------------------------ */

static bool
is_vouched_for(const struct registry_rnic *rnic,
    bool (*is_alive)(uint64_t session, void *arg), void *arg)
{
	for (size_t i = 0; i < 2; i++) {
		if (rnic->tellers[i] != 0 && is_alive(rnic->tellers[i], arg))
			return true;
	}
	return false;
}

size_t
registry_expire(struct registry *registry, rm_mono_t now, int64_t max_age_ns,
    bool (*is_alive)(uint64_t session, void *arg), void *arg)
{
	struct registry_rnic *rnic, *next;
	size_t forgotten = 0;

	HASH_ITER (hh, registry->rnics, rnic, next) {
		if (is_vouched_for(rnic, is_alive, arg)) {
			rnic->seen = now;
		} else if (rm_mono_since(now, rnic->seen) > max_age_ns) {
			unplace(registry, rnic);
			drop(registry, rnic);
			forgotten++;
		}
	}
	registry->counts.forgotten += forgotten;
	return forgotten;
}

int
registry_forget(struct registry *registry, struct rm_rnic_id id)
{
	struct registry_rnic *rnic = find(registry, id.guid, id.port);

	if (rnic == NULL)
		return -ENOENT;
	unplace(registry, rnic);
	drop(registry, rnic);
	registry->counts.forgotten++;
	return 0;
}

/* ---- reading --------------------------------------------------------------- */

size_t
registry_count(const struct registry *registry)
{
	return HASH_COUNT(registry->rnics);
}

const struct registry_rnic *
registry_find(const struct registry *registry, struct rm_rnic_id id)
{
	return find(registry, id.guid, id.port);
}

static int
pointers_by_id(const void *a, const void *b)
{
	return by_id(
	    *(struct registry_rnic *const *)a, *(struct registry_rnic *const *)b);
}

int
registry_sorted(
    const struct registry *registry, const struct registry_rnic ***ret, size_t *count)
{
	size_t n = HASH_COUNT(registry->rnics), i = 0;
	const struct registry_rnic **all = calloc(n + 1, sizeof(*all));

	if (all == NULL)
		return -ENOMEM;
	for (const struct registry_rnic *rnic = registry->rnics; rnic != NULL;
	     rnic = rnic->hh.next)
		all[i++] = rnic;
	qsort(all, n, sizeof(*all), pointers_by_id);
	*ret = all;
	*count = n;
	return 0;
}

size_t
registry_members(const struct registry *registry, size_t tor)
{
	return registry->members[tor];
}

size_t
registry_refused_count(const struct registry *registry)
{
	return registry->refused_count;
}

const struct registry_refused *
registry_refused(const struct registry *registry, size_t i)
{
	return &registry->refused[i];
}

const struct registry_counts *
registry_counts(const struct registry *registry)
{
	return &registry->counts;
}
