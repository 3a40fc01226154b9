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
	struct registry *registry; /* told of RNICs */
	struct publish *publish;   /* gets the held versions; has the plans to send */
	const struct probe_keys *keys; /* borrowed; NULL: nobody authenticates */
	/* NULL: this controller leads; else the refusal of a hello. Borrowed for a
	 * moment. */
	const char *(*standby)(void *arg);
	/* Plans may be different now. Never called from inside the functions below. */
	void (*on_change)(void *arg);
	/* An RNIC was reported, perhaps once more. */
	void (*on_rnic)(const struct registry_rnic *rnic, void *arg);
	/* Paths out of a ToR's rack, found by traces. */
	void (*on_traced)(const struct wire_traced *traced, void *arg);
	const struct rm_topology *(*topology)(void *arg); /* or NULL */
	void *arg;
};

struct aggregators_tor {
	char tor[RM_NAME_BYTES];
	uint64_t version, digest; /* held there, as far as known */
	uint64_t keys_version;    /* likewise; 0: none */
	uint32_t keys_epoch;
};

struct aggregators_session {
	uint64_t id; /* never 0, never used again */
	bool is_welcome;
	char name[RM_NAME_BYTES];
	struct rm_address peer;
	rm_wall_t since;
	uint64_t registrations; /* messages */
	struct aggregators_tor *tors;
	size_t tor_count;
	char software[RM_VERSION_BYTES]; /* its release; "": not reported */
	/* Its last report of its peers' releases, of versions_bytes. */
	struct wire_versions versions;
	uint8_t *versions_bytes; /* NULL: nothing yet */
};

struct aggregators_counts {
	uint64_t refused_hellos, replaced;
	uint64_t registrations; /* messages */
	uint64_t refused_messages;
	uint64_t
	    foreign_rnics; /* of ToRs that the reporting aggregator does not serve */
	uint64_t plans_sent, plan_bytes_sent, plans_not_sent;
	uint64_t keys_sent; /* messages */
	uint64_t
	    refused_standby; /* hellos refused because this controller does not lead */
	uint64_t resolved, unresolved;
	uint64_t placed, unplaced; /* hosts whose agents asked for their ToRs */
	uint64_t
	    joins_unauthorized; /* of RNICs that the asking aggregator does not serve */
	uint64_t traced;        /* ways that traces found */
	uint64_t versions;      /* messages */
	uint64_t drills, drill_answers; /* answers without a request are refused */
};

#endif
