/* What a filled config holds: freeing it, and comparing two of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/config/config.h"

static size_t
item_size(const struct rm_option *option)
{
	return option->kind == RM_LIST ? sizeof(char *) : option->item_bytes;
}

static void
clear_list(const struct rm_option *option, struct rm_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		char *item = (char *)list->items + i * item_size(option);

		if (option->kind == RM_LIST)
			free(*(char **)item);
		else
			rm_config_clear(option->options, item);
	}
	free(list->items);
	*list = (struct rm_list){ 0 };
}

void
rm_config_clear(const struct rm_option *options, void *config)
{
	for (const struct rm_option *option = options; option->name != NULL; option++) {
		void *field = (char *)config + option->offset;

		switch (option->kind) {
		case RM_UINT:
			*(uint64_t *)field = 0;
			break;
		case RM_BOOL:
			*(bool *)field = false;
			break;
		case RM_STRING:
			free(*(char **)field);
			*(char **)field = NULL;
			break;
		case RM_ENUM:
			*(int *)field = 0;
			break;
		case RM_LIST:
		case RM_TABLE:
			clear_list(option, field);
			break;
		}
	}
}

static bool
text_equal(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Names the option that stops a reload. */
static bool
refuse(const struct rm_option *option, struct rm_why *why)
{
	rm_why(why, -EINVAL, "%s cannot change without a restart", option->name);
	return false;
}

static bool
list_reloadable(const struct rm_option *option, const struct rm_list *old,
    const struct rm_list *fresh, struct rm_why *why)
{
	if (old->count != fresh->count)
		return refuse(option, why);
	for (size_t i = 0; i < old->count; i++) {
		const char *a = (const char *)old->items + i * item_size(option);
		const char *b = (const char *)fresh->items + i * item_size(option);
		struct rm_why inner = { 0 };

		if (option->kind == RM_LIST) {
			if (!text_equal(*(char *const *)a, *(char *const *)b))
				return refuse(option, why);
		} else if (!rm_config_reloadable(option->options, a, b, &inner)) {
			rm_why(why, -EINVAL, "%s[%zu].%s", option->name, i, inner.text);
			return false;
		}
	}
	return true;
}

bool
rm_config_reloadable(const struct rm_option *options, const void *old,
    const void *fresh, struct rm_why *why)
{
	for (const struct rm_option *option = options; option->name != NULL; option++) {
		const void *a = (const char *)old + option->offset;
		const void *b = (const char *)fresh + option->offset;
		bool same = true;

		if (option->flags & RM_RELOAD)
			continue;
		switch (option->kind) {
		case RM_UINT:
			same = *(const uint64_t *)a == *(const uint64_t *)b;
			break;
		case RM_BOOL:
			same = *(const bool *)a == *(const bool *)b;
			break;
		case RM_STRING:
			same = text_equal(*(char *const *)a, *(char *const *)b);
			break;
		case RM_ENUM:
			same = *(const int *)a == *(const int *)b;
			break;
		case RM_LIST:
		case RM_TABLE:
			if (!list_reloadable(option, a, b, why))
				return false;
			break;
		}
		if (!same)
			return refuse(option, why);
	}
	return true;
}
