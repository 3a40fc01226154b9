/*
 * history - summaries and incidents as rotating files of InfluxDB line protocol.
 *
 * The uplink's sink while there is no analyzer: takes the bytes that would travel,
 * reads them through the wire view, and acknowledges when the points are on disk.
 * Points are deterministic, so writing a message again after a failure adds nothing.
 * Files: rackmesh.lp, older ones rackmesh.lp.1 .. HISTORY_FILES - 1.
 */
#ifndef TOR_AGGREGATOR_HISTORY_H
#define TOR_AGGREGATOR_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define HISTORY_FILES 4

struct history;
struct rm_worker;
struct uplink;

struct history_counts {
	uint64_t points, written_bytes, failed_writes;
	uint64_t refused_messages; /* malformed, or a point that cannot be written */
};

/* folder: copied; made if its parent exists. max_bytes: of all files together. */
int history_new(struct rm_worker *worker, const char *folder, uint64_t max_bytes,
    struct history **ret);
void history_free(struct history *history); /* after the worker */

/* Where to acknowledge; before the first send. */
void history_bind(struct history *history, struct uplink *uplink);

/* uplink_sink's send. */
int history_send(
    void *arg, enum wire_lane lane, uint64_t seq, const uint8_t *data, size_t len);

const struct history_counts *history_counts(const struct history *history);

#endif
