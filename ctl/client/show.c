#include "ctl/client/show.h"

#include <stdio.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/output/table.h"

void
show_json(const json_t *json)
{
	json_dumpf(json, stdout, JSON_INDENT(2));
	printf("\n");
}

int
show_list(const struct ctl *ctl, const char *base, const char *path, const char *key,
    const struct column *columns, json_t **answer)
{
	json_t *json = NULL;
	int status = CTL_GOOD;

	if (request_get(base, path, &json) < 0)
		return CTL_NO_ANSWER;
	if (!json_is_array(json_object_get(json, key))) {
		fprintf(stderr,
		    "rackmeshctl: %s%s has no \"%s\"; is it the right daemon?\n", base,
		    path, key);
		json_decref(json);
		return CTL_NO_ANSWER;
	}
	if (ctl->json)
		show_json(json);
	else if (columns_print(columns, json_object_get(json, key)) < 0) {
		fprintf(stderr, "rackmeshctl: out of memory\n");
		status = CTL_NO_ANSWER;
	}
	if (answer != NULL && status == CTL_GOOD)
		*answer = json;
	else
		json_decref(json);
	return status;
}
