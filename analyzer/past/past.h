/*
 * past - answers GET /v1/history/ from the files or the database to which the analyzer
 * has written the history.
 *
 * A worker of its own reads the files and parses the database's answers. The worker of
 * the spools is not used, because acknowledgements wait for its disk writes.
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

struct past_options { /* All pointers are borrowed for the life of the past. */
	struct rm_loop *loop;
	struct rm_http_client *http;
	struct rm_http_server *server;
	const struct influx_config *influx;
	/* used without influx->url; "": there is no history */
	const char *files_folder;
};

struct past_counts {
	uint64_t asked, answered, failed, refused;
};

int past_new(const struct past_options *options, struct past **ret);
void past_free(struct past *past); /* free it before the server and the client */

/* rm_http_handler of "/v1/history/". */
void past_ask(struct rm_http_request *request, void *past);

const struct past_counts *past_counts(const struct past *past);

#endif
