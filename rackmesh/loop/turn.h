/*
 * turn - runs expensive work of new connections when the loop is idle.
 *
 * When the loop has nothing else to do, it runs one piece of work: so established
 * connections are served first. Steps of handshakes wait in one queue, and connections
 * are accepted when that queue is empty: so if there are many new connections, most of
 * them wait in the kernel, where they cost nothing. Peers that send their handshakes
 * byte by byte could keep the queue from ever being empty: so a connection is also
 * accepted after every RM_TURN_STEPS steps. If the loop is never idle, one piece runs
 * every RM_TURN_NS.
 *
 * The owner embeds a struct rm_turn, and removes it from the queue before freeing it.
 */
#ifndef RACKMESH_LOOP_TURN_H
#define RACKMESH_LOOP_TURN_H

#include <stdbool.h>
#include <sys/queue.h>

/* ns; so new connections get at most a third of the time of a busy loop */
#define RM_TURN_NS (1 * 1000000LL)
#define RM_TURN_STEPS 16 /* steps after which a waiting connection is accepted */

struct event_base;
struct rm_loop;
struct rm_turns;

enum rm_turn_line { RM_TURN_HANDSHAKE, RM_TURN_ACCEPT, RM_TURN_LINES };

struct rm_turn {
	struct rm_turns *turns;
	enum rm_turn_line line;
	void (*fn)(void *arg); /* may call rm_turn_ask again, or free the owner */
	void *arg;
	bool waits;
	TAILQ_ENTRY(rm_turn) entry;
};

void rm_turn_init(struct rm_turn *turn, struct rm_loop *loop, enum rm_turn_line line,
    void (*fn)(void *arg), void *arg);
/* Appends the turn to its queue; it runs once. A turn that waits already keeps its
 * place. */
void rm_turn_ask(struct rm_turn *turn);
/* Does nothing for a turn that does not wait, or is all zeros. */
void rm_turn_leave(struct rm_turn *turn);

/* Only the thread of the loop may use the turns. */
int rm_turns_new(struct event_base *base, int lowest_priority, struct rm_turns **ret);
void rm_turns_free(struct rm_turns *turns);

#endif
