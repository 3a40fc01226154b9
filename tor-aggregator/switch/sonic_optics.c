#include "tor-aggregator/switch/sonic_optics.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NW_PER_MW 1e6
#define LEAST_DBM (-60.0)
#define MOST_DBM 30.0
#define MOST_CELSIUS 200.0

void
sonic_optics_field(size_t i, char ret[16])
{
	if (i < 2 * SONIC_LANES)
		snprintf(ret, 16, "%cx%zupower", i < SONIC_LANES ? 'r' : 't',
		    i % SONIC_LANES + 1);
	else
		strcpy(ret, "temperature");
}

static bool
is_missing(const char *text, size_t len)
{
	return len == 0 || (len == 3 && memcmp(text, "N/A", 3) == 0);
}

/* Digits, signs and points alone: no hexadecimal, no "nan". */
static int
read_real(const char *text, size_t len, double *ret)
{
	char copy[32], *end;

	if (len >= sizeof(copy))
		return -EBADMSG;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (strspn(copy, "0123456789+-.eE") != len)
		return -EBADMSG;
	*ret = strtod(copy, &end);
	return end == copy || *end != '\0' || !isfinite(*ret) ? -EBADMSG : 0;
}

int
sonic_optics_power(const char *text, size_t len, uint64_t *ret)
{
	double dbm = 0;

	if (is_missing(text, len))
		return -ENODATA;
	if (len == 4 && memcmp(text, "-inf", 4) == 0) {
		*ret = 0;
		return 0;
	}
	if (read_real(text, len, &dbm) < 0 || dbm < LEAST_DBM || dbm > MOST_DBM)
		return -EBADMSG;
	*ret = (uint64_t)llround(pow(10, dbm / 10) * NW_PER_MW);
	return 0;
}

/* Below 0 is 0. */
static int
read_celsius(const char *text, size_t len, uint64_t *ret)
{
	double celsius = 0;

	if (is_missing(text, len))
		return -ENODATA;
	if (read_real(text, len, &celsius) < 0 || celsius > MOST_CELSIUS)
		return -EBADMSG;
	*ret = celsius < 0 ? 0 : (uint64_t)llround(celsius);
	return 0;
}

size_t
sonic_optics_sample(
    const struct redisReply *answer, const char *row, struct counter_sample *ret)
{
	const bool temperature = strcmp(row, "optics_celsius") == 0,
		   highest = strcmp(row, "optics_rx_highest_nw") == 0,
		   sent = strcmp(row, "optics_tx_lowest_nw") == 0;
	const size_t first = temperature ? 2 * SONIC_LANES
			     : sent      ? SONIC_LANES
					 : 0,
		     count = temperature ? 1 : SONIC_LANES;
	size_t errors = 0;

	*ret = (struct counter_sample){ .source = 1 };
	for (size_t i = first; i < first + count; i++) {
		const redisReply *text = answer->element[i];
		uint64_t value = 0;
		int r = -EBADMSG;

		if (text->type == REDIS_REPLY_NIL)
			continue;
		if (text->type == REDIS_REPLY_STRING)
			r = (temperature ? read_celsius : sonic_optics_power)(
			    text->str, (size_t)text->len, &value);
		errors += r == -EBADMSG;
		if (r < 0 || (ret->there &&
				 (highest ? value <= ret->value : value >= ret->value)))
			continue;
		ret->there = true;
		ret->value = value;
	}
	return errors;
}
