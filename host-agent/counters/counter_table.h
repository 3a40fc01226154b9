/*
 * counter_table - the table of all values that are read of an RNIC: names, units,
 * widths, and each driver's source of the value. Pure.
 *
 * A source is a text of alternatives, separated by '|'; the first alternative that
 * exists is used. An alternative is one name, or a sum of names, separated by '+'. A
 * name is the letter of a place (enum counter_place), ':', and the counter's name at
 * that place; "*4" at its end means that the counter counts words of 4 bytes. '#'
 * stands for the number of the priority or lane.
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
	COUNTER_IONIC,
	/* any other driver; also the drivers above, for rows in which they have no
	   source */
	COUNTER_ANY,
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
	COUNTER_LINK, /* s: standard statistics of ethtool, the same for all drivers */
	COUNTER_MODULE, /* m: the optical module of the network device's port */
	COUNTER_PLACES,
};

enum counter_index { COUNTER_ONE, COUNTER_PRIORITY, COUNTER_LANE };

struct counter_row {
	const char *name;
	const char *metric; /* name of the metric for Prometheus, without prefix */
	const char *unit;
	/* number of bits of mlx5's counter; other drivers have 64. 0: a gauge */
	uint8_t width;
	uint8_t index; /* enum counter_index */
	const char *help;
	/* the source for each enum counter_driver; NULL: there is none. "|-" at the
	 * end: the sources of any driver count something else with this driver, and are
	 * not used. */
	const char *source[COUNTER_DRIVERS];
};

#define COUNTER_INDEXES 8 /* number of priorities, and of lanes */
#define COUNTER_NAME_BYTES 80
#define COUNTER_MAX_SUM 24 /* maximum number of names in one sum */

/* The entry after the last row has the name NULL. */
extern const struct counter_row counter_rows[];

/* True: the driver has no other sources than its own. */
bool counter_row_is_own(const struct counter_row *row, enum counter_driver driver);

/* Return the number of values of one row, and of all rows together. */
size_t counter_row_values(const struct counter_row *row);
size_t counter_values(void);

/* driver: name of the driver of the RDMA device or of the network device. */
enum counter_driver counter_driver_of(const char *driver);
const char *counter_driver_str(enum counter_driver driver);
/* Returns the name of the label for the index: "priority", "lane"; "": the row has one
 * value. */
const char *counter_index_str(enum counter_index index);
unsigned counter_width(const struct counter_row *row, enum counter_driver driver);
/* True: the value comes from the optical module, which is read separately: see
 * module_optics. */
bool counter_row_is_optics(const struct counter_row *row);

struct counter_name {
	enum counter_place place;
	uint8_t scale;
	char name[COUNTER_NAME_BYTES];
};

/* Parses the next name of the source at *text, and moves *text behind it. Returns 1:
 * more names of the same sum follow; 0: it is the last name of its sum. -ENOENT: *text
 * has no more names. */
int counter_next_name(const char **text, unsigned index, struct counter_name *ret);

/* Parses the value in a file of sysfs: "12", "4: ACTIVE"; "100 Gb/sec (4X EDR)" gives
 * 100000 (Mb/s), "16.0 GT/s PCIe" 16000; "RxErr 1\nBadTLP 2\nTOTAL_ERR_COR 3" gives 3.
 * -ENODATA: the file says that there is no value ("N/A", "Unknown", -1). -EBADMSG:
 * not a value. */
int counter_text_read(const char *text, size_t len, uint64_t *ret);

#endif
