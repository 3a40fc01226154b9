/*
 * turn - runs expensive work of new connections when the loop is idle.
 *
 * One piece of work runs whenever the loop has nothing else to do, so established
 * connections are served first. Steps of handshakes wait in one queue; connections are
 * accepted when that queue is empty, so with many new connections most wait in the
 * kernel, where they cost nothing. Peers that send a handshake byte by byte could keep
 * the queue from ever being empty, so a connection is also accepted after every
 * RM_TURN_STEPS steps. On a loop that is never idle, one piece runs every RM_TURN_NS,
 * so each one runs eventually.
 *
 * The owner embeds a struct rm_turn, and removes it from the queue before freeing it.
 */
#ifndef RACKMESH_LOOP_TURN_H
#define RACKMESH_LOOP_TURN_H

#include <stdbool.h>
#include <sys/queue.h>

#define RM_TURN_NS (1 * 1000000LL) /* a third of the time for new connections */
#define RM_TURN_STEPS 16 /* handshake steps, then a waiting connection is accepted */

struct event_base;
struct rm_loop;
struct rm_turns;

enum rm_turn_line { RM_TURN_HANDSHAKE, RM_TURN_ACCEPT, RM_TURN_LINES };

struct rm_turn {
	struct rm_turns *turns;
	enum rm_turn_line line;
	void (*fn)(void *arg); /* may ask again, and free the owner */
	void *arg;
	bool waits;
	TAILQ_ENTRY(rm_turn) entry;
};

void rm_turn_init(struct rm_turn *turn, struct rm_loop *loop, enum rm_turn_line line,
    void (*fn)(void *arg), void *arg);
/* Appends it to the queue, for one turn; one that waits already keeps its place. */
void rm_turn_ask(struct rm_turn *turn);
void rm_turn_leave(
    struct rm_turn *turn); /* may be called for one that does not wait, or is zeroed */

/* The loop's own. */
int rm_turns_new(struct event_base *base, int lowest_priority, struct rm_turns **ret);
void rm_turns_free(struct rm_turns *turns);

#endif
