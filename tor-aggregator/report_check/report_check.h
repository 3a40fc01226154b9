/*
 * report_check - compares what the agents of a rack report about each other, and finds
 * agents whose reports are contradicted. Pure.
 *
 * A probe that is answered has passed both RNICs in both directions. Therefore the
 * reports of an agent are wrong in three cases. First, the agent reports that its
 * probes to some RNICs are lost, although all other hosts reach these RNICs, and the
 * hosts of these RNICs report that the agent's probes arrive. (If they report that none
 * arrives, their hosts may refuse the probes of this agent; this explanation counts
 * only for as many hosts as may be wrong at the same time.) Second, the agent reports
 * that it reaches an RNIC which is dead by its own reports and by those of the other
 * hosts. Third, the agent counts fewer arrived probes than were answered. An agent with
 * two contradictions is named; with fewer the verdict is "one of the two, or their
 * path". Racks of fewer than four hosts are not checked, because they have no majority.
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

/* Deletes all reports. Call it when members of the rack have changed. -ENOMEM. */
int report_check_forget(struct report_check *check, const struct rack *rack);

/* Adds the reports in a window. Call it before the window is judged. -ENOMEM: some
 * reports are missing. */
int report_check_receive(struct report_check *check, const struct rack *rack,
    const struct window_closed *window, rm_wall_t window_start);

/* Returns the window without the results and receive counts of agents that are
 * contradicted now. A pair with more results than is plausible is scaled down. The
 * returned window is valid until the next call; if nothing was changed, as long as
 * window. */
struct window_closed report_check_accepted(struct report_check *check,
    const struct rack *rack, const struct window_closed *window);

bool report_check_is_contradicted(const struct report_check *check, size_t host);

/* Writes at most as many verdicts as the rack has hosts, and returns their number.
 * suspects: by member. Pairs with a member that is named now, or was until now, are not
 * reported: in the first and last seconds of a dead RNIC its peers see different
 * losses. */
size_t report_check_judge(const struct report_check *check, const struct rack *rack,
    const struct rack_suspect_memory *suspects, int64_t window_ns,
    struct rm_verdict *verdicts);

#endif
