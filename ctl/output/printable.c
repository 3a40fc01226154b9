#include "ctl/output/printable.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number of bytes of the control character at `at`: an ASCII one, or U+0080
 * to U+009F, which some terminals treat as the beginning of a command. 0: there is
 * none. */
static size_t
control_bytes(const unsigned char *at)
{
	if (at[0] < ' ' || at[0] == 0x7f)
		return 1;
	return at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f ? 2 : 0;
}

void
printable_text(char *text)
{
	const unsigned char *from = (const unsigned char *)text;
	char *to = text;

	while (*from != '\0') {
		size_t control = control_bytes(from);

		if (control == 0)
			*to++ = (char)*from++;
		else
			*to++ = strchr("\n\r\t", *from) != NULL ? ' ' : '?';
		from += control;
	}
	*to = '\0';
}

static bool
is_printable(const char *text)
{
	for (; *text != '\0'; text++)
		if (control_bytes((const unsigned char *)text) > 0)
			return false;
	return true;
}

static int
string_clean(json_t *string)
{
	char *text;
	int r;

	if (is_printable(json_string_value(string)))
		return 0;
	text = strdup(json_string_value(string));
	if (text == NULL)
		return -ENOMEM;
	printable_text(text);
	r = json_string_set_nocheck(string, text) == 0 ? 0 : -ENOMEM;
	free(text);
	return r;
}

static int
key_clean(json_t *object, const char *key, json_t *item)
{
	char *fit = strdup(key);
	int r;

	if (fit == NULL)
		return -ENOMEM;
	printable_text(fit);
	r = json_object_set_nocheck(object, fit, item) == 0 ? 0 : -ENOMEM;
	if (r == 0)
		json_object_del(object, key);
	free(fit);
	return r;
}

static int
object_clean(json_t *object)
{
	const char *key;
	json_t *item;
	void *next;
	int r = 0;

	json_object_foreach_safe(object, next, key, item)
	{
		if (r == 0)
			r = printable_json(item);
		if (r == 0 && !is_printable(key))
			r = key_clean(object, key, item);
	}
	return r;
}

/* The depth is limited by jansson. */
int
printable_json(json_t *json)
{
	json_t *item;
	size_t i;
	int r = 0;

	switch (json_typeof(json)) {
	case JSON_STRING:
		return string_clean(json);
	case JSON_ARRAY:
		json_array_foreach (json, i, item)
			if (r == 0)
				r = printable_json(item);
		return r;
	case JSON_OBJECT:
		return object_clean(json);
	default:
		return 0;
	}
}
