#include "rackmesh/config/host_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "rackmesh/config/config.h"
#include "rackmesh/core/log.h"

int
rm_host_name_refuse(const char *path, struct rm_error *error, const char *option,
    const char *name, const char *expected)
{
	char quoted[128], text[512];

	rm_log_quote(quoted, sizeof(quoted), name, strlen(name));
	snprintf(text, sizeof(text),
	    "%s cannot name this host: %s; give the system a valid name, or give %s "
	    "here, as in %s: gpu17",
	    quoted, expected, option, option);
	return rm_config_refuse(path, error, text, "%s", option);
}

/* localhost-live is an image of Fedora. */
static bool
is_nobodys_name(const char *name)
{
	static const char *const names[] = { "localhost", "localhost4", "localhost6",
		"localhost-live" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const size_t len = strlen(names[i]);

		if (strncasecmp(name, names[i], len) == 0 &&
		    (name[len] == '\0' || name[len] == '.'))
			return true;
	}
	return false;
}

int
rm_host_name_check(
    const char *path, struct rm_error *error, const char *option, const char *name)
{
	char text[256];

	if (!is_nobodys_name(name))
		return 0;
	snprintf(text, sizeof(text),
	    "expected the name of this host, not localhost; name the system, or give "
	    "%s here",
	    option);
	return rm_config_refuse(path, error, text, "%s", option);
}
