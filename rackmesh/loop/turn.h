/*
 * turn - what costs much and can wait: newcomers. One has its turn when the loop has
 * nothing else to do, so that whoever is known is served before, and between any two.
 *
 * Steps of handshakes stand in one line; connections are accepted when that is empty,
 * so that of a crowd most wait in the kernel, where they cost nothing. A few who send
 * their part of a handshake byte by byte would never let it be: so also after every
 * RM_TURN_STEPS. On a loop that always has something to do one has its turn every
 * RM_TURN_NS: nobody is shut out.
 *
 * The owner embeds a struct rm_turn, and leaves the line before he frees it.
 */
#ifndef RACKMESH_LOOP_TURN_H
#define RACKMESH_LOOP_TURN_H

#include <stdbool.h>
#include <sys/queue.h>

#define RM_TURN_NS (1 * 1000000LL) /* a third of it for newcomers */
#define RM_TURN_STEPS 16 /* of handshakes, then somebody who waits is accepted */

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
/* To the end of the line, for one turn; who waits already goes on waiting. */
void rm_turn_ask(struct rm_turn *turn);
void rm_turn_leave(struct rm_turn *turn); /* also who does not wait, or zeroed */

/* The loop's own. */
int rm_turns_new(struct event_base *base, int lowest_priority, struct rm_turns **ret);
void rm_turns_free(struct rm_turns *turns);

#endif
