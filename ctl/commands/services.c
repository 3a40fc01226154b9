#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"

static const struct column columns[] = {
	{ "SERVICE", "service", COLUMN_TEXT },
	{ "POD", "pod", COLUMN_TEXT },
	{ "HOST", "host", COLUMN_TEXT },
	{ "RNIC", "rnic", COLUMN_TEXT },
	{ "PEER", "peer", COLUMN_TEXT },
	{ ">PORT", "src_port", COLUMN_NUMBER },
	{ ">CLASS", "dscp", COLUMN_NUMBER },
	{ "STATE", "state", COLUMN_TEXT },
	{ "PATH", "path", COLUMN_TEXT },
	{ 0 },
};

/* An agent knows neither names of other hosts nor paths. */
static const struct column agent_columns[] = {
	{ "SERVICE", "service", COLUMN_TEXT },
	{ "POD", "pod", COLUMN_TEXT },
	{ "COMMAND", "comm", COLUMN_TEXT },
	{ ">PID", "pid", COLUMN_NUMBER },
	{ "RNIC", "src", COLUMN_TEXT },
	{ "PEER", "peer", COLUMN_TEXT },
	{ ">PORT", "src_port", COLUMN_NUMBER },
	{ ">CLASS", "dscp", COLUMN_NUMBER },
	{ "STATE", "state", COLUMN_TEXT },
	{ ">PROBED BY", "probe_port", COLUMN_NUMBER },
	{ 0 },
};

/* Changes "--host h1" to "&host=h1". < 0: the option is unknown, or out of memory. */
static int
take_filters(const struct ctl *ctl, char *path, size_t len)
{
	size_t used = strlen(path);

	for (int i = 0; i < ctl->argc; i += 2) {
		const char *option = ctl->argv[i];
		char *value;
		int n;

		if ((strcmp(option, "--host") != 0 &&
			strcmp(option, "--service") != 0) ||
		    i + 1 == ctl->argc)
			return -1;
		value = request_escape(ctl->argv[i + 1]);
		if (value == NULL)
			return -1;
		n = snprintf(path + used, len - used, "&%s=%s", option + 2, value);
		free(value);
		if (n < 0 || (size_t)n >= len - used)
			return -1;
		used += (size_t)n;
	}
	return 0;
}

static long long
number(const json_t *object, const char *key)
{
	return (long long)json_integer_value(json_object_get(object, key));
}

static void
report_host(const char *name, const json_t *host)
{
	const char *missing = json_string_value(json_object_get(host, "missing"));

	if (json_is_false(json_object_get(host, "tracing")))
		fprintf(stderr, "rackmeshctl: %s does not trace services: %s\n", name,
		    missing != NULL ? missing : "no reason given");
	if (number(host, "unresolved_qps") > 0)
		fprintf(stderr,
		    "rackmeshctl: %s: the other end of %lld QPs is not known\n", name,
		    number(host, "unresolved_qps"));
}

/* Prints the values for which the table has no column. */
static void
report_rest(const json_t *answer)
{
	const json_t *host;
	long long all = number(answer, "flow_count");
	size_t shown = json_array_size(json_object_get(answer, "services")), i;

	json_array_foreach (json_object_get(answer, "hosts"), i, host) {
		const char *name = json_string_value(json_object_get(host, "host"));

		if (name != NULL)
			report_host(name, host);
	}
	report_host("the agent", answer); /* the agent's own state, which has no list */
	if (shown == 0)
		fprintf(stderr, "rackmeshctl: no connection of a service is known\n");
	if (all > (long long)shown)
		fprintf(
		    stderr, "rackmeshctl: %zu of %lld flows are shown\n", shown, all);
}

static int
show(const struct ctl *ctl, const char *base, const char *path, const struct column *of)
{
	json_t *answer = NULL;
	int status = show_list(ctl, base, path, "services", of, &answer);

	if (status != CTL_GOOD)
		return status;
	if (!ctl->json)
		report_rest(answer);
	json_decref(answer);
	return CTL_GOOD;
}

int
ctl_services(const struct ctl *ctl)
{
	char path[2048] = "/v1/services?limit=10000";

	if (ctl->through != NULL && strcmp(ctl->through, "agent") == 0) {
		if (ctl->argc > 0)
			return ctl_usage(
			    "expected: services, without more, of an agent");
		return show(ctl, ctl->agent, "/v1/services?limit=1000", agent_columns);
	}
	if (ctl->through != NULL && strcmp(ctl->through, "aggregator") != 0)
		return ctl_usage("--through: expected aggregator or agent");
	if (take_filters(ctl, path, sizeof(path)) < 0)
		return ctl_usage("expected: services [--host HOST] [--service NAME]");
	return show(ctl, ctl->aggregator, path, columns);
}
