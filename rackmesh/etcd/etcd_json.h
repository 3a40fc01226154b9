/*
 * etcd_json - requests to etcd's gateway and its answers, as text and as structs. Pure;
 * private to the etcd client.
 *
 * The gateway omits fields that are zero, writes 64-bit numbers as strings, and bytes
 * in base64; the body of an error is {"error", "message", "code"}, within a stream
 * {"error": {"grpc_code", "message", ...}}.
 */
#ifndef RACKMESH_ETCD_ETCD_JSON_H
#define RACKMESH_ETCD_ETCD_JSON_H

#include "rackmesh/etcd/etcd_answer.h"

#define RM_ETCD_TOKEN 1024
/* Items of one answer or line: well above the limits of etcd itself. */
#define RM_ETCD_MAX_EVENTS 1000000

/* ---- requests: the caller frees *ret; -ENOMEM, -EINVAL, -EMSGSIZE ---- */

struct rm_etcd_range_request {
	const char *key;
	size_t key_len;
	/* true: all keys that begin with the first prefix_len bytes of key */
	bool prefix;
	size_t prefix_len;       /* the rest of key is where a later page begins */
	int64_t revision, limit; /* 0: now; all */
	bool serializable, keys_only;
};

int rm_etcd_json_range(const struct rm_etcd_range_request *request, char **ret);
int rm_etcd_json_txn(const struct rm_etcd_compare *compares, size_t compare_count,
    const struct rm_etcd_op *ops, size_t op_count, char **ret);
int rm_etcd_json_number(const char *field, int64_t number, char **ret);
int rm_etcd_json_watch(const char *prefix, int64_t from, char **ret);

/* ---- answers -------------------------------------------------------------- */

struct rm_etcd_reply {
	struct rm_etcd_answer answer;
	/* the values of the answer; this struct owns them */
	struct rm_etcd_value *values;
	char *memory; /* memory of all keys and values */
	/* number of keys that were left out, because they contain a zero byte */
	size_t left_out;
	/* the limit of the range request was reached, and there are more keys */
	bool more;
	bool token_refused; /* authenticate again */
	bool login_unknown; /* the cluster has no authentication */
	bool rotate;        /* another member might succeed */
	bool cut;           /* the answer is longer than the limit */
	size_t size;        /* of the text */
	char token[RM_ETCD_TOKEN];
};

/* Fills *ret in any case; ret->answer.r is the result. The caller clears *ret. */
void rm_etcd_json_answer(
    long status, const char *text, size_t len, struct rm_etcd_reply *ret);
void rm_etcd_reply_clear(struct rm_etcd_reply *reply);

/* ---- lines of a watch ----------------------------------------------------- */

struct rm_etcd_line {
	int r; /* < 0: the stream has ended with this error, or was canceled */
	char error[160];
	bool created, token_refused;
	uint64_t cluster_id;
	int64_t revision; /* of the header */
	int64_t last;     /* highest revision of the events */
	struct rm_etcd_event *events;
	size_t count, left_out;
	char *memory;
};

/* -EPROTO, -ENOMEM. The caller clears *ret only after success. */
int rm_etcd_json_line(const char *text, size_t len, struct rm_etcd_line *ret);
void rm_etcd_line_clear(struct rm_etcd_line *line);

#endif
