/*
 * counter_table - the one table of all values that are read of an RNIC: names, units,
 * widths, and the source of each driver. Pure.
 *
 * A source is a text: alternatives with '|' between them, of which the first that there
 * is counts; each is one name or the sum of several with '+' between them; a name is a
 * letter for the place, ':' and how that place calls it, and may end in "*4" where it
 * counts words of 4 bytes. '#' stands for the number of the priority or lane.
 */
#ifndef HOST_AGENT_COUNTERS_COUNTER_TABLE_H
#define HOST_AGENT_COUNTERS_COUNTER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum counter_driver {
	COUNTER_MLX5,
	COUNTER_BNXT,
	COUNTER_IRDMA,
	COUNTER_RXE,
	COUNTER_MANA,
	COUNTER_EFA,
	COUNTER_ANY, /* of any other driver, and of these where they have no other */
	COUNTER_DRIVERS,
};

enum counter_place {
	COUNTER_HW,      /* h: hw_counters of the port */
	COUNTER_HW_DEV,  /* H: hw_counters of the device */
	COUNTER_PMA,     /* c: counters of the port */
	COUNTER_PORT,    /* p: a file of the port's folder */
	COUNTER_NETDEV,  /* n: a file of the network device's folder */
	COUNTER_ETHTOOL, /* e: ethtool -S */
	COUNTER_DCB,     /* d: DCB of the network device */
	COUNTER_RES,     /* r: resources of the device */
	COUNTER_MODULE,  /* m: the optical module of the network device's port */
	COUNTER_PLACES,
};

enum counter_index { COUNTER_ONE, COUNTER_PRIORITY, COUNTER_LANE };

struct counter_row {
	const char *name;
	const char *metric; /* of Prometheus */
	const char *unit;
	uint8_t width; /* bits, of mlx5: others have 64. 0: a gauge */
	uint8_t index; /* enum counter_index */
	const char *help;
	const char *source[COUNTER_DRIVERS]; /* NULL: none */
};

#define COUNTER_INDEXES 8 /* priorities, and lanes */
#define COUNTER_NAME_BYTES 80
#define COUNTER_MAX_SUM 24 /* names that are added up, at most */

extern const struct counter_row counter_rows[]; /* name NULL: the end */

/* How many values a row has, and all rows together. */
size_t counter_row_values(const struct counter_row *row);
size_t counter_values(void);

/* By the name of a driver, of RDMA or of the network device. */
enum counter_driver counter_driver_of(const char *driver);
const char *counter_driver_str(enum counter_driver driver);
const char *counter_index_str(enum counter_index index); /* of labels; "" of one */
unsigned counter_width(const struct counter_row *row, enum counter_driver driver);
/* It is of the optical module, which is read apart from all others: see module_optics.
 */
bool counter_row_is_optics(const struct counter_row *row);

struct counter_name {
	enum counter_place place;
	uint8_t scale;
	char name[COUNTER_NAME_BYTES];
};

/* The next name of a source at *text, which is moved behind it. 1: more of the same sum
 * follow; 0: it was the last of its sum. -ENOENT: there is none left. */
int counter_next_name(const char **text, unsigned index, struct counter_name *ret);

/* The value in a file of sysfs: "12", "4: ACTIVE", "100 Gb/sec (4X EDR)" as 100000
 * (Mb/s). -ENODATA: it says that there is none ("N/A", -1); -EBADMSG. */
int counter_text_read(const char *text, size_t len, uint64_t *ret);

#endif
