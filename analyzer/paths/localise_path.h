/*
 * localise_path - the types of paths through a region, of the elements that they cross,
 * and of their observations. localise_map stores them.
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
/* number of classes that are counted separately for one path */
#define LOCALISE_PATH_CLASSES 2
/* number of classes that are counted separately for several paths: the first ones found
 */
#define LOCALISE_SUM_CLASSES 4
#define LOCALISE_BINS 8
#define LOCALISE_BIN_NS (16 * RM_NS_PER_S)

struct localise_path;

struct localise_element {
	/* name of the switch, or of the switch where the link begins */
	char a[RM_NAME_BYTES];
	/* name of the switch where the link ends; "": the element is a switch, or a
	 * pair */
	char b[RM_NAME_BYTES];
	char at[RM_NAME_BYTES]; /* for a link: address of the interface at its end */
	/* for a link: a number that is the same for both of its directions */
	uint64_t cable;
	bool is_tor;
	rm_mono_t found;  /* for a ToR: when its rack last found a fault of its own */
	rm_mono_t passed; /* when some flows last passed without a loss while others
			     lost packets */
	/* For a link, see localise_dead_links_proven: since when it has been proven
	 * dead, and when it was proven last. For a switch: since when such links
	 * explain its losses, and when they did last. */
	rm_mono_t dead_since, dead_seen;
	/* For a pair (everything from one rack to another): the ToRs of both racks, and
	 * the pair of the other direction. NULL: the element is a switch or a link. */
	struct localise_element *ends[2], *back;
	struct localise_path **paths;
	size_t path_count, path_size;
	/* If stamp is the stamp of a localise_case: the index of the element among the
	 * locals of that case. */
	uint64_t stamp;
	uint32_t local;
	/* If index_stamp is the stamp of a localise_standings: see localise_at_node. */
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
	uint32_t frame;       /* number of the set of rows */
	uint32_t all;         /* probes sent in all the time that the rows cover */
	float sent; /* probes sent in the part of that time that has the losses, or
		       in its newest second */
	uint32_t forward, reverse, unknown; /* losses, by direction */
	uint32_t flows, dead;               /* see wire_path_row */
	/* number of rows: a flow is probed and counted in each class (DSCP), and there
	 * is a row for each class */
	uint32_t classes;
	/* number of flows with losses that sent enough probes to show whether they lose
	 * a share or all */
	float hit;
	/* number of flows that lost all their probes; each flow counts once, whatever
	 * its number of probes */
	float gone;
	/* Number of flows without any reply; number of flows with some replies and some
	 * losses. */
	float silent, partial;
	/* timed: replies whose round trip was timed, scaled as `sent`; slow: the slow
	 * ones among them; overdue: replies that arrived after their timeout; slow_s:
	 * seconds that slow and overdue replies took together. */
	float timed, slow, overdue, slow_s;
	float large_sent, large_lost; /* large packets: see wire_path_row */
	/* Size of the smallest large packet that was lost; 0: none was lost. */
	uint16_t large_bytes;
	/* Counts by class, for the first classes in the rows; sent 0: the item is
	 * unused. */
	struct localise_class_seen by_class[LOCALISE_PATH_CLASSES];
	rm_mono_t came; /* when the set arrived */
};

/* counts of the rows that arrived in one LOCALISE_BIN_NS; they stop at their largest
 * value */
struct localise_bin {
	uint32_t sent;
	uint16_t forward, reverse, unknown;
};

/* How far the ends of a rack's summaries, by the rack's clock, are behind the time of
 * arrival, plus a constant: the clocks have different zero points. */
struct localise_lag {
	bool known;
	int64_t least_ns; /* the smallest lag of recent summaries */
};

/* What a rack reports about its own agents. Unless some of them probe, it is no
 * evidence that the rack reports no losses. */
enum localise_agents {
	LOCALISE_AGENTS_PROBE = 0, /* some of them; or it is not known */
	LOCALISE_AGENTS_PAUSED,    /* all that report are paused */
	LOCALISE_AGENTS_GONE,      /* none reports: wire_rack_state_is_empty */
};

struct localise_rack {
	char tor[RM_NAME_BYTES];
	struct localise_path *paths; /* by key */
	size_t path_count;
	bool seen; /* some aggregator is connected that reports the rack */
	enum localise_agents agents;
	/* The rack's own verdict on its ToR. tor_stands: the ToR is dead; mesh_fails:
	 * probes inside the rack are lost, too; two_reported: only two RNICs were
	 * probed, and both of them may be dead instead of the ToR. */
	bool tor_stands, mesh_fails, two_report;
	/* Counts of the probes inside the rack, all of which cross the ToR; it has no
	 * elements and no pair, and is in no list. NULL: none were reported. */
	struct localise_path *inside;
	struct localise_ends ends; /* RNICs that the rack itself has found bad */
	/* incarnation of the aggregator and number of its last summary */
	uint64_t incarnation, seq;
	int64_t lag_ns; /* how far its wall clock is behind ours */
	/* number of consecutive summaries with the same lag, which is far from the
	 * usual one */
	unsigned odd_lags;
	bool doubted;   /* its last summary was not accepted */
	uint32_t frame; /* number of the newest set of rows */
	uint32_t lossy; /* number of the newest set with any loss */
	uint32_t first; /* number of the first set of the last unbroken series
			   of sets with losses */
	/* The arrays frame_* are about the newest two sets of rows; their index is the
	 * lowest bit of the set's number. */
	rm_mono_t frame_came[2]; /* when it arrived */
	rm_mono_t swept;         /* when localise_map_sweep last looked for old paths */
	rm_wall_t frame_end[2];  /* end of the time that the set covers */
	int64_t frame_late[2];   /* how much later than usual the set arrived */
	/* wall_lag: by the wall clocks; lag: by the monotonic clock of this run of the
	 * aggregator. */
	struct localise_lag wall_lag, lag;
	/* end of the time of its last summary, with rows or without */
	rm_wall_t last_end;
	/* the end of the last summary on the aggregator's monotonic clock; 0: not
	 * reported */
	uint64_t last_end_ns;
	UT_hash_handle hh;
};

struct localise_path {
	struct localise_rack *rack;
	/* the pair of the path's ends; not among `elements` */
	struct localise_element *pair;
	uint8_t element_count;
	bool is_traced;     /* all hops of the path are known */
	bool is_listed;     /* the path is in map->lossy */
	uint32_t listed_at; /* at this index */
	/* index: the lowest bit of the set's number */
	struct localise_counts_seen seen[2];
	double rate; /* probes per second in the newest rows */
	struct localise_bin bins[LOCALISE_BINS]; /* by number % LOCALISE_BINS */
	int64_t bin;                             /* number of the newest bin */
	uint64_t lossy_slots; /* see localise_bins.h; bit 0 stands for `slot` */
	/* slots that rows cover, none of which has a lost probe or reply */
	uint64_t clean_slots;
	int64_t slot;
	rm_mono_t row_at;   /* when its last row arrived */
	rm_mono_t lossy_at; /* when its last row with lost or slow probes arrived */
	char *samples;      /* lost flows of its last lossy row; or NULL */
	/* stamp of the localise_case that has the path as a lossy one */
	uint64_t stamp;
	UT_hash_handle hh;
	char *key; /* the destination's ToR, a blank, and the path's text */
	/* The source's ToR first, the destination's ToR last. */
	struct localise_element *elements[];
};

/* True: these are the counts of the probes inside a rack, not those of a path. */
static inline bool
localise_path_is_inside(const struct localise_path *path)
{
	return path->element_count == 0;
}

struct localise_map {
	struct localise_rack *racks;
	size_t rack_count, path_count;
	struct localise_element *elements;
	/* See localise_listed.h: first lossy_count paths with losses in the last
	 * seconds; then, up to listed_count, those with losses in the last two minutes.
	 */
	struct localise_path **lossy;
	size_t lossy_count, listed_count, lossy_size;
	/* probes on all paths, in bins like those of a path */
	uint64_t sent[LOCALISE_BINS];
	int64_t bin; /* number of the newest bin */
	int64_t row_interval_ns;
	uint64_t stamp; /* stamp of the newest localise_case */
};

struct localise_class_sum {
	float sent, lost, gone; /* as in localise_sum; sent 0: the item is unused */
	uint8_t dscp;
};

/* Counts of one path, or the sum of several. */
struct localise_sum {
	double sent, forward, reverse, unknown; /* probes; losses, by direction */
	double flows;                           /* flows in the newest rows only */
	/* As `flows` and `gone`, but a flow that is probed in several classes (DSCPs)
	 * counts once. */
	double tuples, tuples_gone;
	double all; /* probes sent in all the time that the rows cover */
	/* probes in the newest rows, without lost replies */
	double newest_sent, newest_lost;
	/* losses in the rows before the newest ones, without lost replies */
	double older_lost;
	rm_wall_t lossy_end; /* end of the time of the newest rows with a loss */
	int64_t late_ns;     /* the largest frame_late of all rows with a loss */
	/* set only in a sum of bins: bit 0 stands for the present slot */
	uint64_t lossy_slots;
	/* Flows in the newest rows, of paths that have losses in them. hit: flows with
	 * losses that sent enough probes to show whether they lose a share or all;
	 * dead: flows without any reply to two probes or more; gone: flows that lost
	 * all, with any number of probes. See localise_counts_seen. Paths that lost
	 * only replies are left out of hit and dead. */
	double hit, dead, gone;
	double slow_s; /* set only by localise_path_late: seconds of all late replies */
	/* Sums by class; empty in a sum of bins, or of late replies. */
	struct localise_class_sum by_class[LOCALISE_SUM_CLASSES];
};

/* A function that adds a path's counts to *sum: the counts of the newest rows, of the
 * last seconds or of the last minutes, or the path's late replies. */
typedef void localise_seen(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);

#endif
