#include "tests/crash/choices.h"

#include <stdlib.h>

uint64_t
choices_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void
choices_all(struct choices *choices)
{
	choices->drawn = false;
	choices->used = choices->count = 0;
	choices->rows = 1;
}

bool
choices_next(struct choices *choices)
{
	size_t at = choices->used;

	while (at > 0 && choices->digits[at - 1] + 1 == choices->radix[at - 1])
		at--;
	choices->count = at;
	choices->used = 0;
	choices->rows = 1;
	if (at == 0)
		return false;
	choices->digits[at - 1]++;
	return true;
}

void
choices_draw(struct choices *choices, uint64_t *random, size_t decisions)
{
	choices->drawn = true;
	choices->used = 0;
	choices->random = choices_random(random);
	choices->mood = (enum choices_mood)(choices_random(random) % MOODS);
	choices->turn = choices_random(random) % (decisions + 1);
	choices->before = choices_random(random) % 2 == 0;
}

static unsigned
draw(struct choices *choices, unsigned radix)
{
	uint64_t chance = choices_random(&choices->random);
	unsigned lost = 1 + (unsigned)(chance >> 32) % (radix - 1);
	size_t at = choices->used++;

	switch (choices->mood) {
	case MOOD_MOSTLY_KEPT:
		return chance % 8 == 0 ? lost : 0;
	case MOOD_MOSTLY_LOST:
		return chance % 8 == 0 ? 0 : lost;
	case MOOD_IN_ORDER:
		return at < choices->turn ? 0 : lost;
	case MOOD_ODD_ONE:
		return (at == choices->turn) == choices->before ? lost : 0;
	default:
		return (unsigned)(chance % radix);
	}
}

unsigned
choose(struct choices *choices, unsigned radix)
{
	if (choices->drawn)
		return draw(choices, radix);
	if (choices->used == CHOICES_MAX)
		abort();
	if (choices->used == choices->count) {
		choices->digits[choices->count] = 0;
		choices->radix[choices->count++] = (uint8_t)radix;
	}
	if (choices->rows < UINT64_C(1) << 32)
		choices->rows *= radix;
	return choices->digits[choices->used++];
}
