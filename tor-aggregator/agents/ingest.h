/*
 * ingest - verifies, checks and counts an agent's batches and receive counts. Pure.
 *
 * Every result of every batch ends in exactly one counter: taken = windowed + late +
 * invalid + duplicate. A batch may be acknowledged when ingest_batch returns: all of
 * its results are counted then. No allocation per result or batch.
 */
#ifndef TOR_AGGREGATOR_AGENTS_INGEST_H
#define TOR_AGGREGATOR_AGENTS_INGEST_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"
#include "tor-aggregator/rack/tor_rack.h"

struct agent;

#define INGEST_MAX_AGE_NS (120 * RM_NS_PER_S)
#define INGEST_MAX_PATH_AGE_NS (86400 * RM_NS_PER_S)

enum ingest_invalid {       /* why a result was not windowed */
	INGEST_NOT_OWNED,   /* its source was not registered by this agent */
	INGEST_NOT_OURS,    /* its source is in no rack of this aggregator */
	INGEST_UNKNOWN_DST, /* its target is in no plan and in no rack */
	INGEST_BAD_VALUE,   /* outcome, kind, class or reason out of range */
	INGEST_BAD_AGE,     /* older than any agent keeps results */
	INGEST_TABLE_FULL,  /* the window holds too many pairs */
	INGEST_OVER_RATE,   /* more results than the agent's rate allows */
	INGEST_NO_CLOCK,    /* its clock cannot be mapped */
	INGEST_INVALIDS
};

struct ingest_counts {
	struct raw_counts raw; /* over all racks */
	uint64_t invalid[INGEST_INVALIDS];
	uint64_t stale_qpn; /* results reclassified by this aggregator */
	uint64_t service;   /* windowed results of probes along services' flows */
	uint64_t batches, duplicate_batches, missing_batches;
	uint64_t restarted; /* agents that came with a new incarnation */
	uint64_t count_reports, count_rows, count_rows_invalid;
	uint64_t count_rows_refused; /* beyond the limit for one agent */
	uint64_t agent_dropped;      /* results that agents dropped */
	uint64_t path_reports, paths;
	uint64_t
	    paths_invalid; /* not of the agent's RNIC, to an unknown RNIC, or too old */
};

struct ingest {                     /* all zero initially */
	uint64_t max_results_per_s; /* for one agent; 0: no limit */
	struct ingest_counts counts;
};

/*
 * data: aligned to 8. *ack is the acknowledgement to send. Malformed messages and those
 * of another incarnation or host than the agent's session count nowhere: -EBADMSG,
 * -EMSGSIZE, -EINVAL, -EPERM; close the link.
 */
int ingest_batch(struct ingest *ingest, struct agent *agent, rm_mono_t now,
    const uint8_t *data, size_t len, struct wire_ack *ack);
int ingest_receive_counts(struct ingest *ingest, struct agent *agent, rm_mono_t now,
    const uint8_t *data, size_t len);

int ingest_paths(struct ingest *ingest, struct agent *agent, rm_mono_t now,
    const uint8_t *data, size_t len);

const char *ingest_invalid_str(enum ingest_invalid reason); /* "not-owned", ... */

#endif
