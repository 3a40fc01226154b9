/*
 * aggregators_info - options of the sessions with aggregators, and data of each
 * session.
 */
#ifndef REGION_CONTROLLER_AGGREGATORS_AGGREGATORS_INFO_H
#define REGION_CONTROLLER_AGGREGATORS_AGGREGATORS_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/core/version.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

struct probe_keys;
struct publish;
struct registry;
struct registry_rnic;
struct rm_tls;
struct rm_topology;

struct aggregators_options {
	const char *name, *region; /* borrowed */
	uint64_t incarnation;
	struct rm_tls *tls; /* borrowed; NULL: plaintext */
	size_t max_sessions;
	struct registry *registry; /* gets the RNICs that aggregators report */
	/* gets the versions that aggregators hold; has the plans to send */
	struct publish *publish;
	const struct probe_keys *keys; /* borrowed; NULL: no RNIC authenticates */
	/* Returns NULL if this controller leads; else the text with which a hello is
	 * refused, valid until the next call. */
	const char *(*standby)(void *arg);
	/* Called when new plans may be necessary, but never from inside the functions
	 * of aggregators.h. */
	void (*on_change)(void *arg);
	/* An RNIC was reported, for the first time or again. */
	void (*on_rnic)(const struct registry_rnic *rnic, void *arg);
	/* Called when traces of a rack have found these paths. */
	void (*on_traced)(const struct wire_traced *traced, void *arg);
	/* Returns NULL while there is no topology. */
	const struct rm_topology *(*topology)(void *arg);
	void *arg;
};

struct aggregators_tor {
	char tor[RM_NAME_BYTES];
	/* version and digest of the plan that the aggregator holds, as last reported */
	uint64_t version, digest;
	/* version of the keys that the aggregator holds; 0: none */
	uint64_t keys_version;
	uint32_t keys_epoch;
};

struct aggregators_session {
	uint64_t id; /* number of the session, never 0 and never used again */
	bool is_welcome;
	char name[RM_NAME_BYTES];
	struct rm_address peer;
	rm_wall_t since;
	uint64_t registrations; /* registration messages */
	struct aggregators_tor *tors;
	size_t tor_count;
	/* release of the aggregator; "": not reported */
	char software[RM_VERSION_BYTES];
	/* The last report of the releases of the aggregator's own peers; points into
	 * versions_bytes. */
	struct wire_versions versions;
	/* the last report on versions; NULL: there was no report */
	uint8_t *versions_bytes;
};

struct aggregators_counts {
	uint64_t refused_hellos, replaced;
	uint64_t registrations; /* registration messages */
	uint64_t refused_messages;
	/* RNICs of ToRs that the reporting aggregator does not serve */
	uint64_t rnics_of_other_tors;
	uint64_t plans_sent, plan_bytes_sent, plans_not_sent;
	uint64_t keys_sent; /* messages with keys */
	uint64_t
	    refused_standby; /* hellos refused because this controller does not lead */
	uint64_t resolved, unresolved;
	uint64_t placed, unplaced; /* hosts whose agents have asked for their ToRs */
	/* join requests for RNICs that the aggregator does not serve */
	uint64_t joins_unauthorized;
	uint64_t traced;   /* paths that traces have found */
	uint64_t versions; /* messages with releases */
	/* drill_answers: answers that belong to a request */
	uint64_t drills, drill_answers;
};

#endif
