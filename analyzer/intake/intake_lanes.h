/*
 * intake_lanes - the message numbers of each aggregator's lanes: decides which messages
 * are new, and up to which number all messages are durable. Pure.
 *
 * The tickets of one lane, over all aggregators, only grow, and become durable in this
 * order.
 */
#ifndef ANALYZER_INTAKE_INTAKE_LANES_H
#define ANALYZER_INTAKE_INTAKE_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTAKE_INCARNATIONS 4 /* incarnations of one aggregator that are remembered */

struct intake_peer;
struct intake_pending;

struct intake_lane { /* a lane of one incarnation of one aggregator */
	uint64_t incarnation;
	uint64_t applied; /* highest number that was taken; 0: none */
	/* all messages up to this number that were taken are durable */
	uint64_t durable;
	uint64_t pending; /* number of messages taken that are not durable yet */
	/* order of the last use: larger is later; 0: the entry is free */
	uint64_t used;
	bool ack_due;
};

enum intake_status {
	INTAKE_NEW,
	/* the message was taken already, and will be acknowledged when it is durable */
	INTAKE_PENDING,
	/* the message was taken already, and is durable: acknowledge it again */
	INTAKE_SAFE,
	INTAKE_BUSY, /* the table is full: try again later */
};

/* Finds or adds the entry of this incarnation. NULL: all entries have messages that are
 * not durable. */
struct intake_lane *intake_lane_get(
    struct intake_lane lanes[INTAKE_INCARNATIONS], uint64_t incarnation, uint64_t now);
/* Deletes all numbers of an aggregator. Call it for a new incarnation, whose numbers
 * may belong to other messages. Messages that are not durable yet are not acknowledged,
 * so they will be sent again. */
void intake_lanes_forget(struct intake_lane lanes[INTAKE_INCARNATIONS]);
enum intake_status intake_lane_status(
    const struct intake_lane *lane, uint64_t seq, size_t max_unacked);

/* Creates the queue of the messages of one lane, of all aggregators, that are not
 * durable yet. capacity: a power of two. */
int intake_pending_new(size_t capacity, struct intake_pending **ret);
void intake_pending_free(struct intake_pending *pending);
bool intake_pending_full(const struct intake_pending *pending);
/* Adds a message with its ticket; ticket 0: the message becomes durable with those
 * before it. Returns how many numbers are missing before this message. The queue must
 * not be full. */
uint64_t intake_pending_add(struct intake_pending *pending, struct intake_peer *peer,
    struct intake_lane *lane, uint64_t seq, uint64_t ticket);
/* Removes the next message that is durable, updates its lane, and returns its
 * aggregator; NULL: there are no more. */
struct intake_peer *intake_pending_pop(
    struct intake_pending *pending, uint64_t durable_ticket);

#endif
