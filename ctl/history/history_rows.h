/*
 * history_rows - the past of one RNIC or ToR, gathered from wherever it was kept.
 *
 * Time is cut into buckets, each with sums of probes and the worst of the round-trip
 * times; incidents stand between them. At most HISTORY_BUCKETS buckets, and so many
 * incidents, the oldest left out and counted.
 */
#ifndef CTL_HISTORY_HISTORY_ROWS_H
#define CTL_HISTORY_HISTORY_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#define HISTORY_BUCKETS 128
#define HISTORY_INCIDENTS 1000

struct history_subject {
	const char *text;                             /* as it was asked */
	char tor[64], host[64], device[64], rnic[64]; /* "": not asked by that */
};

struct history_incident { /* borrowed for the call */
	int64_t when_ns;
	const char *state, *kind, *part, *place, *tor, *id, *sentence;
};

struct history_rows;

/* since_ns: how far back from now_ns. NULL: memory. */
struct history_rows *history_rows_new(
    const struct history_subject *subject, int64_t now_ns, int64_t since_ns);
void history_rows_free(struct history_rows *rows);

int64_t history_rows_start_ns(
    const struct history_rows *rows); /* of the first bucket */
int64_t history_rows_bucket_ns(const struct history_rows *rows);

/* rtts: 0 for none. Outside the time asked: nothing happens. */
void history_rows_add(struct history_rows *rows, int64_t when_ns, uint64_t sent,
    uint64_t lost, uint64_t p50_ns, uint64_t p99_ns);
/* Kept if it concerns the subject. -ENOMEM. */
int history_rows_incident(
    struct history_rows *rows, const struct history_incident *incident);

/* To stdout. An exit code: bad news if nothing is known. */
int history_rows_print(struct history_rows *rows, bool json);

/* Whether a part's name ("h1/r0 or h2/r0", "spine1--tor2", "a->b") holds this one. */
bool history_part_holds(const char *part, const char *name);

#endif
