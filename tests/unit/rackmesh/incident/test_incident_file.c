#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/incident/incident.h"
#include "rackmesh/incident/incident_file.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "tests/support/loopback.h"

#define WALL_NS (1000000 * RM_NS_PER_S)

struct seen {
	unsigned opened, updated, resolved;
	enum rm_health health;
};

static enum rm_health
health_of(const struct rm_verdict *verdict, void *arg)
{
	(void)verdict;
	return ((struct seen *)arg)->health;
}

static void
on_event(enum rm_incident_event event, const struct rm_incident *incident, void *arg)
{
	struct seen *seen = arg;

	(void)incident;
	seen->opened += event == RM_INCIDENT_OPENED;
	seen->updated += event == RM_INCIDENT_UPDATED;
	seen->resolved += event == RM_INCIDENT_RESOLVED;
}

static struct rm_incidents *
fresh(void)
{
	const struct rm_incident_options options = { .max_open = 4,
		.max_closed = 4,
		.resolve_after_ns = 2 * RM_NS_PER_S,
		.id_seed = 5 };
	struct rm_incidents *incidents;

	assert_int_equal(rm_incidents_new(&options, &incidents), 0);
	return incidents;
}

static struct rm_verdict
verdict_on(const char *name)
{
	struct rm_verdict verdict = {
		.part = { .type = RM_PART_RNIC, .place = "tor1" },
		.rnic = { 0x20000000001, RM_PORT_MAC },
		.kind = RM_KIND_RNIC_LOSSY,
		.confidence = 0.953,
		.evidence = { .narrowed = "h1/r0",
		    .window_ns = RM_NS_PER_S,
		    .window_start = { WALL_NS - 7 },
		    .late_ns = 11,
		    .peers = 3,
		    .direction = RM_DIRECTION_RECEIVE,
		    .to_part = { 100, 40 },
		    .from_part = { 90, 90 },
		    .counters = "its port counted 812 symbol errors in 5 s",
		    .counters_at = { 1234567 },
		    .counters_old = true,
		    .links = "s1--t1, t2->s1",
		    .links_down = 1,
		    .links_lossy = 1,
		    .links_of = 8,
		    .lost_from = "s1",
		    .lost_to = "t1",
		    .ruled_out = { "tor tor1: others are well" },
		    .ruled_out_count = 1 },
	};

	snprintf(verdict.part.name, sizeof(verdict.part.name), "%s", name);
	return verdict;
}

static void
judge(struct rm_incidents *incidents, int64_t s, const struct rm_verdict *verdicts,
    size_t count, struct seen *seen)
{
	rm_incidents_judge(incidents, (rm_mono_t){ s * RM_NS_PER_S },
	    (rm_wall_t){ WALL_NS + s * RM_NS_PER_S }, verdicts, count, health_of,
	    on_event, seen);
}

static int
restore(struct rm_incidents *incidents, const json_t *saved, int64_t s)
{
	return rm_incidents_restore(incidents, saved, (rm_mono_t){ 0 },
	    (rm_wall_t){ WALL_NS + s * RM_NS_PER_S }, NULL);
}

static void
open_incidents_keep_their_ids_over_a_restart_and_resolve_by_results(void **state)
{
	struct rm_incidents *before = fresh(), *after = fresh();
	struct rm_verdict verdicts[] = { verdict_on("h1/r0"), verdict_on("h2/r0") };
	struct seen seen = { 0 };
	const struct rm_incident *was, *is;
	json_t *saved;

	verdicts[0].evidence.impact = RM_IMPACT_P0; /* at its opening */
	strcpy(verdicts[0].evidence.services, "unit:b");
	judge(before, 1, verdicts, 2, &seen);
	assert_int_equal(rm_incidents_get(before, 1)->severity, RM_SEVERITY_CRITICAL);
	verdicts[0].evidence.impact = RM_IMPACT_UNKNOWN;
	judge(before, 2, verdicts, 2, &seen);
	assert_int_equal(rm_incidents_get(before, 1)->severity, RM_SEVERITY_CRITICAL);
	assert_int_equal(rm_incidents_get(before, 0)->severity, RM_SEVERITY_MAJOR);
	saved = rm_incidents_save(before, (rm_wall_t){ WALL_NS });
	assert_int_equal(restore(after, saved, 0), 2);
	json_decref(saved);
	for (size_t i = 0; i < 2; i++) {
		was = rm_incidents_get(before, i);
		is = rm_incidents_get(after, i);
		assert_true(was->id == is->id);
		assert_int_equal(was->severity, is->severity);
		assert_int_equal(was->opened.ns, is->opened.ns);
		assert_int_equal(was->changed.ns, is->changed.ns);
		assert_memory_equal(
		    &was->verdict.part, &is->verdict.part, sizeof(is->verdict.part));
		assert_true(rm_rnic_id_equal(was->verdict.rnic, is->verdict.rnic));
		assert_int_equal(is->verdict.kind, RM_KIND_RNIC_LOSSY);
		assert_float_equal(is->verdict.confidence, 0.953, 1e-9);
		assert_memory_equal(&was->verdict.evidence, &is->verdict.evidence,
		    sizeof(is->verdict.evidence));
	}
	seen = (struct seen){ 0 };
	judge(after, 10, verdicts, 2, &seen); /* unchanged: no event */
	assert_int_equal(seen.opened + seen.updated + seen.resolved, 0);
	for (int s = 11; s < 20; s++)
		judge(after, s, verdicts, 1, &seen); /* silence is not health */
	assert_int_equal(seen.resolved, 0);
	seen.health = RM_HEALTH_GOOD;
	for (int s = 20; s < 23; s++)
		judge(after, s, verdicts, 1, &seen);
	assert_int_equal(seen.resolved, 1);
	assert_int_equal(seen.opened, 0);
	rm_incidents_free(before);
	rm_incidents_free(after);
}

static void
an_incident_on_several_links_keeps_its_switch_over_a_restart(void **state)
{
	struct rm_incidents *before = fresh(), *after = fresh();
	struct rm_verdict verdict = { .part = { RM_PART_LINK, "s1--t1", "" },
		.kind = RM_KIND_LINK_DOWN,
		.confidence = 0.9 };
	struct seen seen = { 0 };
	const struct rm_verdict *is;
	json_t *saved;

	(void)state;
	judge(before, 1, &verdict, 1, &seen);
	verdict.part = (struct rm_part){ RM_PART_TOR, "s1", "" };
	verdict.kind = RM_KIND_LINKS_DOWN;
	strcpy(verdict.evidence.links, "s1--t1, s1--t2, s1--t3");
	verdict.evidence.links_down = 3;
	judge(before, 2, &verdict, 1, &seen);
	saved = rm_incidents_save(before, (rm_wall_t){ WALL_NS });
	assert_int_equal(restore(after, saved, 0), 1);
	json_decref(saved);
	is = &rm_incidents_get(after, 0)->verdict;
	assert_string_equal(is->part.name, "s1--t1");
	assert_string_equal(is->evidence.widened, "s1");
	assert_true(is->evidence.widened_is_tor);
	assert_string_equal(is->evidence.links, "s1--t1, s1--t2, s1--t3");
	/* It continues there. */
	judge(after, 10, &verdict, 1, &seen);
	assert_int_equal(seen.opened, 1);
	assert_int_equal(rm_incidents_open(after), 1);
	rm_incidents_free(before);
	rm_incidents_free(after);
}

static void
flapping_before_a_restart_counts_after_it(void **state)
{
	struct rm_incidents *before = fresh(), *after = fresh();
	struct rm_verdict verdict = verdict_on("h1/r0");
	struct seen seen = { .health = RM_HEALTH_GOOD };
	const struct rm_incident *incident;
	json_t *saved;

	for (int s = 1; s <= 13; s++)
		judge(before, s, &verdict, s % 4 == 1, &seen);
	assert_int_equal(seen.opened, 3);
	saved = rm_incidents_save(before, (rm_wall_t){ WALL_NS + 13 * RM_NS_PER_S });
	assert_int_equal(restore(after, saved, 13), 1);
	json_decref(saved);
	incident = rm_incidents_get(after, 0);
	assert_int_equal(incident->flaps_since.ns, WALL_NS + 1 * RM_NS_PER_S);
	assert_int_equal(incident->returns, 3);
	assert_int_equal(incident->returned.ns, WALL_NS + 13 * RM_NS_PER_S);
	for (int s = 14; s <= 28; s++)
		judge(after, s, NULL, 0, &seen);
	assert_int_equal(rm_incidents_open(after), 1);
	judge(after, 29, NULL, 0, &seen);
	assert_int_equal(rm_incidents_open(after), 0);
	rm_incidents_free(before);
	rm_incidents_free(after);
}

static void
recently_resolved_incidents_are_saved_and_older_ones_are_not(void **state)
{
	struct rm_incidents *before = fresh(), *after = fresh();
	struct rm_verdict verdict = verdict_on("h1/r0");
	struct seen seen = { .health = RM_HEALTH_GOOD };
	json_t *saved;

	judge(before, 1, &verdict, 1, &seen);
	judge(before, 2, NULL, 0, &seen);
	judge(before, 5, NULL, 0, &seen);
	assert_int_equal(seen.resolved, 1);
	rm_incidents_notified(before, rm_incidents_get(before, 0)->id, true);
	saved = rm_incidents_save(before, (rm_wall_t){ WALL_NS + 300 * RM_NS_PER_S });
	assert_int_equal(restore(after, saved, 300), 0);
	json_decref(saved);
	assert_non_null(rm_incidents_get(after, 0));
	assert_int_equal(
	    rm_incidents_get(after, 0)->resolved.ns, WALL_NS + 5 * RM_NS_PER_S);
	judge(after, 6, &verdict, 1, &seen);
	assert_int_equal(rm_incidents_get(after, 0)->reopened, 1);
	saved = rm_incidents_save(before, (rm_wall_t){ WALL_NS + 306 * RM_NS_PER_S });
	assert_int_equal(json_array_size(json_object_get(saved, "incidents")), 0);
	json_decref(saved);
	rm_incidents_free(before);
	rm_incidents_free(after);
}

/* The end was already reported, or needs no report. */
static void
unsent_ends_are_kept_for_a_day_and_sent_ones_for_five_minutes(void **state)
{
	struct rm_incidents *before = fresh(), *after = fresh();
	struct rm_verdict verdicts[] = { verdict_on("h1/r0"), verdict_on("h2/r0") };
	struct seen seen = { .health = RM_HEALTH_GOOD };
	json_t *saved;

	judge(before, 1, verdicts, 2, &seen);
	judge(before, 2, NULL, 0, &seen);
	judge(before, 5, NULL, 0, &seen);
	assert_int_equal(seen.resolved, 2);
	assert_true(
	    rm_incidents_notified(before, rm_incidents_get(before, 0)->id, true));
	assert_false(
	    rm_incidents_notified(before, rm_incidents_get(before, 0)->id, true));
	saved = rm_incidents_save(before, (rm_wall_t){ WALL_NS + 10 * RM_NS_PER_S });
	assert_int_equal(restore(after, saved, 306), 0);
	assert_non_null(rm_incidents_get(after, 0));
	assert_int_equal(
	    rm_incidents_get(after, 0)->id, rm_incidents_get(before, 1)->id);
	assert_false(rm_incidents_get(after, 0)->notified_resolved);
	assert_null(rm_incidents_get(after, 1));
	rm_incidents_free(after);
	after = fresh();
	assert_int_equal(restore(after, saved, 86406), 0);
	assert_null(rm_incidents_get(after, 0));
	json_decref(saved);
	rm_incidents_free(before);
	rm_incidents_free(after);
}

/* A switch or two of its links, and the one of them that it is. */
static void
the_longest_part_is_kept_over_a_restart(void **state)
{
	struct rm_incidents *before = fresh(), *after = fresh();
	struct rm_verdict verdict = verdict_on("h1/r0");
	const struct rm_verdict *kept;
	struct seen seen = { 0 };
	char a[RM_NAME_BYTES], b[RM_NAME_BYTES], c[RM_NAME_BYTES];
	json_t *saved;

	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	memset(c, 'c', sizeof(c));
	a[sizeof(a) - 1] = b[sizeof(b) - 1] = c[sizeof(c) - 1] = '\0';
	verdict.part.type = RM_PART_SWITCH;
	snprintf(verdict.part.name, sizeof(verdict.part.name), "%s or %s--%s or %s--%s",
	    a, a, b, a, c);
	snprintf(verdict.evidence.narrowed, sizeof(verdict.evidence.narrowed), "%s--%s",
	    a, c);
	judge(before, 1, &verdict, 1, &seen);
	saved = rm_incidents_save(before, (rm_wall_t){ WALL_NS });
	assert_int_equal(restore(after, saved, 0), 1);
	kept = &rm_incidents_get(after, 0)->verdict;
	assert_int_equal(strlen(kept->part.name), 327);
	assert_string_equal(kept->part.name, verdict.part.name);
	assert_string_equal(kept->evidence.narrowed, verdict.evidence.narrowed);
	json_decref(saved);
	rm_incidents_free(before);
	rm_incidents_free(after);
}

static void
sent_notices_are_saved(void **state)
{
	struct rm_incidents *before = fresh(), *after = fresh();
	struct rm_verdict verdicts[] = { verdict_on("h1/r0"), verdict_on("h2/r0") };
	struct seen seen = { 0 };
	json_t *saved, *one;
	size_t i;

	judge(before, 1, verdicts, 2, &seen);
	rm_incidents_notified(before, rm_incidents_get(before, 0)->id, false);
	saved = rm_incidents_save(before, (rm_wall_t){ WALL_NS });
	assert_int_equal(restore(after, saved, 0), 2);
	assert_true(rm_incidents_get(after, 0)->notified_opened);
	assert_false(rm_incidents_get(after, 0)->notified_resolved);
	assert_false(rm_incidents_get(after, 1)->notified_opened);
	rm_incidents_free(after);
	/* With the names that versions before 1.0 used. */
	json_array_foreach (json_object_get(saved, "incidents"), i, one) {
		json_object_set(
		    one, "told_opened", json_object_get(one, "notified_opened"));
		json_object_set(
		    one, "told_resolved", json_object_get(one, "notified_resolved"));
		json_object_del(one, "notified_opened");
		json_object_del(one, "notified_resolved");
	}
	after = fresh();
	assert_int_equal(restore(after, saved, 0), 2);
	assert_true(rm_incidents_get(after, 0)->notified_opened);
	assert_false(rm_incidents_get(after, 0)->notified_resolved);
	assert_false(rm_incidents_get(after, 1)->notified_opened);
	rm_incidents_free(after);
	/* Written by a version that did not save this field: all receivers were
	 * notified. */
	json_array_foreach (json_object_get(saved, "incidents"), i, one) {
		json_object_del(one, "told_opened");
		json_object_del(one, "told_resolved");
	}
	after = fresh();
	assert_int_equal(restore(after, saved, 0), 2);
	for (i = 0; i < 2; i++) {
		assert_true(rm_incidents_get(after, i)->notified_opened);
		assert_false(rm_incidents_get(after, i)->notified_resolved);
	}
	json_decref(saved);
	rm_incidents_free(before);
	rm_incidents_free(after);
}

/* Two valid incidents; then one field of the first becomes invalid. */
static void
only_the_wrong_incident_is_named_and_left_out(void **state)
{
	static const struct {
		const char *key, *json;
	} wrongs[] = {
		{ "id", "\"0\"" },
		{ "id", "\"0000000000000000\"" },
		{ "id", "7" },
		{ "part_type", "\"toaster\"" },
		{ "part", "\"\"" },
		{ "kind", "null" },
		{ "confidence", "1.5" },
		{ "opened_ns", "-1" },
		{ "resolved_ns", "\"now\"" },
		{ "rnic", "\"??\"" },
		{ "notified_opened", "1" },
		{ "evidence", "[]" },
	};
	struct rm_incidents *incidents = fresh();
	struct rm_verdict verdicts[] = { verdict_on("h1/r0"), verdict_on("h2/r0") };
	struct seen seen = { 0 };

	judge(incidents, 1, verdicts, 2, &seen);
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		json_t *saved = rm_incidents_save(incidents, (rm_wall_t){ WALL_NS });
		struct rm_incidents *into = fresh();
		struct rm_error error = { 0 };

		json_object_set_new(
		    json_array_get(json_object_get(saved, "incidents"), 0),
		    wrongs[i].key, json_loads(wrongs[i].json, JSON_DECODE_ANY, NULL));
		assert_int_equal(rm_incidents_restore(into, saved, (rm_mono_t){ 0 },
				     (rm_wall_t){ WALL_NS }, &error),
		    1);
		assert_non_null(strstr(error.text, "incidents[0]"));
		assert_string_equal(
		    rm_incidents_get(into, 0)->verdict.part.name, "h2/r0");
		assert_null(rm_incidents_get(into, 1));
		assert_int_equal(rm_incidents_counts(into)->refused, 1);
		json_decref(saved);
		rm_incidents_free(into);
	}
	rm_incidents_free(incidents);
}

struct place {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rm_incident_file *file;
	char folder[64], path[96], log[512];
};

static void
on_line(enum rm_log_level level, const char *line, void *arg)
{
	struct place *place = arg;

	snprintf(place->log, sizeof(place->log), "%s", line);
}

static int
setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	rm_log_set_sink(on_line, place);
	strcpy(place->folder, "/tmp/test_incidents.XXXXXX");
	if (mkdtemp(place->folder) == NULL || rm_loop_new(&place->loop) < 0 ||
	    rm_worker_new(place->loop, 4, &place->worker) < 0)
		return -1;
	snprintf(place->path, sizeof(place->path), "%s/incidents.json", place->folder);
	*state = place;
	return rm_incident_file_new(place->worker, place->path, &place->file);
}

static int
teardown(void **state)
{
	struct place *place = *state;
	char aside[128];

	rm_worker_free(place->worker);
	rm_incident_file_free(place->file);
	rm_log_set_sink(NULL, NULL);
	rm_loop_free(place->loop);
	snprintf(aside, sizeof(aside), "%s.corrupt", place->path);
	unlink(aside);
	unlink(place->path);
	rmdir(place->folder);
	free(place);
	return 0;
}

static json_int_t
loaded(const struct place *place)
{
	json_t *json = rm_incident_file_load(place->file);
	json_int_t n = json_integer_value(json_object_get(json, "n"));

	json_decref(json);
	return n;
}

static void
the_newest_state_is_on_disk_at_the_end(void **state)
{
	struct place *place = *state;

	assert_null(rm_incident_file_load(place->file));
	for (int n = 1; n <= 100; n++)
		rm_incident_file_save(place->file, json_pack("{s:i}", "n", n));
	LOOPBACK_WAIT(place->loop, loaded(place) == 100);
	/* The loop no longer runs: rm_incident_file_free writes the last text. */
	for (int n = 101; n <= 110; n++)
		rm_incident_file_save(place->file, json_pack("{s:i}", "n", n));
	rm_worker_free(place->worker);
	place->worker = NULL;
	rm_incident_file_free(place->file);
	assert_int_equal(rm_incident_file_new(NULL, place->path, &place->file), 0);
	assert_int_equal(loaded(place), 110);
}

static void
a_failed_write_is_counted_and_tried_again(void **state)
{
	struct place *place = *state;
	uint64_t save;
	char away[80];

	snprintf(away, sizeof(away), "%s.away", place->folder);
	assert_int_equal(rename(place->folder, away), 0);
	rm_incident_file_save(place->file, json_pack("{s:i}", "n", 1));
	LOOPBACK_WAIT(place->loop, *rm_incident_file_failures(place->file) == 1);
	assert_true(rm_incident_file_behind(place->file));
	assert_int_equal(rename(away, place->folder), 0);
	save = rm_incident_file_next(place->file);
	rm_incident_file_save(place->file, json_pack("{s:i}", "n", 2));
	/* The save is in progress. */
	assert_false(rm_incident_file_behind(place->file));
	LOOPBACK_WAIT(place->loop, rm_incident_file_has(place->file, save));
	assert_int_equal(loaded(place), 2);
	assert_false(rm_incident_file_behind(place->file));
}

static void
count_write(void *arg)
{
	++*(unsigned *)arg;
}

static void
a_save_is_reported_only_when_it_is_on_the_disk(void **state)
{
	struct place *place = *state;
	uint64_t save = rm_incident_file_next(place->file);
	unsigned writes = 0;

	rm_incident_file_on_write(place->file, count_write, &writes);
	rm_incident_file_save(place->file, json_pack("{s:i}", "n", 1));
	assert_false(rm_incident_file_tried(place->file, save));
	LOOPBACK_WAIT(place->loop, writes == 1);
	assert_true(rm_incident_file_tried(place->file, save));
	assert_true(rm_incident_file_has(place->file, save));
	assert_int_equal(loaded(place), 1);
	assert_false(rm_incident_file_tried(place->file, save + 1));
	/* Only the newer one of two saves at once must be written. */
	for (int n = 2; n <= 4; n++)
		rm_incident_file_save(place->file, json_pack("{s:i}", "n", n));
	assert_false(rm_incident_file_tried(place->file, save + 1));
	LOOPBACK_WAIT(place->loop, rm_incident_file_has(place->file, save + 3));
	assert_int_equal(writes, 3);
	assert_int_equal(loaded(place), 4);
}

static void
a_failed_save_is_reported_as_failed(void **state)
{
	struct place *place = *state;
	uint64_t save = rm_incident_file_next(place->file);
	unsigned writes = 0;
	char away[80];

	rm_incident_file_on_write(place->file, count_write, &writes);
	rm_incident_file_save(place->file, json_pack("{s:i}", "n", 1));
	/* The text cannot be rendered while the previous one is being written. */
	rm_incident_file_save(place->file, NULL);
	assert_int_equal(writes, 1);
	assert_true(rm_incident_file_tried(place->file, save + 1));
	LOOPBACK_WAIT(place->loop, writes == 2);
	assert_true(rm_incident_file_has(place->file, save));
	assert_false(rm_incident_file_has(place->file, save + 1));
	assert_true(rm_incident_file_behind(place->file));
	snprintf(away, sizeof(away), "%s.away", place->folder);
	assert_int_equal(rename(place->folder, away), 0);
	rm_incident_file_save(place->file, json_pack("{s:i}", "n", 3));
	LOOPBACK_WAIT(place->loop, rm_incident_file_tried(place->file, save + 2));
	assert_false(rm_incident_file_has(place->file, save + 2));
	assert_int_equal(rename(away, place->folder), 0);
}

static void
a_malformed_file_is_set_aside(void **state)
{
	struct place *place = *state;
	char aside[128];

	snprintf(aside, sizeof(aside), "%s.corrupt", place->path);
	assert_int_equal(
	    rm_file_replace(place->path, (const uint8_t *)"{\"n\":", 5), 0);
	assert_null(rm_incident_file_load(place->file));
	assert_int_equal(access(aside, F_OK), 0);
	assert_int_equal(access(place->path, F_OK), -1);
	rm_incident_file_save(place->file, json_pack("{s:i}", "n", 3));
	LOOPBACK_WAIT(place->loop, loaded(place) == 3);
}

/* The older one may be needed to find out what damages the files. */
static void
files_that_are_aside_are_not_overwritten(void **state)
{
	struct place *place = *state;
	char aside[8][128], text[8];
	uint8_t *data;
	size_t len;

	for (int i = 0; i < 9; i++) {
		snprintf(text, sizeof(text), "{%d", i);
		assert_int_equal(
		    rm_file_replace(place->path, (const uint8_t *)text, 2), 0);
		place->log[0] = '\0';
		assert_null(rm_incident_file_load(place->file));
		/* The log names only files that were really set aside. */
		assert_int_equal(strstr(place->log, "set aside as") != NULL, i < 8);
		assert_int_equal(
		    strstr(place->log, "cannot set it aside") != NULL, i == 8);
		assert_int_equal(access(place->path, F_OK), i < 8 ? -1 : 0);
	}
	for (int i = 0; i < 8; i++) {
		snprintf(aside[i], sizeof(aside[i]),
		    i == 0 ? "%s.corrupt" : "%s.corrupt.%d", place->path, i + 1);
		assert_int_equal(rm_file_read(aside[i], 100, &data, &len), 0);
		assert_int_equal(len, 2);
		assert_int_equal(data[1], '0' + i);
		free(data);
		assert_int_equal(unlink(aside[i]), 0);
	}
}

/* Root can read every file, so a folder takes the place of an unreadable file. */
static void
a_file_that_cannot_be_read_now_is_not_set_aside(void **state)
{
	struct place *place = *state;
	char aside[128];

	snprintf(aside, sizeof(aside), "%s.corrupt", place->path);
	assert_int_equal(mkdir(place->path, 0700), 0);
	assert_null(rm_incident_file_load(place->file));
	assert_int_equal(access(aside, F_OK), -1);
	assert_int_equal(rmdir(place->path), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    open_incidents_keep_their_ids_over_a_restart_and_resolve_by_results),
		cmocka_unit_test(
		    an_incident_on_several_links_keeps_its_switch_over_a_restart),
		cmocka_unit_test(flapping_before_a_restart_counts_after_it),
		cmocka_unit_test(
		    recently_resolved_incidents_are_saved_and_older_ones_are_not),
		cmocka_unit_test(
		    unsent_ends_are_kept_for_a_day_and_sent_ones_for_five_minutes),
		cmocka_unit_test(the_longest_part_is_kept_over_a_restart),
		cmocka_unit_test(sent_notices_are_saved),
		cmocka_unit_test(only_the_wrong_incident_is_named_and_left_out),
		TEST(the_newest_state_is_on_disk_at_the_end),
		TEST(a_failed_write_is_counted_and_tried_again),
		TEST(a_save_is_reported_only_when_it_is_on_the_disk),
		TEST(a_failed_save_is_reported_as_failed),
		TEST(a_malformed_file_is_set_aside),
		TEST(files_that_are_aside_are_not_overwritten),
		TEST(a_file_that_cannot_be_read_now_is_not_set_aside),
	};

	return cmocka_run_group_tests_name("incident_file", tests, NULL, NULL);
}
