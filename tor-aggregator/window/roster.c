#include "tor-aggregator/window/roster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "tor-aggregator/window/window.h"

struct roster_key { /* no padding: it is hashed as bytes */
	uint64_t guid, port;
};

struct roster_entry {
	struct roster_rnic rnic;
	struct roster_key key;
	bool member;
	UT_hash_handle hh;
};

struct roster {
	char (*tors)[RM_NAME_BYTES];
	size_t tor_count; /* the first is the rack's own */
	struct roster_entry *by_id;
	struct roster_entry **members, **remotes;
	size_t member_count, remote_count;
	size_t planned_remotes;
	const char **hosts; /* names of hosts, borrowed from the first member of each */
	size_t host_count;
	uint64_t refused;
};

static struct roster_entry *roster_entry(
    const struct roster *roster, struct wire_rnic_id id);

int
roster_new(const char *tor, struct roster **ret)
{
	struct roster *roster = calloc(1, sizeof(*roster));

	if (roster == NULL)
		return -ENOMEM;
	roster->tors = calloc(ROSTER_MAX_TORS, sizeof(*roster->tors));
	roster->members = calloc(WIRE_MAX_MEMBERS, sizeof(*roster->members));
	roster->hosts = calloc(WIRE_MAX_MEMBERS, sizeof(*roster->hosts));
	roster->remotes = calloc(WIRE_MAX_REMOTES, sizeof(*roster->remotes));
	if (roster->tors == NULL || roster->members == NULL || roster->hosts == NULL ||
	    roster->remotes == NULL) {
		roster_free(roster);
		return -ENOMEM;
	}
	snprintf(roster->tors[0], sizeof(roster->tors[0]), "%s", tor);
	roster->tor_count = 1;
	*ret = roster;
	return 0;
}

void
roster_free(struct roster *roster)
{
	struct roster_entry *entry, *next;

	if (roster == NULL)
		return;
	HASH_ITER (hh, roster->by_id, entry, next) {
		HASH_DEL(roster->by_id, entry);
		free(entry);
	}
	free(roster->members);
	free(roster->remotes);
	free(roster->hosts);
	free(roster->tors);
	free(roster);
}

/* NULL: it is not in the roster. */
static struct roster_entry *
roster_entry(const struct roster *roster, struct wire_rnic_id id)
{
	const struct roster_key key = { id.guid, id.port };
	struct roster_entry *entry;

	HASH_FIND(hh, roster->by_id, &key, sizeof(key), entry);
	return entry;
}

const struct roster_rnic *
roster_find(const struct roster *roster, struct wire_rnic_id id)
{
	struct roster_entry *entry = roster_entry(roster, id);

	return entry == NULL ? NULL : &entry->rnic;
}

/* True: names and numbers are valid. The reflector of a switch has neither host nor
 * device. */
static bool
is_well_formed(const struct wire_rnic *rnic)
{
	if (rnic->id.guid == 0 || rnic->address_count > WIRE_MAX_ADDRESSES)
		return false;
	if (rnic->id.port == RM_PORT_SWITCH && rnic->host[0] == 0)
		return true;
	return rm_name_valid(rnic->host) && rm_name_valid(rnic->device);
}

static uint16_t
number_tor(struct roster *roster, const char *tor)
{
	size_t i;

	for (i = 0; i < roster->tor_count; i++)
		if (strcmp(roster->tors[i], tor) == 0)
			return (uint16_t)i;
	if (i == ROSTER_OTHER_TORS)
		return ROSTER_OTHER_TORS;
	snprintf(roster->tors[i], sizeof(roster->tors[i]), "%s", tor);
	roster->tor_count++;
	return (uint16_t)i;
}

static void
describe(struct roster *roster, struct roster_rnic *rnic, const struct wire_rnic *from,
    const char *tor)
{
	snprintf(rnic->host, sizeof(rnic->host), "%.*s", RM_NAME_BYTES - 1, from->host);
	snprintf(rnic->device, sizeof(rnic->device), "%.*s", RM_NAME_BYTES - 1,
	    from->device);
	if (!rm_name_valid(tor))
		tor = "unknown";
	snprintf(rnic->tor, sizeof(rnic->tor), "%s", tor);
	rnic->tor_number = number_tor(roster, tor);
	memcpy(rnic->addresses, from->addresses, sizeof(rnic->addresses));
	rnic->address_count = from->address_count;
	rnic->qpn = from->qpn;
	rnic->large_qpn = from->large_qpn;
	rnic->lid = from->lid;
	rnic->link = from->link;
	rnic->authenticates = from->authenticates;
	rnic->mtu_bytes = from->mtu_bytes;
}

static void
number_hosts(struct roster *roster)
{
	roster->host_count = 0;
	for (size_t i = 0; i < roster->member_count; i++) {
		struct roster_rnic *rnic = &roster->members[i]->rnic;
		size_t h;

		for (h = 0; h < roster->host_count; h++)
			if (strcmp(roster->hosts[h], rnic->host) == 0)
				break;
		if (h == roster->host_count)
			roster->hosts[roster->host_count++] = rnic->host;
		rnic->host_index = h;
	}
}

static bool
is_full(const struct roster *roster, bool member)
{
	return member ? roster->member_count == WIRE_MAX_MEMBERS
		      : roster->remote_count == WIRE_MAX_REMOTES;
}

/* Gives the entry the next index of its list, which is not full. */
static void
append(struct roster *roster, struct roster_entry *entry, bool member)
{
	entry->member = member;
	if (member) {
		entry->rnic.index = (uint32_t)roster->member_count;
		roster->members[roster->member_count++] = entry;
	} else {
		entry->rnic.index = WINDOW_REMOTE_BASE + (uint32_t)roster->remote_count;
		roster->remotes[roster->remote_count++] = entry;
	}
}

static int
add(struct roster *roster, const struct wire_rnic *rnic, bool member,
    struct roster_entry **ret)
{
	struct roster_entry *entry;

	if (is_full(roster, member))
		return -ENOSPC;
	entry = calloc(1, sizeof(*entry));
	if (entry == NULL)
		return -ENOMEM;
	entry->rnic.id = rnic->id;
	entry->key = (struct roster_key){ rnic->id.guid, rnic->id.port };
	HASH_ADD(hh, roster->by_id, key, sizeof(entry->key), entry);
	if (entry->hh.tbl == NULL) { /* uthash could not grow */
		free(entry);
		return -ENOMEM;
	}
	append(roster, entry, member);
	*ret = entry;
	return 0;
}

/* Makes a member a remote RNIC, or a remote RNIC a member. The last RNIC of its former
 * list gets its index. Nothing changes if the other list is full: the caller reports an
 * error then, and the window would not be renumbered. */
static int
change_list(struct roster *roster, struct roster_entry *entry)
{
	const bool was_member = entry->member;
	const uint32_t base = was_member ? 0 : WINDOW_REMOTE_BASE;
	struct roster_entry **list = was_member ? roster->members : roster->remotes;
	size_t *count = was_member ? &roster->member_count : &roster->remote_count;
	const uint32_t at = entry->rnic.index - base;

	if (is_full(roster, !was_member))
		return -ENOSPC;
	list[at] = list[--*count];
	list[at]->rnic.index = base + at;
	entry->rnic = (struct roster_rnic){ .id = entry->rnic.id };
	append(roster, entry, !was_member);
	return 0;
}

static void
drop(struct roster *roster, struct roster_entry *entry)
{
	HASH_DEL(roster->by_id, entry);
	free(entry);
}

/* Removes the entries for which `keep` is false, and renumbers those after them. True:
 * at least one entry was removed. */
static bool
sweep(struct roster *roster, struct roster_entry **entries, size_t *count,
    uint32_t base, bool (*keep)(const struct roster_entry *entry))
{
	size_t left = 0, before = *count;

	for (size_t i = 0; i < before; i++) {
		if (!keep(entries[i])) {
			drop(roster, entries[i]);
			continue;
		}
		entries[i]->rnic.index = base + (uint32_t)left;
		entries[left++] = entries[i];
	}
	*count = left;
	return left != before;
}

static bool
keep_member(const struct roster_entry *entry)
{
	return entry->member && (entry->rnic.planned || entry->rnic.registered);
}

static bool
keep_remote(const struct roster_entry *entry)
{
	return !entry->member && (entry->rnic.planned || entry->rnic.served);
}

static bool
same_address(const struct wire_address *a, const struct wire_address *b)
{
	return a->family == b->family && a->port == b->port &&
	       memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static bool
same_place(const struct roster_rnic *a, const struct roster_rnic *b)
{
	if (strcmp(a->host, b->host) != 0)
		return false;
	for (size_t i = 0; i < a->address_count; i++) {
		for (size_t j = 0; j < b->address_count; j++) {
			if (same_address(&a->addresses[i], &b->addresses[j]))
				return true;
		}
	}
	return strcmp(a->device, b->device) == 0;
}

/* True: the agent of its host does not register this RNIC any more, but a new one with
 * its device name or address. If the plan names both RNICs, such a match proves
 * nothing. */
static bool
is_replaced(const struct roster *roster, const struct roster_rnic *rnic)
{
	if (rnic->registered)
		return false;
	for (size_t i = 0; i < roster->member_count; i++) {
		const struct roster_rnic *other = &roster->members[i]->rnic;

		if (other->registered && !other->planned && same_place(other, rnic))
			return true;
	}
	return false;
}

/* Removes members that are neither planned nor registered, and planned ones that were
 * replaced: a registration is newer than the plan. */
static bool
sweep_members(struct roster *roster)
{
	for (size_t i = 0; i < roster->member_count; i++) {
		struct roster_rnic *rnic = &roster->members[i]->rnic;

		if (rnic->planned && is_replaced(roster, rnic))
			rnic->planned = false;
	}
	return sweep(roster, roster->members, &roster->member_count, 0, keep_member);
}

/* Finds or adds an RNIC as a member, or as a remote RNIC. If it was the other one
 * before, all that was known of it is deleted, and *changed is set. NULL: the RNIC was
 * refused and counted, and *r is the error. */
static struct roster_entry *
roster_place(struct roster *roster, const struct wire_rnic *rnic, bool member,
    bool *changed, int *r)
{
	struct roster_entry *entry = NULL;
	const char *tor = member                ? roster->tors[0]
			  : rnic->tor_count > 0 ? rnic->tors[0]
						: "";

	*r = -EINVAL;
	if (is_well_formed(rnic)) {
		entry = roster_entry(roster, rnic->id);
		*r = 0;
	}
	if (entry != NULL && entry->member != member) {
		*r = change_list(roster, entry);
		*changed |= *r == 0;
	}
	if (*r == 0 && entry == NULL)
		*r = add(roster, rnic, member, &entry);
	if (*r < 0) {
		roster->refused++;
		return NULL;
	}
	/* Data of its own agent is newer than any plan; but the plan decides which host
	 * the RNIC belongs to. */
	if (strcmp(entry->rnic.host, rnic->host) != 0 &&
	    strcmp(entry->rnic.former, rnic->host) != 0)
		entry->rnic.registered = false;
	if (!entry->rnic.registered)
		describe(roster, &entry->rnic, rnic, tor);
	return entry;
}

int
roster_plan(struct roster *roster, const struct wire_plan_view *view)
{
	const struct wire_plan *plan = &view->plan;
	struct roster_entry *entry, *next;
	struct wire_rnic rnic;
	bool changed = false;
	int r = 0;

	HASH_ITER (hh, roster->by_id, entry, next)
		entry->rnic.planned = false;
	for (size_t i = 0; i < plan->member_count; i++) {
		wire_plan_member(view, i, &rnic);
		entry = roster_place(roster, &rnic, true, &changed, &r);
		if (entry != NULL)
			entry->rnic.planned = true;
		else if (r == -ENOMEM)
			break;
	}
	for (size_t i = 0; i < plan->remote_count && r != -ENOMEM; i++) {
		wire_plan_remote(view, i, &rnic);
		entry = roster_entry(roster, rnic.id);
		if (entry != NULL && entry->member &&
		    (entry->rnic.planned ||
			(entry->rnic.registered &&
			    strcmp(entry->rnic.host, rnic.host) == 0)))
			continue; /* it stays a member */
		entry = roster_place(roster, &rnic, false, &changed, &r);
		if (entry != NULL)
			entry->rnic.planned = true;
	}
	if (r == -ENOMEM) { /* it is not known which RNICs the rest of the plan names,
			       so none is removed */
		for (size_t i = 0; i < roster->member_count; i++)
			roster->members[i]->rnic.planned = true;
		number_hosts(roster);
		return r;
	}
	if (sweep_members(roster))
		changed = true;
	/* Remote RNICs change with every plan, and to renumber them deletes the counts
	 * of the window: remove them only if most are not in the plan. */
	if (roster->remote_count > 2 * plan->remote_count + 64 &&
	    sweep(roster, roster->remotes, &roster->remote_count, WINDOW_REMOTE_BASE,
		keep_remote))
		changed = true;
	number_hosts(roster);
	return changed;
}

bool
roster_belongs_to_other(
    const struct roster *roster, struct wire_rnic_id id, const char *host)
{
	const struct roster_rnic *rnic = roster_find(roster, id);

	return rnic != NULL && (rnic->planned || rnic->registered) &&
	       strcmp(rnic->host, host) != 0;
}

int
roster_register(struct roster *roster, const struct wire_rnic *rnic)
{
	bool changed = false, fell;
	struct roster_entry *entry = roster_entry(roster, rnic->id);
	int r;

	/* An agent registers its RNICs again after each change, when they are no longer
	 * `registered`: the state that it reported before is in reported_up. */
	fell = entry != NULL && entry->rnic.reported_up && rnic->link == WIRE_LINK_DOWN;
	r = rm_name_valid(rnic->host) ? 0 : -EINVAL;
	if (r == 0 && roster_belongs_to_other(roster, rnic->id, rnic->host))
		r = -EPERM;
	if (r < 0) {
		roster->refused++;
		return r;
	}
	entry = roster_place(roster, rnic, true, &changed, &r);
	if (entry == NULL)
		return r;
	if (fell)
		entry->rnic.link_falls++;
	entry->rnic.reported_up = rnic->link != WIRE_LINK_DOWN;
	describe(roster, &entry->rnic, rnic, roster->tors[0]);
	entry->rnic.registered = true;
	number_hosts(roster);
	return changed;
}

void
roster_rename(
    struct roster *roster, struct wire_rnic_id id, const char *former, const char *host)
{
	struct roster_entry *entry = roster_entry(roster, id);

	if (entry == NULL || strcmp(entry->rnic.host, former) != 0)
		return;
	snprintf(entry->rnic.former, sizeof(entry->rnic.former), "%s", former);
	snprintf(entry->rnic.host, sizeof(entry->rnic.host), "%s", host);
	number_hosts(roster);
}

int
roster_replace(struct roster *roster, const char *host)
{
	bool changed = false;

	for (size_t i = 0; i < roster->member_count; i++) {
		struct roster_rnic *rnic = &roster->members[i]->rnic;

		if (strcmp(rnic->host, host) == 0 && is_replaced(roster, rnic)) {
			rnic->planned = false;
			changed = true;
		}
	}
	if (!changed)
		return 0;
	sweep(roster, roster->members, &roster->member_count, 0, keep_member);
	number_hosts(roster);
	return 1;
}

void
roster_leave(struct roster *roster, const char *host)
{
	for (size_t i = 0; i < roster->member_count; i++) {
		struct roster_rnic *rnic = &roster->members[i]->rnic;

		if (strcmp(rnic->host, host) == 0)
			rnic->registered = false;
	}
}

/* ---- remote RNICs that services of the rack talk to, planned or not ------------- */

int
roster_learn(struct roster *roster, const struct wire_rnic *rnic, rm_mono_t now)
{
	struct roster_entry *entry = roster_entry(roster, rnic->id);
	bool changed = false;
	int r = 0;

	if (entry != NULL && (entry->member || entry->rnic.planned)) {
		entry->rnic.served = true;
		return 0;
	}
	for (size_t i = 0; i < rnic->tor_count; i++)
		if (strcmp(rnic->tors[i], roster->tors[0]) == 0)
			return -EINVAL; /* only its agent may register a member */
	entry = roster_place(roster, rnic, false, &changed, &r);
	if (entry != NULL) {
		entry->rnic.served = true;
		entry->rnic.learned = now;
	}
	return r;
}

bool
roster_serve(struct roster *roster, struct wire_rnic_id id)
{
	struct roster_entry *entry = roster_entry(roster, id);

	if (entry != NULL)
		entry->rnic.served = true;
	return entry != NULL;
}

void
roster_unserve(struct roster *roster)
{
	struct roster_entry *entry, *next;

	HASH_ITER (hh, roster->by_id, entry, next)
		entry->rnic.served = false;
}

/* ---- the members of the rack ---- */

const char *
roster_tor(const struct roster *roster)
{
	return roster->tors[0];
}

size_t
roster_members(const struct roster *roster)
{
	return roster->member_count;
}

size_t
roster_remotes(const struct roster *roster)
{
	return roster->remote_count;
}

size_t
roster_hosts(const struct roster *roster)
{
	return roster->host_count;
}

const struct roster_rnic *
roster_member(const struct roster *roster, size_t i)
{
	return &roster->members[i]->rnic;
}

const struct roster_rnic *
roster_remote(const struct roster *roster, size_t i)
{
	return &roster->remotes[i]->rnic;
}

const struct roster_rnic *
roster_at(const struct roster *roster, uint32_t index)
{
	if (index < roster->member_count)
		return &roster->members[index]->rnic;
	if (index >= WINDOW_REMOTE_BASE &&
	    index - WINDOW_REMOTE_BASE < roster->remote_count)
		return &roster->remotes[index - WINDOW_REMOTE_BASE]->rnic;
	return NULL;
}

const char *
roster_host(const struct roster *roster, size_t i)
{
	return roster->hosts[i];
}

const char *
roster_tor_name(const struct roster *roster, uint16_t number)
{
	return number < roster->tor_count ? roster->tors[number] : "";
}

const uint64_t *
roster_refused(const struct roster *roster)
{
	return &roster->refused;
}
