/*
 * part - the parts that can be at fault, and their names.
 *
 * An RNIC is known by node GUID and port, without RDMA by its MAC; its host and
 * device are attributes. A part's (type, name, place) identifies it in alerts and
 * never changes while a fault lasts.
 */
#ifndef RACKMESH_JUDGE_PART_H
#define RACKMESH_JUDGE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RM_PORT_MAC 0      /* guid holds a 48-bit MAC */
#define RM_PORT_SWITCH 255 /* the reflector of a switch; guid is a hash of its name */

struct rm_rnic_id {
	uint64_t guid;
	uint8_t port;
};

/* "0c42:a103:0065:aabc/1", "02:00:00:00:00:01" (a MAC), "switch:0123456789abcdef". */
#define RM_RNIC_ID_TEXT 32
void rm_rnic_id_format(struct rm_rnic_id id, char text[RM_RNIC_ID_TEXT]);
int rm_rnic_id_parse(const char *text, struct rm_rnic_id *ret); /* -EINVAL */
bool rm_rnic_id_equal(struct rm_rnic_id a, struct rm_rnic_id b);
struct rm_rnic_id rm_rnic_id_of_switch(const char *name); /* FNV-1a 64 of the name */

/* Names of hosts, devices, ToRs, planes, switches, regions: 1 to 63 of
 * [A-Za-z0-9._:-], the first a letter or digit. */
#define RM_NAME_BYTES 64
bool rm_name_valid(const char *name);
#define RM_NAME_EXPECTED \
	"expected a name: 1 to 63 of A-Z a-z 0-9 . _ : -, a letter or digit first"

/* A name that may contain the wildcards of a shell: * (at most four times), ?, [a-c],
 * [!a]. A name without wildcards matches only itself. */
bool rm_name_pattern_valid(const char *pattern);
bool rm_name_matches(const char *name, const char *pattern);

enum rm_part_type {
	RM_PART_RNIC = 1, /* name "host/device", place its ToR */
	/* name "host", no place: a host with RNICs in several racks gets one alert */
	RM_PART_HOST,
	RM_PART_AGENT,  /* name "host", no place */
	RM_PART_TOR,    /* name "tor" */
	RM_PART_LINK,   /* name "spine1--tor2", in alphabetical order; the direction
			   that fails is evidence */
	RM_PART_SWITCH, /* name "spine1" */
	RM_PART_PATH,   /* name "tor1->tor2": it is not known which part of the path */
	RM_PART_RACK,   /* name "tor": the monitoring of its rack, not the switch */
	RM_PART_AGGREGATOR, /* name "aggregator" */
	RM_PART_REGION,     /* name "region" */
	RM_PART_CONTROLLER, /* name "controller" */
	RM_PART_ANALYZER,   /* name "analyzer" */
	/* name "dscp26-out-of-tor1": the packets of a class at a place */
	RM_PART_CLASS,
	RM_PART_TYPES
};

/* The longest name of one part is that of a link; an undecided part has up to three
 * names, such as "spine1 or spine1--tor1 or spine1--tor2". */
#define RM_PART_OR " or " /* valid names contain no space */
#define RM_PART_ALTERNATIVES 3
#define RM_PART_ONE_BYTES (2 * (RM_NAME_BYTES - 1) + sizeof "--")
#define RM_PART_NAME_BYTES                                \
	(RM_PART_ALTERNATIVES * (RM_PART_ONE_BYTES - 1) + \
	    (RM_PART_ALTERNATIVES - 1) * (sizeof RM_PART_OR - 1) + 1)

struct rm_part {
	enum rm_part_type type;
	char name[RM_PART_NAME_BYTES];
	/* "": parts of this type have no place, because with places one fault would
	 * cause two alerts */
	char place[RM_NAME_BYTES];
};

const char *rm_part_type_str(enum rm_part_type type);  /* "rnic", "host", ... */
const char *rm_part_alertname(enum rm_part_type type); /* "RackmeshRnic", ... */
bool rm_part_equal(const struct rm_part *a, const struct rm_part *b);

/* True: the part's name is `name`, or "x or y" with `name` as x or y. */
bool rm_part_names(const struct rm_part *part, const char *name);

#endif
