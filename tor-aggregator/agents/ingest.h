/*
 * ingest - verifies, checks and counts an agent's batches and receive counts. Pure.
 *
 * Every result of every batch is counted exactly once: taken = windowed + late +
 * invalid + duplicate. When ingest_batch returns, all results of the batch are counted,
 * so the batch may be acknowledged. No memory is allocated per result or batch.
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

enum ingest_invalid {       /* why a result was not added to a window */
	INGEST_NOT_OWNED,   /* the agent has not registered the source */
	INGEST_NOT_OURS,    /* the source is in no rack of this aggregator */
	INGEST_UNKNOWN_DST, /* the target is in no plan and in no rack */
	INGEST_BAD_VALUE,   /* outcome, kind, class or reason out of range */
	INGEST_BAD_AGE,     /* the result is older than agents keep results */
	INGEST_TABLE_FULL,  /* the window has no room for another pair */
	INGEST_OVER_RATE,   /* more results than the agent's rate allows */
	INGEST_NO_CLOCK,    /* the agent's clock cannot be converted, see clock_map */
	INGEST_INVALIDS
};

struct ingest_counts {
	struct raw_counts raw; /* sums over all racks */
	uint64_t invalid[INGEST_INVALIDS];
	uint64_t stale_qpn; /* lost probes to a QPN that was outdated, see is_stale */
	uint64_t service;   /* windowed results of probes along services' flows */
	uint64_t batches, duplicate_batches, missing_batches;
	uint64_t restarted; /* how often an agent sent a batch of a new incarnation */
	uint64_t count_reports, count_rows, count_rows_invalid;
	uint64_t count_rows_refused; /* rows beyond AGENT_MAX_COUNT_ROWS of one agent */
	uint64_t agent_dropped;      /* results that agents have dropped */
	uint64_t path_reports, paths;
	/* paths from an RNIC that is not the agent's, to an unknown RNIC, or too old */
	uint64_t paths_invalid;
};

struct ingest { /* initially all zero */
	/* maximum number of results per second of one agent; 0: no limit */
	uint64_t max_results_per_s;
	struct ingest_counts counts;
};

/*
 * Each of these functions handles one message of the agent. data: aligned to 8 bytes.
 * *ack: the acknowledgement to send. A message that is malformed (-EBADMSG, -EMSGSIZE,
 * -EINVAL), or whose host or incarnation is not that of the agent's session (-EPERM),
 * is not counted; close the link.
 */
int ingest_batch(struct ingest *ingest, struct agent *agent, rm_mono_t now,
    const uint8_t *data, size_t len, struct wire_ack *ack);
int ingest_receive_counts(struct ingest *ingest, struct agent *agent, rm_mono_t now,
    const uint8_t *data, size_t len);

int ingest_paths(struct ingest *ingest, struct agent *agent, rm_mono_t now,
    const uint8_t *data, size_t len);

const char *ingest_invalid_str(enum ingest_invalid reason); /* "not-owned", ... */

#endif
