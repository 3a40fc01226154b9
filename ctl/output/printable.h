/*
 * printable - what daemons, databases and files say, made fit for a terminal. Pure.
 *
 * A name or a sentence that somebody else chose may hold control characters, which a
 * terminal would obey. Whatever comes from outside passes here before it is shown.
 */
#ifndef CTL_OUTPUT_PRINTABLE_H
#define CTL_OUTPUT_PRINTABLE_H

#include <jansson.h>

/* In place, by question marks; line breaks and tabs become blanks. */
void printable_text(char *text);

/* Every string in it, and every key. -ENOMEM. */
int printable_json(json_t *json);

#endif
