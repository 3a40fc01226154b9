#include "tor-aggregator/controller/address_book.h"

#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/window/roster.h"

struct book_entry {
	struct wire_address address; /* normalized, see plain_of */
	uint32_t index; /* index of the address's RNIC in the rack's roster */
	uint16_t rack;
};

void
address_book_stale(struct address_book *book)
{
	book->fresh = false;
}

void
address_book_release(struct address_book *book)
{
	free(book->entries);
	*book = (struct address_book){ 0 };
}

/* Normalizes an address: no port, zeros behind an IPv4 address, and instead of a GID
 * with an IPv4 address that IPv4 address. */
static struct wire_address
plain_of(const struct wire_address *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct wire_address plain = { .family = address->family };

	if (address->family == 6 &&
	    memcmp(address->bytes, mapped, sizeof(mapped)) == 0) {
		plain.family = 4;
		memcpy(plain.bytes, address->bytes + sizeof(mapped), 4);
	} else {
		memcpy(plain.bytes, address->bytes, address->family == 4 ? 4 : 16);
	}
	return plain;
}

static int
compare(const void *a, const void *b)
{
	const struct book_entry *x = a, *y = b;

	if (x->address.family != y->address.family)
		return x->address.family < y->address.family ? -1 : 1;
	return memcmp(x->address.bytes, y->address.bytes, sizeof(x->address.bytes));
}

static size_t
rack_write(const struct tor_rack *rack, uint16_t number, struct book_entry *out)
{
	const struct roster *roster = tor_rack_roster(rack);
	const size_t members = roster_members(roster);
	size_t count = 0;

	for (size_t i = 0; i < members + roster_remotes(roster); i++) {
		const struct roster_rnic *rnic =
		    i < members ? roster_member(roster, i)
				: roster_remote(roster, i - members);

		for (size_t a = 0; a < rnic->address_count; a++)
			out[count++] =
			    (struct book_entry){ plain_of(&rnic->addresses[a]),
				    rnic->index, number };
	}
	return count;
}

/* Makes the copy. Without memory the old copy stays. */
static void
build(struct address_book *book, struct tor_rack *const *racks, size_t rack_count)
{
	struct book_entry *entries;
	size_t room = 1, count = 0;

	for (size_t i = 0; i < rack_count; i++)
		room +=
		    WIRE_MAX_ADDRESSES * (roster_members(tor_rack_roster(racks[i])) +
					     roster_remotes(tor_rack_roster(racks[i])));
	entries = malloc(room * sizeof(*entries));
	if (entries == NULL)
		return;
	for (size_t i = 0; i < rack_count; i++)
		count += rack_write(racks[i], (uint16_t)i, entries + count);
	qsort(entries, count, sizeof(*entries), compare);
	free(book->entries);
	book->entries = entries;
	book->count = count;
	book->fresh = true;
}

static bool
has_address(const struct roster_rnic *rnic, const struct wire_address *plain)
{
	for (size_t a = 0; a < rnic->address_count; a++) {
		struct wire_address own = plain_of(&rnic->addresses[a]);

		if (own.family == plain->family &&
		    memcmp(own.bytes, plain->bytes, sizeof(own.bytes)) == 0)
			return true;
	}
	return false;
}

static struct wire_rnic
describe(const struct roster_rnic *rnic, const struct tor_rack *rack)
{
	const struct wire_plan_view *plan = tor_rack_plan_view(rack);
	struct wire_rnic out = {
		.id = rnic->id,
		.host = rnic->host,
		.device = rnic->device,
		.driver = "",
		.tors = { rnic->tor },
		.tor_count = 1,
		/* All RNICs in a plan are in the plan's plane. */
		.plane = plan == NULL ? "" : plan->plan.plane,
		.address_count = rnic->address_count,
		.qpn = rnic->qpn,
		.mtu_bytes = rnic->mtu_bytes,
		.large_qpn = rnic->large_qpn,
		.lid = rnic->lid,
		.link = rnic->link,
		.authenticates = rnic->authenticates,
	};

	memcpy(out.addresses, rnic->addresses, sizeof(out.addresses));
	return out;
}

/* Finds an entry with this address, preferably one that is not old. The roster
 * may have changed since the copy was made, so its RNIC is checked. */
static const struct book_entry *
best_of(const struct address_book *book, const struct book_entry *any,
    struct tor_rack *const *racks, size_t rack_count, rm_mono_t now, bool *old)
{
	const struct book_entry *best = NULL, *end = book->entries + book->count;

	while (any > book->entries && compare(any - 1, any) == 0)
		any--;
	for (const struct book_entry *e = any; e < end && compare(e, any) == 0; e++) {
		const struct roster_rnic *rnic =
		    e->rack >= rack_count
			? NULL
			: roster_at(tor_rack_roster(racks[e->rack]), e->index);

		if (rnic == NULL || !has_address(rnic, &any->address))
			continue;
		best = e;
		*old = !rnic->planned && !rnic->registered &&
		       rm_mono_since(now, rnic->learned) >= ADDRESS_BOOK_OLD_NS;
		if (!*old)
			break;
	}
	return best;
}

bool
address_book_find(struct address_book *book, struct tor_rack *const *racks,
    size_t rack_count, const struct wire_address *address, rm_mono_t now,
    struct wire_rnic *ret, bool *old)
{
	const struct book_entry key = { .address = plain_of(address) };
	const struct book_entry *found = NULL;

	if (!book->fresh && (book->built.ns == 0 || rm_mono_since(now, book->built) >=
							ADDRESS_BOOK_EVERY_NS)) {
		build(book, racks, rack_count);
		book->built = now;
	}
	if (book->count > 0)
		found = bsearch(
		    &key, book->entries, book->count, sizeof(*book->entries), compare);
	if (found != NULL)
		found = best_of(book, found, racks, rack_count, now, old);
	if (found == NULL)
		return false;
	*ret = describe(roster_at(tor_rack_roster(racks[found->rack]), found->index),
	    racks[found->rack]);
	return true;
}
