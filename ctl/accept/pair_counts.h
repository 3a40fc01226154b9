/*
 * pair_counts - probes from one RNIC of a rack to another: sent and lost. Pure.
 *
 * At most PAIR_COUNTS_MAX pairs; results of more are counted as left out.
 */
#ifndef CTL_ACCEPT_PAIR_COUNTS_H
#define CTL_ACCEPT_PAIR_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIR_COUNTS_MAX 65536

struct pair_count {
	uint32_t from, to; /* indexes that the caller chooses */
	uint64_t sent, lost;
};

struct pair_counts;

struct pair_counts *pair_counts_new(void); /* NULL: memory */
void pair_counts_free(struct pair_counts *pairs);

void pair_counts_add(struct pair_counts *pairs, uint32_t from, uint32_t to, bool lost);

size_t pair_counts_count(const struct pair_counts *pairs);
/* number of results of pairs that were left out */
uint64_t pair_counts_left_out(const struct pair_counts *pairs);
const struct pair_count *pair_counts_at(const struct pair_counts *pairs, size_t i);

#endif
