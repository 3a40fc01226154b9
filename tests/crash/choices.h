/*
 * choices - one of the ways in which a crash can go: a row of small decisions. Either
 * all rows, one after the other, or rows drawn by chance. Pure.
 */
#ifndef TESTS_CRASH_CHOICES_H
#define TESTS_CRASH_CHOICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHOICES_MAX 4096

enum choices_mood { /* of a row that is drawn */
	MOOD_EVEN,
	MOOD_MOSTLY_KEPT,
	MOOD_MOSTLY_LOST,
	MOOD_IN_ORDER, /* all up to some point, nothing behind it */
	MOOD_ODD_ONE,  /* all but one, or only one */
	MOODS,
};

struct choices {
	bool drawn;
	uint64_t random;
	enum choices_mood mood;
	size_t turn; /* the decision at which it changes */
	bool before;
	uint64_t rows; /* at least, of all the ways */
	size_t used, count;
	uint8_t digits[CHOICES_MAX], radix[CHOICES_MAX];
};

uint64_t choices_random(uint64_t *state);

void choices_all(struct choices *choices);  /* begins with: everything is kept */
bool choices_next(struct choices *choices); /* false: those were all */
void choices_draw(struct choices *choices, uint64_t *random, size_t decisions);

/* 0 (kept) .. radix - 1 */
unsigned choose(struct choices *choices, unsigned radix);

#endif
