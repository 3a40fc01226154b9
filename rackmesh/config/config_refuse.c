#include "rackmesh/config/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/config/yaml.h"

/* One step into the tree: "word" or "[n]". Moves *place behind it; NULL: not there. */
static const struct rm_yaml_node *
step(const struct rm_yaml_node *node, const char **place)
{
	const char *at = *place;
	char word[64];
	size_t len;

	if (*at == '[') {
		size_t i = strtoul(at + 1, (char **)place, 10);

		*place += **place == ']';
		*place += **place == '.';
		return rm_yaml_kind(node) == RM_YAML_LIST && i < rm_yaml_count(node)
			   ? rm_yaml_item(node, i)
			   : NULL;
	}
	len = strcspn(at, ".[");
	*place = at + len + (at[len] == '.');
	if (rm_yaml_kind(node) != RM_YAML_MAP || len >= sizeof(word))
		return NULL;
	memcpy(word, at, len);
	word[len] = '\0';
	return rm_yaml_get(node, word);
}

/* As near as the file comes to the place: an option left out is at its map. */
static const struct rm_yaml_node *
nearest(const struct rm_yaml *yaml, const char *place)
{
	const struct rm_yaml_node *node = rm_yaml_root(yaml), *next;

	while (node != NULL && *place != '\0') {
		next = step(node, &place);
		if (next == NULL)
			break;
		node = next;
	}
	return node;
}

int
rm_config_refuse(
    const char *path, struct rm_why *why, const char *text, const char *format, ...)
{
	const struct rm_yaml_node *node = NULL;
	struct rm_yaml *yaml = NULL;
	char place[128];
	va_list args;

	va_start(args, format);
	vsnprintf(place, sizeof(place), format, args);
	va_end(args);
	if (path != NULL && rm_yaml_load(path, &yaml, NULL) == 0)
		node = nearest(yaml, place);
	if (node != NULL)
		rm_yaml_why(node, why, -EINVAL, "%s: %s", place, text);
	else
		rm_why(why, -EINVAL, "%s: %s: %s",
		    path == NULL ? "no config file" : path, place, text);
	rm_yaml_free(yaml);
	return -EINVAL;
}

int
rm_config_host_name(char **name, const char *option, struct rm_why *why)
{
	char system[256] = "";

	if (*name != NULL)
		return 0;
	if (gethostname(system, sizeof(system) - 1) < 0)
		return rm_why(
		    why, -errno, "%s: not given, and the system has no name", option);
	*name = strdup(system);
	return *name == NULL ? rm_why(why, -ENOMEM, "out of memory") : 0;
}
