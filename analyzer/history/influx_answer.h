/*
 * influx_answer - what a database's answer to a write means. Pure.
 *
 * Nothing that could still be written is ever given up: only points that the database
 * itself has refused are.
 */
#ifndef ANALYZER_HISTORY_INFLUX_ANSWER_H
#define ANALYZER_HISTORY_INFLUX_ANSWER_H

#include <stdint.h>

struct rm_http_answer;

enum influx_status {
	INFLUX_TAKEN = 1,
	INFLUX_PARTIAL,   /* taken, but for some points that it will never take */
	INFLUX_REFUSED,   /* nothing was taken, something in it is at fault: halve */
	INFLUX_TOO_LARGE, /* halve */
	INFLUX_CONFIG,    /* a person has to mend it: keep, and try now and then */
	INFLUX_RETRY,     /* not now */
};

#define INFLUX_SENTENCE_BYTES 320

struct influx_answer {
	enum influx_status status;
	uint64_t dropped;      /* of INFLUX_PARTIAL, at least 1 */
	int64_t retry_after_s; /* of INFLUX_RETRY; -1: it did not say */
	/* What the database said, or what became of the exchange; "" when all is well.
	 * One line, printable. */
	char sentence[INFLUX_SENTENCE_BYTES];
};

void influx_answer_read(const struct rm_http_answer *answer, struct influx_answer *ret);

#endif
