/* The ToRs of an agent's host by the topology: see docs/topology.md, "members". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/net/link.h"
#include "rackmesh/topology/topology.h"
#include "region-controller/aggregators/aggregator_session.h"

#define REASON_BYTES 256

struct place {
	struct wire_cable cables[WIRE_MAX_CABLES];
	size_t cable_count;
	struct wire_tor_aggregator aggregators[WIRE_MAX_PLACE_AGGREGATORS];
	size_t aggregator_count;
	char addresses[WIRE_MAX_PLACE_AGGREGATORS][RM_ENDPOINT_TEXT];
};

static bool
has_aggregators_of(const struct place *place, const char *tor)
{
	for (size_t i = 0; i < place->aggregator_count; i++)
		if (strcmp(place->aggregators[i].tor, tor) == 0)
			return true;
	return false;
}

static void
add_aggregators(struct place *place, const struct rm_switch *tor)
{
	if (has_aggregators_of(place, tor->name))
		return;
	for (size_t i = 0; i < tor->aggregator_count &&
			   place->aggregator_count < WIRE_MAX_PLACE_AGGREGATORS;
	     i++) {
		char *text = place->addresses[place->aggregator_count];

		rm_endpoint_format(&tor->aggregators[i], text);
		place->aggregators[place->aggregator_count++] =
		    (struct wire_tor_aggregator){ tor->name, text };
	}
}

/* Returns "", or the reason why the host has no place. */
static const char *
find_place(const struct rm_topology *topology, const char *host, struct place *place,
    char reason[REASON_BYTES])
{
	struct rm_topology_cable cables[WIRE_MAX_CABLES];
	size_t count;

	if (topology == NULL)
		return "the controller has no topology yet";
	count = rm_topology_cables(topology, host, cables, WIRE_MAX_CABLES);
	if (count == 0)
		snprintf(reason, REASON_BYTES,
		    "no rack of the topology has %s among its members: add it there",
		    host);
	else if (count > WIRE_MAX_CABLES)
		snprintf(reason, REASON_BYTES,
		    "more than %d members of the topology's racks are %s",
		    WIRE_MAX_CABLES, host);
	if (count == 0 || count > WIRE_MAX_CABLES)
		return reason;
	for (size_t i = 0; i < count; i++) {
		const struct rm_switch *tor =
		    rm_topology_switch(topology, cables[i].tor);

		place->cables[place->cable_count++] =
		    (struct wire_cable){ cables[i].device, tor->name };
		add_aggregators(place, tor);
	}
	return "";
}

int
session_on_place(struct session *session, const uint8_t *data, size_t len)
{
	struct aggregators *owner = session->owner;
	struct wire_place_answer answer = { 0 };
	struct wire_place asked;
	struct wire_bytes bytes;
	struct place place;
	char reason[REASON_BYTES];
	int r;

	r = wire_open_place(&asked, data, len);
	if (r < 0)
		return r;
	/* The certificate was checked for the name in the hello only. */
	if (strcmp(asked.host, session->info.name) != 0)
		return -EPROTO;
	place.cable_count = place.aggregator_count = 0;
	answer.token = asked.token;
	answer.error = find_place(
	    owner->options.topology(owner->options.arg), asked.host, &place, reason);
	answer.cables = place.cables;
	answer.cable_count = place.cable_count;
	answer.aggregators = place.aggregators;
	answer.aggregator_count = place.aggregator_count;
	*(answer.error[0] == '\0' ? &owner->counts.placed : &owner->counts.unplaced) +=
	    1;
	r = wire_write_placed(owner->writer, &answer, &bytes);
	return r < 0 ? r : rm_link_send(session->conn.link, bytes.data, bytes.len);
}
