#include "tests/sim/replay_centre.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/incidents/incident_table.h"
#include "analyzer/incidents/incident_table_ends.h"
#include "analyzer/incidents/recorder.h"
#include "analyzer/incidents/suppression.h"
#include "analyzer/localise/localise.h"
#include "schemas/wire.h"
#include "tests/sim/hex.h"
#include "tests/sim/record.h"

#define MAX_OPEN 2048
#define MAX_CLOSED 1024
#define RESOLVE_NS (2 * RM_NS_PER_S)
#define MAX_FIELD 512

struct replayed {
	const char *file;
	struct rm_error *error;
	FILE *out;
	size_t line;
	char region[RM_NAME_BYTES];
	int64_t mono_ns; /* when the recording began */
	int64_t time_ns; /* since then */
	struct localise *localise;
	struct incident_table *table;
	struct rm_incidents *incidents;
	struct rm_verdict verdicts[LOCALISE_MAX_VERDICTS];
	struct hex_bytes bytes;
	uint64_t edges;
};

static int
refuse(struct replayed *replayed, const char *what)
{
	return rm_error_set(replayed->error, -EINVAL, "%s:%zu: %s", replayed->file,
	    replayed->line, what);
}

static rm_mono_t
now_of(const struct replayed *replayed)
{
	return (rm_mono_t){ replayed->mono_ns + replayed->time_ns };
}

static bool
is_interval(int64_t row_interval_ns)
{
	return row_interval_ns > 0 &&
	       row_interval_ns <= WIRE_MAX_SUMMARY_INTERVAL_S * RM_NS_PER_S;
}

static int
take_centre(struct replayed *replayed, const char *rest)
{
	struct localise_options options = { .region = replayed->region };

	if (replayed->localise != NULL ||
	    sscanf(rest, "%63s %" SCNd64 " %" SCNd64, replayed->region,
		&options.row_interval_ns, &replayed->mono_ns) != 3 ||
	    !is_interval(options.row_interval_ns) || replayed->mono_ns < 0 ||
	    replayed->mono_ns > INT64_MAX / 2)
		return refuse(
		    replayed, "expected centre REGION ROW_NS MONO_NS WALL_NS");
	return localise_new(&options, &replayed->localise);
}

static int
take_summary(struct replayed *replayed, const char *rest)
{
	struct wire_summary_view view;
	int r = hex_read(rest, &replayed->bytes);

	if (r == -EINVAL)
		return refuse(replayed, "expected two hexadecimal digits a byte");
	if (r < 0)
		return r;
	if (wire_open_summary(&view, replayed->bytes.bytes, replayed->bytes.len) < 0)
		return refuse(replayed, "this is no summary");
	r = localise_summary(replayed->localise, &view, now_of(replayed));
	return r == -ENOMEM ? r : 0;
}

static int
take_incident(struct replayed *replayed, const char *rest)
{
	char tor[MAX_FIELD], aggregator[MAX_FIELD], type[MAX_FIELD], kind[MAX_FIELD];
	struct wire_incident incident = {
		.place = "", .sentence = "", .evidence_json = "{}"
	};
	int state = 0, part_at = 0;

	if (sscanf(rest,
		"%511s %511s %" SCNu64 " %d %511s %511s %" SCNu64 " %" SCNu64 " %n",
		tor, aggregator, &incident.incident_id, &state, type, kind,
		&incident.opened_wall_ns, &incident.changed_wall_ns, &part_at) != 8 ||
	    part_at == 0 || state < WIRE_OPENED || state > RECORDER_FELL)
		return refuse(replayed,
		    "expected incident TOR AGGREGATOR ID STATE TYPE "
		    "KIND OPENED_NS CHANGED_NS PART");
	incident.head = (struct wire_lane_head){ aggregator, replayed->region, 1,
		++replayed->edges };
	incident.state =
	    state > WIRE_RESOLVED ? WIRE_UPDATED : (enum wire_incident_state)state;
	if (state == RECORDER_GOOD)
		incident.good_since_wall_ns = incident.changed_wall_ns;
	if (state == RECORDER_FELL)
		incident.returned_wall_ns = incident.changed_wall_ns;
	incident.tor = tor;
	incident.part_type = type;
	incident.kind = kind;
	incident.part = rest + part_at;
	incident.began_wall_ns = incident.opened_wall_ns;
	if (incident_table_is_fall(&incident))
		localise_rack_found(replayed->localise, tor, kind, now_of(replayed));
	return incident_table_edge(replayed->table, &incident) == -ENOMEM ? -ENOMEM : 0;
}

static int
take_tor(struct replayed *replayed, const char *rest)
{
	static const char *const names[] = {
		[LOCALISE_TOR_OVER] = "over",
		[LOCALISE_TOR_CUT_OFF] = "cut-off",
		[LOCALISE_TOR_DEAD] = "dead",
		[LOCALISE_TOR_OR_TWO] = "dead-or-two",
	};
	char tor[RM_NAME_BYTES], how[16];

	if (sscanf(rest, "%63s %15s", tor, how) == 2)
		for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
			if (strcmp(how, names[i]) != 0)
				continue;
			localise_tor_verdict(replayed->localise, tor,
			    (enum localise_tor_report)i, now_of(replayed));
			return 0;
		}
	return refuse(replayed, "expected tor TOR over|cut-off|dead|dead-or-two");
}

static int
take_seen(struct replayed *replayed, const char *rest)
{
	char tor[RM_NAME_BYTES], how[8];

	if (sscanf(rest, "%63s %7s", tor, how) != 2)
		return refuse(replayed, "expected heard TOR yes|no");
	localise_rack_is_seen(replayed->localise, tor, strcmp(how, "yes") == 0);
	return 0;
}

static int
take_interval(struct replayed *replayed, const char *rest)
{
	int64_t row_interval_ns = 0;

	if (sscanf(rest, "%" SCNd64, &row_interval_ns) != 1 ||
	    !is_interval(row_interval_ns))
		return refuse(replayed, "expected interval ROW_NS");
	localise_row_interval(replayed->localise, row_interval_ns);
	return 0;
}

static enum rm_health
health(const struct rm_verdict *verdict, void *arg)
{
	const struct replayed *replayed = arg;

	return localise_health(replayed->localise, verdict);
}

static void
on_event(enum rm_incident_event event, const struct rm_incident *incident, void *arg)
{
	static const char *const names[] = {
		[RM_INCIDENT_OPENED] = "opened",
		[RM_INCIDENT_UPDATED] = "updated",
		[RM_INCIDENT_RESOLVED] = "resolved",
		[RM_INCIDENT_NOTED] = "noted",
	};
	const struct replayed *replayed = arg;
	char sentence[RM_SENTENCE_BYTES];

	rm_incident_sentence(incident, sentence, sizeof sentence);
	fprintf(replayed->out, "%s %8.2f s %s: %s\n", replayed->region,
	    (double)replayed->time_ns / 1e9, names[event], sentence);
}

static int
take_judged(struct replayed *replayed, const char *rest)
{
	const struct rm_verdict *found = NULL;
	rm_wall_t wall;
	size_t count = 0;
	int n;

	if (sscanf(rest, "%" SCNd64, &wall.ns) != 1 || wall.ns < 0 ||
	    wall.ns > INT64_MAX / 2)
		return refuse(replayed, "expected judged WALL_NS");
	incident_table_ends_report(
	    replayed->table, replayed->region, replayed->localise);
	n = localise_judge(replayed->localise, now_of(replayed), wall, &found);
	if (n < 0)
		return n;
	for (int i = 0; i < n && count < LOCALISE_MAX_VERDICTS; i++)
		if (!suppressed_by_racks(
			replayed->table, replayed->region, &found[i], wall))
			replayed->verdicts[count++] = found[i];
	rm_incidents_judge(replayed->incidents, now_of(replayed), wall,
	    replayed->verdicts, count, health, on_event, replayed);
	return 0;
}

static int
take_line(struct replayed *replayed, const char *text)
{
	static const struct {
		const char *keyword;
		int (*take)(struct replayed *replayed, const char *rest);
	} lines[] = { { "centre", take_centre }, { "summary", take_summary },
		{ "incident", take_incident }, { "tor", take_tor },
		{ "heard", take_seen }, { "interval", take_interval },
		{ "judged", take_judged } };
	char keyword[16];
	int64_t time_ns;
	int rest = 0;

	if (sscanf(text, "%" SCNd64 " %15s %n", &time_ns, keyword, &rest) != 2 ||
	    rest == 0 || time_ns < replayed->time_ns || time_ns > INT64_MAX / 4)
		return refuse(
		    replayed, "expected a time, not before the last, and a keyword");
	replayed->time_ns = time_ns;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (strcmp(keyword, lines[i].keyword) == 0 &&
		    (i == 0 || replayed->localise != NULL))
			return lines[i].take(replayed, text + rest);
	return refuse(replayed, "unknown keyword");
}

static int
take_lines(struct replayed *replayed, FILE *in)
{
	char *text = NULL;
	size_t room = 0;
	int r = 0;

	while (r == 0 && getline(&text, &room, in) > 0) {
		/* The last line is incomplete: the analyzer ended while it wrote. */
		if (text[strcspn(text, "\n")] == '\0')
			break;
		text[strcspn(text, "\n")] = '\0';
		if (++replayed->line > 1)
			r = take_line(replayed, text);
		else if (strcmp(text, RECORD_FIRST_LINE) != 0)
			r = refuse(replayed, "expected " RECORD_FIRST_LINE);
	}
	free(text);
	return r;
}

int
replay_centre(FILE *in, const char *file, FILE *verdicts, struct rm_error *error)
{
	const struct rm_incident_options incidents = { .max_open = MAX_OPEN,
		.max_closed = MAX_CLOSED,
		.resolve_after_ns = RESOLVE_NS,
		.id_seed = 1 };
	struct replayed *replayed = calloc(1, sizeof *replayed);
	int r;

	if (replayed == NULL)
		return -ENOMEM;
	replayed->file = file;
	replayed->error = error;
	replayed->out = verdicts;
	r = incident_table_new(&replayed->table);
	if (r == 0)
		r = rm_incidents_new(&incidents, &replayed->incidents);
	if (r == 0)
		r = take_lines(replayed, in);
	rm_incidents_free(replayed->incidents);
	incident_table_free(replayed->table);
	localise_free(replayed->localise);
	free(replayed->bytes.bytes);
	free(replayed);
	return r;
}
