/*
 * hypervisor_table - the one table of all values that are read from an ESXi host's NICs
 * (vmnics): names, units, and where the host prints each. Pure.
 *
 * A value with the same meaning as one of an RNIC (host-agent/counters) has the same
 * name. A source is a text: alternatives with '|' between them, of which the first that
 * exists counts; each is a letter for the place, ':' and the name in that place. '#'
 * stands for the number of the priority; a source for priorities without a '#' is a
 * list of up to eight numbers.
 */
#ifndef TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_TABLE_H
#define TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The letters of a source. */
enum hypervisor_place {
	HYPERVISOR_GENERAL = 'v', /* vsish: statistics that every driver has */
	HYPERVISOR_DRIVER = 'd',  /* vsish: those of the driver alone */
	HYPERVISOR_STATS = 's',   /* esxcli network nic stats get */
	HYPERVISOR_LIST = 'l',    /* a column of esxcli network nic list */
	HYPERVISOR_PAUSE = 'p',   /* a column of esxcli network nic pauseParams list */
	HYPERVISOR_DCB = 'q',     /* esxcli network nic dcb status get */
};

struct hypervisor_row {
	const char *name;
	const char *metric; /* of Prometheus */
	const char *unit;
	bool by_priority; /* HYPERVISOR_PRIORITIES values instead of one */
	bool gauge;
	const char *help;
	const char *source;
};

#define HYPERVISOR_PRIORITIES 8

extern const struct hypervisor_row hypervisor_rows[]; /* ends with name NULL */

size_t hypervisor_row_values(const struct hypervisor_row *row);
size_t hypervisor_values(void); /* number of values of all rows */
/* Index of the first value of a row, by its name, which must exist. */
size_t hypervisor_value_of(const char *name);

/* Finds which alternative of a row's source this name in a place is. Returns its
 * number, from 0 on; -ENOENT: none. priority: set where a '#' stands for it. */
int hypervisor_source_find(const struct hypervisor_row *row,
    enum hypervisor_place place, const char *name, unsigned *priority);

/* Reads a number of digits only, or a word for one: Up, Down, true, false ...
 * -ENODATA: the text says that there is no value ("N/A", "", "-"); -EBADMSG: any
 * other text. */
int hypervisor_value_read(const char *text, uint64_t *ret);

#endif
