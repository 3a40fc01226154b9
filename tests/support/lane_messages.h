/*
 * lane_messages - handles a message of a lane as an analyzer does: it is opened once,
 * and its view goes to the history.
 */
#ifndef TESTS_SUPPORT_LANE_MESSAGES_H
#define TESTS_SUPPORT_LANE_MESSAGES_H

#include <errno.h>

#include "analyzer/history/history.h"
#include "analyzer/history/history_points.h"

struct lane_message {
	enum wire_lane lane;
	struct wire_summary_view summary; /* one of the two is set */
	struct wire_incident incident;
};

static inline int
lane_message_open(
    struct lane_message *message, enum wire_lane lane, const uint8_t *data, size_t len)
{
	message->lane = lane;
	if (lane == WIRE_LANE_SUMMARY)
		return wire_open_summary(&message->summary, data, len);
	if (lane == WIRE_LANE_INCIDENT)
		return wire_open_incident(&message->incident, data, len);
	return -EBADMSG;
}

static inline int
lane_message_points(struct history_points *points, enum wire_lane lane,
    const uint8_t *data, size_t len, struct history_text *ret)
{
	struct lane_message message;
	int r = lane_message_open(&message, lane, data, len);

	if (r < 0)
		return r;
	return lane == WIRE_LANE_SUMMARY
		   ? history_points_summary(points, &message.summary, ret)
		   : history_points_rack_incident(points, &message.incident, ret);
}

static inline int
lane_message_take(struct history *history, enum wire_lane lane, const uint8_t *data,
    size_t len, uint64_t *ticket)
{
	struct lane_message message;
	int r = lane_message_open(&message, lane, data, len);

	if (r < 0)
		return r;
	return lane == WIRE_LANE_SUMMARY
		   ? history_take_summary(history, &message.summary, ticket)
		   : history_take_incident(history, &message.incident, ticket);
}

#endif
