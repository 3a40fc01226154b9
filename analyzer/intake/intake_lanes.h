/*
 * intake_lanes - what the numbers of an aggregator's lanes prove: which message is new,
 * and up to which one all are safe. Pure.
 *
 * Tickets of one lane, over all aggregators, only grow; they become durable in order.
 */
#ifndef ANALYZER_INTAKE_INTAKE_LANES_H
#define ANALYZER_INTAKE_INTAKE_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTAKE_INCARNATIONS 4 /* of one aggregator that are remembered */

struct intake_peer;
struct intake_pending;

struct intake_lane { /* of one incarnation of one aggregator */
	uint64_t incarnation;
	uint64_t applied; /* the highest number taken; 0: none */
	uint64_t durable; /* up to here all that was taken is safe */
	uint64_t pending; /* taken, not safe yet */
	uint64_t used;    /* larger: later; 0: nobody asks for it any more */
	bool ack_due;
};

enum intake_status {
	INTAKE_NEW,
	INTAKE_PENDING, /* taken already, its acknowledgement will come */
	INTAKE_SAFE,    /* taken already, acknowledge it again */
	INTAKE_BUSY,    /* no room to remember it: not now */
};

/* The place of that incarnation, made if there is none. NULL: all are busy. */
struct intake_lane *intake_lane_get(
    struct intake_lane lanes[INTAKE_INCARNATIONS], uint64_t incarnation, uint64_t now);
/* A new life of the aggregator: its numbers may mean other messages now. What waits to
 * be safe is not acknowledged, and comes again. */
void intake_lanes_forget(struct intake_lane lanes[INTAKE_INCARNATIONS]);
enum intake_status intake_lane_status(
    const struct intake_lane *lane, uint64_t seq, size_t max_unacked);

/* Of one lane, all aggregators. capacity: a power of two. */
int intake_pending_new(size_t capacity, struct intake_pending **ret);
void intake_pending_free(struct intake_pending *pending);
bool intake_pending_full(const struct intake_pending *pending);
/* Taken under that ticket; 0: nothing to wait for but those before it. Returns how many
 * numbers are missing before it. Not when full. */
uint64_t intake_pending_add(struct intake_pending *pending, struct intake_peer *peer,
    struct intake_lane *lane, uint64_t seq, uint64_t ticket);
/* The next one that is safe, its lane brought up to date; NULL: no more. */
struct intake_peer *intake_pending_pop(
    struct intake_pending *pending, uint64_t durable_ticket);

#endif
