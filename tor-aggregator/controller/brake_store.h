/*
 * brake_store - stores the brake for this aggregator's agents, as a controller sent it
 * last.
 *
 * A brake with an older version is ignored. The worker saves the brake as JSON in the
 * state folder, so that agents that an operator has stopped stay stopped over a restart
 * of the aggregator.
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
	uint64_t taken;   /* brakes that were newer than the one stored */
	uint64_t stale;   /* brakes that were not newer */
	uint64_t refused; /* brakes with a rate above 1000 */
	uint64_t written, write_failed;
};

/* folder: copied; NULL: the brake is not saved. worker: borrowed; free it before the
 * store. */
int brake_store_new(
    struct rm_worker *worker, const char *folder, struct brake_store **ret);
void brake_store_free(struct brake_store *store);

/* Reads the saved brake. It blocks, so call it before the loop runs. A missing file is
 * no error. A damaged file is ignored: < 0, and *error. */
int brake_store_load(struct brake_store *store, struct rm_error *error);

/* Stores a brake if it is newer. 1: stored; 0: not newer; -EBADMSG: its rate is out of
 * range. */
int brake_store_take(struct brake_store *store, const struct wire_brake *brake);

/* Lets the worker write the brake, unless it is on disk already. */
void brake_store_save(struct brake_store *store);

/* The present brake. Version 0: none was received yet, and the rate is
 * BRAKE_FREE_PERMILLE. */
const struct wire_brake *brake_store_get(const struct brake_store *store);
const struct brake_store_counts *brake_store_counts(const struct brake_store *store);

#endif
