/*
 * hypervisor_table - the table of all values that are read from an ESXi host's NICs
 * (vmnics): their names and units, and where the host prints them. Pure.
 *
 * If an RNIC (host-agent/counters) has a value with the same meaning, both have the
 * same name. A source consists of alternatives separated by '|', of which the first
 * that exists is used. An alternative is a letter for the place, ':' and the name at
 * that place. '#' is replaced by the number of the priority. If a row has a value per
 * priority and its source has no '#', the host prints a list of up to eight numbers.
 */
#ifndef TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_TABLE_H
#define TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The letters of a source. */
enum hypervisor_place {
	HYPERVISOR_GENERAL = 'v', /* vsish: statistics that every driver has */
	HYPERVISOR_DRIVER = 'd',  /* vsish: statistics that only this driver has */
	HYPERVISOR_STATS = 's',   /* esxcli network nic stats get */
	HYPERVISOR_LIST = 'l',    /* a column of esxcli network nic list */
	HYPERVISOR_PAUSE = 'p',   /* a column of esxcli network nic pauseParams list */
	HYPERVISOR_DCB = 'q',     /* esxcli network nic dcb status get */
};

struct hypervisor_row {
	const char *name;
	const char *metric; /* of Prometheus */
	const char *unit;
	bool by_priority; /* there are HYPERVISOR_PRIORITIES values instead of one */
	bool gauge;
	const char *help;
	const char *source;
};

#define HYPERVISOR_PRIORITIES 8

/* The table ends with an entry whose name is NULL. */
extern const struct hypervisor_row hypervisor_rows[];

size_t hypervisor_row_values(const struct hypervisor_row *row);
size_t hypervisor_values(void); /* Returns the number of values of all rows. */
/* Returns the index of the first value of a row. The row is given by its name, which
 * must exist. */
size_t hypervisor_value_of(const char *name);

/* Finds the alternative of a row's source with this place and name. Returns its number,
 * from 0 on; -ENOENT: there is none. *priority: set if the alternative has a '#'. */
int hypervisor_source_find(const struct hypervisor_row *row,
    enum hypervisor_place place, const char *name, unsigned *priority);

/* Reads a number of digits only, or a word for 1 or 0, such as Up, Down, true and
 * false. -ENODATA: the text says that there is no value ("N/A", "", "-"); -EBADMSG: any
 * other text. */
int hypervisor_value_read(const char *text, uint64_t *ret);

#endif
