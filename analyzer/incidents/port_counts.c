#define HASH_NONFATAL_OOM 1
#include "analyzer/incidents/port_counts.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <uthash.h>

#include "rackmesh/judge/verdict.h"
#include "schemas/wire.h"

#define PORT_BYTES 64

struct port {
	char name[RM_NAME_BYTES], port[PORT_BYTES], neighbor[RM_NAME_BYTES];
	uint32_t name_hash, neighbor_hash; /* hashes of the short forms of the names */
	char sentence[RM_EVIDENCE_TEXT];   /* "tor1: the switch's port ..." */
};

struct rack { /* a rack with at least one port; its key is the ToR */
	char tor[RM_NAME_BYTES];
	rm_mono_t at; /* when the summary that names these ports arrived */
	size_t count, capacity;
	struct port *ports;
	UT_hash_handle hh;
};

struct port_counts {
	struct rack *racks;
	size_t count; /* number of ports of all racks */
	struct port_counts_counts counts;
};

struct port_counts *
port_counts_new(void)
{
	return calloc(1, sizeof(struct port_counts));
}

static void
forget(struct port_counts *port_counts, struct rack *rack)
{
	port_counts->count -= rack->count;
	HASH_DEL(port_counts->racks, rack);
	free(rack->ports);
	free(rack);
}

void
port_counts_free(struct port_counts *port_counts)
{
	struct rack *rack, *next;

	if (port_counts == NULL)
		return;
	HASH_ITER (hh, port_counts->racks, rack, next)
		forget(port_counts, rack);
	free(port_counts);
}

static bool
is_old(const struct rack *rack, rm_mono_t now)
{
	return rm_mono_since(now, rack->at) > PORT_COUNTS_KEEP_NS;
}

/* Called only when there is no room: port_counts_fill skips old racks anyway. */
static void
forget_old(struct port_counts *port_counts, rm_mono_t now)
{
	struct rack *rack, *next;

	HASH_ITER (hh, port_counts->racks, rack, next)
		if (is_old(rack, now))
			forget(port_counts, rack);
}

/* The hash of a switch's name without its domain, in lower case. */
static uint32_t
hash_short(const char *name, size_t len)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < len && name[i] != '\0' && name[i] != '.'; i++)
		hash = (hash ^ (uint8_t)tolower((unsigned char)name[i])) * 16777619u;
	return hash;
}

/* Writes the switch's name, and as much of the sentence as fits. The sentence is cut at
 * a comma, because commas separate its parts. */
static void
copy_sentence(struct port *port, const char *sentence)
{
	const size_t room = sizeof(port->sentence) - strlen(port->name) - strlen(": ");
	size_t fits = strlen(sentence);

	while (fits >= room) {
		const char *comma = memrchr(sentence, ',', fits);

		fits = comma == NULL ? room - 1 : (size_t)(comma - sentence);
	}
	snprintf(port->sentence, sizeof(port->sentence), "%s: %.*s", port->name,
	    (int)fits, sentence);
}

static struct rack *
find_or_add(struct port_counts *port_counts, const char *tor)
{
	struct rack *rack;

	HASH_FIND_STR(port_counts->racks, tor, rack);
	if (rack != NULL)
		return rack;
	rack = calloc(1, sizeof(*rack));
	if (rack == NULL)
		return NULL;
	snprintf(rack->tor, sizeof(rack->tor), "%s", tor);
	HASH_ADD_STR(port_counts->racks, tor, rack);
	if (rack->hh.tbl == NULL) { /* uthash could not grow */
		free(rack);
		return NULL;
	}
	return rack;
}

/* Returns NULL if there is no room, or no memory. */
static struct port *
new_port(struct port_counts *port_counts, struct rack *rack, rm_mono_t now)
{
	if (port_counts->count == PORT_COUNTS_MAX)
		forget_old(port_counts, now);
	if (port_counts->count == PORT_COUNTS_MAX)
		return NULL;
	if (rack->count == rack->capacity) {
		const size_t capacity = rack->capacity == 0 ? 2 : 2 * rack->capacity;
		struct port *ports =
		    reallocarray(rack->ports, capacity, sizeof(*ports));

		if (ports == NULL)
			return NULL;
		rack->ports = ports;
		rack->capacity = capacity;
	}
	port_counts->count++;
	return &rack->ports[rack->count++];
}

static void
add(struct port_counts *port_counts, struct rack *rack, const struct wire_port_row *row,
    rm_mono_t now)
{
	struct port *port = new_port(port_counts, rack, now);

	if (port == NULL) {
		port_counts->counts.left_out++;
		return;
	}
	snprintf(port->name, sizeof(port->name), "%s", row->switch_name);
	snprintf(port->port, sizeof(port->port), "%s", row->port);
	snprintf(port->neighbor, sizeof(port->neighbor), "%s", row->neighbor);
	port->name_hash = hash_short(port->name, SIZE_MAX);
	port->neighbor_hash = hash_short(port->neighbor, SIZE_MAX);
	copy_sentence(port, row->sentence);
}

/* True: the text may be copied into sentences, alerts and log lines. */
static bool
is_plain(const char *text)
{
	for (; *text != '\0'; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static bool
makes_sense(const struct wire_port_row *row)
{
	return row->switch_name[0] != '\0' && row->neighbor[0] != '\0' &&
	       row->sentence[0] != '\0' && is_plain(row->switch_name) &&
	       is_plain(row->port) && is_plain(row->neighbor) &&
	       is_plain(row->sentence);
}

void
port_counts_summary(struct port_counts *port_counts,
    const struct wire_summary_view *view, int64_t age_ns, rm_mono_t now)
{
	const struct wire_summary *summary = &view->summary;
	struct rack *rack;

	if (!summary->has_state || age_ns > PORT_COUNTS_KEEP_NS)
		return;
	HASH_FIND_STR(port_counts->racks, summary->tor, rack);
	if (age_ns < 0) {
		if (rack != NULL)
			forget(port_counts, rack);
		return;
	}
	if (rack == NULL && summary->port_count == 0)
		return;
	if (rack == NULL)
		rack = find_or_add(port_counts, summary->tor);
	if (rack == NULL) {
		port_counts->counts.left_out += summary->port_count;
		return;
	}
	port_counts->count -= rack->count;
	rack->count = 0;
	rack->at = now;
	for (size_t i = 0; i < summary->port_count; i++) {
		struct wire_port_row row;

		wire_summary_port(view, i, &row);
		if (makes_sense(&row))
			add(port_counts, rack, &row, now);
		else
			port_counts->counts.refused++;
	}
	if (rack->count == 0)
		forget(port_counts, rack);
}

const struct port_counts_counts *
port_counts_counts(const struct port_counts *port_counts)
{
	return &port_counts->counts;
}

/* Compares a with the first len bytes of b. */
static bool
is_same(const char *a, const char *b, size_t len)
{
	const size_t short_a = strcspn(a, "."), of_b = strnlen(b, len);
	size_t short_b = 0;

	while (short_b < of_b && b[short_b] != '.')
		short_b++;
	if (a[short_a] != '\0' && short_b < of_b) /* both have a domain */
		return strlen(a) == of_b && strncasecmp(a, b, of_b) == 0;
	return short_a == short_b && strncasecmp(a, b, short_a) == 0;
}

/* The port's switch and its neighbour are the two ends of the link "a--b". */
static bool
is_end(const struct port *port, const char *link)
{
	const char *between = link;

	/* Names of switches may contain "--", too. */
	while ((between = strstr(between, "--")) != NULL) {
		const size_t len = (size_t)(between - link);
		const char *far = between + 2;

		if ((is_same(port->name, link, len) &&
			is_same(port->neighbor, far, strlen(far))) ||
		    (is_same(port->name, far, strlen(far)) &&
			is_same(port->neighbor, link, len)))
			return true;
		between++;
	}
	return false;
}

/* Hashes of the names in a verdict's part: few ports match them, and only those are
 * compared by name. */
struct ends {
	bool any; /* the name of a link has several "--", so its ends have no hashes */
	bool link;
	uint32_t hash[2];
};

static struct ends
ends_of(const struct rm_part *part)
{
	const char *between =
	    part->type == RM_PART_LINK ? strstr(part->name, "--") : NULL;

	if (between == NULL)
		return (struct ends){ .hash = { hash_short(part->name, SIZE_MAX) } };
	if (strstr(between + 1, "--") != NULL)
		return (struct ends){ .any = true };
	return (struct ends){ .link = true,
		.hash = { hash_short(part->name, (size_t)(between - part->name)),
		    hash_short(between + 2, SIZE_MAX) } };
}

static bool
may_concern(const struct port *port, const struct ends *ends)
{
	const uint32_t a = port->name_hash, b = port->neighbor_hash;

	if (ends->any)
		return true;
	if (!ends->link)
		return a == ends->hash[0] || b == ends->hash[0];
	return (a == ends->hash[0] && b == ends->hash[1]) ||
	       (a == ends->hash[1] && b == ends->hash[0]);
}

static bool
concerns(const struct port *port, const struct rm_part *part)
{
	const size_t len = strlen(part->name);

	if (part->type == RM_PART_LINK)
		return is_end(port, part->name);
	return is_same(port->name, part->name, len) ||
	       is_same(port->neighbor, part->name, len);
}

#define MOST_NAMED 16 /* the text has no room for more */

struct naming { /* the ports that a verdict names */
	const struct port *ports[MOST_NAMED];
	size_t count, len; /* len: length of the text */
	char *out;
};

/* Two racks report the same port if the aggregators of both read its switch. */
static bool
is_named(const struct naming *naming, const struct port *port)
{
	for (size_t i = 0; i < naming->count; i++)
		if (strcmp(naming->ports[i]->port, port->port) == 0 &&
		    is_same(naming->ports[i]->name, port->name, strlen(port->name)))
			return true;
	return false;
}

static void
name_port(struct naming *naming, const struct port *port)
{
	const size_t more = strlen(port->sentence) + strlen("; ");

	if (is_named(naming, port) || naming->count == MOST_NAMED ||
	    (naming->len > 0 && naming->len + more >= RM_EVIDENCE_TEXT))
		return;
	naming->ports[naming->count++] = port;
	naming->len +=
	    (size_t)snprintf(naming->out + naming->len, RM_EVIDENCE_TEXT - naming->len,
		"%s%s", naming->len == 0 ? "" : "; ", port->sentence);
}

static void
name_ports(const struct port_counts *port_counts, const struct rm_part *part,
    struct naming *naming, rm_mono_t now)
{
	struct ends ends;
	const struct rack *rack;

	if ((part->type != RM_PART_LINK && part->type != RM_PART_SWITCH &&
		part->type != RM_PART_TOR) ||
	    strstr(part->name, RM_PART_OR) != NULL)
		return;
	ends = ends_of(part);
	for (rack = port_counts->racks; rack != NULL; rack = rack->hh.next)
		for (size_t i = 0; !is_old(rack, now) && i < rack->count; i++)
			if (may_concern(&rack->ports[i], &ends) &&
			    concerns(&rack->ports[i], part))
				name_port(naming, &rack->ports[i]);
}

void
port_counts_fill(
    const struct port_counts *port_counts, struct rm_verdict *verdict, rm_mono_t now)
{
	struct naming naming = { .out = verdict->evidence.counters };
	const char *at = verdict->evidence.links;
	struct rm_part part = { .type = RM_PART_LINK };
	struct rm_link link;

	if (!rm_kind_is_links(verdict->kind))
		name_ports(port_counts, &verdict->part, &naming, now);
	while (rm_links_next(&at, &link)) {
		strcpy(part.name, link.name);
		name_ports(port_counts, &part, &naming, now);
	}
}
