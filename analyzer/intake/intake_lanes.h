/*
 * intake_lanes - numbers of an aggregator's lanes: finds new messages, and the number
 * up to which all are durable. Pure.
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
	uint64_t durable; /* all taken ones up to this number are durable */
	uint64_t pending; /* taken, not safe yet */
	uint64_t used;    /* larger: later; 0: not needed any more */
	bool ack_due;
};

enum intake_status {
	INTAKE_NEW,
	INTAKE_PENDING, /* taken already, its acknowledgement follows */
	INTAKE_SAFE,    /* taken already, acknowledge it again */
	INTAKE_BUSY,    /* the table is full: try again later */
};

/* The entry of that incarnation, made if there is none. NULL: all are in use. */
struct intake_lane *intake_lane_get(
    struct intake_lane lanes[INTAKE_INCARNATIONS], uint64_t incarnation, uint64_t now);
/* A new incarnation of the aggregator: its numbers may mean other messages now.
 * Messages that are not durable yet are not acknowledged, and are sent again. */
void intake_lanes_forget(struct intake_lane lanes[INTAKE_INCARNATIONS]);
enum intake_status intake_lane_status(
    const struct intake_lane *lane, uint64_t seq, size_t max_unacked);

/* Of one lane, all aggregators. capacity: a power of two. */
int intake_pending_new(size_t capacity, struct intake_pending **ret);
void intake_pending_free(struct intake_pending *pending);
bool intake_pending_full(const struct intake_pending *pending);
/* Adds a message with that ticket; 0: it only waits for those before it. Returns how
 * many numbers are missing before it. Not when full. */
uint64_t intake_pending_add(struct intake_pending *pending, struct intake_peer *peer,
    struct intake_lane *lane, uint64_t seq, uint64_t ticket);
/* The next one that is durable, with its lane updated; NULL: no more. */
struct intake_peer *intake_pending_pop(
    struct intake_pending *pending, uint64_t durable_ticket);

#endif
