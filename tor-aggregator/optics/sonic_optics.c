#include "tor-aggregator/optics/sonic_optics.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tor-aggregator/optics/optics_text.h"

void
sonic_optics_field(size_t i, char ret[16])
{
	if (i < 2 * SONIC_LANES)
		snprintf(ret, 16, "%cx%zupower", i < SONIC_LANES ? 'r' : 't',
		    i % SONIC_LANES + 1);
	else
		strcpy(ret, i == 2 * SONIC_LANES ? "temperature" : SONIC_ALARM_FIELD);
}

/* True: the lane is not in use, because its transmitter is off. */
static bool
is_off(const redisReply *answer, size_t lane)
{
	const redisReply *text = answer->element[SONIC_LANES + lane];
	uint64_t sent = 0;

	return text->type == REDIS_REPLY_STRING &&
	       optics_text_power(text->str, (size_t)text->len, &sent) == 0 &&
	       sent < OPTICS_DARK_NW;
}

/* The value of a row is the minimum of `count` values of the answer, from number
 * `first` on; with `highest`, the maximum. If `in_use`, lanes that are not in use are
 * left out. */
struct choice {
	const char *row;
	size_t first, count;
	int (*read)(const char *text, size_t len, uint64_t *ret);
	bool highest, in_use;
};

static const struct choice choices[] = {
	{ "optics_rx_lowest_nw", 0, SONIC_LANES, optics_text_power, false, true },
	{ "optics_rx_highest_nw", 0, SONIC_LANES, optics_text_power, true, true },
	{ "optics_tx_lowest_nw", SONIC_LANES, SONIC_LANES, optics_text_power, false,
	    false },
	{ "optics_celsius", 2 * SONIC_LANES, 1, optics_text_celsius, false, false },
	{ SONIC_ALARM_ROW, 2 * SONIC_LANES + 1, 1, optics_text_power, false, false },
};

/* -ENODATA: there is no value; -EBADMSG: the value is malformed. */
static int
read_text(const redisReply *text,
    int (*read)(const char *text, size_t len, uint64_t *ret), uint64_t *ret)
{
	if (text->type == REDIS_REPLY_NIL)
		return -ENODATA;
	return text->type != REDIS_REPLY_STRING
		   ? -EBADMSG
		   : read(text->str, (size_t)text->len, ret);
}

static size_t
sample_of(
    const redisReply *answer, const struct choice *choice, struct counter_sample *ret)
{
	size_t errors = 0;

	for (size_t i = choice->first; i < choice->first + choice->count; i++) {
		uint64_t value = 0;
		const int r = read_text(answer->element[i], choice->read, &value);

		errors += r == -EBADMSG;
		if (r < 0 || (choice->in_use && is_off(answer, i)))
			continue;
		if (ret->there &&
		    (choice->highest ? value <= ret->value : value >= ret->value))
			continue;
		ret->there = true;
		ret->value = value;
	}
	return errors;
}

size_t
sonic_optics_sample(
    const struct redisReply *answer, const char *row, struct counter_sample *ret)
{
	*ret = (struct counter_sample){ .source = 1 };
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (strcmp(choices[i].row, row) == 0)
			return sample_of(answer, &choices[i], ret);
	return 0;
}

size_t
sonic_optics_alarm(const struct redisReply *answer, struct counter_sample *ret)
{
	const int r = read_text(answer->element[0], optics_text_power, &ret->value);

	ret->source = 1;
	ret->there = r == 0;
	return r == -EBADMSG;
}
