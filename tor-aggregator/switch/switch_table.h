/*
 * switch_table - the one table of what is read of a switch: names, units, and how each
 * kind of switch calls it. Pure.
 *
 * A source is a text: alternatives with '|' between them, of which the first that there
 * is counts. Of SONiC '#' stands for the number of the priority, or of the errors;
 * names that begin with "PORT_TABLE/" are a field of its state of the port, others of
 * its COUNTERS. Of a Nexus a name is command/field, see nexus.c; between summands
 * stands '+', of which those are added that there are, and "=Word" makes a 1 of that
 * word, a 0 of others.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SWITCH_TABLE_H
#define TOR_AGGREGATOR_SWITCH_SWITCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the values of a row differ in. */
enum switch_by {
	SWITCH_BY_NONE, /* there is one */
	SWITCH_BY_PRIORITY,
	SWITCH_BY_ERRORS, /* symbols with an error in one codeword */
};

enum switch_part {
	SWITCH_PORT,
	SWITCH_QUEUE, /* egress queue of a port */
	SWITCH_GROUP, /* ingress priority group of a port */
	SWITCH_PARTS,
};

struct switch_row {
	const char *name;
	const char *metric; /* of Prometheus */
	const char *unit;
	uint8_t part; /* enum switch_part */
	uint8_t by;   /* enum switch_by */
	bool gauge;
	const char *help;
	const char *sonic, *nexus; /* "": it does not count it */
};

#define SWITCH_PRIORITIES 8
#define SWITCH_ERROR_BINS 16 /* 0 to 15: as many as RS(544,514) corrects */
#define SWITCH_NAME_BYTES 80

extern const struct switch_row switch_rows[]; /* name NULL: the end */

const char *switch_part_str(enum switch_part part);
/* Is it between the chips of one switch? Such ports carry what others have counted. */
bool switch_port_is_internal(const char *port);
size_t switch_row_values(const struct switch_row *row);
/* "priority", "symbol_errors"; of SWITCH_BY_NONE "". */
const char *switch_by_str(enum switch_by by);
/* Of all rows of a part. */
size_t switch_values(enum switch_part part);

/* The next alternative of a source at *text, which is moved behind it. -ENOENT: there
 * is none left. */
int switch_next_name(const char **text, unsigned number, char ret[SWITCH_NAME_BYTES]);

/* Up to 64 bits, in digits alone. -EBADMSG. */
int switch_number_read(const char *text, size_t len, uint64_t *ret);
/* Such a number, or a word for one: up, operational ... -ENODATA: it says
 * that there is none ("N/A", ""); -EBADMSG: anything else. */
int switch_value_read(const char *text, size_t len, uint64_t *ret);

#endif
