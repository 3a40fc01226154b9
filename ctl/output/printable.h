/*
 * printable - makes text of daemons, databases and files safe for a terminal. Pure.
 * Text from outside may contain control characters, which a terminal would execute. All
 * such text must pass this module before it is printed.
 */
#ifndef CTL_OUTPUT_PRINTABLE_H
#define CTL_OUTPUT_PRINTABLE_H

#include <jansson.h>

/* Replaces control characters in place by question marks, and line breaks and tabs by
 * blanks. */
void printable_text(char *text);

/* The same for every string in json, and for every key. -ENOMEM. */
int printable_json(json_t *json);

#endif
