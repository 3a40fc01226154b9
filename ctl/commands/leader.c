#include <stdio.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"

static const char *
text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value != NULL ? value : "";
}

static void
print_leader(const json_t *answer)
{
	const char *leader = text(answer, "leader"),
		   *endpoint = text(answer, "endpoint");

	if (leader[0] == '\0')
		printf("No leader: plans do not change, racks keep their plans.\n");
	else
		printf("%s leads%s%s.\n", leader,
		    text(answer, "since")[0] != '\0' ? " since " : "",
		    text(answer, "since"));
	printf("Asked: %s, %s.\n", text(answer, "controller"),
	    json_is_true(json_object_get(answer, "leading")) ? "which is the leader"
							     : "a standby");
	if (endpoint[0] != '\0')
		printf("etcd: %s, revision %lld, %s.\n", endpoint,
		    (long long)json_integer_value(json_object_get(answer, "revision")),
		    json_is_true(json_object_get(answer, "fresh"))
			? "fresh"
			: "no recent answer");
}

int
ctl_leader(const struct ctl *ctl)
{
	json_t *answer = NULL;
	int status;

	if (ctl->argc > 0)
		return ctl_usage("unexpected argument: %s", ctl->argv[0]);
	if (request_get(ctl->controller, "/v1/leader", &answer) < 0)
		return CTL_NO_ANSWER;
	if (ctl->json)
		show_json(answer);
	else
		print_leader(answer);
	status = text(answer, "leader")[0] == '\0' ? CTL_PROBLEM : CTL_GOOD;
	json_decref(answer);
	return status;
}
