#include "rackmesh/incident/incident.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/incident/incident_state.h"

/* ---- incidents that are closed ---- */

static struct incident_entry *
incident_closed(const struct rm_incidents *incidents, size_t i)
{
	const size_t max = incidents->options.max_closed;

	return incidents->closed[(incidents->closed_next + max - 1 - i) % max];
}

/* How often the part has failed within flap_memory_ns. */
static uint64_t
times_reopened(
    const struct rm_incidents *incidents, const struct rm_part *part, rm_mono_t now)
{
	for (size_t i = 0; i < incidents->closed_count; i++) {
		const struct incident_entry *entry = incident_closed(incidents, i);

		if (rm_mono_since(now, entry->resolved) >
		    incidents->options.flap_memory_ns)
			break;
		if (rm_part_equal(&entry->incident.verdict.part, part))
			return entry->incident.reopened + 1;
	}
	return 0;
}

/* True: the incident stays open after its part is good, because the part is flapping.
 * A verdict on a flapping port lasts itself for as long as the port may flap. */
static bool
is_kept_open(const struct rm_incident *incident)
{
	return incident->recurrence.flaps &&
	       incident->verdict.kind != RM_KIND_RNIC_FLAPPING;
}

/* The time for which the part must work before the incident resolves. */
static int64_t
incident_resolve_after_ns(
    const struct rm_incidents *incidents, const struct rm_incident *incident)
{
	const int64_t after_ns = incidents->options.resolve_after_ns;
	int64_t quiet_ns = 0;

	if (is_kept_open(incident))
		quiet_ns = rm_recurrence_quiet_ns(&incident->recurrence);
	return quiet_ns > after_ns ? quiet_ns : after_ns;
}

/* True: the part falls so often that its incident counts as bad all the time. */
static bool
is_fast(const struct rm_incident *incident)
{
	return rm_recurrence_quiet_ns(&incident->recurrence) <= RM_INCIDENT_QUIET_NS;
}

/* ---- incidents ---- */

#define CONFIDENCE_STEP 0.1
#define FLAP_MEMORY_NS (3600 * RM_NS_PER_S)

/* Time, clock and callback of one judgement. */
struct judgement {
	rm_mono_t now;
	rm_wall_t wall;
	int64_t since_ns; /* ns since the previous judgement; 0: there was none */
	void (*on_event)(enum rm_incident_event event,
	    const struct rm_incident *incident, void *arg);
	void *arg;
};

int
rm_incidents_new(const struct rm_incident_options *options, struct rm_incidents **ret)
{
	struct rm_incidents *incidents = calloc(1, sizeof *incidents);

	if (incidents == NULL)
		return -ENOMEM;
	incidents->options = *options;
	if (incidents->options.flap_within_ns <= 0)
		incidents->options.flap_within_ns = RM_RECURRENCE_WITHIN_NS;
	if (incidents->options.flap_memory_ns <= 0)
		incidents->options.flap_memory_ns = FLAP_MEMORY_NS;
	incidents->open =
	    calloc(options->max_open + 1, sizeof(struct incident_entry *));
	incidents->closed =
	    calloc(options->max_closed + 1, sizeof(struct incident_entry *));
	if (incidents->open == NULL || incidents->closed == NULL) {
		rm_incidents_free(incidents);
		return -ENOMEM;
	}
	*ret = incidents;
	return 0;
}

void
rm_incidents_free(struct rm_incidents *incidents)
{
	if (incidents == NULL)
		return;
	for (size_t i = 0; i < incidents->open_count; i++)
		free(incidents->open[i]);
	for (size_t i = 0; i < incidents->closed_count; i++)
		free(incidents->closed[i]);
	incident_falls_free(incidents);
	free(incidents->open);
	free(incidents->closed);
	free(incidents);
}

/* splitmix64's mixer: similar inputs give unrelated outputs. */
static uint64_t
incident_id(struct rm_incidents *incidents)
{
	uint64_t x = incidents->options.id_seed +
		     ++incidents->made * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	x ^= x >> 31;
	return x != 0 ? x : 1;
}

void
incident_note_announced(struct incident_entry *entry)
{
	const struct rm_verdict *verdict = &entry->incident.verdict;

	entry->announced_confidence = verdict->confidence;
	strcpy(entry->announced_services, verdict->evidence.services);
	entry->announced_links.kind = verdict->kind;
	strcpy(entry->announced_links.names, verdict->evidence.links);
	entry->announced_links.down = verdict->evidence.links_down;
	entry->announced_links.lossy = verdict->evidence.links_lossy;
}

/* Counts a fall: the part has failed, or has failed again after it had worked for so
 * long that its incident would have ended if it were not flapping. */
static void
note_fall(struct rm_incidents *incidents, struct rm_incident *incident,
    const struct judgement *judgement)
{
	if (incident->recurrence.at[0].ns == 0)
		incident_falls_take(incidents, incident);
	rm_recurrence_fall(
	    &incident->recurrence, judgement->now, incidents->options.flap_within_ns);
	incident_falls_show(incident, judgement->now, judgement->wall);
}

/* before: the incident that goes on in this one; NULL: the part has fallen. */
static void
incident_open(struct rm_incidents *incidents, const struct rm_verdict *verdict,
    const struct rm_incident *before, const struct judgement *judgement)
{
	struct incident_entry *entry = NULL;

	if (incidents->open_count < incidents->options.max_open)
		entry = calloc(1, sizeof *entry);
	if (entry == NULL) {
		incidents->counts.refused++;
		return;
	}
	entry->incident.id = incident_id(incidents);
	entry->incident.verdict = *verdict;
	if (verdict->evidence.counters[0] != '\0')
		entry->incident.verdict.evidence.counters_at = judgement->wall;
	entry->incident.severity = rm_severity(verdict->kind, verdict->evidence.impact);
	entry->incident.opened = entry->incident.changed = judgement->wall;
	entry->incident.reopened =
	    times_reopened(incidents, &verdict->part, judgement->now);
	entry->incident.fault =
	    before != NULL ? before->fault : incident_fault_of(verdict->kind);
	if (before != NULL)
		entry->incident.links = before->links;
	if (rm_kind_is_links(verdict->kind))
		incident_add_links(&entry->incident, verdict);
	entry->incident.is_total = incident_kind_is_total(verdict->kind);
	entry->noted_at = judgement->now;
	if (before != NULL) {
		incident_falls_take(incidents, &entry->incident);
		entry->incident.recurrence = before->recurrence;
		incident_falls_show(&entry->incident, judgement->now, judgement->wall);
	} else {
		note_fall(incidents, &entry->incident, judgement);
	}
	incident_note_announced(entry);
	entry->judged = true;
	entry->links_seen = judgement->wall;
	entry->links_judged = judgement->now;
	incidents->open[incidents->open_count++] = entry;
	incidents->counts.opened++;
	judgement->on_event(RM_INCIDENT_OPENED, &entry->incident, judgement->arg);
}

/* Length of the subject of a ruled-out sentence: its text up to ": ". */
static size_t
subject_len(const char *sentence)
{
	const char *end = strstr(sentence, ": ");

	return end != NULL ? (size_t)(end - sentence) : strlen(sentence);
}

/* Compares the subjects only, because the figures differ in every window. */
static bool
ruled_out_differs(const struct rm_evidence *a, const struct rm_evidence *b)
{
	if (a->ruled_out_count != b->ruled_out_count)
		return true;
	for (size_t i = 0; i < a->ruled_out_count; i++) {
		const size_t len = subject_len(a->ruled_out[i]);

		if (subject_len(b->ruled_out[i]) != len ||
		    memcmp(a->ruled_out[i], b->ruled_out[i], len) != 0)
			return true;
	}
	return false;
}

static bool
is_good_now(const struct incident_entry *entry)
{
	return entry->incident.good_since.ns != 0;
}

static void
incident_note(struct incident_entry *entry, const struct judgement *judgement)
{
	entry->noted_at = judgement->now;
	entry->incident.changed = judgement->wall;
	judgement->on_event(RM_INCIDENT_NOTED, &entry->incident, judgement->arg);
}

/* The part is bad in this judgement. is_same: with a fault of the incident's class.
 * True: it was good before, or has fallen again, so RM_INCIDENT_NOTED is due. */
static bool
is_bad_again(struct rm_incidents *incidents, struct incident_entry *entry, bool is_same,
    const struct judgement *judgement)
{
	struct rm_incident *incident = &entry->incident;
	const bool is_fall =
	    incident->recurrence.at[0].ns == 0 || (entry->was_good && is_same);
	const bool was_good_now = is_good_now(entry);

	if (is_fall) {
		entry->fell_again = incident->recurrence.at[0].ns != 0;
		note_fall(incidents, incident, judgement);
	}
	entry->good = entry->was_good = false;
	entry->good_ns = 0;
	entry->judged = true;
	incident->good_since.ns = 0;
	return was_good_now || (is_fall && incident->recurrence.flaps &&
				   (!is_fast(incident) ||
				       rm_mono_since(judgement->now, entry->noted_at) >=
					   RM_INCIDENT_NOTED_NS));
}

/* For an incident of "A or B": the part that the verdict names, or else the one that is
 * already known. */
static const char *
narrowed(const struct rm_verdict *mine, const struct rm_verdict *verdict)
{
	const bool names_one = strstr(mine->part.name, RM_PART_OR) != NULL &&
			       strstr(verdict->part.name, RM_PART_OR) == NULL;

	return names_one ? verdict->part.name : mine->evidence.narrowed;
}

/* A wait that doubles each time, up to a limit. ns: the last one; 0: there was none. */
static int64_t
longer_ns(int64_t ns, int64_t first_ns, int64_t max_ns)
{
	if (ns == 0)
		return first_ns;
	return 2 * ns < max_ns ? 2 * ns : max_ns;
}

/* True: the other part replaces the known part of "A or B", because verdicts have named
 * it for long enough. */
static bool
is_replaced(struct rm_incidents *incidents, struct incident_entry *entry,
    const struct rm_verdict *verdict, const struct judgement *judgement)
{
	const int64_t needed_ns = entry->reconsider_ns != 0 ? entry->reconsider_ns
							    : RM_INCIDENT_RECONSIDER_NS;

	if (strcmp(verdict->part.name, entry->rival) != 0) {
		strcpy(entry->rival, verdict->part.name);
		entry->rival_ns = 0;
		return false;
	}
	entry->rival_ns += judgement->since_ns;
	if (entry->rival_ns < needed_ns)
		return false;
	entry->reconsider_ns =
	    longer_ns(needed_ns, needed_ns, RM_INCIDENT_RECONSIDER_MAX_NS);
	incidents->counts.reconsidered++;
	return true;
}

/* True if a is less severe than b. */
static bool
is_less(enum rm_impact a, enum rm_impact b)
{
	return b != RM_IMPACT_UNKNOWN && (a == RM_IMPACT_UNKNOWN || a > b);
}

struct incident_impact
incident_worst_impact(const struct rm_evidence *a, const struct rm_evidence *b)
{
	struct incident_impact ret = { .impact = b->impact };
	const bool is_kept = is_less(b->impact, a->impact) || b->services[0] == '\0';

	if (is_less(b->impact, a->impact))
		ret.impact = a->impact;
	strcpy(ret.services, is_kept ? a->services : b->services);
	return ret;
}

/* Jobs that start or end change the services. In a region with many jobs this happens
 * all the time, so changes are announced at most every RM_INCIDENT_SERVICES_NS. */
static bool
has_other_services(const struct incident_entry *entry, const char *services,
    const struct judgement *judgement)
{
	return strcmp(entry->announced_services, services) != 0 &&
	       (entry->services_at.ns == 0 ||
		   rm_mono_since(judgement->now, entry->services_at) >=
		       RM_INCIDENT_SERVICES_NS);
}

/* A group of links forms, changes or ends. Its links may do so again and again, so
 * changes are announced at intervals; but at once if the whole switch is at fault now.
 */
static bool
has_other_links(const struct incident_entry *entry, const struct rm_verdict *verdict,
    const struct judgement *judgement)
{
	const struct rm_evidence *evidence = &verdict->evidence;
	const bool is_on_links =
	    rm_kind_is_links(verdict->kind) || verdict->part.type == RM_PART_LINK;

	if (!is_on_links && entry->announced_links.kind != verdict->kind)
		return true;
	if (entry->links_at.ns != 0 &&
	    rm_mono_since(judgement->now, entry->links_at) < entry->links_wait_ns)
		return false;
	return entry->announced_links.kind != verdict->kind ||
	       strcmp(entry->announced_links.names, evidence->links) != 0 ||
	       entry->announced_links.down != evidence->links_down ||
	       entry->announced_links.lossy != evidence->links_lossy ||
	       fabs(entry->announced_confidence - verdict->confidence) >
		   CONFIDENCE_STEP;
}

/* True: the verdict's kind, whether it has `observed`, or its ruled-out list differs
 * from the incident's; or the confidence has changed by more than CONFIDENCE_STEP since
 * the incident was last announced. */
static bool
has_changed(const struct incident_entry *entry, const struct rm_verdict *verdict)
{
	const struct rm_verdict *mine = &entry->incident.verdict;

	return mine->kind != verdict->kind ||
	       (mine->evidence.observed[0] == '\0') !=
		   (verdict->evidence.observed[0] == '\0') ||
	       ruled_out_differs(&mine->evidence, &verdict->evidence) ||
	       fabs(entry->announced_confidence - verdict->confidence) >
		   CONFIDENCE_STEP;
}

/* For an incident of one link: the switch of that link, if the verdict is on several
 * links of the switch, or on the whole switch. */
static const char *
widened(const struct rm_verdict *mine, const struct rm_verdict *verdict)
{
	return mine->part.type == RM_PART_LINK && verdict->part.type != RM_PART_LINK
		   ? verdict->part.name
		   : "";
}

/* If A is known already: a verdict on "A or B" gets the RNIC, the confidence and the
 * ruled-out list of A, and the impact of A if that is worse. */
static void
keep_known(const struct rm_verdict *mine, struct rm_verdict *undecided)
{
	const struct rm_evidence *known = &mine->evidence;
	struct rm_evidence *evidence = &undecided->evidence;

	undecided->rnic = mine->rnic;
	undecided->confidence = mine->confidence;
	memcpy(evidence->ruled_out, known->ruled_out, sizeof(evidence->ruled_out));
	evidence->ruled_out_count = known->ruled_out_count;
	if (is_less(evidence->impact, known->impact)) {
		evidence->impact = known->impact;
		strcpy(evidence->services, known->services);
	}
}

/* Keeps what counters have shown before: a dead cable counts no errors any more. */
static void
keep_counters(const struct rm_evidence *known, struct rm_evidence *now, rm_wall_t wall)
{
	now->counters_old = now->counters[0] == '\0';
	now->counters_at = now->counters_old ? known->counters_at : wall;
	if (now->counters_old)
		strcpy(now->counters, known->counters);
}

/* Gives the verdict the name of the incident, which never changes, and what is known
 * beside the name: the one of "A or B", or the switch of several links. */
static void
keep_names(const struct rm_verdict *mine, struct rm_verdict *verdict)
{
	struct rm_evidence *evidence = &verdict->evidence;

	snprintf(evidence->narrowed, sizeof(evidence->narrowed), "%s",
	    narrowed(mine, verdict));
	snprintf(evidence->widened, sizeof(evidence->widened), "%.*s",
	    RM_NAME_BYTES - 1, widened(mine, verdict));
	evidence->widened_is_tor =
	    evidence->widened[0] != '\0' && verdict->part.type == RM_PART_TOR;
	verdict->part = mine->part;
}

/* True: it has called on_event. */
static bool
incident_take(struct rm_incidents *incidents, struct incident_entry *entry,
    const struct rm_verdict *verdict, const struct judgement *judgement)
{
	struct rm_verdict *mine = &entry->incident.verdict;
	const struct rm_evidence known = mine->evidence;
	struct rm_verdict next = *verdict;
	const rm_wall_t start = mine->evidence.window_start;
	const int64_t late_ns = mine->evidence.late_ns;
	const struct incident_impact so_far =
	    incident_worst_impact(&known, &verdict->evidence);
	const bool of_links = rm_kind_is_links(mine->kind) ||
			      rm_kind_is_links(verdict->kind) ||
			      rm_kind_is_links(entry->announced_links.kind);
	const bool other_links = of_links && has_other_links(entry, verdict, judgement);
	const bool changed = other_links ||
			     (!of_links && has_changed(entry, verdict)) ||
			     mine->evidence.direction != verdict->evidence.direction ||
			     so_far.impact != mine->evidence.impact ||
			     has_other_services(entry, so_far.services, judgement) ||
			     strcmp(narrowed(mine, verdict), known.narrowed) != 0 ||
			     mine->evidence.loses_too != verdict->evidence.loses_too ||
			     (mine->evidence.counters[0] == '\0' &&
				 verdict->evidence.counters[0] != '\0');

	keep_names(mine, &next);
	*mine = next;
	if (rm_kind_is_links(verdict->kind))
		entry->links_seen = judgement->wall;
	if (rm_kind_is_links(verdict->kind))
		entry->links_judged = judgement->now;
	keep_counters(&known, &mine->evidence, judgement->wall);
	mine->evidence.window_start = start;
	mine->evidence.late_ns = late_ns;
	mine->evidence.impact = so_far.impact;
	strcpy(mine->evidence.services, so_far.services);
	if (!changed)
		return false;
	if (other_links) {
		if (rm_mono_since(judgement->now, entry->links_at) >=
		    RM_INCIDENT_LINKS_QUIET_NS)
			entry->links_wait_ns = 0;
		entry->links_wait_ns = longer_ns(entry->links_wait_ns,
		    RM_INCIDENT_LINKS_NS, RM_INCIDENT_LINKS_MAX_NS);
		entry->links_at = judgement->now;
	}
	if (strcmp(entry->announced_services, so_far.services) != 0)
		entry->services_at = judgement->now;
	incident_note_announced(entry);
	entry->incident.changed = judgement->wall;
	incidents->counts.updated++;
	judgement->on_event(RM_INCIDENT_UPDATED, &entry->incident, judgement->arg);
	return true;
}

/* Uses what the verdict shows. True: it has called on_event. */
static bool
incident_use(struct rm_incidents *incidents, struct incident_entry *entry,
    const struct rm_verdict *verdict, const struct judgement *judgement)
{
	const struct rm_verdict *mine = &entry->incident.verdict;
	const char *known = mine->evidence.narrowed;
	struct rm_verdict undecided;

	/* A verdict on "A or B" neither confirms nor refutes the known part. */
	if (known[0] != '\0' && strstr(verdict->part.name, RM_PART_OR) != NULL) {
		undecided = *verdict;
		keep_known(mine, &undecided);
		return incident_take(incidents, entry, &undecided, judgement);
	}
	if (known[0] != '\0' && strcmp(verdict->part.name, known) != 0 &&
	    !is_replaced(incidents, entry, verdict, judgement))
		return false;
	entry->rival[0] = '\0';
	entry->rival_ns = 0;
	return incident_take(incidents, entry, verdict, judgement);
}

void
incident_remember(struct rm_incidents *incidents, struct incident_entry *entry)
{
	const size_t max = incidents->options.max_closed;

	if (incidents->closed_count == max)
		free(incidents->closed[incidents->closed_next]);
	else
		incidents->closed_count++;
	incidents->closed[incidents->closed_next] = entry;
	incidents->closed_next = (incidents->closed_next + 1) % max;
}

static void
incident_resolve(
    struct rm_incidents *incidents, size_t i, const struct judgement *judgement)
{
	const bool kept = incidents->options.max_closed > 0;
	struct incident_entry *entry = incidents->open[i];

	incidents->open_count--;
	memmove(&incidents->open[i], &incidents->open[i + 1],
	    (incidents->open_count - i) * sizeof(struct incident_entry *));
	entry->incident.resolved = entry->incident.changed = judgement->wall;
	entry->resolved = judgement->now;
	entry->incident.good_since.ns = 0;
	incident_falls_keep(incidents, &entry->incident, judgement->now);
	incidents->counts.resolved++;
	/* Closed before on_event, because the listener may report in the call that the
	 * notice was sent. */
	if (kept)
		incident_remember(incidents, entry);
	judgement->on_event(RM_INCIDENT_RESOLVED, &entry->incident, judgement->arg);
	if (!kept)
		free(entry);
}

/* Adds to the evidence why the incident ends although the part is bad. */
__attribute__((format(printf, 2, 3))) static void
note_end(struct rm_incident *incident, const char *format, ...)
{
	struct rm_evidence *evidence = &incident->verdict.evidence;
	const size_t len = strlen(evidence->observed);
	char text[RM_EVIDENCE_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(evidence->observed + len, sizeof(evidence->observed) - len, "%s%s",
	    len > 0 ? "; " : "", text);
}

/* Ends an incident whose part has another fault now, and opens one on that. before: as
 * incident_open. Neither it nor the verdict may be those of the incident. */
static void
incident_replace(struct rm_incidents *incidents, const struct incident_entry *entry,
    const struct rm_verdict *verdict, const struct rm_incident *before,
    const struct judgement *judgement)
{
	for (size_t i = 0; i < incidents->open_count; i++) {
		if (incidents->open[i] != entry)
			continue;
		incident_resolve(incidents, i, judgement);
		break;
	}
	incident_open(incidents, verdict, before, judgement);
}

/* True: the part flaps with faults of this class, too, if it falls now. */
static bool
flaps_with(const struct rm_incidents *incidents, const struct rm_part *part,
    enum rm_fault fault, const char *links, rm_mono_t now)
{
	const struct rm_recurrence *known =
	    incident_falls_find(incidents, part, fault, links);
	struct rm_recurrence falls;

	if (known == NULL)
		return false;
	falls = *known;
	rm_recurrence_fall(&falls, now, incidents->options.flap_within_ns);
	return falls.flaps;
}

/* A flapping part that was good has fallen with a fault of another class. True: the
 * part flaps with such faults, too, so the incident continues as one of that class. */
static bool
is_turned(struct rm_incidents *incidents, struct incident_entry *entry,
    enum rm_fault fault, const struct rm_verdict *verdict,
    const struct judgement *judgement)
{
	struct rm_incident *incident = &entry->incident;

	if (!flaps_with(incidents, &incident->verdict.part, fault,
		verdict->evidence.links, judgement->now))
		return false;
	incident_falls_keep(incidents, incident, judgement->now);
	incident->fault = fault;
	incident->recurrence = (struct rm_recurrence){ 0 };
	incident->links = (struct rm_incident_links){ 0 };
	if (fault == RM_FAULT_LINKS)
		incident_add_links(incident, verdict);
	return true; /* the fall is counted with those that are remembered */
}

/* True: the fault of a flapping part is worse than its receivers know. */
static bool
is_worse(const struct rm_incident *incident, const struct rm_verdict *verdict)
{
	/* An impact that is not known yet is not a worse one. */
	const struct incident_impact worst =
	    incident_worst_impact(&incident->verdict.evidence, &verdict->evidence);

	return (incident->severity != RM_SEVERITY_UNSET &&
		   rm_severity(verdict->kind, worst.impact) > incident->severity) ||
	       (!incident->is_total && incident_kind_is_total(verdict->kind));
}

static void
incident_update(struct rm_incidents *incidents, struct incident_entry *entry,
    const struct rm_verdict *verdict, const struct judgement *judgement)
{
	struct rm_incident *incident = &entry->incident;
	const enum rm_fault fault = incident_fault_of(verdict->kind);
	const bool is_widening = fault == RM_FAULT_LINKS &&
				 incident->fault == RM_FAULT_LOSSES &&
				 incident->verdict.part.type == RM_PART_LINK;
	bool is_same = is_widening || incident_is_same_fault(incident, verdict);
	const char *known = incident->verdict.evidence.narrowed;
	/* it names B, and A is known: this alone does not show that B is at fault */
	const bool is_on_other = known[0] != '\0' &&
				 strstr(verdict->part.name, RM_PART_OR) == NULL &&
				 strcmp(verdict->part.name, known) != 0;
	struct incident_impact impact;
	struct rm_incident before;
	struct rm_verdict worse;
	bool is_due, is_begun;

	if (!is_same && entry->was_good && !entry->held) {
		is_same = is_turned(incidents, entry, fault, verdict, judgement);
		if (!is_same) {
			note_end(incident, "it has another fault now: %s",
			    rm_kind_str(verdict->kind));
			incident_replace(incidents, entry, verdict, NULL, judgement);
			return;
		}
	}
	entry->alone.type = 0;
	if (entry->was_good && incident->fault == RM_FAULT_LINKS)
		entry->is_apart = fault != RM_FAULT_LINKS;
	is_due = is_bad_again(incidents, entry, is_same, judgement);
	if (is_widening) {
		incident_falls_widen(incidents, incident, verdict, judgement->now);
		incident_falls_show(incident, judgement->now, judgement->wall);
	} else if (fault == RM_FAULT_LINKS && incident->fault == RM_FAULT_LINKS) {
		incident_add_links(incident, verdict);
	}
	if (fault == RM_FAULT_LINKS)
		entry->is_apart = false;
	/* The severity of the fall that opened it may be known some seconds later. */
	is_begun = !entry->fell_again &&
		   rm_mono_since(judgement->now, incident->recurrence.at[0]) <
		       RM_INCIDENT_JOIN_NS;
	if (incident->recurrence.flaps && !is_begun && !entry->held && !is_on_other &&
	    is_worse(incident, verdict)) {
		before = *incident;
		worse = *verdict;
		keep_names(&incident->verdict, &worse);
		impact = incident_worst_impact(
		    &incident->verdict.evidence, &verdict->evidence);
		worse.evidence.impact = impact.impact;
		strcpy(worse.evidence.services, impact.services);
		note_end(incident, "its fault is worse now");
		incident_replace(incidents, entry, &worse, &before, judgement);
		return;
	}
	if (incident_kind_is_total(verdict->kind))
		incident->is_total = true;
	/* One event only: a second one at the same time would be a repetition. */
	if (incident_use(incidents, entry, verdict, judgement))
		entry->noted_at = judgement->now;
	else if (is_due)
		incident_note(entry, judgement);
}

/* "A or B or C" may be a switch and two of its links. */
static bool
are_alike(enum rm_part_type a, enum rm_part_type b)
{
	return a == b || (a == RM_PART_SWITCH && b == RM_PART_LINK) ||
	       (a == RM_PART_LINK && b == RM_PART_SWITCH);
}

bool
incident_is_narrowing(const struct rm_part *a, const struct rm_part *b)
{
	return are_alike(a->type, b->type) && strcmp(a->place, b->place) == 0 &&
	       (rm_part_names(a, b->name) || rm_part_names(b, a->name));
}

static struct incident_entry *
find_open(const struct rm_incidents *incidents, const struct rm_part *part)
{
	for (size_t i = 0; i < incidents->open_count; i++)
		if (rm_part_equal(&incidents->open[i]->incident.verdict.part, part))
			return incidents->open[i];
	return NULL;
}

static bool
is_delay(enum rm_kind kind)
{
	return kind == RM_KIND_LINK_LATE || kind == RM_KIND_SWITCH_LATE;
}

/* True: the verdict is on "A or B", and another verdict of this judgement is on A
 * alone, and both are on losses or both on delays. without_incident: that A has no
 * incident of its own. */
static bool
is_decided(const struct rm_incidents *incidents, const struct rm_verdict *verdict,
    const struct rm_verdict *verdicts, size_t count, bool without_incident)
{
	if (strstr(verdict->part.name, RM_PART_OR) == NULL)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct rm_part *one = &verdicts[i].part;

		if (strstr(one->name, RM_PART_OR) == NULL &&
		    incident_is_narrowing(&verdict->part, one) &&
		    is_delay(verdicts[i].kind) == is_delay(verdict->kind) &&
		    (!without_incident || find_open(incidents, one) == NULL))
			return true;
	}
	return false;
}

/* True: the incident is on "A or B" and known to be B, the verdict is on A, and another
 * verdict of this judgement is on B: so the one on A needs an incident of its own. */
static bool
is_for_another(const struct incident_entry *entry, const struct rm_part *part,
    const struct rm_verdict *verdicts, size_t count)
{
	const struct rm_part *mine = &entry->incident.verdict.part;
	const char *known = entry->incident.verdict.evidence.narrowed;

	if (known[0] == '\0' || strcmp(known, part->name) == 0)
		return false;
	for (size_t i = 0; i < count; i++)
		if (strcmp(verdicts[i].part.name, known) == 0 &&
		    incident_is_narrowing(mine, &verdicts[i].part))
			return true;
	return false;
}

static struct incident_entry *
find_narrowing(const struct rm_incidents *incidents, const struct rm_part *part,
    const struct rm_verdict *verdicts, size_t count)
{
	for (size_t i = 0; i < incidents->open_count; i++) {
		struct incident_entry *entry = incidents->open[i];

		if (!entry->judged &&
		    (!is_good_now(entry) ||
			strcmp(entry->incident.verdict.evidence.narrowed, part->name) ==
			    0) &&
		    incident_is_narrowing(&entry->incident.verdict.part, part) &&
		    !is_for_another(entry, part, verdicts, count))
			return entry;
	}
	return NULL;
}

/* ---- several links of one switch ---- */

/* True: the link's fault began with that of the several links (at most
 * RM_LINKS_TOGETHER_NS before it), or later. */
static bool
began_with(const struct rm_verdict *links, const struct rm_verdict *link)
{
	return link->evidence.window_start.ns >=
	       links->evidence.window_start.ns - RM_LINKS_TOGETHER_NS;
}

/* True: the verdict on several links lists this one. If the link is of an "A or B", the
 * verdict must list the part that is known. If neither is known, it must list one of
 * them, and the fault of "A or B" must have begun with that of the links: an older
 * fault may be that of the other part. */
static bool
is_listed(const struct rm_verdict *links, const struct rm_verdict *link)
{
	struct rm_part part = link->part;

	if (link->evidence.narrowed[0] != '\0')
		strcpy(part.name, link->evidence.narrowed);
	return rm_links_have(links->evidence.links, &part) &&
	       (strstr(part.name, RM_PART_OR) == NULL || began_with(links, link));
}

/* True: the list has no room for all of its links, and this may be one of the others.
 */
static bool
is_beyond_list(const struct rm_verdict *links, const struct rm_verdict *link)
{
	const struct rm_evidence *evidence = &links->evidence;
	const char *of =
	    evidence->widened[0] != '\0' ? evidence->widened : links->part.name;

	return rm_links_count(evidence->links) <
		   (size_t)evidence->links_down + evidence->links_lossy &&
	       rm_links_end_at(&link->part, of) && began_with(links, link);
}

/* The verdict on several links is on this one, too. */
static bool
has_link(const struct rm_verdict *links, const struct rm_verdict *link)
{
	return is_listed(links, link) || is_beyond_list(links, link);
}

/* Returns the incident on one of the links of this verdict, or of the switch if the
 * verdict is on the whole switch: the incident that was widened to the switch, or else,
 * for a verdict on several links, the oldest one. NULL: there is none. */
static struct incident_entry *
find_widened(const struct rm_incidents *incidents, const struct rm_verdict *verdict)
{
	const enum rm_part_type type = verdict->part.type;
	struct incident_entry *oldest = NULL;

	if (type != RM_PART_SWITCH && type != RM_PART_TOR)
		return NULL;
	for (size_t i = 0; i < incidents->open_count; i++) {
		struct incident_entry *entry = incidents->open[i];
		const struct rm_verdict *mine = &entry->incident.verdict;

		if (rm_kind_is_links(verdict->kind) &&
		    entry->incident.recurrence.flaps &&
		    incident_has_links(&entry->incident, verdict))
			return entry;
		if (is_good_now(entry))
			continue;
		if (strcmp(mine->evidence.widened, verdict->part.name) == 0)
			return entry;
		if (oldest == NULL && !entry->judged &&
		    mine->kind != RM_KIND_LINK_LATE &&
		    strstr(mine->part.name, RM_PART_OR) == NULL &&
		    has_link(verdict, mine))
			oldest = entry;
	}
	return oldest;
}

/* The time since the last verdict on several links of the incident, or since its fall
 * began if there was none since. */
static int64_t
since_links_ns(const struct incident_entry *entry, rm_mono_t now)
{
	const int64_t fall_ns = rm_mono_since(now, entry->incident.recurrence.at[0]);
	const int64_t links_ns = rm_mono_since(now, entry->links_judged);

	return entry->links_judged.ns == 0 || fall_ns < links_ns ? fall_ns : links_ns;
}

/* True: the verdict is on one of the links of this incident, and belongs to their
 * fault, although the last verdict on several of them, if there is one at this fall,
 * does not list it. */
static bool
is_one_of(const struct rm_incidents *incidents, const struct incident_entry *entry,
    const struct rm_verdict *verdict, bool has_links_now,
    const struct judgement *judgement)
{
	const struct rm_incident *incident = &entry->incident;
	const int64_t fall_ns =
	    rm_mono_since(judgement->now, incident->recurrence.at[0]);
	const bool flaps = incident->recurrence.flaps && incident->links.apart;
	bool may_join;

	if (entry->was_good)
		may_join = flaps && !flaps_with(incidents, &verdict->part,
					RM_FAULT_LOSSES, "", judgement->now);
	else if (has_links_now)
		may_join = flaps && fall_ns < RM_LINKS_TOGETHER_NS;
	else
		may_join = since_links_ns(entry, judgement->now) < RM_INCIDENT_JOIN_NS;
	return may_join && incident->fault == RM_FAULT_LINKS &&
	       strstr(verdict->part.name, RM_PART_OR) == NULL &&
	       rm_links_have(incident->links.names, &verdict->part) &&
	       !is_worse(incident, verdict);
}

/* True: one of the verdicts is on several links of this incident. */
static bool
has_verdict_on(
    const struct rm_incident *incident, const struct rm_verdict *verdicts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (rm_kind_is_links(verdicts[i].kind) &&
		    incident_has_links(incident, &verdicts[i]))
			return true;
	return false;
}

/* Returns the open incident on several links, one of which is the verdict's part. A
 * link that is not listed is one of them only if it failed before the last verdict on
 * these, or soon afterwards: otherwise it is another fault. */
static struct incident_entry *
find_links(const struct rm_incidents *incidents, const struct rm_verdict *verdict,
    const struct rm_verdict *verdicts, size_t count, const struct judgement *judgement)
{
	if (verdict->kind == RM_KIND_LINK_LATE)
		return NULL;
	for (size_t i = 0; i < incidents->open_count; i++) {
		struct incident_entry *entry = incidents->open[i];
		const struct rm_verdict *mine = &entry->incident.verdict;

		if (is_one_of(incidents, entry, verdict,
			has_verdict_on(&entry->incident, verdicts, count), judgement))
			return entry;
		if (rm_kind_is_links(mine->kind) && !is_good_now(entry) &&
		    !entry->is_apart &&
		    (is_listed(mine, verdict) ||
			(is_beyond_list(mine, verdict) &&
			    verdict->evidence.window_start.ns <=
				entry->links_seen.ns + RM_LINKS_TOGETHER_NS)))
			return entry;
	}
	return NULL;
}

/* The fault lasts, but the verdict is on a part of it: its evidence is not used. */
static void
incident_lasts(struct rm_incidents *incidents, struct incident_entry *entry,
    const struct rm_part *link, const struct judgement *judgement)
{
	if (entry->was_good) {
		entry->is_apart = true;
		if (entry->incident.recurrence.flaps)
			entry->alone = *link;
		entry->before_alone = entry->incident.recurrence;
		entry->good_before_ns = entry->good_ns;
	} else if (!rm_part_equal(&entry->alone, link)) {
		entry->alone.type = 0;
	}
	if (is_bad_again(incidents, entry, true, judgement))
		incident_note(entry, judgement);
}

/* Ends the incidents on single links that this verdict lists: their faults continue in
 * its incident. */
static void
fold_links(struct rm_incidents *incidents, const struct rm_verdict *verdict,
    const struct judgement *judgement)
{
	struct rm_incident *taker = NULL; /* the incident of the verdict */

	for (size_t i = 0; i < incidents->open_count && taker == NULL; i++)
		if (incidents->open[i]->judged &&
		    incident_has_links(&incidents->open[i]->incident, verdict))
			taker = &incidents->open[i]->incident;
	for (size_t i = incidents->open_count; i-- > 0;) {
		struct incident_entry *entry = incidents->open[i];
		const struct rm_verdict *mine = &entry->incident.verdict;

		if (entry->judged || entry->held ||
		    !(is_good_now(entry) ? is_listed(verdict, mine)
					 : has_link(verdict, mine)))
			continue;
		if (taker != NULL)
			taker->links.apart = true;
		if (entry->incident.fault == RM_FAULT_LOSSES && !is_good_now(entry))
			incident_falls_uncount(&entry->incident);
		note_end(&entry->incident,
		    "it is one of several links of %s now, which have one incident",
		    verdict->part.name);
		incident_resolve(incidents, i, judgement);
	}
}

/* Adds the time since the last judgement to that for which the part was good. */
static void
add_good_time(struct incident_entry *entry, enum rm_health health,
    const struct judgement *judgement)
{
	const int64_t since_ns = rm_mono_since(judgement->now, entry->good_at);
	struct rm_recurrence *recurrence = &entry->incident.recurrence;
	const bool is_good = health == RM_HEALTH_GOOD || health == RM_HEALTH_GONE;
	const bool is_seen = is_good && entry->good;

	if (health == RM_HEALTH_BAD)
		entry->good_ns = 0;
	else if (entry->good_at.ns != 0 && (is_seen || is_good_now(entry)))
		entry->good_ns += since_ns;
	/* What was not seen to be good does not count as up. */
	if (!is_seen && entry->was_good && entry->good_at.ns != 0)
		recurrence->up_since = rm_mono_add(recurrence->up_since, since_ns);
	entry->good = is_good;
	entry->good_at = judgement->now;
}

/* Call it when a fall ends at which only one of the flapping links has failed. Counts
 * it as a fall of that link alone, because the other links were good. If the link has
 * its own incident, that incident counts the fall. */
static void
leave_alone(struct rm_incidents *incidents, struct incident_entry *entry,
    const struct judgement *judgement)
{
	struct rm_incident *incident = &entry->incident;
	const struct rm_recurrence *fall = &incident->recurrence;

	if (find_open(incidents, &entry->alone) == NULL)
		incident_falls_count(
		    incidents, &entry->alone, fall->at[0], fall->up_since);
	entry->alone.type = 0;
	incident->recurrence = entry->before_alone;
	entry->good_ns += entry->good_before_ns;
	incident_falls_show(incident, judgement->now, judgement->wall);
}

/*
 * True: there is evidence that the part of an incident without a verdict works. Time
 * without evidence does not count, and does not restart the wait either: otherwise an
 * incident on a host that stops again and again would never end. Only if the incident
 * would have ended already, if its part were not flapping, does such time count.
 */
static bool
has_recovered(struct rm_incidents *incidents, struct incident_entry *entry,
    enum rm_health health, const struct judgement *judgement)
{
	struct rm_incident *incident = &entry->incident;
	bool is_over;

	add_good_time(entry, health, judgement);
	is_over = entry->good_ns >= incidents->options.resolve_after_ns;
	if (entry->good && is_over && !entry->was_good) {
		entry->was_good = true;
		entry->is_apart = false;
		incident->recurrence.up_since =
		    rm_mono_add(judgement->now, -entry->good_ns);
		if (entry->alone.type != 0)
			leave_alone(incidents, entry, judgement);
	}
	if (health == RM_HEALTH_GONE && is_over)
		return true;
	if ((entry->good || is_good_now(entry)) &&
	    entry->good_ns >= incident_resolve_after_ns(incidents, incident))
		return true;
	if (health == RM_HEALTH_BAD && is_good_now(entry)) {
		incident->good_since.ns = 0;
		incident_note(entry, judgement);
	} else if (entry->good && is_over && !is_good_now(entry) &&
		   is_kept_open(incident) && !is_fast(incident)) {
		incident->good_since = judgement->wall;
		incident_note(entry, judgement);
	}
	return false;
}

void
rm_incidents_judge(struct rm_incidents *incidents, rm_mono_t now, rm_wall_t wall,
    const struct rm_verdict *verdicts, size_t count,
    enum rm_health (*health)(const struct rm_verdict *verdict, void *arg),
    void (*on_event)(
	enum rm_incident_event event, const struct rm_incident *incident, void *arg),
    void *arg)
{
	const int64_t since_ns =
	    incidents->judged_at.ns != 0 ? rm_mono_since(now, incidents->judged_at) : 0;
	const struct judgement judgement = { now, wall, since_ns, on_event, arg };

	incidents->judged_at = incidents->clock_mono = now;
	incidents->clock_wall = wall;
	for (size_t i = 0; i < incidents->open_count; i++) {
		incidents->open[i]->judged = false;
		if (incidents->open[i]->links_seen.ns == 0)
			incidents->open[i]->links_seen = wall;
	}
	/* Verdicts with equal names come first: an incident on "A or B" takes a verdict
	 * on A only if A has no incident of its own. If it takes one, a verdict on "A
	 * or B" of the same judgement is left out: it is on the same fault. */
	for (size_t i = 0; i < count; i++) {
		struct incident_entry *entry = find_open(incidents, &verdicts[i].part);

		if (entry != NULL &&
		    !is_decided(incidents, &verdicts[i], verdicts, count, true))
			incident_update(incidents, entry, &verdicts[i], &judgement);
	}
	for (size_t i = 0; i < count; i++) {
		struct incident_entry *entry;

		if (find_open(incidents, &verdicts[i].part) != NULL ||
		    is_decided(incidents, &verdicts[i], verdicts, count, false))
			continue;
		entry = find_narrowing(incidents, &verdicts[i].part, verdicts, count);
		if (entry == NULL)
			entry = find_widened(incidents, &verdicts[i]);
		if (entry != NULL)
			incident_update(incidents, entry, &verdicts[i], &judgement);
		else if ((entry = find_links(incidents, &verdicts[i], verdicts, count,
			      &judgement)) != NULL)
			incident_lasts(incidents, entry, &verdicts[i].part, &judgement);
		else
			incident_open(incidents, &verdicts[i], NULL, &judgement);
	}
	for (size_t i = 0; i < count; i++)
		if (rm_kind_is_links(verdicts[i].kind))
			fold_links(incidents, &verdicts[i], &judgement);
	for (size_t i = incidents->open_count; i-- > 0;) {
		struct incident_entry *entry = incidents->open[i];

		if (!entry->judged &&
		    has_recovered(incidents, entry,
			health(&entry->incident.verdict, arg), &judgement) &&
		    !entry->held)
			incident_resolve(incidents, i, &judgement);
	}
}

const struct rm_incident *
rm_incidents_get(const struct rm_incidents *incidents, size_t i)
{
	if (i < incidents->open_count)
		return &incidents->open[incidents->open_count - 1 - i]->incident;
	i -= incidents->open_count;
	if (i < incidents->closed_count)
		return &incident_closed(incidents, i)->incident;
	return NULL;
}

size_t
rm_incidents_open(const struct rm_incidents *incidents)
{
	return incidents->open_count;
}

static struct rm_incident *
find_id(const struct rm_incidents *incidents, uint64_t id)
{
	for (size_t i = 0; i < incidents->open_count; i++)
		if (incidents->open[i]->incident.id == id)
			return &incidents->open[i]->incident;
	for (size_t i = 0; i < incidents->closed_count; i++)
		if (incident_closed(incidents, i)->incident.id == id)
			return &incident_closed(incidents, i)->incident;
	return NULL;
}

bool
rm_incidents_notified(struct rm_incidents *incidents, uint64_t id, bool resolved)
{
	struct rm_incident *incident = find_id(incidents, id);
	bool *notified;

	if (incident == NULL)
		return false;
	notified = resolved ? &incident->notified_resolved : &incident->notified_opened;
	if (*notified)
		return false;
	*notified = true;
	return true;
}

const struct rm_incident_counts *
rm_incidents_counts(const struct rm_incidents *incidents)
{
	return &incidents->counts;
}

/* ---- as JSON ---- */

static int
set_time(json_t *json, const char *key, rm_wall_t t)
{
	char text[RM_WALL_TEXT];

	if (t.ns == 0)
		return json_object_set_new(json, key, json_null());
	rm_wall_format(t, text);
	return json_object_set_new(json, key, json_string(text));
}

static void
duration_text(int64_t ns, char ret[32])
{
	const int64_t seconds = ns > 0 ? ns / RM_NS_PER_S : 0;

	if (seconds < 120)
		snprintf(ret, 32, "%" PRId64 " s", seconds);
	else
		snprintf(ret, 32, "%" PRId64 " min", (seconds + 30) / 60);
}

/* From the first fall to the last one. On the monotonic clock: the wall clock may have
 * been set in between. 0: not known, because the host had no clock when the falls were
 * saved. */
static int64_t
flapping_ns(const struct rm_incident *incident)
{
	return rm_mono_since(incident->recurrence.at[0], incident->recurrence.since);
}

void
rm_incident_flapping(
    const struct rm_incident *incident, char ret[RM_INCIDENT_FLAP_TEXT])
{
	const int64_t span_ns = flapping_ns(incident);
	char span[32], every[32];
	int used;

	ret[0] = '\0';
	if (incident->flaps_since.ns == 0 || incident->returns == 0)
		return;
	duration_text(span_ns, span);
	duration_text(span_ns / (int64_t)incident->returns, every);
	used = snprintf(ret, RM_INCIDENT_FLAP_TEXT, "it came back %" PRIu64 " times",
	    incident->returns);
	if (span_ns > 0)
		used += snprintf(ret + used, RM_INCIDENT_FLAP_TEXT - (size_t)used,
		    " within %s, about every %s", span, every);
	else
		used += snprintf(ret + used, RM_INCIDENT_FLAP_TEXT - (size_t)used,
		    ", in a time that is not known");
	if (incident->good_since.ns != 0)
		snprintf(ret + used, RM_INCIDENT_FLAP_TEXT - (size_t)used,
		    ", and works now");
}

void
rm_incident_sentence(const struct rm_incident *incident, char *out, size_t len)
{
	char flapping[RM_INCIDENT_FLAP_TEXT];
	size_t used;

	rm_verdict_sentence(&incident->verdict, out, len);
	rm_incident_flapping(incident, flapping);
	used = strlen(out);
	if (flapping[0] != '\0')
		snprintf(out + used, len - used, " Flapping: %s.", flapping);
}

static json_t *
flapping_json(const struct rm_incident *incident)
{
	const int64_t span_ns = flapping_ns(incident);
	char since[RM_WALL_TEXT];

	if (incident->flaps_since.ns == 0)
		return json_null();
	rm_wall_format(incident->flaps_since, since);
	return json_pack("{s:s, s:I, s:o}", "since", since, "returns",
	    (json_int_t)incident->returns, "per_minute",
	    span_ns > 0 ? json_real((double)incident->returns * 60 *
				    (double)RM_NS_PER_S / (double)span_ns)
			: json_null());
}

json_t *
rm_incident_json(const struct rm_incident *incident)
{
	json_t *json = rm_verdict_json(&incident->verdict);
	char id[17];

	if (json == NULL)
		return NULL;
	snprintf(id, sizeof id, "%016" PRIx64, incident->id);
	if (json_object_set_new(json, "id", json_string(id)) < 0 ||
	    json_object_set_new(json, "state",
		json_string(incident->resolved.ns == 0 ? "open" : "resolved")) < 0 ||
	    json_object_set_new(json, "severity",
		json_string(rm_severity_str(incident->severity))) < 0 ||
	    json_object_set_new(
		json, "reopened", json_integer((json_int_t)incident->reopened)) < 0 ||
	    json_object_set_new(json, "flapping", flapping_json(incident)) < 0 ||
	    set_time(json, "opened", incident->opened) < 0 ||
	    set_time(json, "changed", incident->changed) < 0 ||
	    set_time(json, "resolved", incident->resolved) < 0 ||
	    set_time(json, "good_since", incident->good_since) < 0) {
		json_decref(json);
		return NULL;
	}
	return json;
}
