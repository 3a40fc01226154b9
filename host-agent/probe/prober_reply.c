#include "host-agent/probe/prober_state.h"

#include <errno.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "host-agent/probe/pending.h"
#include "host-agent/probe/port.h"
#include "host-agent/probe/prober_target.h"

void
prober_on_departures(const struct port_departure *departures, size_t count, void *arg)
{
	struct prober *prober = arg;

	for (size_t i = 0; i < count; i++) {
		struct pending_probe *probe =
		    pending_find(prober->pending, (uint32_t)departures[i].token);

		if (probe == NULL)
			continue;
		probe->sent_ns = departures[i].stamp_ns;
		probe->has |= PENDING_SENT;
		if (pending_complete(probe))
			prober_finish(prober, probe, false, WIRE_OK);
	}
}

/* The follow-up is of an earlier reply of the same reflector. */
static void
prober_take_follow_up(struct prober *prober, const struct probe_reply *reply,
    const struct wire_address *from, bool ptp)
{
	struct pending_probe *probe =
	    pending_find(prober->pending, reply->follow_up_seq);

	if (probe == NULL || (probe->has & PENDING_ANSWERED) ||
	    !prober_target_is(probe->target, from))
		return;
	if (stamp_time_read(reply->follow_up_timestamp, ptp, &probe->answered_ns) < 0) {
		prober->counts.malformed_replies++;
		return;
	}
	probe->has |= PENDING_ANSWERED;
	if (pending_complete(probe))
		prober_finish(prober, probe, false, WIRE_OK);
}

static void
probe_take_reply(struct pending_probe *probe, const struct probe_reply *reply,
    const struct port_arrival *arrival, rm_mono_t seen, bool ptp)
{
	probe->back_ns = arrival->stamp_ns;
	probe->unstamped = arrival->source == 0;
	probe->seen = seen;
	probe->stamp_source = (uint8_t)arrival->source;
	probe->has |= PENDING_REPLIED;
	/* Zero: its NIC has not said when. */
	if (reply->receive_timestamp != 0 &&
	    stamp_time_read(reply->receive_timestamp, ptp, &probe->arrived_ns) == 0)
		probe->has |= PENDING_ARRIVED;
	probe->arrived_ttl = reply->sender_ttl;
	if (reply->has_class) {
		probe->arrived_dscp = reply->dscp;
		probe->arrived_ecn = reply->ecn;
		probe->result_flags |= WIRE_ARRIVAL;
	}
	if (reply->has_counts) {
		probe->responder_count = reply->rx_count;
		probe->result_flags |= WIRE_COUNTED;
	}
}

/* An echo of what went out, from where it went to, to where it came from. */
static bool
probe_is_answered_by(const struct pending_probe *probe, const struct probe_reply *reply,
    const struct port_arrival *arrival)
{
	return reply->sender_timestamp == probe->timestamp &&
	       (arrival->local_port == 0 || arrival->local_port == probe->src_port) &&
	       prober_target_is(probe->target, &arrival->from);
}

/* With a MAC. -EBADMSG: it has none; -EACCES: not the right one. */
static int
read_keyed(struct prober *prober, const struct port_arrival *arrival,
    struct probe_reply *reply, struct pending_probe **probe)
{
	const struct probe_format *format = port_format(prober->port)->keyed;
	const struct prober_target *target;
	int r = format->read_reply(arrival->data, arrival->len, reply);

	if (r < 0)
		return r;
	*probe = pending_find(prober->pending, reply->sender_seq);
	if (*probe == NULL)
		return 0;
	target = (*probe)->target;
	if (!target->keyed ||
	    !format->verify(arrival->data, arrival->len, &target->macs.reply))
		return -EACCES;
	return 0;
}

/* What follows the base in the reply to a plain probe is anybody's padding. */
static int
read_plain(struct prober *prober, const struct port_arrival *arrival,
    struct probe_reply *reply, struct pending_probe **probe)
{
	const struct probe_format *format = port_format(prober->port);
	const struct prober_target *target;
	int r = format->read_plain_reply(arrival->data, arrival->len, reply);

	if (r < 0)
		return r;
	*probe = pending_find(prober->pending, reply->sender_seq);
	if (*probe == NULL)
		return 0;
	target = (*probe)->target;
	if (target->keyed)
		return -EACCES;
	return (*probe)->size_bytes == format->base_bytes
		   ? 0
		   : format->read_reply(arrival->data, arrival->len, reply);
}

static void
prober_take_arrival(
    struct prober *prober, const struct port_arrival *arrival, rm_mono_t seen)
{
	struct pending_probe *probe;
	struct probe_reply reply;
	bool again, ptp;
	int r = read_keyed(prober, arrival, &reply, &probe);

	if (r == -EBADMSG)
		r = read_plain(prober, arrival, &reply, &probe);
	if (r < 0) {
		prober->counts.unverified_replies += r == -EACCES;
		prober->counts.malformed_replies += r != -EACCES;
		return;
	}
	/* A reflector without session ids leaves the field zero. */
	if ((reply.ssid != 0 && reply.ssid != prober->ssid) || probe == NULL ||
	    !probe_is_answered_by(probe, &reply, arrival)) {
		prober->counts.unknown_replies++;
		return;
	}
	ptp = reply.error_estimate & STAMP_ERROR_PTP;
	again = probe->has & PENDING_REPLIED;
	if (again)
		prober->counts.unknown_replies++;
	else
		probe_take_reply(probe, &reply, arrival, seen, ptp);
	if (pending_complete(probe))
		prober_finish(prober, probe, false, WIRE_OK);
	/* A probe that the network has doubled is answered twice, and the second reply
	 * follows up the first: T4 of that one belongs to its own T3 only. */
	if (reply.has_follow_up && (again || reply.follow_up_seq != reply.sender_seq))
		prober_take_follow_up(prober, &reply, &arrival->from, ptp);
}

void
prober_on_arrivals(struct port_arrival *arrivals, size_t count, void *arg)
{
	rm_mono_t seen = rm_mono_now();

	for (size_t i = 0; i < count; i++)
		prober_take_arrival(arg, &arrivals[i], seen);
}
