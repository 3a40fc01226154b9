/*
 * http_exchange - a request of http_client, and its answer.
 */
#ifndef RACKMESH_HTTP_HTTP_EXCHANGE_H
#define RACKMESH_HTTP_HTTP_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rm_http_answer {
	int r; /* 0: there is an answer; else -ETIMEDOUT, -ECONNREFUSED, -EIO, ... */
	long status;      /* status code, if r is 0 */
	const char *body; /* terminated; cut at max_body_bytes; borrowed for the call */
	size_t body_len;
	/* when r is not 0: libcurl's message, or the limit that was reached ("its
	 * answer is larger than 8 MiB"); "": none */
	const char *reason;
	/* URL of a redirect (3xx), which is not followed; NULL: none */
	const char *redirect;
	/* from Retry-After, at most a day; -1: the header is missing or 0 */
	int64_t retry_after_s;
	int64_t date_s; /* the server's time of day, since the epoch; 0: not given */
};

struct rm_http_tls {
	const char *authorities; /* CA bundle, PEM; NULL: the system's */
	/* Files with the client's certificate and key, PEM; NULL: none. The key's mode
	 * must be 0600 or 0400, else -EACCES. */
	const char *certificate, *key;
};

struct rm_http_exchange { /* all is borrowed for the call, but the body is copied */
	const char *url;
	const char *const *headers; /* "Name: value", ended by NULL; NULL: none */
	const char *body;           /* NULL: GET */
	size_t body_len;
	const char *user, *password; /* for basic authentication; NULL: none */
	const char *bearer;          /* a token instead of these; NULL: none */
	const struct rm_http_tls
	    *tls;              /* for https; NULL: only the system's CA bundle */
	size_t max_body_bytes; /* maximum number of bytes of the answer's body; 0: 64
				  KiB */
	/* fail with -EMSGSIZE at once if the answer is longer, instead of cutting it */
	bool whole;
	int64_t timeout_ns; /* time for the whole exchange; 0: no limit, for streams */
	/* For a stream: called for each piece of a body with status 200 as it arrives;
	 * the body in done is "" then. A body with another status goes to done as
	 * usual. < 0 ends the exchange, and becomes answer.r. on_data may start and
	 * cancel any call, also its own. NULL: no stream. */
	int (*on_data)(const char *data, size_t len, void *arg);
	void (*done)(const struct rm_http_answer *answer, void *arg);
	void *arg;
};

#endif
