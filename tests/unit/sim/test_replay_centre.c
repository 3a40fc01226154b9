#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/incidents/recorder.h"
#include "analyzer/localise/localise.h"
#include "replay_fixture.h"
#include "schemas/wire.h"

#define RACKS 4
#define SPINES 2
#define FAILS_S 4
#define SECONDS 10
#define BEGAN_NS (77 * RM_NS_PER_S)
#define WALL_NS (INT64_C(1767225600) * RM_NS_PER_S)
#define ROW_NS (10 * RM_NS_PER_S)

struct story { /* four racks; the cable spine1--tor2 dies */
	struct localise *live;
	struct recorder *recorder;
	struct wire_writer *writer;
	char folder[32], path[320];
	char named[64]; /* the first part that the live analyzer names */
};

static rm_mono_t
at(int64_t since_ns)
{
	return (rm_mono_t){ BEGAN_NS + since_ns };
}

static void
begin(struct story *story, uint64_t max_bytes)
{
	const struct localise_options localise = { "r", ROW_NS };
	const struct recorder_options recorder = { story->folder, "r", max_bytes,
		ROW_NS, at(0), { WALL_NS } };

	memset(story, 0, sizeof *story);
	strcpy(story->folder, "/tmp/recorder-XXXXXX");
	assert_non_null(mkdtemp(story->folder));
	assert_int_equal(localise_new(&localise, &story->live), 0);
	assert_int_equal(recorder_new(&recorder, &story->recorder), 0);
	story->writer = wire_writer_new();
	assert_non_null(story->writer);
}

/* Closes the recording and finds the name of its file. */
static void
close_recording(struct story *story)
{
	DIR *folder = opendir(story->folder);
	const struct dirent *entry;

	recorder_free(story->recorder);
	story->recorder = NULL;
	assert_non_null(folder);
	while ((entry = readdir(folder)) != NULL)
		if (strstr(entry->d_name, ".recording") != NULL)
			snprintf(story->path, sizeof story->path, "%s/%s",
			    story->folder, entry->d_name);
	closedir(folder);
	assert_string_not_equal(story->path, "");
}

static void
end(struct story *story)
{
	recorder_free(story->recorder);
	localise_free(story->live);
	wire_writer_free(story->writer);
	unlink(story->path);
	rmdir(story->folder);
}

static void
report_rack(struct story *story, int rack, int second)
{
	struct wire_path_row rows[RACKS * SPINES] = { 0 };
	char dst[RACKS][16], paths[RACKS * SPINES][160], tor[16];
	struct wire_summary summary = { .head = { "agg", "r", 1, (uint64_t)second + 1 },
		.tor = tor,
		.start_wall_ns = (uint64_t)(WALL_NS + (second - 1) * RM_NS_PER_S),
		.end_wall_ns = (uint64_t)(WALL_NS + second * RM_NS_PER_S),
		.paths = rows };
	struct wire_summary_view view;
	struct wire_bytes bytes;

	summary.paths_start_wall_ns = summary.start_wall_ns;
	snprintf(tor, sizeof tor, "tor%d", rack);
	for (int to = 1; to <= RACKS; to++)
		for (int spine = 1; to != rack && spine <= SPINES; spine++) {
			const bool dead =
			    second >= FAILS_S && spine == 1 && (rack == 2 || to == 2);
			const size_t i = summary.path_count++;

			snprintf(dst[to - 1], sizeof dst[0], "tor%d", to);
			snprintf(paths[i], sizeof paths[i],
			    "tor%d@10.%d.0.1 spine%d@172.16.%d.%d tor%d@172.17.%d.%d",
			    rack, rack, spine, rack, spine, to, to, spine);
			rows[i] = (struct wire_path_row){ .dst_tor = dst[to - 1],
				.path = paths[i],
				.sent = 20,
				.flows = 10,
				.samples = "" };
			if (dead) {
				rows[i].lost_forward = 20;
				rows[i].flows_dead = 10;
			}
		}
	assert_int_equal(wire_write_summary(story->writer, &summary, &bytes), 0);
	assert_int_equal(wire_open_summary(&view, bytes.data, bytes.len), 0);
	recorder_summary(story->recorder, &view, at(second * RM_NS_PER_S));
	assert_int_equal(
	    localise_summary(story->live, &view, at(second * RM_NS_PER_S)), 0);
}

static void
judge(struct story *story, int64_t since_ns)
{
	const struct rm_verdict *found = NULL;
	const rm_wall_t wall = { WALL_NS + since_ns };
	int n;

	recorder_judged(story->recorder, at(since_ns), wall);
	n = localise_judge(story->live, at(since_ns), wall, &found);
	assert_true(n >= 0);
	if (n > 0 && story->named[0] == '\0')
		snprintf(
		    story->named, sizeof story->named, "%.60s", found[0].part.name);
}

static void
live(struct story *story)
{
	for (int second = 1; second <= SECONDS; second++) {
		for (int rack = 1; rack <= RACKS; rack++) {
			char tor[16];

			snprintf(tor, sizeof tor, "tor%d", rack);
			recorder_rack_is_seen(
			    story->recorder, tor, true, at(second * RM_NS_PER_S));
			localise_rack_is_seen(story->live, tor, true);
			report_rack(story, rack, second);
		}
		for (int quarter = 0; quarter < 4; quarter++)
			judge(
			    story, second * RM_NS_PER_S + quarter * 250 * RM_NS_PER_MS);
	}
}

static int
replay(const char *path, char **reported, struct rm_error *error)
{
	return replay_reported(fopen(path, "re"), "r.recording", reported, error);
}

static void
a_replayed_recording_names_what_was_named_live(void **state)
{
	struct story story;
	struct rm_error error = { 0 };
	char *reported = NULL;

	begin(&story, UINT64_MAX);
	live(&story);
	close_recording(&story);
	assert_string_equal(story.named, "spine1--tor2");
	if (replay(story.path, &reported, &error) < 0)
		fail_msg("%s", error.text);
	assert_non_null(strstr(reported, "opened: Link spine1--tor2 "));
	assert_null(strstr(strstr(reported, "opened: ") + 1, "opened: "));
	free(reported);
	end(&story);
}

static void
reports_of_racks_are_recorded_and_read(void **state)
{
	const struct wire_incident stall = { .head = { "agg", "r", 1, 1 },
		.incident_id = 5,
		.state = WIRE_OPENED,
		.tor = "tor2",
		.part_type = "rnic",
		.part = "h2/r0",
		.place = "tor2",
		.kind = "rnic-down",
		.opened_wall_ns = WALL_NS,
		.changed_wall_ns = WALL_NS,
		.sentence = "",
		.evidence_json = "{}" };
	struct story story;
	char *reported = NULL, text[400];
	struct rm_error error = { 0 };
	FILE *file;

	begin(&story, UINT64_MAX);
	recorder_incident(story.recorder, &stall, at(RM_NS_PER_S));
	recorder_tor(story.recorder, "tor2", LOCALISE_TOR_DEAD, at(RM_NS_PER_S));
	recorder_tor(story.recorder, "tor2", LOCALISE_TOR_OVER, at(RM_NS_PER_S));
	recorder_row_interval(story.recorder, 60 * RM_NS_PER_S, at(RM_NS_PER_S));
	close_recording(&story);
	file = fopen(story.path, "re");
	assert_non_null(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	assert_non_null(strstr(text, " incident tor2 agg 5 1 rnic rnic-down "));
	assert_non_null(strstr(text, " h2/r0\n"));
	assert_non_null(strstr(text, " tor tor2 dead\n"));
	assert_non_null(strstr(text, " tor tor2 over\n"));
	assert_non_null(strstr(text, " interval 60000000000\n"));
	if (replay(story.path, &reported, &error) < 0)
		fail_msg("%s", error.text);
	assert_string_equal(reported, "");
	free(reported);
	end(&story);
}

static void
a_recording_ends_at_its_limit_and_can_be_replayed_up_to_there(void **state)
{
	struct story story;
	struct stat whole;
	char *reported = NULL;
	struct rm_error error = { 0 };

	begin(&story, 20000);
	live(&story);
	close_recording(&story);
	assert_int_equal(stat(story.path, &whole), 0);
	assert_in_range(whole.st_size, 10000, 21000);
	if (replay(story.path, &reported, &error) < 0)
		fail_msg("%s", error.text);
	free(reported);
	end(&story);
}

static void
refused(const char *line, const char *expected)
{
	char path[] = "/tmp/replayed-XXXXXX", *reported = NULL;
	struct rm_error error = { 0 };
	FILE *file = fdopen(mkstemp(path), "w");

	assert_non_null(file);
	fprintf(file, "rackmesh-recording 1\n0 centre r 10000000000 5 7\n%s\n", line);
	fclose(file);
	assert_true(replay(path, &reported, &error) < 0);
	if (strstr(error.text, "r.recording:3: ") == NULL ||
	    strstr(error.text, expected) == NULL)
		fail_msg("%s: %s", line, error.text);
	free(reported);
	unlink(path);
}

static void
a_line_without_meaning_is_named(void **state)
{
	refused("5 nonsense", "unknown keyword");
	refused("-1 judged 7", "not before the last");
	refused("x", "expected a time");
	refused("5 judged", "expected judged WALL_NS");
	refused("5 summary 0g", "two hexadecimal digits");
	refused("5 summary 00ff", "no summary");
	refused("5 heard tor1", "expected heard TOR yes|no");
	refused("5 tor tor1", "expected tor TOR");
	refused("5 interval 0", "expected interval ROW_NS");
	refused("5 interval 3600000000001", "expected interval ROW_NS");
	refused("5 incident tor1 agg 5", "expected incident TOR");
	refused("5 centre r 10000000000 5 7", "expected centre");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replayed_recording_names_what_was_named_live),
		cmocka_unit_test(reports_of_racks_are_recorded_and_read),
		cmocka_unit_test(
		    a_recording_ends_at_its_limit_and_can_be_replayed_up_to_there),
		cmocka_unit_test(a_line_without_meaning_is_named),
	};

	return cmocka_run_group_tests_name("replay_centre", tests, NULL, NULL);
}
