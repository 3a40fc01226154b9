#define HASH_NONFATAL_OOM 1
#include "region-controller/registry/registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/log.h"
#include "rackmesh/topology/topology.h"
#include "region-controller/registry/registry_addresses.h"
#include "region-controller/registry/registry_check.h"
#include "region-controller/registry/registry_hosts.h"
#include "region-controller/store/store_record.h"

struct registry_refusals {                                     /* all zeros at first */
	struct registry_refused entries[REGISTRY_MAX_REFUSED]; /* the newest first */
	size_t count;
};

struct registry {
	struct registry_rnic *rnics;
	const struct rm_topology *topology;
	size_t *members; /* number of members of each switch */
	struct registry_addresses *addresses;
	struct registry_hosts *hosts;
	struct registry_refusals refusals;
	void (*on_gone)(const struct registry_rnic *rnic, void *arg);
	void *arg;
	struct registry_counts counts;
};

/* ---- the reasons why a registration has no place, as text ---- */

static const struct {
	const char *name, *sentence;
} reasons[REGISTRY_REFUSALS] = {
	[REGISTRY_PLACED] = { "placed", "it is in the plans" },
	[REGISTRY_BAD_ID] = { "bad_id",
	    "its id is neither a GUID with a port nor a MAC" },
	[REGISTRY_BAD_NAME] = { "bad_name",
	    "a name is malformed, given twice, or of another host" },
	[REGISTRY_BAD_ADDRESS] = { "bad_address",
	    "an address is not unicast or has a wrong port, or its QPs do not fit "
	    "together" },
	[REGISTRY_NO_TOR] = { "no_tor",
	    "it names no ToR; give one in the agent's config" },
	/* The log appends the name of the other host. */
	[REGISTRY_OF_OTHER_HOST] = { "of_other_host",
	    "if two hosts have this GUID or MAC, give one of them another one; if the "
	    "RNIC was moved, POST /v1/forget/ID to the controller and restart the "
	    "agent of its new host; another host registered it first" },
	[REGISTRY_STALE] = { "stale",
	    "the agent has been restarted or replaced since" },
	[REGISTRY_REPLACED] = { "replaced",
	    "its host has replaced it by another RNIC; the registration comes from an "
	    "old plan of an aggregator that is not connected to the agent" },
	[REGISTRY_FULL] = { "registry_full",
	    "the region has too many RNICs; split it" },
	[REGISTRY_UNKNOWN_TOR] = { "unknown_tor",
	    "the topology has no such ToR; add it there, or correct the agent's "
	    "config" },
	[REGISTRY_NOT_A_TOR] = { "not_a_tor",
	    "the topology gives that switch another role; correct it, or the agent's "
	    "config" },
	[REGISTRY_WRONG_PLANE] = { "wrong_plane",
	    "its ToRs are in different planes; correct the topology, or the agent's "
	    "config" },
	[REGISTRY_RACK_FULL] = { "rack_full", "the ToR has too many RNICs" },
};

const char *
registry_refusal_str(enum registry_refusal refusal)
{
	return refusal < REGISTRY_REFUSALS ? reasons[refusal].name : "unknown";
}

const char *
registry_refusal_sentence(enum registry_refusal refusal)
{
	return refusal < REGISTRY_REFUSALS ? reasons[refusal].sentence : "unknown";
}

/* Copies text of a peer, made printable. */
static void
show(char ret[RM_NAME_BYTES], const char *text)
{
	rm_log_quote(ret, RM_NAME_BYTES, text, strlen(text));
}

static void
registry_refused_note(struct registry_refusals *refusals, const struct wire_rnic *rnic,
    const struct registry_source *source, enum registry_refusal refusal,
    const char *name)
{
	struct registry_refused entry = { .refusal = refusal, .last = source->wall };
	struct registry_refused *entries = refusals->entries;
	size_t i;

	rm_rnic_id_format(
	    (struct rm_rnic_id){ rnic->id.guid, rnic->id.port }, entry.id);
	show(entry.host, source->host);
	show(entry.device, rnic->device);
	show(entry.tor, rnic->tor_count > 0 ? rnic->tors[0] : "");
	show(entry.aggregator, source->aggregator);
	if (refusal == REGISTRY_BAD_NAME || refusal == REGISTRY_OF_OTHER_HOST)
		show(entry.name, name);
	for (i = 0; i < refusals->count; i++) {
		if (entries[i].refusal == refusal &&
		    strcmp(entries[i].id, entry.id) == 0 &&
		    strcmp(entries[i].host, entry.host) == 0)
			break;
	}
	if (i < refusals->count)
		entry.times = entries[i].times;
	else if (refusals->count < REGISTRY_MAX_REFUSED)
		refusals->count++;
	else
		i--; /* the oldest entry is removed */
	entry.times++;
	memmove(&entries[1], &entries[0], i * sizeof(entry));
	entries[0] = entry;
}

static enum registry_refusal
find_place(const struct rm_topology *topology, const size_t *members,
    struct registry_rnic *rnic)
{
	for (size_t i = 0; i < rnic->tor_count; i++) {
		const struct rm_switch *sw;
		size_t *index = &rnic->switches[i];

		if (topology == NULL ||
		    !rm_topology_find(topology, rnic->tors[i], index))
			return REGISTRY_UNKNOWN_TOR;
		sw = rm_topology_switch(topology, *index);
		if (sw->role != RM_SWITCH_TOR)
			return REGISTRY_NOT_A_TOR;
		if (i > 0 && sw->plane != rnic->plane)
			return REGISTRY_WRONG_PLANE;
		if (members[*index] >= WIRE_MAX_MEMBERS)
			return REGISTRY_RACK_FULL;
		rnic->plane = sw->plane;
	}
	return REGISTRY_PLACED;
}

/* members: the number of members of each switch, which is counted up. members and
 * topology NULL: there is no topology yet. */
static void
registry_place(
    const struct rm_topology *topology, size_t *members, struct registry_rnic *rnic)
{
	rnic->refusal = find_place(topology, members, rnic);
	if (rnic->refusal != REGISTRY_PLACED)
		return;
	for (size_t i = 0; i < rnic->tor_count; i++)
		members[rnic->switches[i]]++;
}

static void
registry_unplace(size_t *members, const struct registry_rnic *rnic)
{
	if (members == NULL || rnic->refusal != REGISTRY_PLACED)
		return;
	for (size_t i = 0; i < rnic->tor_count; i++)
		members[rnic->switches[i]]--;
}

struct wire_rnic
registry_wire(const struct rm_topology *topology, const struct registry_rnic *rnic)
{
	bool placed = rnic->refusal == REGISTRY_PLACED && topology != NULL;
	struct wire_rnic wire = {
		.id = { rnic->id.guid, rnic->id.port },
		.host = rnic->host,
		.device = rnic->device,
		.driver = rnic->driver,
		.tor_count = rnic->tor_count,
		.plane = placed ? rm_topology_plane(topology, rnic->plane) : "",
		.address_count = rnic->address_count,
		.qpn = rnic->qpn,
		.mtu_bytes = rnic->mtu_bytes,
		.incarnation = rnic->incarnation,
		.large_qpn = rnic->large_qpn,
		.lid = rnic->lid,
		.link = rnic->link,
		.authenticates = rnic->authenticates,
	};

	for (size_t i = 0; i < rnic->tor_count; i++)
		wire.tors[i] = rnic->tors[i];
	memcpy(wire.addresses, rnic->addresses, sizeof(wire.addresses));
	return wire;
}

int
registry_new(struct registry **ret)
{
	struct registry *registry = calloc(1, sizeof(*registry));
	int r;

	if (registry == NULL)
		return -ENOMEM;
	r = registry_addresses_new(&registry->addresses);
	if (r == 0)
		r = registry_hosts_new(&registry->hosts);
	if (r < 0) {
		registry_free(registry);
		return r;
	}
	*ret = registry;
	return 0;
}

static void
drop(struct registry *registry, struct registry_rnic *rnic)
{
	registry_addresses_drop(registry->addresses, rnic);
	registry_hosts_drop(registry->hosts, rnic);
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
	registry_addresses_free(registry->addresses);
	registry_hosts_free(registry->hosts);
	free(registry->members);
	free(registry);
}

/* ---- places ---------------------------------------------------------------- */

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
	/* Sorted by id, so that the order of arrival does not decide which RNIC finds
	 * its rack full. */
	HASH_SORT(registry->rnics, by_id);
	HASH_ITER (hh, registry->rnics, rnic, next)
		registry_place(topology, members, rnic);
	return 0;
}

/* ---- registrations --------------------------------------------------------- */

static int
refuse(struct registry *registry, const struct wire_rnic *rnic,
    const struct registry_source *source, enum registry_refusal reason,
    const char *name, enum registry_refusal *refusal)
{
	registry->counts.refused[reason]++;
	registry_refused_note(&registry->refusals, rnic, source, reason, name);
	*refusal = reason;
	return -EINVAL;
}

static void
note_reporter(struct registry_rnic *rnic, const struct registry_source *source)
{
	memset(rnic->aggregator, 0, sizeof(rnic->aggregator));
	memcpy(rnic->aggregator, source->aggregator,
	    strnlen(source->aggregator, sizeof(rnic->aggregator) - 1));
	if (rnic->reporters[0] != source->session) {
		rnic->reporters[1] = rnic->reporters[0];
		rnic->reporters[0] = source->session;
	}
	rnic->seen = source->now;
	rnic->registered = source->wall;
}

static struct registry_rnic *
find(const struct registry *registry, uint64_t guid, uint8_t port)
{
	struct registry_key key = { guid, port };
	struct registry_rnic *rnic = NULL;

	HASH_FIND(hh, registry->rnics, &key, sizeof(key), rnic);
	return rnic;
}

/* Adds an RNIC that has no place yet. NULL: out of memory. */
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

/* Replaces the known state by the registered one. *changed: the change affects
 * plans. */
static int
take_over(struct registry *registry, struct registry_rnic *known,
    const struct wire_rnic *rnic, const char *host, rm_wall_t wall, bool *changed)
{
	struct registry_rnic before = *known;
	int r;

	registry_unplace(registry->members, known);
	registry_addresses_drop(registry->addresses, known);
	registry_hosts_drop(registry->hosts, known);
	registry_take_over(known, rnic, host);
	if (before.incarnation != known->incarnation)
		known->replaced = before.incarnation;
	if (before.device[0] != '\0' && strcmp(before.device, known->device) != 0)
		memcpy(known->former_device, before.device, sizeof(before.device));
	if (!registry_same_addresses(&before, known))
		known->claimed = wall;
	r = registry_addresses_add(registry->addresses, known);
	if (r > 0 && !registry_same_addresses(&before, known))
		registry->counts.ambiguous++;
	if (registry_hosts_add(registry->hosts, known) < 0)
		r = -ENOMEM;
	registry_place(registry->topology, registry->members, known);
	if (known->refusal != REGISTRY_PLACED)
		registry->counts.refused[known->refusal]++;
	if (before.tor_count > 0 &&
	    (strcmp(before.host, known->host) != 0 ||
		memcmp(before.tors, known->tors, sizeof(before.tors)) != 0)) {
		known->moves++;
		registry->counts.moved++;
	}
	/* Plans do not change for an RNIC that neither had a place before nor has one
	 * now. */
	*changed =
	    (before.refusal == REGISTRY_PLACED || known->refusal == REGISTRY_PLACED) &&
	    (before.refusal != known->refusal || !registry_same_plan(&before, known));
	return r < 0 ? r : 0;
}

/* True: the agent of the RNIC's host has registered another RNIC in place of this one.
 */
static bool
is_replaced(
    const struct registry *registry, const struct wire_rnic *rnic, const char *host)
{
	struct registry_rnic reported = { .link = 0 };

	registry_take_over(&reported, rnic, host);
	for (const struct registry_rnic *other =
		 registry_hosts_rnics(registry->hosts, host);
	     other != NULL; other = other->next_of_host) {
		if (other->incarnation != 0 && registry_same_place(other, &reported))
			return true;
	}
	return false;
}

int
registry_report(struct registry *registry, const struct wire_rnic *rnic,
    const struct registry_source *source, enum registry_refusal *refusal)
{
	const char *name = "";
	enum registry_refusal wrong = registry_check(rnic, source->host, &name);
	struct registry_rnic *known;
	bool changed = false;
	int r;

	registry->counts.registrations++;
	if (wrong != REGISTRY_PLACED)
		return refuse(registry, rnic, source, wrong, name, refusal);
	known = find(registry, rnic->id.guid, rnic->id.port);
	/* An RNIC belongs to the host that has registered it: otherwise any agent could
	 * get the keys of any RNIC. */
	if (known != NULL && strcmp(known->host, source->host) != 0)
		return refuse(registry, rnic, source, REGISTRY_OF_OTHER_HOST,
		    known->host, refusal);
	if (known != NULL && rnic->incarnation == 0) {
		note_reporter(known, source);
		*refusal = known->refusal;
		return 0;
	}
	if (known != NULL && known->replaced == rnic->incarnation &&
	    known->incarnation != rnic->incarnation && known->replaced != 0)
		return refuse(registry, rnic, source, REGISTRY_STALE, "", refusal);
	if (known == NULL && rnic->incarnation == 0 &&
	    is_replaced(registry, rnic, source->host))
		return refuse(registry, rnic, source, REGISTRY_REPLACED, "", refusal);
	if (known == NULL && HASH_COUNT(registry->rnics) >= REGISTRY_MAX_RNICS)
		return refuse(registry, rnic, source, REGISTRY_FULL, "", refusal);
	if (known == NULL)
		known = add(registry, rnic);
	if (known == NULL)
		return -ENOMEM;
	r = take_over(registry, known, rnic, source->host, source->wall, &changed);
	note_reporter(known, source);
	*refusal = known->refusal;
	registry->counts.changed += changed;
	return r < 0 ? r : changed;
}

int
registry_load(struct registry *registry, const struct store_rnic *from, rm_mono_t now)
{
	struct registry_rnic *known =
	    find(registry, from->rnic.id.guid, from->rnic.id.port);
	const char *name = "";
	bool changed = false;
	int r;

	if (registry_check(&from->rnic, from->rnic.host, &name) != REGISTRY_PLACED)
		return -EINVAL;
	if (known == NULL && HASH_COUNT(registry->rnics) >= REGISTRY_MAX_RNICS)
		return -EINVAL;
	if (known == NULL)
		known = add(registry, &from->rnic);
	if (known == NULL)
		return -ENOMEM;
	r = take_over(
	    registry, known, &from->rnic, from->rnic.host, from->registered, &changed);
	memset(known->aggregator, 0, sizeof(known->aggregator));
	memcpy(known->aggregator, from->aggregator,
	    strnlen(from->aggregator, sizeof(known->aggregator) - 1));
	known->registered = from->registered;
	known->seen = now;
	registry->counts.loaded += changed;
	return r < 0 ? r : changed;
}

/* ---- forgetting ------------------------------------------------------------ */

static bool
is_vouched_for(const struct registry_rnic *rnic,
    bool (*is_alive)(uint64_t session, void *arg), void *arg)
{
	for (size_t i = 0; i < 2; i++) {
		if (rnic->reporters[i] != 0 && is_alive(rnic->reporters[i], arg))
			return true;
	}
	return false;
}

void
registry_on_gone(struct registry *registry,
    void (*on_gone)(const struct registry_rnic *rnic, void *arg), void *arg)
{
	registry->on_gone = on_gone;
	registry->arg = arg;
}

static void
lose(struct registry *registry, struct registry_rnic *rnic)
{
	registry_unplace(registry->members, rnic);
	if (registry->on_gone != NULL)
		registry->on_gone(rnic, registry->arg);
	drop(registry, rnic);
}

bool
registry_rename(struct registry *registry, struct wire_rnic_id id, const char *former,
    const char *host)
{
	struct registry_rnic *rnic = find(registry, id.guid, id.port);

	if (rnic == NULL || strcmp(rnic->host, former) != 0 || !rm_name_valid(host))
		return false;
	registry_hosts_drop(registry->hosts, rnic);
	memset(rnic->host, 0, sizeof(rnic->host));
	strcpy(rnic->host, host);
	/* If memory runs out, the next registration of the RNIC adds it. */
	(void)registry_hosts_add(registry->hosts, rnic);
	registry->counts.renamed++;
	return true;
}

static bool
is_reported(const struct registry_rnic *rnic, const struct registry_named *reported,
    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (reported[i].id.guid == rnic->id.guid &&
		    reported[i].id.port == rnic->id.port)
			return true;
	}
	return false;
}

/* Returns the RNIC of the registration in this place: a new one if there is one,
 * otherwise one that has come from another device. *fresh: it is new. */
static const struct registry_rnic *
reported_in(const struct registry *registry, const struct registry_rnic *place,
    const struct registry_named *reported, size_t count, bool *fresh)
{
	const struct registry_rnic *moved = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct registry_rnic *other =
		    find(registry, reported[i].id.guid, reported[i].id.port);

		if (other == NULL || !registry_same_place(other, place))
			continue;
		*fresh = !reported[i].was_known;
		if (*fresh)
			return other;
		if (other->former_device[0] != '\0' &&
		    strcmp(other->device, place->device) == 0)
			moved = other;
	}
	return moved;
}

/*
 * Returns the new RNIC that a registration has in place of this RNIC. NULL: there is
 * none, or the registration still contains this RNIC.
 *
 * A known RNIC may have got this RNIC's device name, because VFs have exchanged their
 * MACs at a reboot. That alone says nothing about this RNIC. But if a new RNIC has the
 * device that the known one had before, all devices are accounted for.
 */
static const struct registry_rnic *
replaced_by(const struct registry *registry, const struct registry_rnic *rnic,
    const struct registry_named *reported, size_t count)
{
	struct registry_rnic place = *rnic;

	if (is_reported(rnic, reported, count))
		return NULL;
	for (unsigned moves = 0; moves <= REGISTRY_MAX_MOVES; moves++) {
		bool fresh = false;
		const struct registry_rnic *by =
		    reported_in(registry, &place, reported, count, &fresh);

		if (by == NULL || fresh)
			return by;
		memcpy(place.device, by->former_device, sizeof(place.device));
		place.address_count = 0;
	}
	return NULL;
}

size_t
registry_replace(struct registry *registry, const char *host,
    const struct registry_named *reported, size_t count,
    void (*on_replaced)(
	const struct registry_rnic *old, const struct registry_rnic *by, void *arg),
    void *arg)
{
	struct registry_rnic *rnic = registry_hosts_rnics(registry->hosts, host);
	size_t replaced = 0;

	while (rnic != NULL) {
		struct registry_rnic *next = rnic->next_of_host;
		const struct registry_rnic *by =
		    replaced_by(registry, rnic, reported, count);

		if (by != NULL) {
			on_replaced(rnic, by, arg);
			lose(registry, rnic);
			replaced++;
		}
		rnic = next;
	}
	registry->counts.replaced += replaced;
	return replaced;
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
			lose(registry, rnic);
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
	lose(registry, rnic);
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

const struct registry_rnic *
registry_resolve(const struct registry *registry, const struct wire_address *address)
{
	return registry_addresses_find(registry->addresses, address);
}

bool
registry_shared_address(
    const struct registry *registry, size_t i, struct registry_shared *ret)
{
	return registry_addresses_shared(registry->addresses, i, ret);
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
	return registry->refusals.count;
}

const struct registry_refused *
registry_refused(const struct registry *registry, size_t i)
{
	return &registry->refusals.entries[i];
}

const struct registry_counts *
registry_counts(const struct registry *registry)
{
	return &registry->counts;
}
