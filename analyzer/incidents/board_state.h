/*
 * board_state - what the parts of the board share; nobody else's business.
 */
#ifndef ANALYZER_INCIDENTS_BOARD_STATE_H
#define ANALYZER_INCIDENTS_BOARD_STATE_H

#include <uthash.h>

#include "analyzer/incidents/board.h"

/* One fault of a host with eight rails is told of by each rack's two aggregators. */
#define MAX_TELLINGS 32
#define KEY_BYTES (RM_NAME_BYTES + 24)
#define LABELS_BYTES (2 * RM_NAME_BYTES + RM_PART_NAME_BYTES + 32)

/* What one aggregator, or we, say of it: one opening, by its id. */
struct telling {
	char key[KEY_BYTES]; /* region and id */
	struct node *node;
	char source[RM_NAME_BYTES], tor[RM_NAME_BYTES]; /* whose word it is */
	bool is_own, is_open;
	rm_wall_t changed;
	UT_hash_handle hh;
};

struct node {
	struct board_entry entry; /* first */
	char labels[LABELS_BYTES];
	struct telling *tellings[MAX_TELLINGS];
	size_t telling_count;
	size_t place;      /* in board.open, while it is open */
	UT_hash_handle hh; /* by labels, while it is open */
};

struct board {
	struct node *open[BOARD_MAX_OPEN]; /* oldest first */
	size_t open_count;
	struct node *closed[BOARD_MAX_CLOSED]; /* a ring, closed_next is written next */
	size_t closed_count, closed_next;
	struct node *by_labels;
	struct telling *by_key;
	uint64_t changes;
	struct board_counts counts;
};

#endif
