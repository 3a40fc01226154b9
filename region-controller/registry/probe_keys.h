/*
 * probe_keys - derives all probe keys from a master secret that the controllers of a
 * region share, and keeps the epoch. Pure, but for reading the secret's file.
 *
 * All keys follow from the secret, the epoch and a plan, so controllers only need the
 * same file and roughly the same time.
 *
 * The file has the next secret, too, and from when on it is used: from the first epoch
 * that begins then or later. Responders hold the keys of the next epoch and of the last
 * one, so they accept both secrets around that time, if all controllers have read the
 * file two epochs before.
 */
#ifndef REGION_CONTROLLER_REGISTRY_PROBE_KEYS_H
#define REGION_CONTROLLER_REGISTRY_PROBE_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define PROBE_KEYS_SECRETS 4 /* of a file */
#define PROBE_KEYS_PRINT 17

struct probe_keys;
struct rm_error;

/* path: a file of 0600 whose lines are a secret of 32 to 64 characters and, but for the
 * first, from when on it is used: "SECRET from 2026-11-29T00:00:00Z". Blocks. */
int probe_keys_new(const char *path, uint64_t epoch_s, struct rm_error *error,
    struct probe_keys **ret);
/* Reads the file again. 1: other secrets are in use from now on, later than the epoch
 * after that one; 0: the same ones. < 0: nothing has changed; also -EKEYREJECTED, if a
 * secret of that epoch, or of the one before or after it, would change: responders
 * would refuse the probes. Blocks. */
int probe_keys_reload(
    struct probe_keys *keys, const char *path, uint32_t epoch, struct rm_error *error);
void probe_keys_free(struct probe_keys *keys); /* NULL is fine */
/* Whether there is a secret that is not used yet, and from when on it is. */
bool probe_keys_next(const struct probe_keys *keys, rm_wall_t now, rm_wall_t *from);

uint32_t probe_keys_epoch(const struct probe_keys *keys, rm_wall_t now); /* from 1 */
/* 16 hex digits: the same where all keys of all epochs are the same, and nothing of a
 * secret. */
void probe_keys_print(const struct probe_keys *keys, char ret[PROBE_KEYS_PRINT]);
/* The one after `held`, which has been handed out for so long; by the clock when held
 * is 0. A clock may be set, and wrongly: its epochs are followed one at a time, half an
 * epoch at least for each, so that who cannot be reached for a moment still understands
 * who can. */
uint32_t probe_keys_follow(
    const struct probe_keys *keys, uint32_t held, int64_t held_for_ns, rm_wall_t now);

/* The message of keys for the plan's aggregators in that epoch; out lives until the
 * writer's next message. */
int probe_keys_write(const struct probe_keys *keys, const struct wire_plan_view *plan,
    uint32_t epoch, uint64_t version, struct wire_writer *writer,
    struct wire_bytes *out);

void probe_keys_pair(const struct probe_keys *keys, uint32_t epoch,
    struct wire_rnic_id prober, struct wire_rnic_id responder,
    struct wire_pair_key *ret);

#endif
