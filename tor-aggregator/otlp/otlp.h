/*
 * otlp - sends the measured values to an OpenTelemetry collector, every interval.
 *
 * One request runs at a time. Messages are not stored: each is made when it is sent,
 * also for a retry, so that the collector gets current values after an outage. Its sums
 * include the time of the outage. If the collector accepts no message within an
 * interval, the interval is counted as dropped.
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
	const struct otlp_config *config; /* if its URL is "", nothing is sent */
	/* writes the message into body as JSON; 0 or a negative errno */
	int (*fill)(struct evbuffer *body, void *arg);
	void *arg;
	/* 0: otlp.interval_s of the config; others are for tests */
	int64_t interval_ns;
	int64_t retry_base_ns; /* pause before the first retry; 0: 1 s */
};

struct otlp_counts {
	uint64_t sent;            /* messages that the collector accepted */
	uint64_t failed_attempts; /* attempts, including retries, that failed */
	uint64_t dropped;         /* intervals without an accepted message */
	/* data points that the collector rejected from messages that it accepted */
	uint64_t rejected_points;
};

int otlp_new(const struct otlp_options *options, struct otlp **ret);
/* NULL is allowed; must be called before the HTTP client is freed */
void otlp_free(struct otlp *otlp);

const struct otlp_counts *otlp_counts(const struct otlp *otlp);

#endif
