#include "analyzer/past/past_question.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analyzer/history/history_schema.h"
#include "rackmesh/judge/part.h"

#define HOUR_NS (3600 * RM_NS_PER_S)
#define MAX_RANGE_NS (400 * 24 * HOUR_NS)

bool
past_time_parse(const char *text, rm_wall_t *ret)
{
	struct tm tm = { 0 };
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	int64_t digit = RM_NS_PER_S, ns = 0;

	if (rest == NULL || tm.tm_year < 70 || tm.tm_year > 300)
		return false;
	if (*rest == '.')
		for (rest++; isdigit((unsigned char)*rest); rest++) {
			digit /= 10;
			ns += digit * (*rest - '0');
		}
	if (strcmp(rest, "Z") != 0)
		return false;
	ret->ns = (int64_t)timegm(&tm) * RM_NS_PER_S + ns;
	return true;
}

static const struct history_measurement *
find_measurement(const char *name)
{
	for (const struct history_measurement *m = history_measurements;
	     m->name != NULL; m++)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

void
past_tor_columns(const struct history_measurement *measurement, const char *columns[2])
{
	static const char *const names[] = { "tor", "src_tor", "dst_tor" };
	size_t count = 0;

	columns[0] = columns[1] = NULL;
	for (size_t i = 0; i < 3; i++)
		for (const struct history_column *c = measurement->columns;
		     c->name != NULL; c++)
			if (count < 2 && strcmp(c->name, names[i]) == 0)
				columns[count++] = c->name;
}

static int
take_name(const char *text, const char *what, char *ret, struct rm_why *why)
{
	ret[0] = '\0';
	if (text == NULL)
		return 0;
	if (!rm_name_valid(text) || strlen(text) >= PAST_NAME_BYTES)
		return rm_why(why, -EINVAL, "?%s= is no name", what);
	strcpy(ret, text);
	return 0;
}

static int
take_time(const char *text, const char *what, rm_wall_t *ret, struct rm_why *why)
{
	if (text != NULL && !past_time_parse(text, ret))
		return rm_why(why, -EINVAL,
		    "?%s= is a time in UTC, as 2026-01-31T12:00:00Z", what);
	return 0;
}

int
past_question_make(const struct past_words *words, size_t limit, rm_wall_t now,
    struct past_question *ret, struct rm_why *why)
{
	struct past_question q = { .limit = limit, .to = now };
	const char *tors[2];
	int r;

	q.measurement = find_measurement(words->measurement);
	if (q.measurement == NULL)
		return rm_why(
		    why, -ENOENT, "no such measurement: docs/history.md names them");
	r = take_time(words->to, "to", &q.to, why);
	q.from.ns = q.to.ns - HOUR_NS;
	if (r == 0)
		r = take_time(words->from, "from", &q.from, why);
	if (r == 0)
		r = take_name(words->region, "region", q.region, why);
	if (r == 0)
		r = take_name(words->tor, "tor", q.tor, why);
	if (r < 0)
		return r;
	past_tor_columns(q.measurement, tors);
	if (q.tor[0] != '\0' && tors[0] == NULL)
		return rm_why(
		    why, -EINVAL, "%s is not kept by ToR", q.measurement->name);
	if (q.from.ns >= q.to.ns || q.to.ns - q.from.ns > MAX_RANGE_NS)
		return rm_why(why, -EINVAL,
		    "?from= is before ?to=, and at most 400 days before it");
	*ret = q;
	return 0;
}

/* Names of policies are whatever somebody has made. */
static void
put_quoted(FILE *out, const char *name)
{
	putc('"', out);
	for (; *name != '\0'; name++) {
		if (*name == '"' || *name == '\\')
			putc('\\', out);
		putc(*name, out);
	}
	putc('"', out);
}

int
past_question_influxql(
    const struct past_question *q, const char *policy, char text[PAST_STATEMENT_BYTES])
{
	const struct history_column *columns = q->measurement->columns;
	FILE *out = fmemopen(text, PAST_STATEMENT_BYTES, "w");
	const char *tors[2];

	if (out == NULL)
		return -ENOMEM;
	for (size_t i = 0; columns[i].name != NULL; i++)
		fprintf(out, "%s\"%s\"", i == 0 ? "SELECT " : ",", columns[i].name);
	fprintf(out, " FROM ");
	if (policy[0] != '\0') {
		put_quoted(out, policy);
		putc('.', out);
	}
	fprintf(out, "\"%s\" WHERE time >= %" PRId64 " AND time < %" PRId64,
	    q->measurement->name, q->from.ns, q->to.ns);
	if (q->region[0] != '\0')
		fprintf(out, " AND \"region\" = '%s'", q->region);
	past_tor_columns(q->measurement, tors);
	if (q->tor[0] != '\0' && tors[1] != NULL)
		fprintf(out, " AND (\"%s\" = '%s' OR \"%s\" = '%s')", tors[0], q->tor,
		    tors[1], q->tor);
	else if (q->tor[0] != '\0')
		fprintf(out, " AND \"%s\" = '%s'", tors[0], q->tor);
	fprintf(out, " ORDER BY time ASC LIMIT %zu", q->limit + 1);
	return fclose(out) == 0 && strlen(text) < PAST_STATEMENT_BYTES - 1
		   ? 0
		   : -ENAMETOOLONG;
}
