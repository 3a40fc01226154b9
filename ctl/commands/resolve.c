#include <stdio.h>
#include <stdlib.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"

static const char *
text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value != NULL ? value : "-";
}

int
ctl_resolve(const struct ctl *ctl)
{
	json_t *answer = NULL;
	const json_t *tor;
	char *escaped, path[1024];
	size_t i;

	if (ctl->argc != 1 || ctl->argv[0][0] == '-')
		return ctl_usage("expected: resolve ADDRESS (IPv4, IPv6 or a GID)");
	escaped = request_escape(ctl->argv[0]);
	if (escaped == NULL)
		return CTL_NO_ANSWER;
	snprintf(path, sizeof(path), "/v1/resolve/%s", escaped);
	free(escaped);
	if (request_get(ctl->controller, path, &answer) < 0)
		return CTL_NO_ANSWER;
	if (ctl->json) {
		show_json(answer);
	} else {
		printf("%s is %s/%s (%s)", ctl->argv[0], text(answer, "host"),
		    text(answer, "device"), text(answer, "id"));
		json_array_foreach (json_object_get(answer, "tors"), i, tor)
			if (json_is_string(tor))
				printf("%s%s", i == 0 ? " at " : ", ",
				    json_string_value(tor));
		printf("\n");
	}
	json_decref(answer);
	return CTL_GOOD;
}
