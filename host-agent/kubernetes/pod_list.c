#include "host-agent/kubernetes/pod_list.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/error.h"

#define UID_LEN (POD_UID_BYTES - 1)
#define STATIC_UID_LEN 32 /* a hash without dashes */

struct pod_list {
	struct pod *pods; /* sorted by uid */
	size_t count, capacity;
	uint64_t refused;
};

/* ---- Skips the JSON around the pods without building a tree of it ---- */

struct text { /* the text of one JSON value */
	const char *at;
	size_t len;
};

struct cursor {
	const char *at, *end;
	bool bad; /* what was parsed so far is not JSON */
};

static void
skip_space(struct cursor *cursor)
{
	while (cursor->at < cursor->end && strchr(" \t\r\n", *cursor->at) != NULL &&
	       *cursor->at != '\0')
		cursor->at++;
}

static bool
take(struct cursor *cursor, char c)
{
	skip_space(cursor);
	if (cursor->at == cursor->end || *cursor->at != c)
		return false;
	cursor->at++;
	return true;
}

/* Skips a string. Before the call, at is behind the string's first quote; after it,
 * behind the last one. */
static void
skip_string(struct cursor *cursor)
{
	for (; cursor->at < cursor->end; cursor->at++) {
		if (*cursor->at == '\\' && cursor->at + 1 < cursor->end) {
			cursor->at++;
		} else if (*cursor->at == '"') {
			cursor->at++;
			return;
		}
	}
	cursor->bad = true;
}

static void
skip_nested(struct cursor *cursor)
{
	size_t depth = 0;

	while (cursor->at < cursor->end) {
		char c = *cursor->at++;

		if (c == '"')
			skip_string(cursor);
		else if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth == 0)
			return;
	}
	cursor->bad = true;
}

/* Skips a value, and returns its text. Only the nesting inside is checked. */
static struct text
take_value(struct cursor *cursor)
{
	struct text value;

	skip_space(cursor);
	value.at = cursor->at;
	if (take(cursor, '"'))
		skip_string(cursor);
	else if (cursor->at < cursor->end && (*cursor->at == '{' || *cursor->at == '['))
		skip_nested(cursor);
	else
		while (cursor->at < cursor->end &&
		       (isalnum((unsigned char)*cursor->at) || *cursor->at == '-' ||
			   *cursor->at == '+' || *cursor->at == '.'))
			cursor->at++;
	value.len = (size_t)(cursor->at - value.at);
	cursor->bad |= value.len == 0;
	return value;
}

/* Moves to the next element of an object or array; false: there is none. */
static bool
more(struct cursor *cursor, char close, bool *first)
{
	if (cursor->bad || take(cursor, close))
		return false;
	cursor->bad = !*first && !take(cursor, ',');
	*first = false;
	return !cursor->bad;
}

static bool
is(const struct text *text, const char *expected)
{
	return text->len == strlen(expected) &&
	       memcmp(text->at, expected, text->len) == 0;
}

/* Moves to the next member of an object, and sets its key, with the quotes, and its
 * value. False: there is none. */
static bool
more_members(struct cursor *cursor, bool *first, struct text *key, struct text *value)
{
	if (!more(cursor, '}', first))
		return false;
	*key = take_value(cursor);
	if (cursor->bad || key->at[0] != '"' || !take(cursor, ':')) {
		cursor->bad = true;
		return false;
	}
	*value = take_value(cursor);
	return !cursor->bad;
}

/* ---- one pod ---- */

/* Copies a name of letters, digits, '-' and '.'. False: there is no such name. */
static bool
take_name(const json_t *object, const char *key, char *ret, size_t size)
{
	const char *text = json_string_value(json_object_get(object, key));
	size_t len = text == NULL ? 0 : strlen(text);

	if (len == 0 || len >= size)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '-' &&
		    text[i] != '.')
			return false;
	memcpy(ret, text, len + 1);
	return true;
}

/*
 * Finds the Deployment of a pod. A Deployment calls its ReplicaSet <Deployment>-<hash>,
 * and puts the hash on the pods by this label; a ReplicaSet without a Deployment does
 * neither.
 */
static void
find_deployment(const json_t *metadata, const json_t *owner, struct pod *pod)
{
	const char *api = json_string_value(json_object_get(owner, "apiVersion"));
	const char *hash = json_string_value(
	    json_object_get(json_object_get(metadata, "labels"), "pod-template-hash"));
	const size_t len = strlen(pod->owner_name),
		     hash_len = hash == NULL ? 0 : strlen(hash);
	char *dash;

	if (strcmp(pod->owner_kind, "ReplicaSet") != 0 || api == NULL ||
	    strncmp(api, "apps/", strlen("apps/")) != 0 || hash_len == 0 ||
	    len < hash_len + 2)
		return;
	dash = pod->owner_name + len - hash_len - 1;
	if (*dash != '-' || strcmp(dash + 1, hash) != 0)
		return;
	*dash = '\0';
	snprintf(pod->owner_kind, sizeof(pod->owner_kind), "Deployment");
}

static void
find_owner(const json_t *metadata, struct pod *pod)
{
	const json_t *owner;
	size_t i;

	json_array_foreach (json_object_get(metadata, "ownerReferences"), i, owner) {
		if (!json_is_true(json_object_get(owner, "controller")))
			continue;
		if (take_name(
			owner, "kind", pod->owner_kind, sizeof(pod->owner_kind)) &&
		    take_name(owner, "name", pod->owner_name, sizeof(pod->owner_name)))
			find_deployment(metadata, owner, pod);
		else
			pod->owner_kind[0] = '\0';
		return;
	}
}

static bool
read_pod(const json_t *metadata, struct pod *pod)
{
	size_t uid_len;

	*pod = (struct pod){ 0 };
	if (!take_name(metadata, "uid", pod->uid, sizeof(pod->uid)) ||
	    !take_name(metadata, "namespace", pod->namespace, sizeof(pod->namespace)) ||
	    !take_name(metadata, "name", pod->name, sizeof(pod->name)))
		return false;
	snprintf(
	    pod->full_name, sizeof(pod->full_name), "%s/%s", pod->namespace, pod->name);
	uid_len = strlen(pod->uid);
	if ((uid_len != UID_LEN && uid_len != STATIC_UID_LEN) ||
	    strspn(pod->uid, "0123456789abcdef-") != uid_len)
		return false;
	find_owner(metadata, pod);
	return true;
}

/* ---- the list ---- */

static int
append(struct pod_list *list, const struct pod *pod)
{
	const size_t capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
	struct pod *pods;

	if (list->count == POD_LIST_MAX_PODS) {
		list->refused++;
		return 0;
	}
	if (list->count == list->capacity) {
		pods = reallocarray(list->pods, capacity, sizeof(*pods));
		if (pods == NULL)
			return -ENOMEM;
		list->pods = pods;
		list->capacity = capacity;
	}
	list->pods[list->count++] = *pod;
	return 0;
}

static int
take_pod(struct pod_list *list, const struct text *text)
{
	struct cursor cursor = { text->at, text->at + text->len, false };
	struct text key, value, metadata = { NULL, 0 };
	json_t *object = NULL;
	struct pod pod;
	bool first = true;
	int r = 0;

	if (take(&cursor, '{'))
		while (more_members(&cursor, &first, &key, &value))
			if (is(&key, "\"metadata\""))
				metadata = value;
	if (metadata.len > 0 && metadata.len <= POD_LIST_MAX_METADATA && !cursor.bad)
		object = json_loadb(metadata.at, metadata.len, 0, NULL);
	if (read_pod(object, &pod))
		r = append(list, &pod);
	else
		list->refused++;
	json_decref(object);
	return r;
}

static int
take_pods(struct pod_list *list, const struct text *items)
{
	struct cursor cursor = { items->at, items->at + items->len, false };
	struct text pod;
	bool first = true;
	int r = 0;

	if (is(items, "null")) /* Go writes an empty list as null */
		return 0;
	if (!take(&cursor, '['))
		return -EPROTO;
	while (r == 0 && more(&cursor, ']', &first)) {
		pod = take_value(&cursor);
		r = cursor.bad ? -EPROTO : take_pod(list, &pod);
	}
	return r == 0 && (cursor.bad || cursor.at != cursor.end) ? -EPROTO : r;
}

static int
compare(const void *a, const void *b)
{
	return strcmp(((const struct pod *)a)->uid, ((const struct pod *)b)->uid);
}

static void
sort(struct pod_list *list)
{
	size_t kept = 0;

	if (list->count == 0)
		return;
	qsort(list->pods, list->count, sizeof(list->pods[0]), compare);
	for (size_t i = 1; i < list->count; i++) {
		if (compare(&list->pods[i], &list->pods[kept]) == 0)
			list->refused++;
		else if (++kept != i)
			list->pods[kept] = list->pods[i];
	}
	list->count = kept + 1;
}

static int
parse(struct pod_list *list, const char *text, size_t len, struct rm_error *error)
{
	struct cursor cursor = { text, text + len, false };
	struct text key, value, items = { NULL, 0 };
	bool first = true, pods = false;
	int r = -EPROTO;

	if (!take(&cursor, '{'))
		return rm_error_set(error, -EPROTO, "the kubelet's answer is not JSON");
	while (more_members(&cursor, &first, &key, &value)) {
		if (is(&key, "\"kind\""))
			pods = is(&value, "\"PodList\"");
		else if (is(&key, "\"items\""))
			items = value;
	}
	skip_space(&cursor);
	if (cursor.bad || cursor.at != cursor.end)
		return rm_error_set(
		    error, -EPROTO, "the kubelet's answer is not JSON, or cut off");
	if (!pods || items.at == NULL)
		return rm_error_set(error, -EPROTO,
		    "the kubelet's answer is not a PodList: is it a kubelet?");
	r = take_pods(list, &items);
	if (r == -EPROTO)
		return rm_error_set(error, r, "the kubelet's list of pods is not JSON");
	sort(list);
	return r;
}

int
pod_list_parse(
    const char *text, size_t len, struct pod_list **ret, struct rm_error *error)
{
	struct pod_list *list;
	int r;

	if (len > POD_LIST_MAX_BYTES)
		return rm_error_set(error, -EPROTO,
		    "the kubelet's answer is larger than %u MiB",
		    POD_LIST_MAX_BYTES >> 20);
	list = calloc(1, sizeof(*list));
	if (list == NULL)
		return -ENOMEM;
	r = parse(list, text, len, error);
	if (r < 0)
		pod_list_free(list);
	else
		*ret = list;
	return r;
}

void
pod_list_free(struct pod_list *list)
{
	if (list == NULL)
		return;
	free(list->pods);
	free(list);
}

size_t
pod_list_count(const struct pod_list *list)
{
	return list == NULL ? 0 : list->count;
}

uint64_t
pod_list_refused(const struct pod_list *list)
{
	return list->refused;
}

const struct pod *
pod_list_find(const struct pod_list *list, const char *uid)
{
	struct pod key = { 0 };

	if (list == NULL || list->count == 0 || strlen(uid) >= sizeof(key.uid))
		return NULL;
	memcpy(key.uid, uid, strlen(uid));
	return bsearch(&key, list->pods, list->count, sizeof(list->pods[0]), compare);
}
