/*
 * otlp_answer - interprets a collector's answer to an OTLP message. Pure.
 *
 * By the protocol, the HTTP statuses 429, 502, 503 and 504 ask for a retry. After any
 * other status except 2xx the message must not be sent again. A 2xx answer may still
 * say that some values were rejected.
 */
#ifndef TOR_AGGREGATOR_OTLP_OTLP_ANSWER_H
#define TOR_AGGREGATOR_OTLP_OTLP_ANSWER_H

#include <stdint.h>

struct rm_http_answer;

enum otlp_status {
	OTLP_TAKEN = 1, /* accepted, except for rejected values */
	OTLP_REFUSED,   /* the same message would be refused again */
	OTLP_RETRY,
};

#define OTLP_SENTENCE_BYTES 320

struct otlp_answer {
	enum otlp_status status;
	uint64_t rejected;     /* for OTLP_TAKEN: number of rejected data points */
	int64_t retry_after_s; /* for OTLP_RETRY; -1: not given */
	/* The collector's message, or the error of the request; "" if there is none.
	 * One line of printable characters. */
	char sentence[OTLP_SENTENCE_BYTES];
};

void otlp_answer_read(const struct rm_http_answer *answer, struct otlp_answer *ret);

#endif
