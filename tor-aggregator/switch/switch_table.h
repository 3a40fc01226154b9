/*
 * switch_table - the one table of all values that are read of a switch: names, units,
 * and the name in each kind of switch. Pure.
 *
 * A source is a text: alternatives with '|' between them, of which the first that
 * exists counts. For SONiC '#' stands for the number of the priority, or of the errors;
 * names that begin with "PORT_TABLE/" are a field of the port's state, others of its
 * COUNTERS. For a Nexus a name is command/field, see nexus.c; '+' stands between
 * summands, of which those that exist are added, and "=Word" gives 1 for that word, 0
 * for others.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SWITCH_TABLE_H
#define TOR_AGGREGATOR_SWITCH_SWITCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What distinguishes the values of a row. */
enum switch_by {
	SWITCH_BY_NONE, /* there is only one */
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
	const char *sonic, *nexus; /* "": it does not have this counter */
};

#define SWITCH_PRIORITIES 8
#define SWITCH_ERROR_BINS 16 /* 0 to 15: as many as RS(544,514) corrects */
#define SWITCH_NAME_BYTES 80

extern const struct switch_row switch_rows[]; /* ends with name NULL */

const char *switch_part_str(enum switch_part part);
/* True: the port is between the chips of one switch. Such ports carry packets that
 * others have counted. */
bool switch_port_is_internal(const char *port);
size_t switch_row_values(const struct switch_row *row);
/* "priority", "symbol_errors"; of SWITCH_BY_NONE "". */
const char *switch_by_str(enum switch_by by);
/* Number of values of all rows of a part. */
size_t switch_values(enum switch_part part);

/* The next alternative of a source at *text, which is moved behind it. -ENOENT: there
 * is none left. */
int switch_next_name(const char **text, unsigned number, char ret[SWITCH_NAME_BYTES]);

/* Up to 64 bits, only digits. -EBADMSG. */
int switch_number_read(const char *text, size_t len, uint64_t *ret);
/* Such a number, or a word for one: up, operational ... -ENODATA: the text says that
 * there is none ("N/A", ""); -EBADMSG: any other text. */
int switch_value_read(const char *text, size_t len, uint64_t *ret);

#endif
