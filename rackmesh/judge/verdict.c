#include "rackmesh/judge/verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct {
	const char *name;
	const char *reports; /* follows the part's name in the sentence */
} kinds[RM_KINDS] = {
	[RM_KIND_RNIC_DOWN] = { "rnic-down", "neither sends nor receives" },
	[RM_KIND_RNIC_SEND_DEAD] = { "rnic-send-dead",
	    "receives packets, but those that it sends do not arrive" },
	[RM_KIND_RNIC_RECEIVE_DEAD] = { "rnic-receive-dead",
	    "sends packets, but those sent to it do not arrive" },
	[RM_KIND_RNIC_LOSSY] = { "rnic-lossy", "loses packets" },
	[RM_KIND_HOST_DOWN] = { "host-down", "is down" },
	[RM_KIND_AGENT_DOWN] = { "agent-down", "is not running" },
	[RM_KIND_AGENT_FROZEN] = { "agent-frozen", "is frozen" },
	[RM_KIND_MANAGEMENT_DOWN] = { "management-down",
	    "cannot be reached over the management network" },
	[RM_KIND_TOR_DOWN] = { "tor-down", "or its uplinks forward nothing" },
	[RM_KIND_LINK_DOWN] = { "link-down", "carries nothing" },
	[RM_KIND_LINK_LOSSY] = { "link-lossy", "loses packets" },
	[RM_KIND_SWITCH_DOWN] = { "switch-down", "forwards nothing" },
	[RM_KIND_SWITCH_LOSSY] = { "switch-lossy", "loses packets" },
	[RM_KIND_FLOWS_BLACKHOLED] = { "flows-blackholed",
	    "loses all packets of some flows and none of others" },
	[RM_KIND_PATH_LOSSY] = { "path-lossy", "loses packets at an unknown place" },
	[RM_KIND_RACK_BLIND] = { "rack-blind", "is not monitored" },
	[RM_KIND_AGGREGATOR_DOWN] = { "aggregator-down",
	    "sends nothing to the analyzer" },
	[RM_KIND_REGION_BLIND] = { "region-blind", "sends nothing to the analyzer" },
	[RM_KIND_RNIC_MTU] = { "rnic-mtu", "loses large packets" },
	[RM_KIND_RNIC_SEND_FAILED] = { "rnic-send-failed",
	    "cannot send the packets of its own host" },
	[RM_KIND_AGENT_CONTRADICTED] = { "agent-contradicted",
	    "sends reports that other agents contradict" },
	[RM_KIND_PAIR_CONTRADICTED] = { "pair-contradicted",
	    "or the path between the two is at fault, or one of their agents is "
	    "wrong" },
	[RM_KIND_CERTIFICATE_ENDING] = { "certificate-ending",
	    "has a certificate that ends soon" },
	[RM_KIND_CLASS_REWRITTEN] = { "class-rewritten",
	    "arrives with another DSCP than it was sent with" },
	[RM_KIND_RNIC_LATE] = { "rnic-late", "delays packets" },
	[RM_KIND_LINK_LATE] = { "link-late", "delays packets" },
	[RM_KIND_SWITCH_LATE] = { "switch-late", "delays packets" },
	[RM_KIND_PATH_LATE] = { "path-late", "delays packets at an unknown place" },
	[RM_KIND_LINKS_DOWN] = { "links-down", "has links that carry nothing" },
	[RM_KIND_LINKS_LOSSY] = { "links-lossy", "has links that lose packets" },
	[RM_KIND_RNIC_FLAPPING] = { "rnic-flapping", "goes down and comes up again" },
};

static const struct {
	const char *name;
	const char *reports; /* follows "loses packets" */
} directions[RM_DIRECTIONS] = {
	[RM_DIRECTION_UNKNOWN] = { "", "" },
	[RM_DIRECTION_RECEIVE] = { "receive", " that are sent to it" },
	[RM_DIRECTION_SEND] = { "send", " that it sends" },
	[RM_DIRECTION_BOTH] = { "both", " that it sends and that are sent to it" },
};

struct text {
	char *out;
	size_t len, at;
};

static void __attribute__((format(printf, 2, 3)))
text_add(struct text *text, const char *format, ...)
{
	va_list args;
	int n;

	if (text->at + 1 >= text->len)
		return;
	va_start(args, format);
	n = vsnprintf(text->out + text->at, text->len - text->at, format, args);
	va_end(args);
	if (n > 0)
		text->at += (size_t)n;
	if (text->at >= text->len)
		text->at = text->len - 1;
}

const char *
rm_kind_str(enum rm_kind kind)
{
	if (kind < RM_KIND_RNIC_DOWN || kind >= RM_KINDS)
		return "unknown";
	return kinds[kind].name;
}

bool
rm_kind_is_links(enum rm_kind kind)
{
	return kind == RM_KIND_LINKS_DOWN || kind == RM_KIND_LINKS_LOSSY;
}

/* if a larger share arrives, the ToR forwards packets inside its rack */
#define INSIDE_ARRIVED 0.75

bool
rm_tor_fails_inside(const struct rm_leg_counts *inside)
{
	return inside->sent > 0 &&
	       (double)inside->arrived < INSIDE_ARRIVED * (double)inside->sent;
}

const char *
rm_direction_str(enum rm_direction direction)
{
	return direction > RM_DIRECTION_UNKNOWN && direction < RM_DIRECTIONS
		   ? directions[direction].name
		   : "";
}

const char *
rm_impact_str(enum rm_impact impact)
{
	static const char *const names[RM_IMPACTS] = { "unknown", "P0", "P1", "P2" };

	return impact < RM_IMPACTS ? names[impact] : names[RM_IMPACT_UNKNOWN];
}

bool
rm_impact_parse(const char *text, enum rm_impact *ret)
{
	for (int i = 0; i < RM_IMPACTS; i++)
		if (strcmp(text, rm_impact_str((enum rm_impact)i)) == 0) {
			*ret = (enum rm_impact)i;
			return true;
		}
	return false;
}

void
rm_verdict_impact(const struct rm_verdict *verdict, char *out, size_t len)
{
	const struct rm_evidence *evidence = &verdict->evidence;

	snprintf(out, len, "%s%s%s", rm_impact_str(evidence->impact),
	    evidence->services[0] != '\0' ? ": " : "", evidence->services);
}

/* Adds the direction and the class of the lost packets if the kind does not name them.
 */
static void
text_direction(struct text *text, const struct rm_verdict *verdict)
{
	const enum rm_direction direction = verdict->evidence.direction;

	if (verdict->evidence.one_class && (verdict->kind == RM_KIND_LINK_LOSSY ||
					       verdict->kind == RM_KIND_SWITCH_LOSSY ||
					       verdict->kind == RM_KIND_PATH_LOSSY))
		text_add(
		    text, ", but only packets with DSCP %u", verdict->evidence.dscp);
	if (verdict->kind != RM_KIND_RNIC_LOSSY && verdict->kind != RM_KIND_RNIC_MTU)
		return;
	if (direction > RM_DIRECTION_UNKNOWN && direction < RM_DIRECTIONS)
		text_add(text, "%s", directions[direction].reports);
	if (verdict->evidence.one_class)
		text_add(
		    text, ", but only packets with DSCP %u", verdict->evidence.dscp);
	if (verdict->kind == RM_KIND_RNIC_MTU)
		text_add(text, ", probably because an MTU is too small");
}

static const char *
kind_reports(enum rm_kind kind)
{
	if (kind < RM_KIND_RNIC_DOWN || kind >= RM_KINDS)
		return "is at fault";
	return kinds[kind].reports;
}

void
rm_verdict_certificate(struct rm_verdict *verdict, enum rm_part_type daemon,
    const char *name, int64_t ends_s)
{
	const time_t ends = ends_s;
	char when[sizeof "2026-11-20 04:10"] = "";
	struct tm tm;

	if (gmtime_r(&ends, &tm) == NULL ||
	    strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm) == 0)
		when[0] = '\0'; /* ends_s is out of range */
	*verdict = (struct rm_verdict){
		.part = { .type = daemon },
		.kind = RM_KIND_CERTIFICATE_ENDING,
		.confidence = 1,
		.evidence = { .impact = RM_IMPACT_P2 },
	};
	snprintf(verdict->part.name, sizeof verdict->part.name, "%.63s", name);
	snprintf(verdict->evidence.observed, RM_EVIDENCE_TEXT, "ends %s UTC", when);
}

static const char *
part_title(enum rm_part_type type)
{
	switch (type) {
	case RM_PART_RNIC:
		return "RNIC";
	case RM_PART_HOST:
		return "Host";
	case RM_PART_AGENT:
		return "The agent of host";
	case RM_PART_TOR:
		return "ToR";
	case RM_PART_LINK:
		return "Link";
	case RM_PART_SWITCH:
		return "Switch";
	case RM_PART_RACK:
		return "The rack of";
	case RM_PART_AGGREGATOR:
		return "Aggregator";
	case RM_PART_REGION:
		return "Region";
	case RM_PART_PATH:
		return "Path";
	case RM_PART_CONTROLLER:
		return "Controller";
	case RM_PART_ANALYZER:
		return "Analyzer";
	case RM_PART_CLASS:
		return "Class";
	default:
		return "Part";
	}
}

/* Adds "none of 12", "all 12" or "7 of 12". */
static void
text_share(struct text *text, uint64_t share, uint64_t of)
{
	if (share == 0)
		text_add(text, "none of %" PRIu64, of);
	else if (share >= of)
		text_add(text, "all %" PRIu64, of);
	else
		text_add(text, "%" PRIu64 " of %" PRIu64, share, of);
}

/* Adds how many packets that were sent to the part, and how many that it sent, arrived.
 */
static void
text_legs(struct text *text, const struct rm_evidence *evidence)
{
	const struct rm_leg_counts *to = &evidence->to_part,
				   *from = &evidence->from_part;

	if (to->sent > 0) {
		text_share(text, to->arrived, to->sent);
		text_add(text, " packets to it");
	}
	if (from->sent > 0) {
		text_add(text, "%s", to->sent > 0 ? " and " : "");
		text_share(text, from->arrived, from->sent);
		text_add(text, "%s from it", to->sent > 0 ? "" : " packets");
	}
	text_add(text, " arrived");
}

static void
text_figures(struct text *text, const struct rm_evidence *evidence, bool whole_rack)
{
	const char *join = "";

	if (evidence->peers > 0)
		text_add(text, ", as %u peer%s saw it, ", evidence->peers,
		    evidence->peers == 1 ? "" : "s");
	else
		text_add(text, " ");
	if (evidence->to_part.sent + evidence->from_part.sent > 0) {
		text_legs(text, evidence);
		join = ", ";
	}
	if (evidence->outside.sent > 0) {
		text_add(text, "%s", join);
		text_share(text, evidence->outside.arrived, evidence->outside.sent);
		text_add(text, whole_rack
				   ? " probes out of the rack were answered"
				   : " of its probes out of the rack were answered");
		join = whole_rack ? " and " : ", while ";
	}
	if (evidence->others.sent > 0) {
		text_add(text, "%s", join);
		text_share(text, evidence->others.arrived, evidence->others.sent);
		text_add(text, whole_rack ? " packets inside it arrived"
					  : " between the others arrived");
	}
}

static void
text_counters(struct text *text, const struct rm_evidence *evidence)
{
	char at[RM_WALL_TEXT];

	if (evidence->counters[0] == '\0')
		return;
	text_add(text, "; ");
	if (evidence->counters_old && evidence->counters_at.ns != 0) {
		rm_wall_format(evidence->counters_at, at);
		text_add(text, "as of %.*sZ: ", (int)strcspn(at, ".Z"), at);
	}
	text_add(text, "%s", evidence->counters);
}

#define LINKS_SHOWN 8
/* if this many links fail together, they may have a common cause */
#define CARD_LINKS 3

static void
text_links_list(struct text *text, const struct rm_evidence *evidence)
{
	const unsigned all = evidence->links_down + evidence->links_lossy;
	const char *at = evidence->links;
	struct rm_link link;
	unsigned shown = 0;

	for (; shown < LINKS_SHOWN && rm_links_next(&at, &link); shown++) {
		text_add(text, "%s", shown == 0 ? ": " : ", ");
		if (link.one_way)
			text_add(text, "%s (only from %s to %s)", link.name, link.from,
			    link.to);
		else
			text_add(text, "%s", link.name);
	}
	if (shown < all)
		text_add(text, " and %u more", all - shown);
}

/* Adds how many links of the switch are at fault, since when, and their names. */
static void
text_links(struct text *text, const struct rm_evidence *evidence)
{
	const unsigned down = evidence->links_down, lossy = evidence->links_lossy;
	char since[RM_WALL_TEXT];

	rm_wall_format(evidence->window_start, since);
	text_add(text, ": %u of its ", down > 0 ? down : lossy);
	if (evidence->links_of > 0)
		text_add(text, "%u ", evidence->links_of);
	text_add(text, "links ");
	if (down > 0)
		text_add(text, down == 1 ? "carries nothing" : "carry nothing");
	if (down > 0 && lossy > 0)
		text_add(text, " and %u ", lossy);
	if (lossy > 0)
		text_add(text, lossy == 1 ? "loses packets" : "lose packets");
	/* "2026-11-20T04:10:05.123Z": the time of the day. */
	text_add(text, " since %.8s UTC",
	    strlen(since) > 19 ? since + strlen("2026-11-20T") : since);
	if (down + lossy >= CARD_LINKS)
		text_add(text, " (a line card or a group of ports?)");
	text_links_list(text, evidence);
	if (evidence->to_part.sent == 0)
		return;
	text_add(
	    text, "; in %.1f s ", (double)evidence->window_ns / (double)RM_NS_PER_S);
	text_share(text, evidence->to_part.arrived, evidence->to_part.sent);
	text_add(text, " packets over them arrived");
}

#define LATE_SHOWN_NS RM_NS_PER_S

/* Writes what the verdict says about its part, without the figures. */
static void
text_kind(struct text *text, const struct rm_verdict *verdict)
{
	const struct rm_evidence *evidence = &verdict->evidence;

	text_add(text, " %s", kind_reports(verdict->kind));
	text_direction(text, verdict);
	if (evidence->observed[0] != '\0')
		text_add(text, ": %s", evidence->observed);
	if (evidence->to_part.sent > 0 || evidence->from_part.sent > 0 ||
	    evidence->outside.sent > 0 || evidence->others.sent > 0) {
		text_add(text, "%s in %.1f s",
		    evidence->observed[0] != '\0' ? ";" : ":",
		    (double)evidence->window_ns / (double)RM_NS_PER_S);
		/* Only other racks count packets that are sent to the ToR. */
		text_figures(text, evidence,
		    verdict->part.type == RM_PART_TOR && evidence->to_part.sent == 0);
	}
}

/* Returns the type of the known part of "A or B": A may be a switch, and B a link of
 * it. */
static enum rm_part_type
narrowed_type(const struct rm_part *part, const char *narrowed)
{
	struct rm_part link = { .type = RM_PART_LINK };
	char first[RM_PART_NAME_BYTES];
	char *end;

	snprintf(first, sizeof first, "%s", part->name);
	end = strstr(first, RM_PART_OR);
	if (end != NULL)
		*end = '\0';
	snprintf(link.name, sizeof link.name, "%s", narrowed);
	return part->type == RM_PART_SWITCH && rm_links_end_at(&link, first)
		   ? RM_PART_LINK
		   : part->type;
}

/* Returns the part that is at fault, as far as it is known now. */
static void
text_part(struct text *text, const struct rm_verdict *verdict)
{
	const struct rm_evidence *evidence = &verdict->evidence;

	if (evidence->widened[0] != '\0')
		text_add(text, "%s %s", evidence->widened_is_tor ? "ToR" : "Switch",
		    evidence->widened);
	else
		text_add(text, "%s %s",
		    part_title(narrowed_type(&verdict->part, evidence->narrowed)),
		    evidence->narrowed[0] != '\0' ? evidence->narrowed
						  : verdict->part.name);
	if (verdict->part.place[0] != '\0')
		text_add(text, " at %s", verdict->part.place);
}

void
rm_verdict_sentence(const struct rm_verdict *verdict, char *out, size_t len)
{
	const struct rm_evidence *evidence = &verdict->evidence;
	struct text text = { out, len, 0 };

	if (len == 0)
		return;
	out[0] = '\0';
	text_part(&text, verdict);
	if (rm_kind_is_links(verdict->kind))
		text_links(&text, evidence);
	else
		text_kind(&text, verdict);
	text_counters(&text, evidence);
	if (evidence->late_ns > LATE_SHOWN_NS)
		text_add(&text, "; this verdict came %.1f s later than usual",
		    (double)evidence->late_ns / (double)RM_NS_PER_S);
	text_add(&text, ".");
	for (size_t i = 0; i < evidence->ruled_out_count; i++)
		text_add(&text, "%s%s", i == 0 ? " Ruled out: " : "; ",
		    evidence->ruled_out[i]);
	if (evidence->ruled_out_count > 0)
		text_add(&text, ".");
}

static json_t *
legs_json(const struct rm_leg_counts *legs)
{
	return json_pack("{s:I, s:I}", "sent", (json_int_t)legs->sent, "arrived",
	    (json_int_t)legs->arrived);
}

static json_t *
sample_json(const struct rm_evidence_sample *sample)
{
	return json_pack("{s:s, s:s, s:i, s:i, s:i, s:I, s:s, s:s*}", "from",
	    sample->from, "to", sample->to, "src_port", (int)sample->src_port,
	    "size_bytes", (int)sample->size_bytes, "dscp", (int)sample->dscp, "seq",
	    (json_int_t)sample->seq, "outcome", sample->outcome, "path",
	    sample->path[0] != '\0' ? sample->path : NULL);
}

static json_t *
link_json(const struct rm_link *link)
{
	return link->one_way ? json_sprintf("%s->%s", link->from, link->to)
			     : json_string(link->name);
}

/* NULL: no memory. */
static json_t *
links_json(const struct rm_evidence *evidence)
{
	json_t *links = json_array();
	const char *at = evidence->links;
	struct rm_link link;

	while (links != NULL && rm_links_next(&at, &link))
		if (json_array_append_new(links, link_json(&link)) < 0) {
			json_decref(links);
			links = NULL;
		}
	return links;
}

static json_t *
lists_json(const struct rm_evidence *evidence)
{
	json_t *samples = json_array(), *ruled_out = json_array();
	bool ok = samples != NULL && ruled_out != NULL;

	for (size_t i = 0; ok && i < evidence->sample_count; i++)
		ok = json_array_append_new(
			 samples, sample_json(&evidence->samples[i])) == 0;
	for (size_t i = 0; ok && i < evidence->ruled_out_count; i++)
		ok = json_array_append_new(
			 ruled_out, json_string(evidence->ruled_out[i])) == 0;
	if (!ok) {
		json_decref(samples);
		json_decref(ruled_out);
		return NULL;
	}
	return json_pack("{s:o, s:o, s:o, s:i, s:i, s:i}", "samples", samples,
	    "ruled_out", ruled_out, "links", links_json(evidence), "links_down",
	    (int)evidence->links_down, "links_lossy", (int)evidence->links_lossy,
	    "links_of", (int)evidence->links_of);
}

static json_t *
evidence_json(const struct rm_evidence *evidence)
{
	const bool counted =
	    evidence->counters[0] != '\0' && evidence->counters_at.ns != 0;
	char start[RM_WALL_TEXT], counters_at[RM_WALL_TEXT];
	json_t *json, *lists;

	rm_wall_format(evidence->window_start, start);
	rm_wall_format(evidence->counters_at, counters_at);
	json = json_pack(
	    "{s:s, s:I, s:I, s:i, s:s, s:o, s:s, s:s, s:s, s:s, s:o, s:s, s:s, "
	    "s:o, s:o, s:o, s:o, s:o, s:s, s:s}",
	    "window_start", start, "window_ms",
	    (json_int_t)(evidence->window_ns / RM_NS_PER_MS), "late_ms",
	    (json_int_t)(evidence->late_ns / RM_NS_PER_MS), "peers",
	    (int)evidence->peers, "direction", rm_direction_str(evidence->direction),
	    "class", evidence->one_class ? json_integer(evidence->dscp) : json_null(),
	    "impact", rm_impact_str(evidence->impact), "services", evidence->services,
	    "observed", evidence->observed, "counters", evidence->counters,
	    "counters_at", counted ? json_string(counters_at) : json_null(), "narrowed",
	    evidence->narrowed, "widened", evidence->widened, "to_part",
	    legs_json(&evidence->to_part), "from_part", legs_json(&evidence->from_part),
	    "outside", legs_json(&evidence->outside), "others",
	    legs_json(&evidence->others), "service_probes",
	    legs_json(&evidence->service_probes), "lost_from", evidence->lost_from,
	    "lost_to", evidence->lost_to);
	lists = lists_json(evidence);
	if (json == NULL || lists == NULL || json_object_update(json, lists) < 0) {
		json_decref(json);
		json = NULL;
	}
	json_decref(lists);
	return json;
}

json_t *
rm_verdict_json(const struct rm_verdict *verdict)
{
	char sentence[RM_SENTENCE_BYTES], rnic[RM_RNIC_ID_TEXT] = "";

	rm_verdict_sentence(verdict, sentence, sizeof sentence);
	if (verdict->rnic.guid != 0)
		rm_rnic_id_format(verdict->rnic, rnic);
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:s, s:o}", "part_type",
	    rm_part_type_str(verdict->part.type), "part", verdict->part.name, "place",
	    verdict->part.place, "rnic", rnic, "kind", rm_kind_str(verdict->kind),
	    "confidence", verdict->confidence, "sentence", sentence, "evidence",
	    evidence_json(&verdict->evidence));
}
