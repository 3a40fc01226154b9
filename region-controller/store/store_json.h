/*
 * store_json - strict reading of what stands in etcd: the right kinds, within range,
 * nothing unknown. Pure; of the store's parts only.
 *
 * A reading keeps its first error; after one, what is returned is harmless.
 */
#ifndef REGION_CONTROLLER_STORE_STORE_JSON_H
#define REGION_CONTROLLER_STORE_STORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct rm_error;

struct store_json {
	struct rm_error *error; /* may be NULL */
	int r;                  /* 0, or -EBADMSG and error says what is wrong */
};

/* NULL: no JSON object; the caller owns it. */
json_t *store_json_open(struct store_json *in, const char *text, size_t len);
void store_json_refuse(struct store_json *in, const char *key, const char *expected);
/* All keys of the object are among these, ended by NULL. */
void store_json_only(
    struct store_json *in, const json_t *object, const char *const *keys);

/* Borrowed from the object; fallback NULL: the key is required. Never NULL. */
const char *store_json_text(
    struct store_json *in, const json_t *object, const char *key, const char *fallback);
/* 0 when the key is not there. */
uint64_t store_json_number(
    struct store_json *in, const json_t *object, const char *key, uint64_t max);
bool store_json_flag(struct store_json *in, const json_t *object, const char *key);
/* 16 hex digits; 0 when the key is not there. */
uint64_t store_json_hex(struct store_json *in, const json_t *object, const char *key);
/* As rm_wall_format writes it; 0 when the key is not there. */
rm_wall_t store_json_wall(struct store_json *in, const json_t *object, const char *key);
/* Never more than max; NULL and 0 when the key is not there. */
const json_t *store_json_list(struct store_json *in, const json_t *object,
    const char *key, size_t max, size_t *count);

/* An RNIC: *ret borrows from both objects, which may be the same one. shared: what many
 * have in common (driver, tors, plane, mtu_bytes). */
void store_json_rnic(struct store_json *in, const json_t *object, const json_t *shared,
    struct wire_rnic *ret);
/* Both add to an object. */
void store_json_set_rnic(json_t *object, const struct wire_rnic *rnic);
void store_json_set_shared(json_t *object, const struct wire_rnic *rnic);

json_t *store_json_of_hex(uint64_t value);
json_t *store_json_of_wall(rm_wall_t wall);

#endif
