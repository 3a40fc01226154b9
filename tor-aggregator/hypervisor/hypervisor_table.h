/*
 * hypervisor_table - the one table of what is read of an ESXi host's NICs (vmnics):
 * names, units, and where the host tells each. Pure.
 *
 * Where a value means what one of an RNIC means (host-agent/counters), both have one
 * name. A source is a text: alternatives with '|' between them, of which the first that
 * there is counts; each is a letter for the place, ':' and how that place calls it. '#'
 * stands for the number of the priority; a source of priorities without one is a list
 * of up to eight numbers.
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

extern const struct hypervisor_row hypervisor_rows[]; /* name NULL: the end */

size_t hypervisor_row_values(const struct hypervisor_row *row);
size_t hypervisor_values(void); /* of all rows */
/* The first value of a row, by its name, which must be one. */
size_t hypervisor_value_of(const char *name);

/* Which alternative of a row's source is this name of a place? Its number, from 0 on;
 * -ENOENT: none. priority: where a '#' stands for one; else untouched. */
int hypervisor_source_find(const struct hypervisor_row *row,
    enum hypervisor_place place, const char *name, unsigned *priority);

/* A number in digits alone, or a word for one: Up, Down, true, false ... -ENODATA: it
 * says that there is none ("N/A", "", "-"); -EBADMSG: anything else. */
int hypervisor_value_read(const char *text, uint64_t *ret);

#endif
