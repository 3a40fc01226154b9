/* The judge of the region, with its modules connected as in the analyzer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/incidents/incident_table.h"
#include "analyzer/incidents/incident_table_ends.h"
#include "analyzer/incidents/suppression.h"
#include "analyzer/localise/localise.h"
#include "tests/sim/run_state.h"
#include "tor-aggregator/standby/incident_message.h"

#define MAX_OPEN 2048
#define MAX_CLOSED 1024
/* delay to the analyzer, to which a random time up to this length is added */
#define DELAY_NS (5 * RM_NS_PER_MS)
#define DELAY_MORE_NS (40 * RM_NS_PER_MS)
/* after this time without a summary, an aggregator counts as missing */
#define GRACE_NS (3 * RM_NS_PER_S)

struct letter {
	struct letter *next;
	int64_t arrival_ns;
	size_t len;
	uint8_t data[];
};

struct centre {
	struct run *run;
	struct localise *localise;
	struct incident_table *table;
	/* number of changes of the incident table when its open incidents were last
	 * read */
	uint64_t incident_table_seen;
	struct rm_incidents *incidents;
	struct wire_writer *writer;
	struct letter *first, *last;
	struct rm_verdict *verdicts; /* LOCALISE_MAX_VERDICTS */
	int failed;
};

int
centre_new(struct run *run, struct centre **ret)
{
	const struct localise_options localise = { RUN_REGION, RUN_ROW_INTERVAL_NS };
	const struct rm_incident_options incidents = { .max_open = MAX_OPEN,
		.max_closed = MAX_CLOSED,
		.resolve_after_ns = RUN_RESOLVE_NS,
		.id_seed = dice_next(&run->dice) };
	struct centre *centre = calloc(1, sizeof *centre);

	if (centre == NULL)
		return -ENOMEM;
	centre->run = run;
	centre->writer = wire_writer_new();
	centre->verdicts = calloc(LOCALISE_MAX_VERDICTS, sizeof *centre->verdicts);
	if (centre->writer == NULL || centre->verdicts == NULL ||
	    localise_new(&localise, &centre->localise) < 0 ||
	    incident_table_new(&centre->table) < 0 ||
	    rm_incidents_new(&incidents, &centre->incidents) < 0) {
		centre_free(centre);
		return -ENOMEM;
	}
	*ret = centre;
	return 0;
}

void
centre_free(struct centre *centre)
{
	if (centre == NULL)
		return;
	while (centre->first != NULL) {
		struct letter *letter = centre->first;

		centre->first = letter->next;
		free(letter);
	}
	rm_incidents_free(centre->incidents);
	incident_table_free(centre->table);
	localise_free(centre->localise);
	wire_writer_free(centre->writer);
	free(centre->verdicts);
	free(centre);
}

const struct rm_incidents *
centre_incidents(const struct centre *centre)
{
	return centre->incidents;
}

/* ---- reports of racks ------------------------------------------------------------ */

static rm_mono_t
mono(int64_t now_ns)
{
	return (rm_mono_t){ RUN_MONO_NS + now_ns };
}

static int
post(struct centre *centre, struct wire_bytes bytes)
{
	struct letter *letter = malloc(sizeof *letter + bytes.len);

	if (letter == NULL)
		return -ENOMEM;
	*letter = (struct letter){ NULL,
		centre->run->now_ns + DELAY_NS +
		    (int64_t)dice_below(&centre->run->dice, DELAY_MORE_NS),
		bytes.len };
	memcpy(letter->data, bytes.data, bytes.len);
	if (centre->last != NULL)
		centre->last->next = letter;
	else
		centre->first = letter;
	centre->last = letter;
	return 0;
}

void
centre_summary(
    struct centre *centre, struct sim_rack *rack, const struct wire_summary *summary)
{
	struct wire_summary whole = *summary;
	struct wire_bytes bytes;
	int r;

	whole.head = (struct wire_lane_head){ rack->aggregator, RUN_REGION,
		rack->incarnation, ++rack->summary_seq };
	r = wire_write_summary(centre->writer, &whole, &bytes);
	if (r == 0)
		r = post(centre, bytes);
	if (r < 0)
		centre->failed = r;
}

static void
report(struct centre *centre, const char *who, enum wire_incident_state state,
    const struct rm_incident *incident)
{
	static const char *const names[] = {
		[WIRE_OPENED] = "opened",
		[WIRE_UPDATED] = "updated",
		[WIRE_RESOLVED] = "resolved",
	};
	char sentence[RM_SENTENCE_BYTES];

	if (centre->run->verdicts == NULL)
		return;
	rm_incident_sentence(incident, sentence, sizeof sentence);
	fprintf(centre->run->verdicts, "%s %u %8.2f s %s %s: %s\n",
	    centre->run->scenario->name, centre->run->number,
	    (double)centre->run->now_ns / 1e9, who, names[state], sentence);
}

/* Returns the evidence of a verdict on "A or B" as JSON, with the fields that the
 * incident table reads. The caller frees it. NULL: out of memory. */
static char *
evidence_json(const struct rm_verdict *verdict)
{
	json_t *json;
	char *text;

	if (strstr(verdict->part.name, RM_PART_OR) == NULL)
		return strdup("{}");
	json = rm_verdict_json(verdict);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	return text;
}

/* Only the analyzer reports a ToR; the verdict of the rack on its ToR is evidence for
 * the analyzer. */
void
centre_incident(struct centre *centre, struct sim_rack *rack,
    enum wire_incident_state state, const struct rm_incident *incident)
{
	const struct rm_evidence *evidence = &incident->verdict.evidence;
	char sentence[RM_SENTENCE_BYTES], *json;
	struct wire_incident message =
	    incident_message(rack->name, state, incident, sentence);

	report(centre, rack->name, state, incident);
	message.head = (struct wire_lane_head){ rack->aggregator, RUN_REGION,
		rack->incarnation, 1 };
	message.evidence_json = json = evidence_json(&incident->verdict);
	if (json == NULL)
		centre->failed = -ENOMEM;
	else if (incident_table_edge(centre->table, &message) > 0 &&
		 incident_table_is_fall(&message))
		localise_rack_found(centre->localise, rack->name, message.kind,
		    mono(centre->run->now_ns));
	free(json);
	if (incident->verdict.part.type == RM_PART_TOR)
		localise_tor_verdict(centre->localise, incident->verdict.part.name,
		    localise_tor_report(incident->verdict.kind == RM_KIND_TOR_DOWN &&
					    state != WIRE_RESOLVED &&
					    incident->good_since.ns == 0,
			&evidence->others, evidence->peers),
		    mono(centre->run->now_ns));
}

static int
deliver(struct centre *centre, int64_t now_ns)
{
	int r = centre->failed;

	while (r == 0 && centre->first != NULL && centre->first->arrival_ns <= now_ns) {
		struct letter *letter = centre->first;
		struct wire_summary_view view;

		centre->first = letter->next;
		if (centre->first == NULL)
			centre->last = NULL;
		r = wire_open_summary(&view, letter->data, letter->len);
		if (r == 0)
			r = localise_summary(centre->localise, &view, mono(now_ns));
		free(letter);
	}
	return r;
}

/* ---- judging --------------------------------------------------------------------- */

static void
note_seen(struct centre *centre, int64_t now_ns)
{
	for (uint32_t i = 0; i < centre->run->racks; i++) {
		const struct sim_rack *rack = &centre->run->rack[i];

		localise_rack_is_seen(centre->localise, rack->name,
		    rack->rack != NULL || now_ns - rack->down_ns < GRACE_NS);
	}
}

static enum rm_health
health(const struct rm_verdict *verdict, void *arg)
{
	const struct centre *centre = arg;

	return localise_health(centre->localise, verdict);
}

static void
on_event(enum rm_incident_event event, const struct rm_incident *incident, void *arg)
{
	static const enum wire_incident_state states[] = {
		[RM_INCIDENT_OPENED] = WIRE_OPENED,
		[RM_INCIDENT_UPDATED] = WIRE_UPDATED,
		[RM_INCIDENT_RESOLVED] = WIRE_RESOLVED,
		[RM_INCIDENT_NOTED] = WIRE_UPDATED,
	};

	report(arg, "centre", states[event], incident);
}

int
centre_judge(struct centre *centre, int64_t now_ns)
{
	const struct rm_verdict *found = NULL;
	const rm_wall_t wall = { RUN_WALL_NS + now_ns };
	size_t count = 0;
	int n, r = deliver(centre, now_ns);

	if (r < 0 || now_ns % (250 * RM_NS_PER_MS) != 0)
		return r;
	if (now_ns % RM_NS_PER_S == 0)
		note_seen(centre, now_ns);
	if (incident_table_changes(centre->table) != centre->incident_table_seen)
		incident_table_ends_report(centre->table, RUN_REGION, centre->localise);
	centre->incident_table_seen = incident_table_changes(centre->table);
	n = localise_judge(centre->localise, mono(now_ns), wall, &found);
	if (n < 0)
		return n;
	for (int i = 0; i < n && count < LOCALISE_MAX_VERDICTS; i++)
		if (!suppressed_by_racks(centre->table, RUN_REGION, &found[i], wall))
			centre->verdicts[count++] = found[i];
	rm_incidents_judge(centre->incidents, mono(now_ns), wall, centre->verdicts,
	    count, health, on_event, centre);
	return 0;
}
