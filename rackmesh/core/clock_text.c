#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "rackmesh/core/clock.h"

void
rm_wall_format(rm_wall_t t, char text[RM_WALL_TEXT])
{
	int64_t ns = t.ns % RM_NS_PER_S;
	time_t s = t.ns / RM_NS_PER_S;
	struct tm tm;
	size_t at;

	if (ns < 0) { /* before 1970: rounds down, as for later times */
		ns += RM_NS_PER_S;
		s--;
	}
	gmtime_r(&s, &tm);
	at = strftime(text, RM_WALL_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + at, RM_WALL_TEXT - at, ".%03uZ",
	    (unsigned)(ns / RM_NS_PER_MS) % 1000);
}

bool
rm_wall_parse(const char *text, rm_wall_t *ret)
{
	struct tm tm = { 0 };
	int day;
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M", &tm);
	int64_t digit = RM_NS_PER_S, ns = 0;

	if (rest != NULL && *rest == ':')
		rest = strptime(rest, ":%S", &tm);
	if (rest == NULL || tm.tm_year < 70 || tm.tm_year > 300)
		return false;
	if (*rest == '.')
		for (rest++; isdigit((unsigned char)*rest); rest++) {
			digit /= 10;
			ns += digit * (*rest - '0');
		}
	if (strcmp(rest, "Z") != 0)
		return false;
	day = tm.tm_mday;
	ns += (int64_t)timegm(&tm) * RM_NS_PER_S;
	/* timegm reads the 31st of February as the 3rd of March */
	if (tm.tm_mday != day)
		return false;
	ret->ns = ns;
	return true;
}
