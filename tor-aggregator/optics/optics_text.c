#include "tor-aggregator/optics/optics_text.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NW_PER_MW 1e6
#define LEAST_DBM (-60.0)
#define MOST_DBM 30.0
#define MOST_CELSIUS 200.0

static bool
is_missing(const char *text, size_t len)
{
	return len == 0 || (len == 3 && memcmp(text, "N/A", 3) == 0);
}

/* Accepts only digits, signs and points, so neither hexadecimal numbers nor "nan". */
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
optics_text_power(const char *text, size_t len, uint64_t *ret)
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

int
optics_text_celsius(const char *text, size_t len, uint64_t *ret)
{
	double celsius = 0;

	if (is_missing(text, len))
		return -ENODATA;
	if (read_real(text, len, &celsius) < 0 || celsius > MOST_CELSIUS)
		return -EBADMSG;
	*ret = celsius < 0 ? 0 : (uint64_t)llround(celsius);
	return 0;
}
