/*
 * past - GET /v1/history/: what the analyzer has written, read from where it wrote it.
 *
 * Files are read, and a database's answer is taken apart, in a worker of its own: the
 * one of the spools must sync what an acknowledgement waits for.
 */
#ifndef ANALYZER_PAST_PAST_H
#define ANALYZER_PAST_PAST_H

#include <stdint.h>

#define PAST_MAX 4 /* questions at once */

struct influx_config;
struct past;
struct rm_http_client;
struct rm_http_request;
struct rm_http_server;
struct rm_loop;

struct past_options { /* all borrowed, for as long as the past */
	struct rm_loop *loop;
	struct rm_http_client *http;
	struct rm_http_server *server;
	const struct influx_config *influx;
	const char *files_folder; /* without influx->url; "": nothing is kept */
};

struct past_counts {
	uint64_t asked, answered, failed, refused;
};

int past_new(const struct past_options *options, struct past **ret);
void past_free(struct past *past); /* before the server and the client */

/* rm_http_handler of "/v1/history/". */
void past_ask(struct rm_http_request *request, void *past);

const struct past_counts *past_counts(const struct past *past);

#endif
