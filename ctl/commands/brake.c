#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"

/* -1: no valid rate. */
static long
permille_of(int argc, char *const *argv)
{
	char *end;
	double percent;

	if (argc == 1 && strcmp(argv[0], "on") == 0)
		return 0;
	if (argc == 1 && strcmp(argv[0], "off") == 0)
		return 1000;
	if (argc != 2 || strcmp(argv[0], "rate") != 0)
		return -1;
	percent = strtod(argv[1], &end);
	if (end == argv[1] || (*end != '\0' && strcmp(end, "%") != 0) ||
	    !(percent >= 0.1 && percent <= 100))
		return -1;
	return (long)(percent * 10 + 0.5);
}

static void
print_brake(const json_t *answer)
{
	long long permille =
	    (long long)json_integer_value(json_object_get(answer, "rate_permille"));

	if (permille == 0)
		printf("The brake is on: no RNIC of the region probes.\n");
	else if (permille >= 1000)
		printf("The brake is off: all RNICs probe as planned.\n");
	else
		printf("The brake is at %.1f %% of what is planned.\n",
		    (double)permille / 10);
}

int
ctl_brake(const struct ctl *ctl)
{
	json_t *answer = NULL;
	char path[64];
	long permille;
	int r;

	if (ctl->argc == 0) {
		r = request_get(ctl->controller, "/v1/brake", &answer);
	} else {
		permille = permille_of(ctl->argc, ctl->argv);
		if (permille < 0)
			return ctl_usage(
			    "expected: brake, brake on, brake off, or brake "
			    "rate PERCENT (0.1 to 100)");
		snprintf(path, sizeof(path), "/v1/brake?rate_permille=%ld", permille);
		r = request_post(ctl->controller_changes, path, &answer);
	}
	if (r < 0)
		return CTL_NO_ANSWER;
	if (ctl->json)
		show_json(answer);
	else
		print_brake(answer);
	json_decref(answer);
	return CTL_GOOD;
}
