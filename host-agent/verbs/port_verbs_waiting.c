#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/verbs/port_verbs_state.h"
#include "rackmesh/loop/loop.h"

/* A neighbour never heard of takes tens of ms, more where many are new at once. The
 * wait is part of T4 - T3, so nobody takes it for the network's. */
#define PATIENCE_NS (200 * RM_NS_PER_MS)

int
port_verbs_wait(
    struct port_verbs *port, enum port_role role, const struct port_packet *packet)
{
	struct port_verbs_waiting *waiting;
	size_t len = (size_t)packet->len + packet->zeros;
	uint8_t *data;

	if (role != PORT_REFLECTOR)
		return -EAGAIN;
	data = port->waiting_count < PORT_VERBS_MAX_WAITING ? malloc(len) : NULL;
	if (data == NULL) {
		port->counts.handles_refused++;
		return -EAGAIN;
	}
	memcpy(data, packet->data, packet->len);
	memset(data + packet->len, 0, packet->zeros);
	waiting = &port->waiting[(port->waiting_first + port->waiting_count++) %
				 PORT_VERBS_MAX_WAITING];
	*waiting = (struct port_verbs_waiting){ .packet = *packet,
		.to = *packet->to,
		.data = data,
		.deadline = rm_mono_add(rm_mono_now(), PATIENCE_NS) };
	waiting->packet.data = data;
	waiting->packet.len = (uint16_t)len;
	waiting->packet.zeros = 0;
	if (port->waiting_count == 1)
		rm_timer_at(port->patience, waiting->deadline);
	port->counts.handles_waited++;
	return 0;
}

/* False: it waits on. */
static bool
try_waiting(struct port_verbs *port, struct port_verbs_waiting *waiting, rm_mono_t now)
{
	struct port_packet *packet = &waiting->packet;
	uint64_t refused = port->counts.handles_refused;
	struct port_departure departure;
	int r;

	packet->to = &waiting->to; /* it may have moved since */
	r = port_verbs_post(port, PORT_REFLECTOR, packet);
	if (r == -EINPROGRESS && rm_mono_since(waiting->deadline, now) > 0)
		return false;
	/* The reflector believes that it left: its end is counted here, and once. */
	if (r != 0 && port->counts.handles_refused == refused)
		port->counts.handles_refused++;
	if (r != 0 || port->stamps != WIRE_STAMP_USER ||
	    !port_verbs_settled(port, packet->posted))
		return true;
	departure = (struct port_departure){ packet->token, packet->posted.ns };
	port_verbs_departed(port, PORT_REFLECTOR, &departure, 1);
	return true;
}

/* All have the same patience: the first is the next whose time is over. */
void
port_verbs_send_waiting(struct port_verbs *port)
{
	rm_mono_t now = rm_mono_now();

	/* Sending may find the device gone, which drops them all. */
	for (size_t n = port->waiting_count; n > 0 && port->waiting_count > 0; n--) {
		struct port_verbs_waiting waiting = port->waiting[port->waiting_first];

		port->waiting_first =
		    (port->waiting_first + 1) % PORT_VERBS_MAX_WAITING;
		port->waiting_count--;
		if (try_waiting(port, &waiting, now))
			free(waiting.data);
		else
			port->waiting[(port->waiting_first + port->waiting_count++) %
				      PORT_VERBS_MAX_WAITING] = waiting;
	}
	if (port->waiting_count > 0)
		rm_timer_at(
		    port->patience, port->waiting[port->waiting_first].deadline);
}

void
port_verbs_drop_waiting(struct port_verbs *port)
{
	for (; port->waiting_count > 0; port->waiting_count--) {
		free(port->waiting[port->waiting_first].data);
		port->waiting_first =
		    (port->waiting_first + 1) % PORT_VERBS_MAX_WAITING;
		port->counts.handles_refused++;
	}
}
