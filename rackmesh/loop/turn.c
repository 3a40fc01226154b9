#include "rackmesh/loop/turn.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/loop/loop.h"

TAILQ_HEAD(line, rm_turn);

struct rm_turns {
	struct line lines[RM_TURN_LINES];
	/* Both are set while anything waits. `idle` fires when the loop has nothing
	 * else to do, `late` if that has not happened for a while. */
	struct event *idle, *late;
	/* number of handshake steps that ran since a connection began to wait to be
	 * accepted */
	unsigned steps;
};

static bool
turns_wait(const struct rm_turns *turns)
{
	for (size_t i = 0; i < RM_TURN_LINES; i++)
		if (!TAILQ_EMPTY(&turns->lines[i]))
			return true;
	return false;
}

/* `idle` is a timer that is due at once, because the loop checks its descriptors before
 * it calls timers. */
static void
turns_arm(struct rm_turns *turns)
{
	static const struct timeval now,
	    late = { .tv_usec = RM_TURN_NS / RM_NS_PER_US };

	event_add(turns->idle, &now);
	event_add(turns->late, &late);
}

static struct rm_turn *
turns_next(struct rm_turns *turns)
{
	struct rm_turn *step = TAILQ_FIRST(&turns->lines[RM_TURN_HANDSHAKE]);
	struct rm_turn *accept = TAILQ_FIRST(&turns->lines[RM_TURN_ACCEPT]);

	if (accept == NULL || (step != NULL && turns->steps < RM_TURN_STEPS)) {
		turns->steps += accept != NULL;
		return step;
	}
	turns->steps = 0;
	return accept;
}

static void
turns_give(evutil_socket_t ignored, short what, void *arg)
{
	struct rm_turns *turns = arg;
	struct rm_turn *turn = turns_next(turns);

	if (turn != NULL) {
		rm_turn_leave(turn);
		turn->fn(turn->arg);
	}
	if (turns_wait(turns))
		turns_arm(turns);
}

void
rm_turn_init(struct rm_turn *turn, struct rm_loop *loop, enum rm_turn_line line,
    void (*fn)(void *arg), void *arg)
{
	*turn = (struct rm_turn){
		.turns = rm_loop_turns(loop),
		.line = line,
		.fn = fn,
		.arg = arg,
	};
}

void
rm_turn_ask(struct rm_turn *turn)
{
	bool first = !turns_wait(turn->turns);

	if (turn->waits)
		return;
	turn->waits = true;
	TAILQ_INSERT_TAIL(&turn->turns->lines[turn->line], turn, entry);
	if (first)
		turns_arm(turn->turns);
}

void
rm_turn_leave(struct rm_turn *turn)
{
	if (!turn->waits)
		return;
	turn->waits = false;
	TAILQ_REMOVE(&turn->turns->lines[turn->line], turn, entry);
	if (turns_wait(turn->turns))
		return;
	event_del(turn->turns->idle);
	event_del(turn->turns->late);
}

int
rm_turns_new(struct event_base *base, int lowest_priority, struct rm_turns **ret)
{
	struct rm_turns *turns = calloc(1, sizeof(*turns));

	if (turns == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < RM_TURN_LINES; i++)
		TAILQ_INIT(&turns->lines[i]);
	turns->idle = evtimer_new(base, turns_give, turns);
	turns->late = evtimer_new(base, turns_give, turns);
	if (turns->idle == NULL || turns->late == NULL ||
	    event_priority_set(turns->idle, lowest_priority) < 0) {
		rm_turns_free(turns);
		return -ENOMEM;
	}
	*ret = turns;
	return 0;
}

void
rm_turns_free(struct rm_turns *turns)
{
	if (turns == NULL)
		return;
	if (turns->idle != NULL)
		event_free(turns->idle);
	if (turns->late != NULL)
		event_free(turns->late);
	free(turns);
}
