#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/etcd/base64.h"
#include "rackmesh/etcd/etcd_json.h"

#define REQUEST_MAX_BYTES (1500u << 10) /* the server takes 1.5 MiB in all */

/* Closes the stream; *text is what was written. */
static int
request_close(FILE *out, char **text, int r, char **ret)
{
	if (ferror(out) && r == 0)
		r = -ENOMEM;
	if (fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	if (r < 0) {
		free(*text);
		return r;
	}
	*ret = *text;
	return 0;
}

/* Either separator or nothing, then "name":"base64". */
static int
put_bytes(FILE *out, const char *name, const void *data, size_t len)
{
	size_t size = rm_base64_size(len);
	char *text = malloc(size + 1);

	if (text == NULL)
		return -ENOMEM;
	rm_base64_encode(data, len, text);
	fprintf(out, "\"%s\":\"%.*s\"", name, (int)size, text);
	free(text);
	return 0;
}

/* Where the keys with this prefix end: the last byte plus one, of what can be raised;
 * "\0" stands for the end of all keys. */
static int
put_range_end(FILE *out, const char *prefix, size_t len)
{
	char *end;
	int r;

	while (len > 0 && (unsigned char)prefix[len - 1] == 0xff)
		len--;
	if (len == 0)
		return put_bytes(out, "range_end", "", 1);
	end = malloc(len);
	if (end == NULL)
		return -ENOMEM;
	memcpy(end, prefix, len);
	end[len - 1]++;
	r = put_bytes(out, "range_end", end, len);
	free(end);
	return r;
}

/* An empty prefix begins at "\0", the first of all keys. */
static int
put_range_key(FILE *out, const char *key, size_t len)
{
	return put_bytes(out, "key", len > 0 ? key : "", len > 0 ? len : 1);
}

int
rm_etcd_json_range(const struct rm_etcd_range_request *request, char **ret)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int r;

	if (out == NULL)
		return -ENOMEM;
	fputc('{', out);
	r = put_range_key(out, request->key, request->key_len);
	if (r == 0 && request->prefix) {
		fputc(',', out);
		r = put_range_end(out, request->key, request->prefix_len);
	}
	if (request->revision > 0)
		fprintf(out, ",\"revision\":\"%" PRId64 "\"", request->revision);
	if (request->limit > 0)
		fprintf(out, ",\"limit\":\"%" PRId64 "\"", request->limit);
	if (request->serializable)
		fputs(",\"serializable\":true", out);
	if (request->keys_only)
		fputs(",\"keys_only\":true", out);
	fputc('}', out);
	return request_close(out, &text, r, ret);
}

static int
put_compare(FILE *out, const struct rm_etcd_compare *compare)
{
	static const struct {
		const char *target, *field;
	} words[] = {
		[RM_ETCD_CREATE_REVISION] = { "CREATE", "create_revision" },
		[RM_ETCD_MOD_REVISION] = { "MOD", "mod_revision" },
		[RM_ETCD_LEASE] = { "LEASE", "lease" },
	};
	int r;

	fputc('{', out);
	r = put_bytes(out, "key", compare->key, strlen(compare->key));
	fprintf(out, ",\"target\":\"%s\",\"result\":\"EQUAL\",\"%s\":\"%" PRId64 "\"}",
	    words[compare->target].target, words[compare->target].field,
	    compare->equals);
	return r;
}

static int
put_op(FILE *out, const struct rm_etcd_op *op)
{
	int r;

	fprintf(out, "{\"%s\":{",
	    op->value != NULL ? "request_put" : "request_delete_range");
	r = put_bytes(out, "key", op->key, strlen(op->key));
	if (r == 0 && op->value != NULL) {
		fputc(',', out);
		r = put_bytes(out, "value", op->value, op->value_len);
		fprintf(out, ",\"lease\":\"%" PRId64 "\"", op->lease);
	}
	fputs("}}", out);
	return r;
}

static int
txn_check(const struct rm_etcd_compare *compares, size_t compare_count,
    const struct rm_etcd_op *ops, size_t op_count)
{
	size_t bytes = 0;

	if (op_count > RM_ETCD_MAX_OPS || compare_count > RM_ETCD_MAX_OPS)
		return -EMSGSIZE;
	for (size_t i = 0; i < compare_count; i++) {
		if (compares[i].key[0] == 0)
			return -EINVAL;
		bytes += strlen(compares[i].key);
	}
	for (size_t i = 0; i < op_count; i++) {
		if (ops[i].key[0] == 0)
			return -EINVAL;
		if (ops[i].value != NULL && ops[i].value_len > RM_ETCD_MAX_VALUE_BYTES)
			return -EMSGSIZE;
		bytes +=
		    strlen(ops[i].key) + (ops[i].value != NULL ? ops[i].value_len : 0);
	}
	return bytes > REQUEST_MAX_BYTES ? -EMSGSIZE : 0;
}

int
rm_etcd_json_txn(const struct rm_etcd_compare *compares, size_t compare_count,
    const struct rm_etcd_op *ops, size_t op_count, char **ret)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;
	int r;

	r = txn_check(compares, compare_count, ops, op_count);
	if (r < 0)
		return r;
	out = open_memstream(&text, &len);
	if (out == NULL)
		return -ENOMEM;
	fputs("{\"compare\":[", out);
	for (size_t i = 0; r == 0 && i < compare_count; i++) {
		if (i > 0)
			fputc(',', out);
		r = put_compare(out, &compares[i]);
	}
	fputs("],\"success\":[", out);
	for (size_t i = 0; r == 0 && i < op_count; i++) {
		if (i > 0)
			fputc(',', out);
		r = put_op(out, &ops[i]);
	}
	fputs("]}", out);
	return request_close(out, &text, r, ret);
}

int
rm_etcd_json_number(const char *field, int64_t number, char **ret)
{
	char *text;

	if (asprintf(&text, "{\"%s\":\"%" PRId64 "\"}", field, number) < 0)
		return -ENOMEM;
	*ret = text;
	return 0;
}

int
rm_etcd_json_watch(const char *prefix, int64_t from, char **ret)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int r;

	if (out == NULL)
		return -ENOMEM;
	fputs("{\"create_request\":{", out);
	r = put_range_key(out, prefix, strlen(prefix));
	fputc(',', out);
	if (r == 0)
		r = put_range_end(out, prefix, strlen(prefix));
	fprintf(out, ",\"start_revision\":\"%" PRId64 "\",\"progress_notify\":true}}",
	    from);
	return request_close(out, &text, r, ret);
}

int
rm_etcd_json_login(const char *user, const char *password, char **ret)
{
	json_t *root = json_pack(
	    "{s:s, s:s}", "name", user, "password", password != NULL ? password : "");
	char *text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	if (text == NULL)
		return -EINVAL; /* not UTF-8, most likely */
	*ret = text;
	return 0;
}
