/*
 * sketch - DDSketch: mergeable quantiles with 1 % relative error.
 *
 * Source: Masson, Rim, Lee, "DDSketch: a fast and fully-mergeable quantile
 * sketch with relative-error guarantees", VLDB 2019. gamma = (1+a)/(1-a),
 * a = 0.01; value v > 0 falls into bin ceil(ln v / ln gamma). Values are
 * nanoseconds, 0 .. 2^40 (18 minutes; larger ones count as 2^40), so at most
 * 1,388 bins and never a collapse. Pure.
 */
#ifndef RACKMESH_METRICS_SKETCH_H
#define RACKMESH_METRICS_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#define RM_SKETCH_RELATIVE_ERROR 0.01
/* No encoding is larger than this. */
#define RM_SKETCH_MAX_BYTES 8192

struct rm_sketch;

struct rm_sketch *rm_sketch_new(void); /* NULL when out of memory */
void rm_sketch_free(struct rm_sketch *sketch);
void rm_sketch_reset(struct rm_sketch *sketch);

void rm_sketch_add(struct rm_sketch *sketch, uint64_t value_ns);
void rm_sketch_merge(struct rm_sketch *into, const struct rm_sketch *from);

uint64_t rm_sketch_count(const struct rm_sketch *sketch);
/* The result is exact; 0: the sketch is empty. */
uint64_t rm_sketch_max_ns(const struct rm_sketch *sketch);
/* Returns the value of rank ceil(q * count), for q in (0, 1] (nearest rank); 0: the
 * sketch is empty. */
uint64_t rm_sketch_quantile_ns(const struct rm_sketch *sketch, double q);

/* Writes the sketch as bytes (varints of bin gaps and counts). Returns their number, or
 * -ENOSPC. */
int rm_sketch_encode(const struct rm_sketch *sketch, uint8_t *out, size_t out_len);
/* Replaces the sketch by the one in data, which is not trusted and is checked.
 * -EBADMSG: malformed; the sketch is empty then. */
int rm_sketch_decode(struct rm_sketch *sketch, const uint8_t *data, size_t len);

#endif
