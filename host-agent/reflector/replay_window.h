/*
 * replay_window - remembers which of the last sequence numbers of a session were
 * received. Pure. A repeated number, or one that is REPLAY_WINDOW or more behind the
 * newest, is not fresh. Numbers wrap at 2^32. All zeros: no number was received yet.
 */
#ifndef HOST_AGENT_REFLECTOR_REPLAY_WINDOW_H
#define HOST_AGENT_REFLECTOR_REPLAY_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define REPLAY_WINDOW 1024

struct replay_window {
	uint64_t seen[REPLAY_WINDOW / 64]; /* indexed by number modulo REPLAY_WINDOW */
	uint32_t newest;
	bool any;
};

/* True: the number is fresh. After the call it is not fresh any more. */
bool replay_window_take(struct replay_window *window, uint32_t seq);

#endif
