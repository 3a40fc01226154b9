#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/accept/acceptance.h"
#include "ctl/client/ctl.h"
#include "ctl/client/duration.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"
#include "ctl/output/findings.h"
#include "rackmesh/core/clock.h"

#define LEAST_NS (2 * RM_NS_PER_S)
#define LOOK_NS (5 * RM_NS_PER_S)
#define LOOKS_LEAST 10     /* least number of looks of a short burn-in */
#define DRILLS_PER_LOOK 16 /* RNICs whose raw results are read in one look */
/* Each look requests the results since the last look, and of this many seconds more. */
#define DRILL_MORE_S 5
#define PROGRESS_LINES 20

struct burn_in {
	const struct ctl *ctl;
	const char *tor;
	char *tor_escaped;
	int64_t for_ns;
	struct acceptance_limits limits;
	struct acceptance *acceptance;
	size_t next_drill; /* index of the RNIC that is read next */
	/* errors of failed requests are printed to this file: the result contains their
	 * number */
	FILE *nowhere;
};

/* ---- requests ---- */

typedef void take_fn(struct acceptance *acceptance, const json_t *answer);

static bool
ask(struct burn_in *burn_in, const char *base, const char *path, take_fn *take)
{
	json_t *answer = NULL;

	if (request_get(base, path, &answer) < 0)
		return false;
	take(burn_in->acceptance, answer);
	json_decref(answer);
	return true;
}

static bool
ask_rack(struct burn_in *burn_in, const char *what, take_fn *take)
{
	char path[1024];

	snprintf(path, sizeof(path), "/v1/%s%ctor=%s", what,
	    strchr(what, '?') == NULL ? '?' : '&', burn_in->tor_escaped);
	return ask(burn_in, burn_in->ctl->aggregator, path, take);
}

static bool
drill(struct burn_in *burn_in, size_t rnic, unsigned seconds)
{
	char *name = request_escape(acceptance_rnic_name(burn_in->acceptance, rnic));
	char path[1024];
	json_t *answer = NULL;
	int r = -1;

	if (name == NULL)
		return false;
	snprintf(
	    path, sizeof(path), "/v1/drill/%s?seconds=%u&limit=10000", name, seconds);
	free(name);
	r = request_get(burn_in->ctl->aggregator, path, &answer);
	if (r == 0)
		acceptance_take_drill(burn_in->acceptance, rnic, answer);
	json_decref(answer);
	return r == 0;
}

/* Reads the results of a few RNICs at each look, in turn: a large rack has more results
 * than can be read in the time of one look. */
static bool
drill_some(struct burn_in *burn_in, unsigned look_s)
{
	size_t count = acceptance_rnics(burn_in->acceptance);
	size_t now = count < DRILLS_PER_LOOK ? count : DRILLS_PER_LOOK;
	unsigned turns = (unsigned)((count + DRILLS_PER_LOOK - 1) / DRILLS_PER_LOOK);
	bool answered = true;

	for (size_t i = 0; i < now; i++) {
		size_t rnic = burn_in->next_drill++ % count;

		if (!drill(burn_in, rnic, look_s * turns + DRILL_MORE_S))
			answered = false;
	}
	return answered;
}

static void
look(struct burn_in *burn_in, unsigned look_s)
{
	const struct ctl *ctl = burn_in->ctl;
	bool answered;

	/* Requests fail without a message, as the result has the number of failures. */
	request_complain_to(burn_in->nowhere);
	answered = ask_rack(burn_in, "rnics", acceptance_take_rnics);
	answered = ask_rack(burn_in, "hosts", acceptance_take_hosts) && answered;
	answered =
	    ask_rack(burn_in, "incidents", acceptance_take_incidents) && answered;
	answered = drill_some(burn_in, look_s) && answered;
	if (!burn_in->limits.without_paths)
		answered =
		    ask_rack(burn_in, "paths?limit=10000", acceptance_take_paths) &&
		    answered;
	/* Without a controller the result is less complete, and a finding reports
	 * that. */
	if (ask(burn_in, ctl->controller, "/v1/racks", acceptance_take_plan)) {
		(void)ask(
		    burn_in, ctl->controller, "/v1/topology", acceptance_take_topology);
		(void)ask(
		    burn_in, ctl->controller, "/v1/refused", acceptance_take_refused);
	}
	request_complain_to(NULL);
	acceptance_look(burn_in->acceptance, answered);
}

/* ---- the time of the burn-in ---- */

static void
sleep_until(int64_t mono_ns)
{
	const struct timespec until = { .tv_sec = mono_ns / RM_NS_PER_S,
		.tv_nsec = mono_ns % RM_NS_PER_S };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
		;
}

static void
report_progress(const struct burn_in *burn_in, int64_t passed_ns)
{
	fprintf(stderr, "%s: %lld of %lld s: ", burn_in->tor,
	    (long long)(passed_ns / RM_NS_PER_S),
	    (long long)(burn_in->for_ns / RM_NS_PER_S));
	acceptance_progress(burn_in->acceptance, stderr);
}

static void
watch(struct burn_in *burn_in)
{
	const int64_t began = rm_mono_now().ns, end = began + burn_in->for_ns;
	int64_t every = burn_in->for_ns / LOOKS_LEAST, printed = began, now;

	every = every > LOOK_NS ? LOOK_NS : every;
	for (now = began; now < end; now = rm_mono_now().ns) {
		look(burn_in, (unsigned)(every / RM_NS_PER_S) + 1);
		if (now - printed >= burn_in->for_ns / PROGRESS_LINES) {
			report_progress(burn_in, now - began);
			printed = now;
		}
		sleep_until(now + every < end ? now + every : end);
	}
	look(burn_in, (unsigned)(every / RM_NS_PER_S) + 1);
	report_progress(burn_in, burn_in->for_ns);
}

/* ---- a rack that the aggregator does not have ---- */

/* Returns 1: the aggregator has the rack; 0: it answers that it does not have it, so
 * watching it would show nothing: adds a finding; or a negative errno, after the error
 * was printed. */
static int
find_rack(const struct burn_in *burn_in, struct findings *findings)
{
	const json_t *racks, *rack;
	char names[ACCEPTANCE_RACKS_BYTES];
	json_t *answer = NULL;
	bool known;
	size_t i;
	int r;

	r = request_get(burn_in->ctl->aggregator, "/v1/racks", &answer);
	if (r < 0)
		return r;
	racks = json_object_get(answer, "racks");
	known = !json_is_array(racks);
	json_array_foreach (racks, i, rack) {
		const char *tor = json_string_value(json_object_get(rack, "tor"));

		known = known || (tor != NULL && strcmp(tor, burn_in->tor) == 0);
	}
	acceptance_racks(racks, names);
	json_decref(answer);
	if (known)
		return 1;
	findings->check = "rack";
	findings_add(findings, FINDING_WRONG,
	    "the aggregator has no rack %s; it has %s", burn_in->tor, names);
	findings_remedy(findings,
	    "correct the name, or choose the rack's aggregator with --aggregator");
	return 0;
}

/* ---- the report ---- */

static int
report(const struct burn_in *burn_in, enum acceptance_result result, int64_t passed_ns,
    struct findings *findings)
{
	static const char *const verdicts[] = { [ACCEPTANCE_PASS] = "pass",
		[ACCEPTANCE_FAIL] = "fail",
		[ACCEPTANCE_NOT_JUDGED] = "not judged" };
	static const char *const words[] = { [ACCEPTANCE_PASS] = "PASS",
		[ACCEPTANCE_FAIL] = "FAIL",
		[ACCEPTANCE_NOT_JUDGED] = "NOT JUDGED" };

	if (burn_in->ctl->json) {
		json_t *json = json_pack("{s:s, s:s, s:I, s:o, s:o}", "tor",
		    burn_in->tor, "verdict", verdicts[result], "seconds",
		    (json_int_t)(passed_ns / RM_NS_PER_S), "rnics",
		    acceptance_json(burn_in->acceptance), "findings",
		    findings_json(findings));

		show_json(json);
		json_decref(json);
	} else {
		(void)acceptance_print(burn_in->acceptance);
		printf("\n");
		findings_print(findings, stdout);
		printf("%s: %s\n", words[result], burn_in->tor);
	}
	return result == ACCEPTANCE_PASS ? CTL_GOOD : CTL_PROBLEM;
}

/* ---- the command line ---- */

static bool
take_number(const char *argument, double least, double most, double *ret)
{
	char *end;
	double value = strtod(argument, &end);

	if (end == argument || *end != '\0' || !(value >= least && value <= most))
		return false;
	*ret = value;
	return true;
}

/* False: an option has no value, or is unknown. */
static bool
take_options(const struct ctl *ctl, struct burn_in *burn_in, const char **duration,
    const char **percent, const char **rnics)
{
	const struct {
		const char *argument;
		const char **value;
	} options[] = { { "--for", duration }, { "--max-loss", percent },
		{ "--rnics", rnics } };

	for (int i = 0; i < ctl->argc; i++) {
		const char *argument = ctl->argv[i];
		size_t k = 0;

		while (k < 3 && strcmp(options[k].argument, argument) != 0)
			k++;
		if (k < 3 && i + 1 < ctl->argc)
			*options[k].value = ctl->argv[++i];
		else if (strcmp(argument, "--no-paths") == 0)
			burn_in->limits.without_paths = true;
		else if (argument[0] != '-' && burn_in->tor == NULL)
			burn_in->tor = argument;
		else
			return false;
	}
	return burn_in->tor != NULL;
}

/* Returns -1 to continue, or an exit code. */
static int
parse(const struct ctl *ctl, struct burn_in *burn_in)
{
	const char *duration = "10m", *percent = "0.1", *rnics = "0";
	double loss = 0, count = 0;

	if (!take_options(ctl, burn_in, &duration, &percent, &rnics))
		return ctl_usage(
		    "expected: accept TOR [--for 10m] [--max-loss PERCENT] "
		    "[--rnics N] [--no-paths]");
	burn_in->for_ns = duration_ns(duration);
	if (burn_in->for_ns < LEAST_NS)
		return ctl_usage("--for: expected 2s or more, such as 90s, 15m, 6h");
	if (!take_number(percent, 0, 100, &loss))
		return ctl_usage("--max-loss: expected a percentage from 0 to 100");
	if (!take_number(rnics, 0, ACCEPTANCE_MAX_RNICS, &count))
		return ctl_usage(
		    "--rnics: expected a number up to %d", ACCEPTANCE_MAX_RNICS);
	burn_in->limits.max_loss = loss / 100;
	burn_in->limits.rnics = (unsigned)count;
	return -1;
}

static int
run(struct burn_in *burn_in)
{
	struct findings findings = { 0 };
	int status, r = find_rack(burn_in, &findings);

	if (r < 0) {
		status = CTL_NO_ANSWER;
	} else if (r == 0) {
		status = report(burn_in, ACCEPTANCE_FAIL, 0, &findings);
	} else {
		watch(burn_in);
		status =
		    report(burn_in, acceptance_judge(burn_in->acceptance, &findings),
			burn_in->for_ns, &findings);
	}
	findings_clear(&findings);
	return status;
}

int
ctl_accept(const struct ctl *ctl)
{
	struct burn_in burn_in = { .ctl = ctl };
	int status = parse(ctl, &burn_in);

	if (status >= 0)
		return status;
	status = CTL_NO_ANSWER;
	burn_in.tor_escaped = request_escape(burn_in.tor);
	burn_in.nowhere = fopen("/dev/null", "we");
	burn_in.acceptance = acceptance_new(burn_in.tor, &burn_in.limits);
	if (burn_in.tor_escaped == NULL || burn_in.nowhere == NULL ||
	    burn_in.acceptance == NULL)
		fprintf(stderr, "rackmeshctl: out of memory\n");
	else
		status = run(&burn_in);
	acceptance_free(burn_in.acceptance);
	if (burn_in.nowhere != NULL)
		fclose(burn_in.nowhere);
	free(burn_in.tor_escaped);
	return status;
}
