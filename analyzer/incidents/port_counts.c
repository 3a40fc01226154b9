#include "analyzer/incidents/port_counts.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rackmesh/judge/verdict.h"
#include "schemas/wire.h"

#define PORT_BYTES 64

struct port {
	char tor[RM_NAME_BYTES]; /* whose summary names it */
	char name[RM_NAME_BYTES], port[PORT_BYTES], neighbor[RM_NAME_BYTES];
	char sentence[RM_EVIDENCE_TEXT]; /* "tor1: the switch's port ..." */
	rm_mono_t at;
};

struct port_counts {
	struct port *ports; /* PORT_COUNTS_MAX; NULL: none so far */
	size_t count;
};

struct port_counts *
port_counts_new(void)
{
	return calloc(1, sizeof(struct port_counts));
}

void
port_counts_free(struct port_counts *port_counts)
{
	if (port_counts == NULL)
		return;
	free(port_counts->ports);
	free(port_counts);
}

/* Of this rack all, of others those that nobody has repeated. */
static void
forget(struct port_counts *port_counts, const char *tor, rm_mono_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < port_counts->count; i++)
		if (strcmp(port_counts->ports[i].tor, tor) != 0 &&
		    rm_mono_since(now, port_counts->ports[i].at) <= PORT_COUNTS_KEEP_NS)
			port_counts->ports[kept++] = port_counts->ports[i];
	port_counts->count = kept;
}

/* Parts of a sentence are joined by ", ": as many of them as fit, with the switch's
 * name before them. */
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

static void
add(struct port_counts *port_counts, const char *tor, const struct wire_port_row *row,
    rm_mono_t now)
{
	struct port *port;

	if (port_counts->ports == NULL)
		port_counts->ports = calloc(PORT_COUNTS_MAX, sizeof(*port));
	if (port_counts->ports == NULL || port_counts->count == PORT_COUNTS_MAX)
		return;
	port = &port_counts->ports[port_counts->count++];
	port->at = now;
	snprintf(port->tor, sizeof(port->tor), "%s", tor);
	snprintf(port->name, sizeof(port->name), "%s", row->switch_name);
	snprintf(port->port, sizeof(port->port), "%s", row->port);
	snprintf(port->neighbor, sizeof(port->neighbor), "%s", row->neighbor);
	copy_sentence(port, row->sentence);
}

/* They go into sentences, alerts and lines of logs. */
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
    const struct wire_summary_view *view, rm_mono_t now, rm_wall_t wall)
{
	const struct wire_summary *summary = &view->summary;

	if (!summary->has_state || summary->end_wall_ns > INT64_MAX ||
	    wall.ns - (int64_t)summary->end_wall_ns > PORT_COUNTS_KEEP_NS)
		return;
	forget(port_counts, summary->tor, now);
	for (size_t i = 0; i < summary->port_count; i++) {
		struct wire_port_row row;

		wire_summary_port(view, i, &row);
		if (makes_sense(&row))
			add(port_counts, summary->tor, &row, now);
	}
}

/* len: of b, which goes on behind it. */
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

/* It is an end of the link "a--b", and the other end its neighbour. */
static bool
is_end(const struct port *port, const char *link)
{
	const char *between = strstr(link, "--");
	const size_t len = between == NULL ? 0 : (size_t)(between - link);
	const char *far;

	if (between == NULL)
		return false;
	far = between + 2;
	return (is_same(port->name, link, len) &&
		   is_same(port->neighbor, far, strlen(far))) ||
	       (is_same(port->name, far, strlen(far)) &&
		   is_same(port->neighbor, link, len));
}

/* What it says is of now, and of the part. */
static bool
concerns(const struct port *port, const struct rm_part *part, rm_mono_t now)
{
	const size_t len = strlen(part->name);

	if (rm_mono_since(now, port->at) > PORT_COUNTS_KEEP_NS)
		return false;
	if (part->type == RM_PART_LINK)
		return is_end(port, part->name);
	return is_same(port->name, part->name, len) ||
	       is_same(port->neighbor, part->name, len);
}

/* Two racks report a port whose switch the aggregators of both read. */
static bool
is_reported_before(const struct port_counts *port_counts, size_t i,
    const struct rm_part *part, rm_mono_t now)
{
	const struct port *port = &port_counts->ports[i];

	for (size_t k = 0; k < i; k++) {
		const struct port *other = &port_counts->ports[k];

		if (strcmp(other->port, port->port) == 0 &&
		    is_same(other->name, port->name, strlen(port->name)) &&
		    concerns(other, part, now))
			return true;
	}
	return false;
}

void
port_counts_fill(
    const struct port_counts *port_counts, struct rm_verdict *verdict, rm_mono_t now)
{
	char *out = verdict->evidence.counters;
	size_t len = 0;

	if ((verdict->part.type != RM_PART_LINK &&
		verdict->part.type != RM_PART_SWITCH &&
		verdict->part.type != RM_PART_TOR) ||
	    strstr(verdict->part.name, RM_PART_OR) != NULL)
		return;
	for (size_t i = 0; i < port_counts->count; i++) {
		const struct port *port = &port_counts->ports[i];
		const size_t more = strlen(port->sentence) + strlen("; ");

		if (!concerns(port, &verdict->part, now) ||
		    is_reported_before(port_counts, i, &verdict->part, now) ||
		    (len > 0 && len + more >= RM_EVIDENCE_TEXT))
			continue;
		len += (size_t)snprintf(out + len, RM_EVIDENCE_TEXT - len, "%s%s",
		    len == 0 ? "" : "; ", port->sentence);
	}
}
