/*
 * report_check - what the agents of a rack say of each other, and who is contradicted.
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
#ifndef TOR_AGGREGATOR_REPORT_CHECK_REPORT_CHECK_H
#define TOR_AGGREGATOR_REPORT_CHECK_REPORT_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct rack;
struct rack_suspect_memory;
struct report_check;
struct rm_verdict;
struct window_closed;

int report_check_new(struct report_check **ret);
void report_check_free(struct report_check *check);

/* Its members have changed: begins afresh. -ENOMEM. */
int report_check_forget(struct report_check *check, const struct rack *rack);

/* Before a window is judged. -ENOMEM: its words are not all heard. */
int report_check_receive(struct report_check *check, const struct rack *rack,
    const struct window_closed *window, rm_wall_t window_start);

/* The window without the words of agents that are contradicted now, neither their
 * results nor their receive counts, and with no more of any pair's results than may be.
 * What it returns lives until the next call, or as long as window where all is
 * believed. */
struct window_closed report_check_accepted(struct report_check *check,
    const struct rack *rack, const struct window_closed *window);

bool report_check_is_contradicted(const struct report_check *check, size_t host);

/* Fills at most as many verdicts as there are hosts, and returns how many. suspects,
 * by member: of one that is named, or was until now, no pair is told; the first and the
 * last seconds of a dead RNIC hold less of some peers than of others. */
size_t report_check_judge(const struct report_check *check, const struct rack *rack,
    const struct rack_suspect_memory *suspects, int64_t window_ns,
    struct rm_verdict *verdicts);

#endif
