/* What aggregators are told once it is safe: which of their messages they may forget.
 */
#include "analyzer/intake/intake.h"

#include "analyzer/intake/intake_session.h"
#include "rackmesh/net/link.h"

void
intake_peer_due(struct intake *intake, struct intake_peer *peer)
{
	if (peer->is_due)
		return;
	peer->is_due = true;
	peer->next_due = intake->due;
	intake->due = peer;
}

static int
acknowledge(struct intake *intake, struct intake_session *session, int name,
    const struct intake_lane *lane)
{
	const struct wire_ack ack = {
		.lane = name == LANE_INCIDENT ? WIRE_LANE_INCIDENT : WIRE_LANE_SUMMARY,
		.incarnation = lane->incarnation,
		.seq = lane->durable,
	};
	struct wire_bytes bytes;
	int r;

	r = wire_write_ack(intake->writer, &ack, &bytes);
	if (r == 0)
		r = rm_link_send(session->link, bytes.data, bytes.len);
	intake->counts.acks += r == 0;
	return r;
}

static void
peer_flush(struct intake *intake, struct intake_peer *peer)
{
	struct intake_session *session = peer->session;
	uint64_t unacked = 0;

	for (int l = 0; l < LANES; l++)
		for (size_t i = 0; i < INTAKE_INCARNATIONS; i++) {
			struct intake_lane *lane = &peer->lanes[l][i];
			int r = 0;

			if (session != NULL && lane->ack_due)
				r = acknowledge(intake, session, l, lane);
			/* It comes back with all that is not acknowledged. */
			if (r < 0)
				rm_link_close(session->link, r);
			lane->ack_due = false;
			unacked += lane->pending;
		}
	if (session != NULL)
		session->info.unacked = unacked;
}

void
intake_flush(struct intake *intake)
{
	while (intake->due != NULL) {
		struct intake_peer *peer = intake->due;

		intake->due = peer->next_due;
		peer->is_due = false;
		peer_flush(intake, peer);
	}
}

void
intake_settle(struct intake *intake, int lane)
{
	struct intake_peer *peer;

	while ((peer = intake_pending_pop(
		    intake->pending[lane], intake->durable[lane])) != NULL)
		intake_peer_due(intake, peer);
}

void
intake_durable(struct intake *intake, enum wire_lane lane, uint64_t ticket)
{
	int name = lane == WIRE_LANE_INCIDENT ? LANE_INCIDENT : LANE_SUMMARY;

	if (ticket > intake->durable[name])
		intake->durable[name] = ticket;
	intake_settle(intake, name);
	intake_flush(intake);
}
