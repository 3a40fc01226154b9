/*
 * localise_path - paths through a region, the elements that they cross, and their
 * observations, as localise_map stores them.
 */
#ifndef ANALYZER_PATHS_LOCALISE_PATH_H
#define ANALYZER_PATHS_LOCALISE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

#include "analyzer/paths/localise_ends.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

#define LOCALISE_MAX_RACKS 16384
#define LOCALISE_MAX_PATHS 2097152 /* over all racks */
#define LOCALISE_PATH_ELEMENTS 18
#define LOCALISE_PATH_CLASSES 2 /* of one path, those that are counted apart */
#define LOCALISE_BINS 8
#define LOCALISE_BIN_NS (16 * RM_NS_PER_S)

struct localise_path;

struct localise_element {
	char a[RM_NAME_BYTES];  /* the switch, or where the link begins */
	char b[RM_NAME_BYTES];  /* where it ends; "": a switch, or a pair of racks */
	char at[RM_NAME_BYTES]; /* address of the interface at its end */
	uint64_t cable; /* of a link: the same number for both of its directions */
	bool is_tor;
	rm_mono_t found;  /* of a ToR: when something in its rack was last found */
	rm_mono_t passed; /* when flows last passed it whole while others were lost */
	/* For everything between two racks: their ToRs, and the same in the other
	 * direction. */
	struct localise_element *ends[2], *back;
	struct localise_path **paths;
	size_t path_count, path_size;
	uint64_t stamp; /* scratch of who works with it now */
	uint32_t local;
	UT_hash_handle hh;
	char key[]; /* "a", "a>b@at", or "a b": between two racks */
};

struct localise_class_seen { /* probes of one class; saturating */
	uint16_t sent, lost;
	uint8_t dscp;
};

struct localise_counts_seen { /* one set of rows */
	uint32_t frame;
	uint32_t all; /* that was sent in all the time that the rows cover */
	float sent;   /* in the newest second of it, or where something was lost */
	uint32_t forward, reverse, unknown;
	uint32_t flows, dead;
	uint32_t classes; /* rows: each flow is probed, and counted, in every class */
	float hit;  /* those with losses, and with enough probes to tell the share */
	float gone; /* of them, that lost all: however fast they send, one each */
	/* To none of what they sent came a reply; to some of it. */
	float silent, partial;
	/* Answers that were timed, as sent; of them those that were slow; replies that
	 * had been given up; how long the latter two took. */
	float timed, slow, overdue, slow_s;
	float large_sent, large_lost; /* of all, and of the lost: see wire_path_row */
	uint16_t large_bytes;         /* the smallest of these; 0: none */
	/* The first ones of the rows; sent 0: none. */
	struct localise_class_seen by_class[LOCALISE_PATH_CLASSES];
	rm_mono_t came;
};

struct localise_bin { /* of rows that came in LOCALISE_BIN_NS; saturating */
	uint32_t sent;
	uint16_t forward, reverse, unknown;
};

struct localise_lag { /* of a rack's summaries behind now, give or take a constant */
	bool known;
	int64_t least_ns; /* of late */
};

struct localise_rack {
	char tor[RM_NAME_BYTES];
	struct localise_path *paths; /* by key */
	size_t path_count;
	bool seen;
	/* Its own verdict on its ToR; two_report: both of its RNICs may be dead, too.
	 */
	bool tor_stands, mesh_fails, two_report;
	struct localise_ends ends; /* that it has found bad itself */
	uint64_t incarnation, seq; /* of the last summary */
	int64_t lag_ns;            /* of its wall clock, and how often in a row odd */
	unsigned odd_lags;
	bool doubted;            /* its last summary was not accepted */
	uint32_t frame;          /* number of the newest set of rows */
	uint32_t lossy;          /* of the newest one in which anything was lost */
	uint32_t first;          /* of those in a row that lost anything: the first */
	rm_mono_t frame_came[2]; /* by the lowest bit of its number */
	rm_mono_t swept;
	rm_wall_t frame_end[2]; /* of the time that they cover */
	int64_t frame_late[2];  /* so much later than rows take they came */
	/* By the wall clocks; by its own monotonic one, if it is the same run. */
	struct localise_lag wall_lag, lag;
	rm_wall_t last_end;   /* of the last summary, with rows or without */
	uint64_t last_end_ns; /* the same on its monotonic clock; 0: not reported */
	UT_hash_handle hh;
};

struct localise_path {
	struct localise_rack *rack;
	struct localise_element *pair; /* between its ends; not among the elements */
	uint8_t element_count;
	bool is_traced; /* each hop is known */
	bool is_listed; /* in map->lossy, and where */
	uint32_t listed_at;
	struct localise_counts_seen seen[2]; /* by the lowest bit of the frame */
	double rate;                         /* probes per second of the last rows */
	struct localise_bin bins[LOCALISE_BINS]; /* by the number's remainder */
	int64_t bin;                             /* the newest one's number */
	uint64_t lossy_slots; /* see localise_bins.h; bit 0 is slot's */
	int64_t slot;
	rm_mono_t row_at;   /* the last row of it */
	rm_mono_t lossy_at; /* the last one that lost anything, or was slow */
	char *samples;      /* lost flows of its last lossy row; or NULL */
	uint64_t stamp;     /* scratch of who works with it now */
	UT_hash_handle hh;
	char *key; /* destination's ToR, a blank, the path's text */
	struct localise_element
	    *elements[]; /* source's ToR first, destination's last */
};

struct localise_map {
	struct localise_rack *racks;
	size_t rack_count, path_count;
	struct localise_element *elements;
	/* First those that lost something lately; then, up to listed_count, those that
	 * did as long ago as bins reach. */
	struct localise_path **lossy;
	size_t lossy_count, listed_count, lossy_size;
	uint64_t sent[LOCALISE_BINS]; /* on all paths, as theirs */
	int64_t bin;
	int64_t row_interval_ns;
	uint64_t stamp;
	/* While it is judged who loses packets of this class alone: only these were
	 * sent, as far as the newest rows of a path tell. */
	bool one_class;
	uint8_t dscp;
};

/* Observations of one path, or of several. */
struct localise_sum {
	double sent, forward, reverse, unknown;
	double flows; /* that sent it; only of the newest rows */
	/* Of flows, and of gone, below: each once, however many classes it has. */
	double tuples, tuples_gone;
	double all;                      /* sent in all of the reported time */
	double newest_sent, newest_lost; /* of the newest rows; replies' losses not */
	double older_lost;               /* of the rows before them */
	rm_wall_t lossy_end;             /* of the newest rows that lost any */
	int64_t late_ns;                 /* of those that lost any, the latest */
	uint64_t lossy_slots;            /* of bins alone: bit 0 is the slot of now */
	/* For paths with losses in the newest rows: flows that lost some, or all
	 * packets; and flows that lost all, also those that only sent one packet. */
	double hit, dead, gone;
	double slow_s; /* seen late: all that took what was */
};

/* Observations of a path: of the newest rows, of the last seconds, or of the last
 * minutes; or its late packets. */
typedef void localise_seen(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);

#endif
