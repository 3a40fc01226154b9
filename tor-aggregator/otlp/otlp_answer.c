#include "tor-aggregator/otlp/otlp_answer.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/http/http_client.h"

/* Appends text to the sentence as far as it fits. Characters that are not printable
 * become blanks. */
static void
report(struct otlp_answer *answer, const char *text)
{
	size_t at = strlen(answer->sentence);

	for (; *text != '\0' && at + 1 < sizeof(answer->sentence); text++)
		answer->sentence[at++] = *text >= ' ' && *text < 0x7f ? *text : ' ';
	answer->sentence[at] = '\0';
}

/* A 64-bit integer of protobuf's JSON form: a string, or a number. */
static uint64_t
read_count(const json_t *json)
{
	const char *text = json_string_value(json);
	unsigned long long count;
	char *end;

	if (json_is_integer(json))
		return json_integer_value(json) > 0 ? (uint64_t)json_integer_value(json)
						    : 0;
	if (text == NULL || !isdigit((unsigned char)text[0]))
		return 0;
	errno = 0;
	count = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0' ? count : 0;
}

/* With 0 rejected values the message is a warning. */
static void
read_partial(const json_t *json, struct otlp_answer *ret)
{
	const json_t *partial = json_object_get(json, "partialSuccess");
	const char *reason =
	    json_string_value(json_object_get(partial, "errorMessage"));

	ret->rejected = read_count(json_object_get(partial, "rejectedDataPoints"));
	if (reason != NULL)
		report(ret, reason);
	else if (ret->rejected > 0)
		report(ret, "no reason given");
}

static enum otlp_status
read_status(long status)
{
	if (status >= 200 && status < 300)
		return OTLP_TAKEN;
	if (status == 429 || (status >= 502 && status <= 504))
		return OTLP_RETRY;
	return OTLP_REFUSED;
}

/* Copies the message of a google.rpc.Status, if the body has one; else the body
 * itself. */
static void
read_error(
    const struct rm_http_answer *answer, const json_t *json, struct otlp_answer *ret)
{
	const char *text = json_string_value(json_object_get(json, "message"));

	snprintf(ret->sentence, sizeof(ret->sentence), "status %ld: ", answer->status);
	report(ret, text != NULL ? text : answer->body);
}

void
otlp_answer_read(const struct rm_http_answer *answer, struct otlp_answer *ret)
{
	json_t *json;

	*ret = (struct otlp_answer){ .status = OTLP_RETRY, .retry_after_s = -1 };
	if (rm_http_answer_misses(
		answer, "otlp.url", ret->sentence, sizeof(ret->sentence))) {
		if (answer->r == 0)
			ret->status = OTLP_REFUSED;
		return;
	}
	json = json_loadb(answer->body, answer->body_len, 0, NULL);
	ret->status = read_status(answer->status);
	if (ret->status == OTLP_TAKEN)
		read_partial(json, ret);
	else
		read_error(answer, json, ret);
	if (ret->status == OTLP_RETRY)
		ret->retry_after_s = answer->retry_after_s;
	json_decref(json);
}
