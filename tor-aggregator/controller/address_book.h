/*
 * address_book - finds the RNIC that has an address, among all RNICs of this
 * aggregator's racks. Pure.
 *
 * It is a sorted copy of the addresses in the rosters. Call address_book_stale after a
 * change of a roster: the next query makes the copy again, at most once per
 * ADDRESS_BOOK_EVERY_NS. A GID that contains an IPv4 address is equal to that address.
 */
#ifndef TOR_AGGREGATOR_CONTROLLER_ADDRESS_BOOK_H
#define TOR_AGGREGATOR_CONTROLLER_ADDRESS_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct tor_rack;

struct address_book { /* initially all zero, which is stale */
	struct book_entry *entries;
	size_t count;
	bool fresh;
	rm_mono_t built;
};

#define ADDRESS_BOOK_EVERY_NS RM_NS_PER_S
#define ADDRESS_BOOK_OLD_NS (10 * RM_NS_PER_S)

void address_book_stale(struct address_book *book);
void address_book_release(struct address_book *book);

/*
 * Finds the RNIC. Strings in *ret are valid until a roster changes. False: the address
 * is not known, or not yet in the copy. *old: the RNIC is known only from an answer to
 * an earlier request, not from a plan or an agent, so it may be outdated.
 */
bool address_book_find(struct address_book *book, struct tor_rack *const *racks,
    size_t rack_count, const struct wire_address *address, rm_mono_t now,
    struct wire_rnic *ret, bool *old);

#endif
