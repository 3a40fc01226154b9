/*
 * http_exchange - a request of http_client, and its answer.
 */
#ifndef RACKMESH_HTTP_HTTP_EXCHANGE_H
#define RACKMESH_HTTP_HTTP_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rm_http_answer {
	int r;       /* 0: an answer came; else -ETIMEDOUT, -ECONNREFUSED, -EIO, ... */
	long status; /* HTTP's, when r is 0 */
	const char *body; /* terminated; cut at max_body_bytes; borrowed for the call */
	size_t body_len;
	const char *reason;    /* libcurl's message, when r is not 0; "": none */
	const char *redirect;  /* where a 3xx leads; not followed; NULL: nowhere */
	int64_t retry_after_s; /* from Retry-After, at most a day; -1: none or 0 */
	int64_t date_s; /* the server's time of day, since the epoch; 0: not given */
};

struct rm_http_tls {
	const char *authorities; /* CA bundle, PEM; NULL: the system's */
	/* The client's certificate and key, PEM; NULL: none. The key's mode is 0600 or
	 * 0400, else -EACCES. */
	const char *certificate, *key;
};

struct rm_http_exchange { /* everything is borrowed for the call, the body copied */
	const char *url;
	const char *const *headers; /* "Name: value", ended by NULL; NULL: none */
	const char *body;           /* NULL: GET */
	size_t body_len;
	const char *user, *password; /* basic authentication; NULL: none */
	const char *bearer;          /* a token instead; NULL: none */
	const struct rm_http_tls
	    *tls;              /* for https; NULL: only the system's CA bundle */
	size_t max_body_bytes; /* of the answer; 0: 64 KiB */
	bool whole; /* true: a longer answer fails at once with -EMSGSIZE, instead of
		       being cut */
	int64_t timeout_ns; /* of the whole exchange; 0: none, for streams */
	/* For streams: called for each piece as it arrives; answer.body is "" then. < 0
	 * ends the exchange, and done gets that as answer.r. Only for answers with
	 * status 200; the body of others goes to done as usual. NULL: no stream. It may
	 * start and cancel any call, also its own. */
	int (*on_data)(const char *data, size_t len, void *arg);
	void (*done)(const struct rm_http_answer *answer, void *arg);
	void *arg;
};

#endif
