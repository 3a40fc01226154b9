#include "host-agent/reflector/replay_window.h"

#include <string.h>

static uint64_t *
bits_with(struct replay_window *window, uint32_t seq)
{
	return &window->seen[seq % REPLAY_WINDOW / 64];
}

static uint64_t
bit_of(uint32_t seq)
{
	return UINT64_C(1) << seq % 64;
}

/* Clears the places of the numbers that enter the window. */
static void
window_move(struct replay_window *window, uint32_t newest)
{
	if (newest - window->newest >= REPLAY_WINDOW) {
		memset(window->seen, 0, sizeof(window->seen));
		window->newest = newest;
		return;
	}
	while (window->newest != newest) {
		window->newest++;
		*bits_with(window, window->newest) &= ~bit_of(window->newest);
	}
}

bool
replay_window_take(struct replay_window *window, uint32_t seq)
{
	int32_t ahead = (int32_t)(seq - window->newest);

	if (!window->any) {
		window->any = true;
		window->newest = seq;
	} else if (ahead > 0) {
		window_move(window, seq);
	} else if (ahead <= -REPLAY_WINDOW ||
		   (*bits_with(window, seq) & bit_of(seq)) != 0) {
		return false;
	}
	*bits_with(window, seq) |= bit_of(seq);
	return true;
}
