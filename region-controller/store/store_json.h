/*
 * store_json - reads values of etcd strictly: members must be of the right kind and in
 * range, and there must be no unknown ones. Pure; private to the stores.
 *
 * The first error is kept. After it all functions return empty values.
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
	int r;                  /* 0; or -EBADMSG, and then error has the reason */
};

/* Returns a JSON object, which the caller owns. NULL: text is not a JSON object. */
json_t *store_json_open(struct store_json *in, const char *text, size_t len);
void store_json_refuse(struct store_json *in, const char *key, const char *expected);
/* Fails if the object has a key that is not in this list, which ends with NULL. */
void store_json_only(
    struct store_json *in, const json_t *object, const char *const *keys);

/* Returns a text that is borrowed from the object, never NULL. fallback: the value if
 * the key is missing; NULL: the key is required. */
const char *store_json_text(
    struct store_json *in, const json_t *object, const char *key, const char *fallback);
/* Returns 0 if the key is missing. */
uint64_t store_json_number(
    struct store_json *in, const json_t *object, const char *key, uint64_t max);
bool store_json_flag(struct store_json *in, const json_t *object, const char *key);
/* A number of 16 hex digits; 0 if the key is missing. */
uint64_t store_json_hex(struct store_json *in, const json_t *object, const char *key);
/* Reads a time as rm_wall_format writes it; 0 if the key is missing. */
rm_wall_t store_json_wall(struct store_json *in, const json_t *object, const char *key);
/* A list of at most max items; NULL, and *count 0, if the key is missing. */
const json_t *store_json_list(struct store_json *in, const json_t *object,
    const char *key, size_t max, size_t *count);

/* Reads an RNIC; *ret borrows from both objects, which may be the same one. shared has
 * the values that many RNICs have in common: driver, tors, plane, mtu_bytes. */
void store_json_rnic(struct store_json *in, const json_t *object, const json_t *shared,
    struct wire_rnic *ret);
/* The first adds the members of an RNIC to an object, the second adds the values that
 * many RNICs have in common. */
void store_json_set_rnic(json_t *object, const struct wire_rnic *rnic);
void store_json_set_shared(json_t *object, const struct wire_rnic *rnic);

json_t *store_json_of_hex(uint64_t value);
json_t *store_json_of_wall(rm_wall_t wall);

#endif
