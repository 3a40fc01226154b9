#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ctl/ctl.h"
#include "ctl/incident.h"
#include "ctl/request.h"
#include "ctl/show.h"

#define SAMPLES 2 /* --json and explain have them all */
#define FOLLOW_NS 500000000L

static const char *
asked(const struct ctl *ctl)
{
	if (ctl->through != NULL && strcmp(ctl->through, "controller") != 0)
		return ctl_tier(ctl, ctl->through);
	if (ctl->through != NULL)
		return NULL;
	return ctl->is_rack_asked ? ctl->aggregator : ctl->analyzer;
}

/* New reference in *answer; its list, or NULL after having said what is wrong. */
static const json_t *
get_list(const char *base, const char *path, json_t **answer)
{
	const json_t *list;

	if (request_get(base, path, answer) < 0)
		return NULL;
	list = json_object_get(*answer, "incidents");
	if (json_is_array(list))
		return list;
	fprintf(stderr,
	    "rackmeshctl: %s has no \"incidents\"; is it the right daemon?\n", base);
	json_decref(*answer);
	return NULL;
}

static int
list_once(const struct ctl *ctl, const char *base, bool open_only)
{
	const json_t *list, *incident;
	json_t *answer = NULL;
	int status = CTL_GOOD;
	size_t i;

	list = get_list(
	    base, open_only ? "/v1/incidents?open=1" : "/v1/incidents", &answer);
	if (list == NULL)
		return CTL_NO_ANSWER;
	if (ctl->json)
		show_json(answer);
	json_array_foreach (list, i, incident) {
		if (!ctl->json)
			incident_print(incident, SAMPLES);
		if (incident_is_open(incident))
			status = CTL_BAD_NEWS;
	}
	if (!ctl->json && json_array_size(list) == 0)
		printf("No incidents%s.\n", open_only ? " are open" : "");
	json_decref(answer);
	return status;
}

/* Shows what is not as it was; then this is what was. */
static void
show_news(const struct ctl *ctl, const json_t *list, json_t *seen)
{
	/* The newest come first; people read the other way. */
	for (size_t i = json_array_size(list); i > 0; i--) {
		const json_t *incident = json_array_get(list, i - 1);
		const char *id = incident_text(incident, "id");
		char now[256];

		snprintf(now, sizeof(now), "%s %s %s", incident_text(incident, "state"),
		    incident_text(incident, "kind"), incident_text(incident, "part"));
		if (strcmp(incident_text(seen, id), now) == 0)
			continue;
		json_object_set_new(seen, id, json_string(now));
		if (ctl->json) {
			json_dumpf(incident, stdout, JSON_COMPACT);
			printf("\n");
		} else {
			incident_print(incident, SAMPLES);
		}
	}
	fflush(stdout);
}

/* Until somebody ends it. A daemon that is away for a while is waited for. */
static int
follow(const struct ctl *ctl, const char *base, bool open_only)
{
	json_t *seen = json_object();
	bool first = true;

	for (;;) {
		json_t *answer = NULL;
		const json_t *list = get_list(base,
		    first && open_only ? "/v1/incidents?open=1" : "/v1/incidents",
		    &answer);

		if (list == NULL && first)
			break;
		if (list != NULL) {
			show_news(ctl, list, seen);
			json_decref(answer);
			first = false;
		}
		nanosleep(&(struct timespec){ .tv_nsec = FOLLOW_NS }, NULL);
	}
	json_decref(seen);
	return CTL_NO_ANSWER;
}

int
ctl_incidents(const struct ctl *ctl)
{
	const char *base = asked(ctl);
	bool open_only = false, following = false;

	for (int i = 0; i < ctl->argc; i++) {
		if (strcmp(ctl->argv[i], "--open") == 0)
			open_only = true;
		else if (strcmp(ctl->argv[i], "--follow") == 0 ||
			 strcmp(ctl->argv[i], "-f") == 0)
			following = true;
		else
			return ctl_usage("expected: incidents [--open] [--follow]");
	}
	if (base == NULL)
		return ctl_usage("--through: expected aggregator or analyzer");
	return following ? follow(ctl, base, open_only)
			 : list_once(ctl, base, open_only);
}
