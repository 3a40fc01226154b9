/*
 * rack_words - what the agents of a rack say of each other, and who is contradicted.
 * Pure.
 *
 * A probe that is answered crosses both ways of both ends. So an agent that says it
 * loses what it sends to RNICs which all others reach is wrong about them, if they
 * count its probes too; if not, they may refuse it, unless they are more than may be
 * wrong at once. So is one that says it reaches an RNIC which nobody does, not even its
 * own host, and one that counts less than arrives. Two contradictions name the agent,
 * fewer leave "one of the two, or their path". Nothing is said in racks of fewer than
 * four hosts: there a majority is no majority.
 */
#ifndef TOR_AGGREGATOR_REPORT_CHECK_RACK_WORDS_H
#define TOR_AGGREGATOR_REPORT_CHECK_RACK_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct rack;
struct rack_suspect_memory;
struct rack_words;
struct rm_verdict;
struct window_closed;

int rack_words_new(struct rack_words **ret);
void rack_words_free(struct rack_words *words);

/* Its members have changed: begins afresh. -ENOMEM. */
int rack_words_forget(struct rack_words *words, const struct rack *rack);

/* Before a window is judged. -ENOMEM: its words are not all heard. */
int rack_words_receive(struct rack_words *words, const struct rack *rack,
    const struct window_closed *window, rm_wall_t window_start);

/* The window without the words of agents that are contradicted now, neither their
 * results nor their receive counts, and with no more of any pair's results than may be.
 * What it returns lives until the next call, or as long as window where all is
 * believed. */
struct window_closed rack_words_believed(struct rack_words *words,
    const struct rack *rack, const struct window_closed *window);

bool rack_words_is_contradicted(const struct rack_words *words, size_t host);

/* Fills at most as many verdicts as there are hosts, and returns how many. suspects,
 * by member: of one that is named, or was until now, no pair is told; the first and the
 * last seconds of a dead RNIC hold less of some peers than of others. */
size_t rack_words_judge(const struct rack_words *words, const struct rack *rack,
    const struct rack_suspect_memory *suspects, int64_t window_ns,
    struct rm_verdict *verdicts);

#endif
