/*
 * probe_keys - derives all probe keys from a master secret that the controllers of a
 * region share, and keeps the epoch. Pure, but for reading the secret's file.
 *
 * All keys follow from the secret, the epoch and a plan, so controllers only need the
 * same file and roughly the same time.
 *
 * The file may also have the next secret, with a time: it is used from the first epoch
 * on that begins at that time or later. Responders hold the keys of the epochs before
 * and after the current one. So they accept both secrets around that time, if all
 * controllers have read the file two epochs earlier.
 */
#ifndef REGION_CONTROLLER_REGISTRY_PROBE_KEYS_H
#define REGION_CONTROLLER_REGISTRY_PROBE_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define PROBE_KEYS_SECRETS 4 /* secrets in one file */
#define PROBE_KEYS_PRINT 17

struct probe_keys;
struct rm_error;

/* Reads the file, which must have mode 0600. Each line is a secret of 32 to 64
 * characters; each line but the first also has the time from which on it is used:
 * "SECRET from 2026-11-29T00:00:00Z". Blocks. */
int probe_keys_new(const char *path, uint64_t epoch_s, struct rm_error *error,
    struct probe_keys **ret);
/* Reads the file again. epoch: the epoch in use. Returns 1: the new secrets are
 * used, and only epochs after epoch + 1 have other secrets than before; 0: the secrets
 * are the same. < 0: the old secrets stay in use; -EKEYREJECTED: the file would change
 * the secret of epoch - 1, epoch or epoch + 1, whose keys responders hold already, so
 * they would refuse probes. Blocks. */
int probe_keys_reload(
    struct probe_keys *keys, const char *path, uint32_t epoch, struct rm_error *error);
void probe_keys_free(struct probe_keys *keys); /* NULL is fine */
/* True: there is a secret that is not used yet; *from is the time from which on it is
 * used. */
bool probe_keys_next(const struct probe_keys *keys, rm_wall_t now, rm_wall_t *from);

/* The epoch by the clock, from 1 on. */
uint32_t probe_keys_epoch(const struct probe_keys *keys, rm_wall_t now);
/* Writes a fingerprint of 16 hex digits. Equal keys in all epochs give equal
 * fingerprints, and a fingerprint shows nothing of the secrets. */
void probe_keys_print(const struct probe_keys *keys, char ret[PROBE_KEYS_PRINT]);
/* Returns the epoch to use after held, which has been in use for held_for_ns; held 0:
 * the epoch of the clock. A clock may be wrong, and may be set. So epochs follow one by
 * one, each for at least half of its time: hosts that were unreachable for a short time
 * still have a key in common with the others. */
uint32_t probe_keys_follow(
    const struct probe_keys *keys, uint32_t held, int64_t held_for_ns, rm_wall_t now);

/* Writes the message with the keys of that epoch, for the aggregators of the plan; *out
 * is valid until the writer's next message. */
int probe_keys_write(const struct probe_keys *keys, const struct wire_plan_view *plan,
    uint32_t epoch, uint64_t version, struct wire_writer *writer,
    struct wire_bytes *out);

void probe_keys_pair(const struct probe_keys *keys, uint32_t epoch,
    struct wire_rnic_id prober, struct wire_rnic_id responder,
    struct wire_pair_key *ret);

#endif
