/*
 * address_book - finds the RNIC of an address, among all RNICs of this aggregator's
 * racks. Pure.
 *
 * A sorted copy of the rosters' addresses: mark it stale after a change of a roster,
 * and it is made again at the next query, at most once a second. A GID that holds an
 * IPv4 address equals that address.
 */
#ifndef TOR_AGGREGATOR_CONTROLLER_ADDRESS_BOOK_H
#define TOR_AGGREGATOR_CONTROLLER_ADDRESS_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct tor_rack;

struct address_book { /* all zero initially: stale */
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
 * Strings in *ret live until the roster changes. False: not known here (yet). *old:
 * known only from an earlier request, not from a plan or an agent, so it may be
 * outdated.
 */
bool address_book_find(struct address_book *book, struct tor_rack *const *racks,
    size_t rack_count, const struct wire_address *address, rm_mono_t now,
    struct wire_rnic *ret, bool *old);

#endif
