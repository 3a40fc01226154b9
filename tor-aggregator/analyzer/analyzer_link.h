/*
 * analyzer_link - sends the messages of both lanes to the first analyzer in the list
 * that can be reached.
 *
 * Incidents are sent before summaries. The number and the bytes of unacknowledged
 * messages of a lane are limited; after a reconnect these messages are sent again, in
 * order. Both sides send pings: if nothing arrives for 2.5 s after the analyzer's first
 * ping, the link is closed. If the analyzer in use is not the first of the list, the
 * earlier ones are tried in the meantime; when one of them sends a welcome, the link
 * returns to it.
 */
#ifndef TOR_AGGREGATOR_ANALYZER_ANALYZER_LINK_H
#define TOR_AGGREGATOR_ANALYZER_ANALYZER_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"
#include "tor-aggregator/analyzer/analyzer_link_options.h"

struct analyzer_link;
struct rm_loop;
struct report_spool;

struct analyzer_link_callbacks { /* each may be NULL */
	/* The session has begun, and nothing has been sent yet. Messages that this
	 * callback adds to the lanes follow those that wait. */
	void (*on_welcome)(void *arg);
	/* A message WIRE_DRILL, which is answered with analyzer_link_send. < 0 closes
	 * the link. */
	int (*on_drill)(const uint8_t *data, size_t len, void *arg);
	void *arg;
};

struct analyzer_link_counts {
	uint64_t connected, disconnected, refused, silent;
	uint64_t returned;             /* returned to an earlier analyzer of the list */
	uint64_t summaries, incidents; /* messages sent, including those sent again */
	uint64_t acks, bad_frames;
};

int analyzer_link_new(struct rm_loop *loop, const struct analyzer_link_options *options,
    const struct analyzer_link_callbacks *callbacks, struct report_spool *reports,
    struct analyzer_link **ret);
/* Call it before the report spool is freed. */
void analyzer_link_free(struct analyzer_link *link);

/* Sends a message. 0, -ENOTCONN, or an error of rm_link_send. */
int analyzer_link_send(struct analyzer_link *link, const struct wire_bytes *bytes);

/* Call it often: sends a ping every 500 ms, and closes a silent link. controller: name
 * of this aggregator's controller; controller_ends_s: when its certificate expires, in
 * seconds since the epoch; 0: not soon. */
void analyzer_link_tick(struct analyzer_link *link, const char *controller,
    uint64_t controller_ends_s, rm_mono_t now);
/* Call it after this daemon was stopped: the time until now does not count as silence
 * of the peer. */
void analyzer_link_stalled(struct analyzer_link *link, rm_mono_t now);

bool analyzer_link_connected(const struct analyzer_link *link);
/* Returns the analyzer's name; "": not connected. */
const char *analyzer_link_analyzer(const struct analyzer_link *link);
const struct analyzer_link_counts *analyzer_link_counts(
    const struct analyzer_link *link);

#endif
