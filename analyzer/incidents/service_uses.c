#define HASH_NONFATAL_OOM 1
#include "analyzer/incidents/service_uses.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "analyzer/incidents/sender_clock.h"
#include "rackmesh/core/fnv.h"
#include "rackmesh/judge/verdict.h"
#include "schemas/wire.h"

#define MAX_RACKS 16384
#define MAX_HOPS WIRE_MAX_HOPS
/* for this long after a loss, the service counts as losing probes */
#define LOST_NS (5 * RM_NS_PER_S)
/* If two aggregators took turns within this time, both still report the rack. Three
 * times the usual interval of summaries. */
#define BOTH_NS (30 * RM_NS_PER_S)
/* Number of changes of the reporting aggregator: from the first to the second, back to
 * the first, again to the second. */
#define BOTH_TURNS 3
#define REPORTS 2
#define MAX_ALTERNATIVES 64
#define MAX_NAMES 4
#define PARTS_BYTES (3 * RM_LINKS_BYTES) /* room for links with " or " between them */
#define MORE ", ..."

/* One use (wire_use_row). Names are stored and compared as hashes, because a region has
 * a million hops. Hash 0: no name. */
struct row {
	char *service;
	uint64_t use;         /* one hash of service, dst_tor and hops */
	uint64_t dst_tor;     /* 0: not known */
	uint64_t there, back; /* "tor1->tor2", "tor2->tor1"; 0: not known */
	uint64_t hops[MAX_HOPS];
	/* each link between a hop and the next one, "spine1--tor2" */
	uint64_t links[MAX_HOPS];
	size_t hop_count; /* number of hops; 0: the path is not known */
	bool is_gap;      /* some hops are not known */
	uint64_t lost_ns; /* end of the last summary with a loss, by the sender's clock;
			     0: none */
};

/* What one run of an aggregator, from its start to its end, has reported. */
struct report {
	uint64_t aggregator, incarnation; /* aggregator 0: no report so far */
	struct sender_clock clock;
	bool age_known; /* the age of one of its summaries was known when it arrived */
	/* arrival of its last summary that had not waited; ns 0: none */
	rm_mono_t last_seen;
	uint64_t end_ns; /* end of the summary with these rows, by that clock; 0: there
			    was none */
	bool all_flows;  /* the report contains all flows of the rack */
	struct row *rows;
	size_t count;
};

struct rack {
	char tor[RM_NAME_BYTES];
	uint64_t name_hash;
	struct report reports[REPORTS];
	/* number of changes from one sender to the other, up to BOTH_TURNS */
	unsigned turns;
	/* when it became known that both aggregators report; ns 0: never */
	rm_mono_t both;
	rm_mono_t last_seen; /* any summary */
	UT_hash_handle hh, by_name;
};

/* Answers are kept for a second: services are added to an open verdict four times a
 * second, and a region has many rows. */
#define ANSWERS 256
#define ANSWER_NS (1 * RM_NS_PER_S)

struct answer {
	uint64_t name_hash; /* hash of the part's name; 0: this entry is not used yet */
	rm_mono_t at;
	enum rm_impact impact;
	char services[RM_EVIDENCE_TEXT];
};

struct loss {
	uint64_t use, at_ns;
};

struct service_uses {
	struct rack *racks, *by_name;
	size_t count; /* number of rows of all racks */
	/* losses of one rack, used while its report is handled */
	struct loss losses[WIRE_MAX_USE_ROWS];
	struct answer answers[ANSWERS];
};

static uint64_t
hash_of(const char *name, size_t len)
{
	return len == 0 ? 0 : rm_fnv1a(RM_FNV1A, name, len) | 1;
}

struct service_uses *
service_uses_new(void)
{
	return calloc(1, sizeof(struct service_uses));
}

static void
rows_free(struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(rows[i].service);
	free(rows);
}

void
service_uses_free(struct service_uses *service_uses)
{
	struct rack *rack, *next;

	if (service_uses == NULL)
		return;
	HASH_CLEAR(by_name, service_uses->by_name);
	HASH_ITER (hh, service_uses->racks, rack, next) {
		HASH_DEL(service_uses->racks, rack);
		for (size_t i = 0; i < REPORTS; i++)
			rows_free(rack->reports[i].rows, rack->reports[i].count);
		free(rack);
	}
	free(service_uses);
}

/* ---- reports ---- */

struct hop {
	const char *name;
	size_t len; /* 0: not known */
};

static void
add_hop(struct row *row, struct hop before, struct hop hop)
{
	char link[2 * RM_NAME_BYTES + 2];
	int order;

	row->is_gap |= hop.len == 0;
	row->hops[row->hop_count++] = hash_of(hop.name, hop.len);
	if (before.len == 0 || hop.len == 0)
		return;
	order =
	    strncmp(before.name, hop.name, before.len < hop.len ? before.len : hop.len);
	if (order > 0 || (order == 0 && before.len > hop.len)) {
		const struct hop other = before;

		before = hop;
		hop = other;
	}
	snprintf(link, sizeof(link), "%.*s--%.*s", (int)before.len, before.name,
	    (int)hop.len, hop.name);
	row->links[row->hop_count - 2] = hash_of(link, strlen(link));
}

/* Returns the name in the text of one hop. A switch that the topology does not name has
 * its address as name, as in verdicts; but the ToR at an end of the path has its own
 * name. */
static struct hop
read_hop(const char *text, size_t len, const char *src, const char *dst)
{
	if (text[0] != '?')
		return (struct hop){ text, strcspn(text, "@ ") };
	if (src != NULL)
		return (struct hop){ src, strlen(src) };
	if (len <= strlen("?@"))
		return (struct hop){ NULL, 0 };
	if (dst != NULL && dst[0] != '\0')
		return (struct hop){ dst, strlen(dst) };
	return (struct hop){ text + strlen("?@"), len - strlen("?@") };
}

/* Reads the names out of "tor1@10.0.0.1 ? spine1@10.0.0.2". */
static void
read_path(struct row *row, const char *path, const char *src, const char *dst)
{
	struct hop before = { 0 };

	if (strcmp(path, "*") == 0)
		return;
	while (*path != '\0') {
		const size_t len = strcspn(path, " ");
		const struct hop hop = read_hop(path, len,
		    row->hop_count == 0 ? src : NULL, path[len] == '\0' ? dst : NULL);

		if (row->hop_count == MAX_HOPS) {
			row->is_gap = true;
			return;
		}
		add_hop(row, before, hop);
		before = hop;
		path += len + (path[len] == ' ');
	}
	/* The trace has ended before the destination's ToR. */
	if (row->dst_tor != 0 && hash_of(before.name, before.len) != row->dst_tor)
		row->is_gap = true;
}

static int64_t
age_ns(const struct report *report, uint64_t at_ns, rm_mono_t now)
{
	return sender_clock_age(&report->clock, at_ns, now);
}

static int
compare_losses(const void *a, const void *b)
{
	const struct loss *left = a, *right = b;

	return left->use < right->use ? -1 : left->use > right->use;
}

/* Copies the losses of the last seconds from the report's former rows to the same uses
 * in `rows`. The losses are sorted for the search: few rows have one. */
static void
keep_losses(struct service_uses *service_uses, const struct report *report,
    struct row *rows, size_t count, rm_mono_t now)
{
	struct loss *losses = service_uses->losses;
	size_t lossy = 0;

	for (size_t i = 0; i < report->count; i++) {
		const struct row *old = &report->rows[i];

		if (old->lost_ns != 0 && age_ns(report, old->lost_ns, now) <= LOST_NS)
			losses[lossy++] = (struct loss){ old->use, old->lost_ns };
	}
	if (lossy == 0)
		return;
	qsort(losses, lossy, sizeof(losses[0]), compare_losses);
	for (size_t i = 0; i < count; i++) {
		const struct loss wanted = { .use = rows[i].use };
		const struct loss *found;

		if (rows[i].lost_ns != 0)
			continue;
		found =
		    bsearch(&wanted, losses, lossy, sizeof(losses[0]), compare_losses);
		if (found != NULL)
			rows[i].lost_ns = found->at_ns;
	}
}

/* Copies text for sentences, alerts and the log: bytes other than printable ASCII
 * become '?'. NULL: out of memory. */
static char *
plain(const char *text)
{
	char *copy = strdup(text);

	for (char *at = copy; copy != NULL && *at != '\0'; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	return copy;
}

static void
read_ends(struct row *row, const char *src, const char *dst)
{
	char path[2 * RM_NAME_BYTES + 3];

	row->dst_tor = hash_of(dst, strlen(dst));
	if (row->dst_tor == 0)
		return;
	snprintf(path, sizeof(path), "%s->%s", src, dst);
	row->there = hash_of(path, strlen(path));
	snprintf(path, sizeof(path), "%s->%s", dst, src);
	row->back = hash_of(path, strlen(path));
}

static uint64_t
use_of(const struct row *row)
{
	uint64_t use = rm_fnv1a(RM_FNV1A, row->service, strlen(row->service));

	use = rm_fnv1a(use, &row->dst_tor, sizeof(row->dst_tor));
	return rm_fnv1a(use, row->hops, row->hop_count * sizeof(row->hops[0]));
}

/* Reads the first `count` rows of the summary. NULL: out of memory. */
static struct row *
read_rows(const struct wire_summary_view *view, size_t count)
{
	struct row *rows = calloc(count + 1, sizeof(*rows));

	for (size_t i = 0; rows != NULL && i < count; i++) {
		struct wire_use_row use;

		wire_summary_use(view, i, &use);
		rows[i].service = plain(use.service);
		if (rows[i].service == NULL) {
			rows_free(rows, i);
			return NULL;
		}
		read_ends(&rows[i], view->summary.tor, use.dst_tor);
		read_path(&rows[i], use.path, view->summary.tor, use.dst_tor);
		rows[i].use = use_of(&rows[i]);
		if (use.lost > 0)
			rows[i].lost_ns = view->summary.end_ns;
	}
	return rows;
}

static void
forget_rows(struct service_uses *service_uses, struct report *report)
{
	rows_free(report->rows, report->count);
	service_uses->count -= report->count;
	report->rows = NULL;
	report->count = 0;
	report->end_ns = 0;
	report->all_flows = false;
}

static bool
is_old(const struct report *report, rm_mono_t now)
{
	return report->end_ns == 0 ||
	       age_ns(report, report->end_ns, now) > SERVICE_USES_KEEP_NS;
}

static const struct report *
other_of(const struct rack *rack, const struct report *report)
{
	return &rack->reports[report == rack->reports ? 1 : 0];
}

/* True: the other aggregator of the rack has reported later, and not both of them
 * report it. So the other aggregator has replaced this one. */
static bool
is_replaced(const struct rack *rack, const struct report *report, rm_mono_t now)
{
	const bool both =
	    rack->both.ns != 0 && rm_mono_since(now, rack->both) <= BOTH_NS;

	return !both &&
	       rm_mono_since(other_of(rack, report)->last_seen, report->last_seen) > 0;
}

static bool
is_fresh(const struct rack *rack, const struct report *report, rm_mono_t now)
{
	return !is_old(report, now) && !is_replaced(rack, report, now) &&
	       sender_clock_is_steady(&report->clock, now);
}

/* Frees old rows, to make room for those of other racks, and racks without a summary
 * for a day. */
static void
forget_old(struct service_uses *service_uses, rm_mono_t now)
{
	struct rack *rack, *next;

	HASH_ITER (hh, service_uses->racks, rack, next) {
		for (size_t i = 0; i < REPORTS; i++)
			if (is_old(&rack->reports[i], now))
				forget_rows(service_uses, &rack->reports[i]);
		if (rm_mono_since(now, rack->last_seen) <= SERVICE_USES_FORGET_NS)
			continue;
		for (size_t i = 0; i < REPORTS; i++)
			forget_rows(service_uses, &rack->reports[i]);
		HASH_DELETE(by_name, service_uses->by_name, rack);
		HASH_DEL(service_uses->racks, rack);
		free(rack);
	}
}

/* Finds the rack, or adds it. NULL: too many racks, or out of memory. */
static struct rack *
rack_of(struct service_uses *service_uses, const char *tor)
{
	struct rack *rack;

	HASH_FIND_STR(service_uses->racks, tor, rack);
	if (rack != NULL || HASH_COUNT(service_uses->racks) >= MAX_RACKS)
		return rack;
	rack = calloc(1, sizeof(*rack));
	if (rack == NULL)
		return NULL;
	snprintf(rack->tor, sizeof(rack->tor), "%s", tor);
	rack->name_hash = hash_of(rack->tor, strlen(rack->tor));
	HASH_ADD_STR(service_uses->racks, tor, rack);
	if (rack->hh.tbl != NULL) {
		HASH_ADD(by_name, service_uses->by_name, name_hash,
		    sizeof(rack->name_hash), rack);
		if (rack->by_name.tbl != NULL)
			return rack;
		HASH_DEL(service_uses->racks, rack);
	}
	free(rack); /* uthash could not grow */
	return NULL;
}

/* Finds or adds the report of this run of the aggregator. A new run replaces the former
 * run of the same aggregator. A new aggregator gets a free place, or else replaces the
 * aggregator whose last_seen is older. */
static struct report *
report_of(struct service_uses *service_uses, struct rack *rack,
    const struct wire_summary *summary)
{
	const char *name = summary->head.aggregator;
	const uint64_t aggregator = hash_of(name, strlen(name));
	struct report *one = &rack->reports[0], *two = &rack->reports[1], *report;

	if (one->aggregator == aggregator)
		report = one;
	else if (two->aggregator == aggregator || one->aggregator == 0)
		report = two->aggregator == aggregator ? two : one;
	else
		report = two->aggregator == 0 ||
				 rm_mono_since(one->last_seen, two->last_seen) > 0
			     ? two
			     : one;
	if (report->aggregator == aggregator &&
	    report->incarnation == summary->head.incarnation)
		return report;
	forget_rows(service_uses, report);
	*report = (struct report){ .aggregator = aggregator,
		.incarnation = summary->head.incarnation };
	return report;
}

/* Detects that both aggregators report the rack: that they reported it alternately,
 * with three changes from one to the other. Two changes are not enough: an aggregator
 * that once delivers summaries from its spool, whose age is not known at first, causes
 * two. */
static void
note_seen(struct rack *rack, struct report *report, rm_mono_t now)
{
	const struct report *other = other_of(rack, report);

	if (report->last_seen.ns == 0 ||
	    rm_mono_since(now, report->last_seen) > BOTH_NS)
		rack->turns = 0;
	if (other->last_seen.ns != 0 &&
	    rm_mono_since(other->last_seen, report->last_seen) >= 0 &&
	    rack->turns < BOTH_TURNS)
		rack->turns++;
	if (rack->turns == BOTH_TURNS &&
	    rm_mono_since(other->last_seen, report->last_seen) >= 0)
		rack->both = now;
	report->last_seen = now;
}

static void
take_rows(struct service_uses *service_uses, struct report *report,
    const struct wire_summary_view *view, rm_mono_t now)
{
	const struct wire_summary *summary = &view->summary;
	const size_t room = SERVICE_USES_MAX - (service_uses->count - report->count);
	const size_t count = summary->use_count < room ? summary->use_count : room;
	struct row *rows = read_rows(view, count);

	if (rows == NULL)
		return;
	keep_losses(service_uses, report, rows, count, now);
	forget_rows(service_uses, report);
	service_uses->count += count;
	report->rows = rows;
	report->count = count;
	report->all_flows =
	    summary->uses_known == WIRE_USES_ALL && count == summary->use_count;
	report->end_ns = summary->end_ns;
}

/* Returns the age of a summary that has arrived now. The first summaries of a sender
 * may be a backlog: if the rack has another sender, they may be older than the
 * summaries of that sender. */
static int64_t
age_beside_other(
    const struct rack *rack, struct report *report, uint64_t end_ns, rm_mono_t now)
{
	const struct report *other = other_of(rack, report);

	if (sender_clock_is_steady(&report->clock, now))
		report->age_known = true;
	else if (other->last_seen.ns != 0 &&
		 rm_mono_since(now, other->last_seen) <= BOTH_NS)
		return other->age_known ? INT64_MAX : SERVICE_USES_AGE_IN_DOUBT;
	return age_ns(report, end_ns, now);
}

int64_t
service_uses_summary(struct service_uses *service_uses,
    const struct wire_summary_view *view, rm_mono_t now)
{
	const struct wire_summary *summary = &view->summary;
	struct report *report;
	struct rack *rack;
	int64_t ret;

	/* A rack whose aggregator is too old to report uses is added, too: it may have
	 * services that are not known. */
	rack = rack_of(service_uses, summary->tor);
	if (rack == NULL)
		return 0;
	rack->last_seen = now;
	if (summary->end_ns == 0 || summary->end_ns > SENDER_CLOCK_MAX_NS)
		return 0;
	report = report_of(service_uses, rack, summary);
	if (!sender_clock_note(&report->clock, summary->end_ns, now)) {
		forget_rows(service_uses, report);
		report->age_known = false;
	}
	ret = age_beside_other(rack, report, summary->end_ns, now);
	if (age_ns(report, summary->end_ns, now) <= LOST_NS)
		note_seen(rack, report, now);
	if (summary->uses_known != WIRE_USES_UNKNOWN)
		take_rows(service_uses, report, view, now);
	return ret;
}

/* ---- answers ---- */

struct target {
	uint64_t name_hash; /* of "spine1", "spine1--tor2", "tor1->tor2" */
	uint64_t racks[2];  /* hashes of those names in it that are ToRs */
	size_t rack_count;
	bool is_path;
};

struct found {
	const char *names[MAX_NAMES];
	size_t count;
	bool more;
	bool has_losses; /* these services lose probes */
	/* the path of some flow is not known, so more services may use the part */
	bool path_unknown;
};

/* True: name is "tor", or a link or path with this ToR at an end: "tor--b", "a->tor".
 */
static bool
is_end_of(const char *tor, const char *name, size_t len)
{
	const size_t tor_len = strlen(tor);
	const char *end;

	if (len == tor_len)
		return strncmp(name, tor, len) == 0;
	if (len < tor_len + 3)
		return false;
	end = name + len - tor_len;
	return (strncmp(name, tor, tor_len) == 0 && name[tor_len] == '-' &&
		   strchr("->", name[tor_len + 1]) != NULL) ||
	       (strncmp(end, tor, tor_len) == 0 && end[-2] == '-' &&
		   strchr("->", end[-1]) != NULL);
}

static struct target
target_of(const struct service_uses *service_uses, const char *name, size_t len)
{
	struct target target = {
		.name_hash = hash_of(name, len),
		.is_path = memmem(name, len, "->", 2) != NULL,
	};
	const struct rack *rack = service_uses->racks;

	for (; rack != NULL && target.rack_count < 2; rack = rack->hh.next)
		if (is_end_of(rack->tor, name, len))
			target.racks[target.rack_count++] = rack->name_hash;
	return target;
}

static size_t
targets_of(const struct service_uses *service_uses, const char *part,
    struct target targets[MAX_ALTERNATIVES])
{
	size_t count = 0;

	while (count < MAX_ALTERNATIVES && *part != '\0') {
		const char *next = strstr(part, RM_PART_OR);
		const size_t len = next == NULL ? strlen(part) : (size_t)(next - part);

		targets[count++] = target_of(service_uses, part, len);
		part += len + (next == NULL ? 0 : strlen(RM_PART_OR));
	}
	return count;
}

enum crossing { CROSSES_NOT, CROSSES_MAYBE, CROSSES };

static bool
has(const uint64_t *list, size_t count, uint64_t name)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == name)
			return true;
	return false;
}

/* True: the target is a ToR, or a link or path of it, and the row's flow neither begins
 * nor ends in the rack of this ToR, so it cannot cross the target. src: the row's own
 * rack. */
static bool
is_elsewhere(const struct row *row, const struct target *target, uint64_t src)
{
	for (size_t i = 0; i < target->rack_count; i++)
		if (target->racks[i] != src && target->racks[i] != row->dst_tor &&
		    row->dst_tor != 0)
			return true;
	return false;
}

static enum crossing
crosses(const struct row *row, const struct target *target, uint64_t src)
{
	const uint64_t name = target->name_hash;

	if (target->is_path && (row->there == name || row->back == name))
		return CROSSES;
	if (target->is_path)
		return row->dst_tor == 0 && has(target->racks, 2, src) ? CROSSES_MAYBE
								       : CROSSES_NOT;
	if (src == name || row->dst_tor == name ||
	    has(row->hops, row->hop_count, name) ||
	    has(row->links, row->hop_count, name))
		return CROSSES;
	/* A path with unknown hops may cross any part. */
	return src != row->dst_tor && (row->hop_count == 0 || row->is_gap) &&
		       !is_elsewhere(row, target, src)
		   ? CROSSES_MAYBE
		   : CROSSES_NOT;
}

/* Adds a name in alphabetical order, so that the names that fit do not depend on the
 * order of the rows. */
static void
add_name(struct found *found, const char *service)
{
	size_t at = 0;

	for (; at < found->count; at++) {
		const int order = strcmp(found->names[at], service);

		if (order == 0)
			return;
		if (order > 0)
			break;
	}
	found->more |= found->count == MAX_NAMES;
	if (at == MAX_NAMES)
		return;
	found->count += found->count < MAX_NAMES;
	memmove(&found->names[at + 1], &found->names[at],
	    (found->count - at - 1) * sizeof(found->names[0]));
	found->names[at] = service;
}

/* If services lose probes, only these are named; otherwise all are. */
static void
note(struct found *found, const char *service, bool has_losses)
{
	if (has_losses && !found->has_losses) {
		found->has_losses = true;
		found->more |= found->count > 0;
		found->count = 0; /* services without losses are not named */
	} else if (!has_losses && found->has_losses) {
		found->more = true;
		return;
	}
	add_name(found, service);
}

static void
find_in_report(const struct report *report, const struct target *target, uint64_t src,
    rm_mono_t now, struct found *found)
{
	for (size_t i = 0; i < report->count; i++) {
		const struct row *row = &report->rows[i];
		const enum crossing crossing = crosses(row, target, src);

		if (crossing == CROSSES)
			note(found, row->service,
			    row->lost_ns != 0 &&
				age_ns(report, row->lost_ns, now) <= LOST_NS);
		found->path_unknown |= crossing == CROSSES_MAYBE;
	}
}

static void
find_in_rack(const struct rack *rack, const struct target *target, rm_mono_t now,
    struct found *found)
{
	for (size_t i = 0; i < REPORTS; i++)
		if (is_fresh(rack, &rack->reports[i], now))
			find_in_report(
			    &rack->reports[i], target, rack->name_hash, now, found);
}

/* True: one of the rack's aggregators knows all flows of the rack. */
static bool
is_known(const struct rack *rack, rm_mono_t now)
{
	for (size_t i = 0; i < REPORTS; i++)
		if (rack->reports[i].all_flows &&
		    is_fresh(rack, &rack->reports[i], now))
			return true;
	return false;
}

static bool
is_known_rack(const struct service_uses *service_uses, uint64_t name, rm_mono_t now)
{
	const struct rack *rack;

	HASH_FIND(by_name, service_uses->by_name, &name, sizeof(name), rack);
	return rack != NULL && is_known(rack, now);
}

/* A rack reports the paths of its own packets. Packets to it may take other paths,
 * which the racks of the senders report: all of these must report all their flows. */
static bool
are_peers_of_report_known(const struct service_uses *service_uses,
    const struct rack *rack, const struct report *report, rm_mono_t now)
{
	uint64_t seen = rack->name_hash;

	for (size_t i = 0; i < report->count; i++) {
		const uint64_t peer = report->rows[i].dst_tor;

		if (peer == 0 || peer == rack->name_hash || peer == seen)
			continue;
		if (!is_known_rack(service_uses, peer, now))
			return false;
		seen = peer;
	}
	return true;
}

static bool
are_peers_known(
    const struct service_uses *service_uses, const struct rack *rack, rm_mono_t now)
{
	for (size_t i = 0; i < REPORTS; i++)
		if (is_fresh(rack, &rack->reports[i], now) &&
		    !are_peers_of_report_known(
			service_uses, rack, &rack->reports[i], now))
			return false;
	return true;
}

/* True: all flows that could cross the part are reported. For a ToR or a path the
 * reports of a rack at an end suffice; for a link at a ToR, those of its rack and of
 * all racks that it has connections with; for other parts, those of all racks. */
static bool
is_all_known(
    const struct service_uses *service_uses, const struct target *target, rm_mono_t now)
{
	const struct rack *rack = service_uses->racks;
	bool all = rack != NULL;

	for (; rack != NULL; rack = rack->hh.next) {
		const bool whole =
		    target->is_path || target->name_hash == rack->name_hash;

		if (!is_known(rack, now)) {
			all = false;
			continue;
		}
		if (!has(target->racks, target->rack_count, rack->name_hash))
			continue;
		if (whole || are_peers_known(service_uses, rack, now))
			return true;
		all = false;
	}
	for (rack = service_uses->racks; all && rack != NULL; rack = rack->hh.next)
		all = are_peers_known(service_uses, rack, now);
	return all;
}

static void
write_names(const struct found *found, char out[RM_EVIDENCE_TEXT])
{
	bool more = found->more;
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < found->count; i++) {
		const char *comma = i > 0 ? ", " : "";
		const size_t len = strlen(comma) + strlen(found->names[i]);

		if (at + len + sizeof(MORE) > RM_EVIDENCE_TEXT) {
			more = true;
			break;
		}
		at += (size_t)snprintf(
		    out + at, RM_EVIDENCE_TEXT - at, "%s%s", comma, found->names[i]);
	}
	if (more)
		snprintf(out + at, RM_EVIDENCE_TEXT - at, "%s", at == 0 ? "..." : MORE);
}

static void
find_impact(const struct service_uses *service_uses, const char *part, rm_mono_t now,
    struct answer *answer)
{
	struct target targets[MAX_ALTERNATIVES];
	const size_t count = targets_of(service_uses, part, targets);
	struct found found = { 0 };
	bool all = true;

	for (size_t i = 0; i < count; i++) {
		const struct rack *rack = service_uses->racks;

		for (; rack != NULL; rack = rack->hh.next)
			find_in_rack(rack, &targets[i], now, &found);
	}
	for (size_t i = 0; i < count && found.count == 0 && all; i++)
		all = is_all_known(service_uses, &targets[i], now);
	write_names(&found, answer->services);
	if (found.count > 0)
		answer->impact = found.has_losses ? RM_IMPACT_P0 : RM_IMPACT_P1;
	else
		answer->impact =
		    all && !found.path_unknown ? RM_IMPACT_P2 : RM_IMPACT_UNKNOWN;
}

/* Returns several links of a switch as "A or B or C", because all services that use any
 * of them count. If the verdict does not list all links, or has more than
 * MAX_ALTERNATIVES, returns the switch. */
static const char *
parts_of(const struct rm_verdict *verdict, char text[PARTS_BYTES])
{
	const struct rm_evidence *evidence = &verdict->evidence;
	const char *at = evidence->links;
	struct rm_link link;
	size_t len = 0, count = 0;

	if (!rm_kind_is_links(verdict->kind))
		return verdict->part.name;
	for (; rm_links_next(&at, &link); count++)
		len += (size_t)snprintf(text + len, PARTS_BYTES - len, "%s%s",
		    len > 0 ? RM_PART_OR : "", link.name);
	return count > 0 && count <= MAX_ALTERNATIVES &&
		       count == evidence->links_down + evidence->links_lossy
		   ? text
		   : verdict->part.name;
}

void
service_uses_fill(
    struct service_uses *service_uses, struct rm_verdict *verdict, rm_mono_t now)
{
	struct rm_evidence *evidence = &verdict->evidence;
	char parts[PARTS_BYTES];
	const char *part = parts_of(verdict, parts);
	const uint64_t name = hash_of(part, strlen(part));
	struct answer *answer = &service_uses->answers[name % ANSWERS];

	switch (verdict->part.type) {
	case RM_PART_AGGREGATOR:
	case RM_PART_CONTROLLER:
	case RM_PART_ANALYZER:
		evidence->impact = RM_IMPACT_P2;
		return;
	case RM_PART_TOR:
	case RM_PART_LINK:
	case RM_PART_SWITCH:
	case RM_PART_PATH:
		break;
	default:
		return;
	}
	if (answer->name_hash != name || rm_mono_since(now, answer->at) >= ANSWER_NS) {
		answer->name_hash = name;
		answer->at = now;
		forget_old(service_uses, now);
		find_impact(service_uses, part, now, answer);
	}
	evidence->impact = answer->impact;
	strcpy(evidence->services, answer->services);
}
