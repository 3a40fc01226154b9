/*
 * localise_healed - finds named parts whose losses of the last two minutes have ended,
 * and deletes these losses. Pure. They must not count for a new verdict: together with
 * a few losses of another fault on the same paths, they would blame a part that is well
 * again.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_HEALED_H
#define ANALYZER_SUSPICION_LOCALISE_HEALED_H

#include <stdbool.h>
#include <stdint.h>

struct localise_now;
struct localise_standings;
struct localise_suspect;

/*
 * slots: bit i is set if packets were lost i slots ago (see LOCALISE_SLOT_NS). clean:
 * bit i is set if rows show that none was lost then. lost: the number of lost packets.
 * Returns the number of the newest bit of a fault that has ended; -1: there is none. A
 * fault has ended when so many clean slots follow that they are chance in one of 1000
 * cases, given how many slots had losses before. Few slots prove this only if each has
 * many losses: they are a short fault and not the begin of a small loss.
 */
int localise_healed_slot(uint64_t slots, uint64_t clean, double lost);

/* True: losses of the suspect's fault that has ended were found, and are deleted from
 * the minutes of all paths over the suspect; of other paths, only lost replies are
 * deleted. A part that was not named keeps its losses, because they may come in bursts.
 */
bool localise_healed_forget(const struct localise_standings *standings,
    const struct localise_now *now, const struct localise_suspect *suspect);

#endif
