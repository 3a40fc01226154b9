/*
 * http_call - one exchange of http_client: its easy handle and the data received;
 * private to http_client.
 *
 * libcurl must not be called from its own callbacks, so these only store the data;
 * http_client processes it when libcurl has returned.
 */
#ifndef RACKMESH_HTTP_HTTP_CALL_H
#define RACKMESH_HTTP_HTTP_CALL_H

#include <curl/curl.h>
#include <stdbool.h>

#include "rackmesh/http/http_exchange.h"

#define RM_HTTP_LIMIT_TEXT 80 /* bytes */

struct rm_http_call {
	struct rm_http_client *client;
	struct rm_http_call *next; /* next in the list of all running calls */
	CURL *easy;
	struct curl_slist *headers;
	/* bytes that were received and not passed on yet; 0-terminated unless empty */
	char *body;
	size_t body_len, body_size, max_body;
	size_t headers_len; /* bytes of headers and trailers received */
	bool whole;
	bool streams; /* the exchange has on_data, and the status is 200 */
	char reason[CURL_ERROR_SIZE];
	/* the limit that the answer has reached, for which reason has no words; "":
	 * none
	 */
	char limit[RM_HTTP_LIMIT_TEXT];
	bool waiting; /* body has bytes of a stream for on_data */
	int (*on_data)(const char *data, size_t len, void *arg);
	void (*done)(const struct rm_http_answer *answer, void *arg);
	void *arg;
};

int rm_http_call_new(const struct rm_http_exchange *exchange,
    struct rm_http_client *client, struct rm_http_call **ret);
void rm_http_call_free(struct rm_http_call *call);

/* How the exchange ended: -errno, or 0 when an answer came. */
int rm_http_call_errno(struct rm_http_call *call, CURLcode code);

#endif
