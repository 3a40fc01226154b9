/*
 * nexus_text - changes the text of a Nexus' answer so that a JSON parser accepts it.
 * Pure.
 *
 * A parser refuses the whole answer because of one number that is too large, or one
 * character that is not UTF-8. Here only the value with the error is changed: a value
 * that is neither true, false, null nor a short number becomes a string with the same
 * characters, and a character that is not allowed in a string becomes
 * NEXUS_TEXT_DAMAGED.
 */
#ifndef TOR_AGGREGATOR_SWITCH_NEXUS_TEXT_H
#define TOR_AGGREGATOR_SWITCH_NEXUS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define NEXUS_TEXT_DAMAGED '\x7f' /* in the place of a byte or an escape */

/* *ret: malloc'd, of *ret_len bytes; the caller frees it. damaged: added to, strings
 * with such a letter. -ENOMEM. */
int nexus_text_clean(
    const char *text, size_t len, char **ret, size_t *ret_len, uint64_t *damaged);

#endif
