/*
 * report_check - compares what the agents of a rack report about each other, and finds
 * agents whose reports are contradicted. Pure.
 *
 * A probe that is answered has crossed both directions of both ends. So an agent that
 * reports the loss of its probes to RNICs which all others reach is wrong about them,
 * if they count its probes too; if they do not, they may refuse it, unless they are
 * more than may be wrong at once. Wrong, too, is an agent that reports reaching an RNIC
 * which no other host reaches, not even the RNIC's own host, and one that counts fewer
 * probes than arrive. Two contradictions name the agent, fewer leave "one of the two,
 * or their path". Racks of fewer than four hosts are not checked: they have no
 * meaningful majority.
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

/* Its members have changed: starts anew. -ENOMEM. */
int report_check_forget(struct report_check *check, const struct rack *rack);

/* Call it before a window is judged. -ENOMEM: some of its reports are missing. */
int report_check_receive(struct report_check *check, const struct rack *rack,
    const struct window_closed *window, rm_wall_t window_start);

/* The window without the reports of agents that are contradicted now, neither their
 * results nor their receive counts, and with no more results of any pair than is
 * plausible. The result is valid until the next call, or as long as window if all of
 * it is accepted. */
struct window_closed report_check_accepted(struct report_check *check,
    const struct rack *rack, const struct window_closed *window);

bool report_check_is_contradicted(const struct report_check *check, size_t host);

/* Fills at most as many verdicts as there are hosts, and returns how many. suspects,
 * by member: no pair with a member that is named, or was until now, is reported; the
 * first and the last seconds of a dead RNIC have fewer probes of some peers than of
 * others. */
size_t report_check_judge(const struct report_check *check, const struct rack *rack,
    const struct rack_suspect_memory *suspects, int64_t window_ns,
    struct rm_verdict *verdicts);

#endif
