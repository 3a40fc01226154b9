/*
 * nexus_text - changes the text of a Nexus' answer so that a JSON parser accepts it.
 * Pure.
 *
 * A JSON parser refuses the whole answer if one number is too large, or one character
 * is not UTF-8. This module changes only the value with the error: a value that is not
 * a string, true, false, null or a short number becomes a string with the same
 * characters, and a character that is not allowed in a string becomes
 * NEXUS_TEXT_DAMAGED.
 */
#ifndef TOR_AGGREGATOR_NEXUS_NEXUS_TEXT_H
#define TOR_AGGREGATOR_NEXUS_NEXUS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define NEXUS_TEXT_DAMAGED '\x7f' /* replaces a wrong byte or escape sequence */

/* *ret: the changed text, *ret_len bytes; the caller frees it. The number of strings
 * with NEXUS_TEXT_DAMAGED is added to *damaged. -ENOMEM. */
int nexus_text_clean(
    const char *text, size_t len, char **ret, size_t *ret_len, uint64_t *damaged);

#endif
