/*
 * localise_healed - finds parts whose losses of the last two minutes have ended, and
 * deletes these losses. Pure. They must not count for a new verdict: together with a
 * few losses of another fault on the same paths, they would blame a part that is well
 * again.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_HEALED_H
#define ANALYZER_SUSPICION_LOCALISE_HEALED_H

#include <stdbool.h>
#include <stdint.h>

struct localise_now;
struct localise_suspect;

/*
 * slots: bit i is set if packets were lost i slots before the newest one that is known
 * (see LOCALISE_SLOT_NS). lost: the number of these packets. Returns the number of the
 * newest bit of a fault that has ended; -1: there is none. A fault has ended when so
 * many slots without a loss follow that they are chance in one of 1000 cases, given how
 * many slots had losses before. Few slots prove this only if each has many losses: they
 * are a short fault and not the begin of a small loss.
 */
int localise_healed_slot(uint64_t slots, double lost);

/* True: losses of the suspect's fault that has ended were found, and are deleted from
 * the minutes of all paths over the suspect. */
bool localise_healed_forget(
    const struct localise_now *now, const struct localise_suspect *suspect);

#endif
