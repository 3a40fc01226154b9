/*
 * etcd_call - one request to etcd's gateway, and the client's insides; private to the
 * etcd client.
 */
#ifndef RACKMESH_ETCD_ETCD_CALL_H
#define RACKMESH_ETCD_ETCD_CALL_H

#include "rackmesh/etcd/etcd_json.h"

struct rm_etcd_call;
struct rm_http_call;
struct rm_http_exchange;

#define RM_ETCD_MAX_ENDPOINTS 16

struct rm_etcd {
	struct rm_loop *loop;
	struct rm_http_client *http;
	char *endpoints[RM_ETCD_MAX_ENDPOINTS];
	/* number of endpoints, and index of the endpoint in use */
	size_t endpoint_count, endpoint;
	char *user, *password;     /* NULL: no authentication */
	char token[RM_ETCD_TOKEN]; /* "": requests are sent without a token */
	bool has_token;
	uint64_t token_number; /* number of tokens received so far */
	struct rm_etcd_call *login;
	struct rm_etcd_call *calls;
	size_t call_count;
	int64_t timeout_ns, hurry_ns;
	struct rm_etcd_counts counts;
};

struct rm_etcd_ask {
	const char *path;   /* a literal: "/v3/kv/range" */
	char *takes_body;   /* from malloc */
	size_t max_answer;  /* bytes; 0: 64 KiB */
	int64_t timeout_ns; /* 0: the client's */
	/* true: send to the member `endpoint`; false: send to the endpoint in use */
	bool pinned;
	size_t endpoint;
	/* May move the values out of *reply. */
	void (*done)(struct rm_etcd_reply *reply, void *arg);
	void *arg;
	/* Called instead of done when the call is canceled; may be NULL. */
	void (*drop)(void *arg);
	void *owner; /* for rm_etcd_forget */
};

/* Takes ownership of the body, also on failure. *ret (may be NULL) is valid until done
 * is called. */
int rm_etcd_call(
    struct rm_etcd *etcd, const struct rm_etcd_ask *ask, struct rm_etcd_call **ret);
/* Ends all calls of this owner. */
void rm_etcd_calls_forget(struct rm_etcd *etcd, const void *owner);
void rm_etcd_call_cancel(struct rm_etcd_call *call); /* without calling a callback */

/* ---- functions that watches use too, although their requests are not calls ---- */

/* Changes to the next endpoint, unless another call has done so since. */
void rm_etcd_rotate(struct rm_etcd *etcd, size_t from);
void rm_etcd_token_refused(struct rm_etcd *etcd);
/* Adds the URL and the headers of a request. */
int rm_etcd_http(struct rm_etcd *etcd, size_t endpoint, const char *path,
    struct rm_http_exchange *exchange, struct rm_http_call **ret);

#endif
