/*
 * printable - text of daemons, databases and files, made safe for a terminal. Pure. A
 * name or a sentence from outside may contain control characters, which a terminal
 * would execute. All foreign text passes this module before it is printed.
 */
#ifndef CTL_OUTPUT_PRINTABLE_H
#define CTL_OUTPUT_PRINTABLE_H

#include <jansson.h>

/* In place, by question marks; line breaks and tabs become blanks. */
void printable_text(char *text);

/* Every string in it, and every key. -ENOMEM. */
int printable_json(json_t *json);

#endif
