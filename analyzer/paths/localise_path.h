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
#define LOCALISE_SUM_CLASSES 4  /* of several paths, likewise: the first ones */
#define LOCALISE_BINS 8
#define LOCALISE_BIN_NS (16 * RM_NS_PER_S)

struct localise_path;

struct localise_element {
	char a[RM_NAME_BYTES];  /* the switch, or where the link begins */
	char b[RM_NAME_BYTES];  /* where the link ends; "": a switch, or a pair */
	char at[RM_NAME_BYTES]; /* of a link: address of the interface at its end */
	uint64_t cable; /* of a link: the same number for both of its directions */
	bool is_tor;
	rm_mono_t found;  /* of a ToR: when its rack last found a fault of its own */
	rm_mono_t passed; /* when some flows last passed without a loss while others
			     lost packets */
	/* Of a link, see localise_dead_links_proven: since when it is proven dead, and
	 * when it was last. Of a switch: when such links explained its losses. */
	rm_mono_t dead_since, dead_seen;
	/* Of a pair (everything from one rack to another): the ToRs of both racks, and
	 * the pair of the other direction. NULL: a switch or a link. */
	struct localise_element *ends[2], *back;
	struct localise_path **paths;
	size_t path_count, path_size;
	/* If stamp is that of a localise_case: the index among its locals. */
	uint64_t stamp;
	uint32_t local;
	/* If index_stamp is that of localise_standings: see localise_at_node. */
	uint64_t index_stamp;
	uint32_t index_first;
	UT_hash_handle hh;
	char key[]; /* switch "a", link "a>b@at", pair "a b" */
};

struct localise_class_seen { /* probes of one class (DSCP) */
	uint32_t sent;
	float gone;    /* see localise_counts_seen */
	uint16_t lost; /* saturating */
	uint8_t dscp;
};

struct localise_counts_seen { /* counts of one path in one set of rows */
	uint32_t frame;       /* number of the set */
	uint32_t all;         /* probes sent in all the time that the rows cover */
	float sent; /* probes sent in the part of that time that has the losses, or
		       in its newest second */
	uint32_t forward, reverse, unknown; /* losses, by direction */
	uint32_t flows, dead;               /* see wire_path_row */
	uint32_t classes; /* number of rows: a flow is probed and counted in each class
			     (DSCP), and each class has a row */
	float hit;        /* flows with losses, of those that sent enough probes to
			     tell whether they lose a share or all */
	float gone;       /* flows that lost all; each counts once, with any number of
			     probes */
	/* Flows without any reply; flows with some replies and some losses. */
	float silent, partial;
	/* Replies that were timed, scaled as `sent`; the slow ones of them; replies
	 * that arrived after their timeout; seconds that the slow and the overdue ones
	 * took together. */
	float timed, slow, overdue, slow_s;
	float large_sent, large_lost; /* large packets: see wire_path_row */
	/* Size of the smallest large packet that was lost; 0: none. */
	uint16_t large_bytes;
	/* By class, of the first classes in the rows; sent 0: unused. */
	struct localise_class_seen by_class[LOCALISE_PATH_CLASSES];
	rm_mono_t came; /* when the set arrived */
};

struct localise_bin { /* of rows that arrived in LOCALISE_BIN_NS; saturating */
	uint32_t sent;
	uint16_t forward, reverse, unknown;
};

/* How far the ends of a rack's summaries, by the rack's clock, are behind the time of
 * arrival, plus a constant: the clocks have different zero points. */
struct localise_lag {
	bool known;
	int64_t least_ns; /* the smallest lag of recent summaries */
};

struct localise_rack {
	char tor[RM_NAME_BYTES];
	struct localise_path *paths; /* by key */
	size_t path_count;
	bool seen; /* some aggregator is connected that reports the rack */
	/* The rack's own verdict on its ToR: it is dead; probes inside the rack are
	 * lost, too; only two RNICs were probed, and both of them may be dead instead.
	 */
	bool tor_stands, mesh_fails, two_report;
	struct localise_ends ends; /* RNICs that the rack itself has found bad */
	uint64_t incarnation, seq; /* of the last summary */
	int64_t lag_ns;            /* lag of its wall clock behind ours */
	unsigned odd_lags; /* how many last summaries had a lag that is far off, but
			      always the same */
	bool doubted;      /* its last summary was not accepted */
	uint32_t frame;    /* number of the newest set of rows */
	uint32_t lossy;    /* number of the newest set with any loss */
	uint32_t first;    /* number of the first set of the last unbroken series
			      of sets with losses */
	/* frame_*: of the newest two sets of rows, by the lowest bit of the number */
	rm_mono_t frame_came[2]; /* when it arrived */
	rm_mono_t swept;         /* when localise_map_sweep last looked for old paths */
	rm_wall_t frame_end[2];  /* end of the time that it covers */
	int64_t frame_late[2];   /* how much later than usual it arrived */
	/* By the wall clocks; by the monotonic clock of this run of the aggregator. */
	struct localise_lag wall_lag, lag;
	rm_wall_t last_end;   /* end of the last summary, with rows or without */
	uint64_t last_end_ns; /* the same on its monotonic clock; 0: not reported */
	UT_hash_handle hh;
};

struct localise_path {
	struct localise_rack *rack;
	struct localise_element *pair; /* of its ends; not among `elements` */
	uint8_t element_count;
	bool is_traced;                      /* each hop is known */
	bool is_listed;                      /* it is in map->lossy, */
	uint32_t listed_at;                  /* at this index */
	struct localise_counts_seen seen[2]; /* by the lowest bit of the frame */
	double rate;                         /* probes per second in the newest rows */
	struct localise_bin bins[LOCALISE_BINS]; /* by number % LOCALISE_BINS */
	int64_t bin;                             /* number of the newest bin */
	uint64_t lossy_slots; /* see localise_bins.h; bit 0 stands for `slot` */
	int64_t slot;
	rm_mono_t row_at;   /* when its last row arrived */
	rm_mono_t lossy_at; /* when its last row with lost or slow probes arrived */
	char *samples;      /* lost flows of its last lossy row; or NULL */
	uint64_t stamp;     /* that of the localise_case whose lossy path it is */
	UT_hash_handle hh;
	char *key; /* destination's ToR, a blank, the path's text */
	/* The source's ToR first, the destination's ToR last. */
	struct localise_element *elements[];
};

struct localise_map {
	struct localise_rack *racks;
	size_t rack_count, path_count;
	struct localise_element *elements;
	/* See localise_listed.h: first lossy_count paths with losses in the last
	 * seconds; then, up to listed_count, those with losses in the last two minutes.
	 */
	struct localise_path **lossy;
	size_t lossy_count, listed_count, lossy_size;
	uint64_t sent[LOCALISE_BINS]; /* probes on all paths, in bins as theirs */
	int64_t bin;                  /* number of the newest bin */
	int64_t row_interval_ns;
	uint64_t stamp; /* of the newest localise_case */
};

struct localise_class_sum {
	float sent, lost, gone; /* as in localise_sum; sent 0: none */
	uint8_t dscp;
};

/* Counts of one path, or the sum of several. */
struct localise_sum {
	double sent, forward, reverse, unknown; /* probes; losses, by direction */
	double flows;                           /* of the newest rows only */
	/* As flows, and as gone below, but a flow that is probed in several classes
	 * (DSCPs) counts once. */
	double tuples, tuples_gone;
	double all; /* probes sent in all the time that the rows cover */
	double newest_sent, newest_lost; /* of the newest rows, without lost replies */
	double older_lost;    /* of the rows before these, without lost replies */
	rm_wall_t lossy_end;  /* end of the newest rows with a loss */
	int64_t late_ns;      /* of all rows with a loss: the largest frame_late */
	uint64_t lossy_slots; /* only if from bins: bit 0 stands for the slot of now */
	/* Flows in the newest rows, of paths that have losses in them. hit: flows with
	 * losses that sent enough probes to show whether they lose a share or all;
	 * dead: flows without any reply to two probes or more; gone: flows that lost
	 * all, with any number of probes. See localise_counts_seen. Paths that lost
	 * only replies are left out of hit and dead. */
	double hit, dead, gone;
	double slow_s; /* only of localise_path_late: seconds of all late replies */
	/* By class; empty for a sum of bins, or of late replies. */
	struct localise_class_sum by_class[LOCALISE_SUM_CLASSES];
};

/* One of the functions that add a path's counts to *sum: of the newest rows, of the
 * last seconds, of the last minutes; or its late replies. */
typedef void localise_seen(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);

#endif
