/*
 * choices - one possible outcome of a crash: a row of small decisions. It generates
 * either all rows, one after the other, or random rows. Pure.
 */
#ifndef TESTS_CRASH_CHOICES_H
#define TESTS_CRASH_CHOICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHOICES_MAX 4096

enum choices_mood { /* how a random row is drawn */
	MOOD_EVEN,
	MOOD_MOSTLY_KEPT,
	MOOD_MOSTLY_LOST,
	MOOD_IN_ORDER, /* all up to some point are kept, none after it */
	MOOD_ODD_ONE,  /* all but one are kept, or only one is */
	MOODS,
};

struct choices {
	bool drawn;
	uint64_t random;
	enum choices_mood mood;
	size_t turn; /* the decision at which the row changes */
	bool before;
	uint64_t rows; /* lower bound of the number of all rows */
	size_t used, count;
	uint8_t digits[CHOICES_MAX], radix[CHOICES_MAX];
};

uint64_t choices_random(uint64_t *state);

/* Starts with the row that keeps everything. */
void choices_all(struct choices *choices);
bool choices_next(struct choices *choices); /* false: that was the last row */
void choices_draw(struct choices *choices, uint64_t *random, size_t decisions);

/* Returns 0 (kept) to radix - 1. */
unsigned choose(struct choices *choices, unsigned radix);

#endif
