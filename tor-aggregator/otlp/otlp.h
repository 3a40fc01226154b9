/*
 * otlp - sends the measured values to an OpenTelemetry collector, every interval.
 *
 * One request at a time, and nothing is stored: a message is made when it is sent, also
 * at a retry, so after an outage a collector gets the current values. Sums include the
 * time of the outage. An interval without an accepted message is counted as dropped.
 */
#ifndef TOR_AGGREGATOR_OTLP_OTLP_H
#define TOR_AGGREGATOR_OTLP_OTLP_H

#include <stdint.h>

struct evbuffer;
struct otlp;
struct otlp_config;
struct rm_http_client;
struct rm_loop;

struct otlp_options { /* all borrowed */
	struct rm_loop *loop;
	struct rm_http_client *http;
	const struct otlp_config *config; /* without a URL nothing is sent */
	int (*fill)(struct evbuffer *body, void *arg); /* the message, as JSON */
	void *arg;
	int64_t interval_ns;   /* 0: the config's; for tests */
	int64_t retry_base_ns; /* 0: 1 s */
};

struct otlp_counts {
	uint64_t sent;            /* messages taken */
	uint64_t failed_attempts; /* of all attempts */
	uint64_t dropped;         /* intervals without an accepted message */
	uint64_t rejected_points; /* in messages that were accepted */
};

int otlp_new(const struct otlp_options *options, struct otlp **ret);
void otlp_free(struct otlp *otlp); /* NULL is allowed; free it before the client */

const struct otlp_counts *otlp_counts(const struct otlp *otlp);

#endif
