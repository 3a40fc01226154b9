#include "rackmesh/incident/alert_label.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/fnv.h"

const char *
alert_label_expected(const char *text)
{
	static const char *const reserved[] = { "alertname", "part_type", "part",
		"place", "region", "severity" };
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	const char *value = strchr(text, '=');
	size_t len = value != NULL ? (size_t)(value - text) : 0;

	if (len == 0 || len >= ALERT_LABEL_NAME || strspn(text, letters) == 0 ||
	    text[strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz"
			      "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] != '=')
		return "expected name=value, the name of up to 63 of a-z A-Z 0-9 _, no "
		       "digit first";
	if (strncmp(text, "__", 2) == 0)
		return "names that begin with __ are Alertmanager's own";
	for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
		if (strlen(reserved[i]) == len && memcmp(text, reserved[i], len) == 0)
			return "Rackmesh sets this label itself; choose another name";
	value++;
	if (value[0] == '\0' || strlen(value) >= ALERT_LABEL_VALUE)
		return "expected a value of 1 to 255 bytes";
	for (const char *at = value; *at != '\0'; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return "expected a value without control characters";
	return NULL;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the names; returns their number. */
static size_t
sorted(const json_t *labels, const char *names[static ALERT_LABELS_MAX])
{
	/* jansson's iterators need a pointer that is not const */
	json_t *object = (json_t *)labels;
	size_t count = 0;

	for (void *at = json_object_iter(object);
	     at != NULL && count < ALERT_LABELS_MAX;
	     at = json_object_iter_next(object, at))
		names[count++] = json_object_iter_key(at);
	qsort(names, count, sizeof names[0], by_name);
	return count;
}

static const char *
value_of(const json_t *labels, const char *name)
{
	const char *value = json_string_value(json_object_get(labels, name));

	return value != NULL ? value : "";
}

static uint64_t
add(uint64_t hash, const char *text)
{
	static const uint8_t end = 0xff; /* no text in UTF-8 contains this byte */

	return rm_fnv1a(rm_fnv1a(hash, text, strlen(text)), &end, 1);
}

void
alert_label_fingerprint(const json_t *labels, char ret[static ALERT_FINGERPRINT_TEXT])
{
	const char *names[ALERT_LABELS_MAX];
	size_t count = sorted(labels, names);
	uint64_t hash = RM_FNV1A;

	for (size_t i = 0; i < count; i++)
		hash = add(add(hash, names[i]), value_of(labels, names[i]));
	snprintf(ret, ALERT_FINGERPRINT_TEXT, "%016" PRIx64, hash);
}

char *
alert_label_group(const json_t *labels)
{
	const char *names[ALERT_LABELS_MAX];
	size_t count = sorted(labels, names), len;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	if (out == NULL)
		return NULL;
	fputs("{}:{", out);
	for (size_t i = 0; i < count; i++) {
		/* In quotes as in Go, except for characters that our labels never
		 * contain. */
		char *quoted = json_dumps(
		    json_object_get(labels, names[i]), JSON_ENCODE_ANY | JSON_COMPACT);

		fprintf(out, "%s%s=%s", i > 0 ? ", " : "", names[i],
		    quoted != NULL ? quoted : "\"\"");
		free(quoted);
	}
	fputc('}', out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
