#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"
#include "ctl/commands/incident.h"
#include "rackmesh/judge/part.h"

#define LIST "incidents" /* key of the array in the answer */
/* maximum number of samples printed; --json and explain print all */
#define SAMPLES 2
#define LIMIT 1000 /* incidents in one answer of the analyzer */
#define FOLLOW_NS 500000000L
#define ROUNDS_PER_LIST 20
#define MAX_SEEN 16384 /* incidents whose state is kept while following */

static const char *
asked(const struct ctl *ctl)
{
	if (ctl->through != NULL && strcmp(ctl->through, "controller") != 0)
		return ctl_tier(ctl, ctl->through);
	if (ctl->through != NULL)
		return NULL;
	return ctl->is_rack_asked ? ctl->aggregator : ctl->analyzer;
}

/* Checks a region that has no incident: if no aggregator reports the region, nothing is
 * known about it. Returns an exit code. */
static int
check_region(const char *base, const char *region)
{
	char path[RM_NAME_BYTES + 32];
	json_t *answer = NULL;
	bool known;

	snprintf(path, sizeof(path), "/v1/health?region=%s", region);
	if (request_get_list(base, path, "regions", &answer) < 0)
		return CTL_NO_ANSWER;
	known = json_array_size(json_object_get(answer, "regions")) > 0;
	json_decref(answer);
	if (known)
		return CTL_GOOD;
	fprintf(stderr,
	    "rackmeshctl: no aggregator of a region %s has reported: "
	    "`rackmeshctl health` lists the regions\n",
	    region);
	return CTL_NO_ANSWER;
}

/* The answer has the open incidents first, then the newest. */
static void
note_limit(const json_t *list)
{
	if (json_array_size(list) >= LIMIT)
		fprintf(stderr,
		    "rackmeshctl: the first %d incidents are listed, there may be "
		    "more\n",
		    LIMIT);
}

static int
list_once(const struct ctl *ctl, const char *base, bool open_only, const char *region)
{
	const json_t *list, *incident;
	char path[RM_NAME_BYTES + 64];
	json_t *answer = NULL;
	int status = CTL_GOOD;
	size_t i;

	snprintf(path, sizeof(path), "/v1/incidents?%s%s%s", open_only ? "open=1&" : "",
	    region != NULL ? "region=" : "", region != NULL ? region : "");
	if (request_get_list(base, path, LIST, &answer) < 0)
		return CTL_NO_ANSWER;
	list = json_object_get(answer, LIST);
	if (ctl->json)
		show_json(answer);
	json_array_foreach (list, i, incident) {
		if (!ctl->json)
			incident_print(incident, SAMPLES);
		if (incident_is_open(incident))
			status = CTL_PROBLEM;
	}
	if (region != NULL && json_array_size(list) == 0)
		status = check_region(base, region);
	if (base == ctl->analyzer)
		note_limit(list);
	if (status == CTL_GOOD && !ctl->json && json_array_size(list) == 0)
		printf("No incidents%s.\n", open_only ? " are open" : "");
	json_decref(answer);
	return status;
}

struct following {
	const struct ctl *ctl;
	const char *base;
	bool open_only;
	const char *region; /* NULL: all */
	/* The last request failed. The error was printed once; further ones go to
	 * nowhere. */
	bool failing;
	FILE *nowhere;
	/* for each incident, by its id: the state that was printed last */
	json_t *seen;
	/* number of the last change that was received; 0: request all */
	json_int_t since;
};

/* Shows incidents whose state has changed, and keeps the new state. */
static void
show_news(struct following *f, const json_t *incident)
{
	const char *id = incident_text(incident, "id");
	const char *before = json_string_value(json_object_get(f->seen, id));
	char now[256];

	snprintf(now, sizeof(now), "%s %s %s", incident_text(incident, "state"),
	    incident_text(incident, "kind"), incident_text(incident, "part"));
	if (before != NULL && strcmp(before, now) == 0)
		return;
	if (before == NULL && f->open_only && !incident_is_open(incident))
		return;
	/* While following for a long time, old incidents are forgotten. */
	if (before == NULL && json_object_size(f->seen) >= MAX_SEEN)
		json_object_del(
		    f->seen, json_object_iter_key(json_object_iter(f->seen)));
	json_object_set_new(f->seen, id, json_string(now));
	if (f->ctl->json) {
		json_dumpf(incident, stdout, JSON_COMPACT);
		printf("\n");
	} else {
		incident_print(incident, SAMPLES);
	}
}

/* Only the analyzer numbers changes. If the numbers are lower than before, all
 * incidents are requested again. */
static json_int_t
known_until(const json_t *answer, json_int_t since)
{
	json_int_t changes = json_integer_value(json_object_get(answer, "changes"));

	return changes < since ? 0 : changes;
}

static int
show_changes(struct following *f)
{
	const bool forward = f->since > 0;
	json_t *answer = NULL;
	const json_t *list;
	char path[RM_NAME_BYTES + 64], since[32] = "";
	size_t count;
	int r;

	if (forward)
		snprintf(since, sizeof(since), "since=%lld&", (long long)f->since);
	snprintf(path, sizeof(path), "/v1/incidents?%s%s%s", since,
	    f->region != NULL ? "region=" : "", f->region != NULL ? f->region : "");
	request_complain_to(f->failing ? f->nowhere : NULL);
	r = request_get_list(f->base, path, LIST, &answer);
	request_complain_to(NULL);
	if (f->failing && r == 0)
		fprintf(stderr, "rackmeshctl: %s answers again\n", f->base);
	f->failing = r < 0;
	if (r < 0) {
		f->since = 0;
		return -1;
	}
	list = json_object_get(answer, LIST);
	count = json_array_size(list);
	/* The list has the newest incident first; people read the oldest first. */
	for (size_t i = 0; i < count; i++)
		show_news(f, json_array_get(list, forward ? i : count - 1 - i));
	f->since = known_until(answer, f->since);
	json_decref(answer);
	return fflush(stdout) == 0 ? 0 : -1;
}

/* Runs until it is interrupted. While the daemon cannot be reached, it tries again. */
static int
follow(const struct ctl *ctl, const char *base, bool open_only, const char *region)
{
	struct following f = {
		.ctl = ctl, .base = base, .open_only = open_only, .region = region
	};
	unsigned rounds = 0;
	int r;

	f.seen = json_object();
	f.nowhere = fopen("/dev/null", "w");
	r = f.seen == NULL || f.nowhere == NULL ? -1 : show_changes(&f);
	while (r == 0 && !ferror(stdout)) {
		nanosleep(&(struct timespec){ .tv_nsec = FOLLOW_NS }, NULL);
		/* After a restart, the daemon may have reached the same number: so all
		 * incidents are requested now and then. */
		if (++rounds % ROUNDS_PER_LIST == 0)
			f.since = 0;
		(void)show_changes(&f);
	}
	json_decref(f.seen);
	if (f.nowhere != NULL)
		fclose(f.nowhere);
	return CTL_NO_ANSWER;
}

int
ctl_incidents(const struct ctl *ctl)
{
	const char *base = asked(ctl), *region = NULL;
	bool open_only = false, following = false;

	for (int i = 0; i < ctl->argc; i++) {
		if (strcmp(ctl->argv[i], "--open") == 0)
			open_only = true;
		else if (strcmp(ctl->argv[i], "--follow") == 0 ||
			 strcmp(ctl->argv[i], "-f") == 0)
			following = true;
		else if (strcmp(ctl->argv[i], "--region") == 0 && i + 1 < ctl->argc)
			region = ctl->argv[++i];
		else
			return ctl_usage("expected: incidents [--open] [--follow] "
					 "[--region REGION]");
	}
	if (base == NULL)
		return ctl_usage("--through: expected aggregator or analyzer");
	if (region != NULL && !rm_name_valid(region))
		return ctl_usage("--region: " RM_NAME_EXPECTED);
	if (region != NULL && base != ctl->analyzer)
		return ctl_usage("--region: only the analyzer knows several regions");
	return following ? follow(ctl, base, open_only, region)
			 : list_once(ctl, base, open_only, region);
}
