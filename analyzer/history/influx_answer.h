/*
 * influx_answer - interprets a database's answer to a write. Pure.
 *
 * Points are dropped only if the database itself has refused them. All others are
 * written again.
 */
#ifndef ANALYZER_HISTORY_INFLUX_ANSWER_H
#define ANALYZER_HISTORY_INFLUX_ANSWER_H

#include <stdint.h>

struct rm_http_answer;

enum influx_status {
	INFLUX_TAKEN = 1,
	/* accepted, except for some points that the database will never accept */
	INFLUX_PARTIAL,
	/* Nothing was accepted, because of one or several points: halve the part. */
	INFLUX_REFUSED,
	INFLUX_TOO_LARGE, /* the part is too large: halve it */
	/* an operator must correct something: keep the part, and try again from time to
	 * time */
	INFLUX_CONFIG,
	INFLUX_RETRY, /* try again later */
};

#define INFLUX_SENTENCE_BYTES 320

struct influx_answer {
	enum influx_status status;
	uint64_t dropped; /* for INFLUX_PARTIAL: number of refused points, at least 1 */
	int64_t retry_after_s; /* for INFLUX_RETRY; -1: not given */
	/* The message of the database, or the error of the request; "" if there is
	 * none. One line of printable characters. */
	char sentence[INFLUX_SENTENCE_BYTES];
};

void influx_answer_read(const struct rm_http_answer *answer, struct influx_answer *ret);

#endif
