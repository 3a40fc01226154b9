#include "analyzer/history/influx_answer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/http/http_client.h"

/* Appends to the sentence; an unprintable character becomes a blank. */
static void
report(struct influx_answer *answer, const char *text)
{
	size_t at = strlen(answer->sentence);

	for (; *text != '\0' && at + 1 < sizeof(answer->sentence); text++)
		answer->sentence[at++] = *text >= ' ' && *text < 0x7f ? *text : ' ';
	answer->sentence[at] = '\0';
}

/* 3.x has the reason in "data": an object for the refused line, or an array of them for
 * a partial write. The first reason is shown. */
static void
report_first_line(struct influx_answer *answer, const json_t *data)
{
	const json_t *line = json_is_array(data) ? json_array_get(data, 0) : data;
	const char *reason = json_string_value(json_object_get(line, "error_message"));
	const json_t *number = json_object_get(line, "line_number");
	char place[48] = ": ";

	if (reason == NULL)
		return;
	if (json_is_integer(number))
		snprintf(place, sizeof(place), ": line %" JSON_INTEGER_FORMAT ": ",
		    json_integer_value(number));
	report(answer, place);
	report(answer, reason);
}

/* 1.x sends {"error": ...}, 2.x {"message": ...}; others and proxies send other bodies.
 */
static void
read_sentence(const struct rm_http_answer *answer, struct influx_answer *ret)
{
	json_t *json = json_loadb(answer->body, answer->body_len, 0, NULL);
	const char *text = json_string_value(json_object_get(json, "error"));

	if (text == NULL)
		text = json_string_value(json_object_get(json, "message"));
	snprintf(ret->sentence, sizeof(ret->sentence), "status %ld: ", answer->status);
	report(ret, text != NULL ? text : answer->body);
	report_first_line(ret, json_object_get(json, "data"));
	json_decref(json);
}

/* 3.x lists each refused line. Counts this key in the body, which may be truncated. In
 * a string the quotes are escaped, so a line that contains the key does not count. */
static uint64_t
count_lines(const char *body)
{
	static const char key[] = "\"line_number\"";
	uint64_t lines = 0;

	for (; (body = strstr(body, key)) != NULL; body += sizeof(key) - 1)
		lines++;
	return lines;
}

/* Reads "... dropped=1". For a line that does not parse, 1.x reports 0 and means 1. */
static uint64_t
read_dropped(const char *body)
{
	const char *at = strstr(body, "dropped=");
	uint64_t count = count_lines(body);

	if (count == 0 && at != NULL && at[8] >= '0' && at[8] <= '9')
		count = strtoull(at + 8, NULL, 10);
	return count > 0 ? count : 1;
}

/* True: the body contains the text. The sentence for the log is not searched, because
 * it may be cut before that text. */
static bool
body_has(const struct rm_http_answer *answer, const char *text)
{
	return strstr(answer->body, text) != NULL;
}

static enum influx_status
read_status(const struct rm_http_answer *answer)
{
	long status = answer->status;

	if (status >= 200 && status < 300)
		return INFLUX_TAKEN;
	switch (status) {
	case 400:
	case 422:
		/* In all versions this text means that the other lines of the batch
		 * were written. */
		return body_has(answer, "partial write") ? INFLUX_PARTIAL
							 : INFLUX_REFUSED;
	case 413:
		return INFLUX_TOO_LARGE;
	case 408:
	case 429:
		return INFLUX_RETRY;
	}
	/* 1.x answers 500 for an unknown retention policy. */
	if (status == 500 && body_has(answer, "retention policy not found"))
		return INFLUX_CONFIG;
	if (status >= 500 || status < 300)
		return INFLUX_RETRY;
	/* 401, 403, 404 and other statuses that a wrong URL or a missing permission
	 * causes. */
	return INFLUX_CONFIG;
}

void
influx_answer_read(const struct rm_http_answer *answer, struct influx_answer *ret)
{
	*ret = (struct influx_answer){ .status = INFLUX_RETRY, .retry_after_s = -1 };
	if (rm_http_answer_misses(
		answer, "influx.url", ret->sentence, sizeof(ret->sentence))) {
		/* A 200 with HTML may come from a login page: if it counted as success,
		 * the points would be lost. */
		if (answer->r == 0)
			ret->status = INFLUX_CONFIG;
		return;
	}
	ret->status = read_status(answer);
	if (ret->status == INFLUX_TAKEN)
		return;
	read_sentence(answer, ret);
	if (ret->status == INFLUX_PARTIAL)
		ret->dropped = read_dropped(answer->body);
	if (ret->status == INFLUX_RETRY)
		ret->retry_after_s = answer->retry_after_s;
}
