/*
 * nexus_text - makes the text of a Nexus' answer one that a JSON parser takes. Pure.
 *
 * A parser refuses the whole answer for one number that is too large or one letter that
 * is not UTF-8. Here only the value that has it is changed: what is neither true,
 * false, null nor a short number becomes a string of the same letters, and what a
 * string may not hold becomes NEXUS_TEXT_DAMAGED.
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
