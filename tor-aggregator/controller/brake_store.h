/*
 * brake_store - the brake for this aggregator's agents, as controllers sent it last.
 *
 * Versions only grow. It is saved in the state folder as JSON, written on the worker,
 * so that agents stopped by an operator stay stopped over a restart of the aggregator.
 */
#ifndef TOR_AGGREGATOR_CONTROLLER_BRAKE_STORE_H
#define TOR_AGGREGATOR_CONTROLLER_BRAKE_STORE_H

#include <stdint.h>

#include "schemas/wire.h"

struct brake_store;
struct rm_error;
struct rm_worker;

#define BRAKE_FREE_PERMILLE 1000

struct brake_store_counts {
	uint64_t taken;   /* newer ones */
	uint64_t stale;   /* not newer than the one held */
	uint64_t refused; /* rates beyond 1000 */
	uint64_t written, write_failed;
};

/* folder: copied; NULL: none. worker: borrowed, freed before the store. */
int brake_store_new(
    struct rm_worker *worker, const char *folder, struct brake_store **ret);
void brake_store_free(struct brake_store *store);

/* Blocks: call it before the loop runs. A missing file is no error; a damaged one is an
 * error, and is ignored. */
int brake_store_load(struct brake_store *store, struct rm_error *error);

/* 1: newer, in force now. 0: not newer. -EBADMSG: out of range. */
int brake_store_take(struct brake_store *store, const struct wire_brake *brake);

/* Writes the brake on the worker, unless it is on disk already. */
void brake_store_save(struct brake_store *store);

/* Version 0: none received yet; the rate is BRAKE_FREE_PERMILLE. */
const struct wire_brake *brake_store_get(const struct brake_store *store);
const struct brake_store_counts *brake_store_counts(const struct brake_store *store);

#endif
