/*
 * switch_table - the table of all values that are read from switches: their names and
 * units, and where each kind of switch has them. Pure.
 *
 * The members sonic and nexus are sources: alternatives separated by '|', of which the
 * first that exists is used. For SONiC '#' is replaced by the number of the priority,
 * or of the errors; a name that begins with "PORT_TABLE/" is a field of the port's
 * state, any other name a field of its COUNTERS. For a Nexus a name is command/field,
 * see nexus.c; '+' separates summands, of which those that exist are added; "=Word"
 * gives 1 for that word and 0 for any other.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SWITCH_TABLE_H
#define TOR_AGGREGATOR_SWITCH_SWITCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What distinguishes the values of a row, if it has several. */
enum switch_by {
	SWITCH_BY_NONE, /* it has one value */
	SWITCH_BY_PRIORITY,
	SWITCH_BY_ERRORS, /* one value for each number of symbol errors in a codeword */
};

enum switch_part {
	SWITCH_PORT,
	SWITCH_QUEUE, /* egress queue of a port */
	SWITCH_GROUP, /* ingress priority group of a port */
	SWITCH_PARTS,
};

struct switch_row {
	const char *name;
	const char *metric; /* name of the Prometheus metric */
	const char *unit;
	uint8_t part; /* enum switch_part */
	uint8_t by;   /* enum switch_by */
	bool gauge;
	const char *help;
	/* sources; "": such a switch does not have this value */
	const char *sonic, *nexus;
};

#define SWITCH_PRIORITIES 8
#define SWITCH_ERROR_BINS 16 /* 0 to 15, the number that RS(544,514) can correct */
#define SWITCH_NAME_BYTES 80

extern const struct switch_row switch_rows[]; /* ends with name NULL */

const char *switch_part_str(enum switch_part part);
/* True: the port connects chips of one switch. Its packets are counted by external
 * ports, too. */
bool switch_port_is_internal(const char *port);
size_t switch_row_values(const struct switch_row *row);
/* "priority", "symbol_errors"; "" for SWITCH_BY_NONE. */
const char *switch_by_str(enum switch_by by);
/* The number of values of one object of this part, over all rows. */
size_t switch_values(enum switch_part part);

/* Writes the next alternative of a source to ret, and moves *text behind it. number
 * replaces '#'. -ENOENT: there is no alternative left. */
int switch_next_name(const char **text, unsigned number, char ret[SWITCH_NAME_BYTES]);

/* Reads a number of up to 64 bits, only digits. -EBADMSG: it is no such number. */
int switch_number_read(const char *text, size_t len, uint64_t *ret);
/* Reads such a number, or a word that stands for 1 or 0, such as "up" and
 * "operational". -ENODATA: the text says that there is no value ("N/A", ""); -EBADMSG:
 * any other text. */
int switch_value_read(const char *text, size_t len, uint64_t *ret);

#endif
