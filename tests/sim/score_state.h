/*
 * score_state - shared by score.c, score_rules.c and score_print.c; private to them.
 */
#ifndef TESTS_SIM_SCORE_STATE_H
#define TESTS_SIM_SCORE_STATE_H

#include "tests/sim/score.h"

struct score_case { /* a truth of the run, in one class */
	const struct truth *truth;
	/* directed links: that direction; undirected links: the lower number of the two
	 * directions */
	uint32_t part;
	enum score_class class;
	bool found, either;
	bool has_kind, is_late, is_of_flows; /* as the last verdict called it */
	bool one_class;
	uint8_t dscp;
	int64_t found_ns;
};

struct score_opening { /* a part that was named at the last judgement */
	uint32_t part, other;
	enum score_class class;
	uint32_t third; /* 0: none */
};

struct score_time {
	char kind[24];
	double seconds;
};

struct score {
	struct score_row rows[SCORE_CLASSES]; /* counts only */
	uint64_t sure_named[10], sure_right[10];
	struct score_time *times;
	size_t time_count, times_allocated;
	char *errors; /* sentences */
	size_t errors_length, error_count;

	/* The current run. */
	const struct clos *clos;
	const struct truth *truths;
	size_t truth_count;
	struct score_case *cases;
	size_t case_count, cases_allocated;
	struct score_opening *open, *next;
	size_t open_count, open_allocated, next_allocated;
};

enum score_class score_class_of(enum clos_type type);
/* Whether the fault exists at that moment, or did within the afterglow. */
bool score_holds(const struct truth *truth, int64_t now_ns);
/* Whether naming the part at that moment is right. */
bool score_is_right(
    const struct score *score, uint32_t part, enum score_class class, int64_t now_ns);
/* Whether naming the part finds that case. */
bool score_finds(const struct score *score, uint32_t part, enum score_class class,
    const struct score_case *c);
/* True: the case is a dead cable of the part, and the part is a switch that is dead, or
 * through which no path is left because of its dead cables. No probe can show the cable
 * separately, so naming the switch finds both. */
bool score_hides(const struct score *score, uint32_t part, const struct score_case *c,
    int64_t now_ns);
/* Writes "core1"; for a directed link "core1 -> pod1-agg1". */
void score_name(const struct score *score, uint32_t part, enum score_class class,
    char name[RM_PART_NAME_BYTES]);
int score_complain(struct score *score, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
