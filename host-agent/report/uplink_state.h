/*
 * uplink_state - what uplink.c (sessions: what comes in) and uplink_send.c (what goes
 * out) share. For those two only.
 */
#ifndef HOST_AGENT_REPORT_UPLINK_STATE_H
#define HOST_AGENT_REPORT_UPLINK_STATE_H

#include "host-agent/report/heartbeat.h"
#include "host-agent/report/uplink.h"
#include "rackmesh/core/address.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"

struct batch;
struct rm_dialer;
struct rm_timer;
struct wire_writer;

struct uplink {
	struct uplink_options options;
	struct uplink_callbacks callbacks;
	void *arg;
	char address[RM_ADDRESS_TEXT];
	char peer[UPLINK_PEER_TEXT];
	char id[RM_NAME_BYTES]; /* of the peer; "": no name that one can have */

	struct rm_dialer *dialer;
	struct rm_timer *flush; /* armed while the batch is not empty */
	struct wire_writer *writer;
	struct batch *batch;
	struct outbox *outbox;
	struct heartbeat heartbeat;

	rm_mono_t up_at; /* connected since; while there is a link */
	rm_mono_t heard; /* last, of any frame */
	bool session;    /* welcomed */
	bool mute;       /* it says that it cannot deliver alerts */
	bool wants_all_counts;
	bool behind;       /* batches wait, so the last heartbeat vouched for less */
	rm_mono_t through; /* results known by then are on the stream */
	struct uplink_counts counts;
};

/* True: nothing is left that could be sent. */
bool uplink_pump(struct uplink *uplink, rm_mono_t now);

#endif
