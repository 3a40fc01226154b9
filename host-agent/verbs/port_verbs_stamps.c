#include <errno.h>

#include "host-agent/verbs/port_verbs_state.h"
#include "host-agent/verbs/verbs_calls.h"
#include "rackmesh/core/log.h"

#define DOUBTS 10 /* seconds without trust, after which software has to do */
#define SETTLE_NS (5 * RM_NS_PER_S) /* nothing is in flight for longer */

int
port_verbs_start_clock(struct port_verbs *port, const struct ibv_device_attr_ex *device)
{
	if (port->stamps == WIRE_STAMP_WALLCLOCK)
		return nic_clock_new_wall(&port->clock);
	return nic_clock_new(
	    device->hca_core_clock, device->completion_timestamp_mask, &port->clock);
}

struct nic_clock_reading
port_verbs_now(void)
{
	return (struct nic_clock_reading){ rm_mono_now(), rm_wall_now() };
}

bool
port_verbs_settled(const struct port_verbs *port, rm_mono_t now)
{
	return rm_mono_since(now, port->settled) >= 0;
}

/* Between a stamp of the NIC and one of ours any time may seem to have passed: while
 * both are about there is none. */
bool
port_verbs_stamp(struct port_verbs *port, const struct verbs_completion *completion,
    const struct nic_clock_reading *now, int64_t *ret)
{
	if (port->stamps != WIRE_STAMP_USER)
		return nic_clock_stamp(port->clock, completion->stamp, now, ret) == 0;
	*ret = now->mono.ns;
	return port_verbs_settled(port, now->mono);
}

void
port_verbs_watch_clock(struct port_verbs *port)
{
	struct nic_clock_reading now;
	rm_mono_t before;
	uint64_t cycles;

	if (port->stamps == WIRE_STAMP_USER)
		return;
	before = rm_mono_now();
	if (port->stamps == WIRE_STAMP_NIC &&
	    port->calls->query_clock(port->domain->context, &cycles) == 0) {
		now = port_verbs_now();
		(void)nic_clock_pair(port->clock, cycles, before, &now);
	}
	now = port_verbs_now();
	if (nic_clock_is_trusted(port->clock, now.mono))
		port->clock_doubts = 0;
	else if (++port->clock_doubts > DOUBTS) {
		rm_log_warn(0, "a NIC's clock cannot be trusted: stamps by software");
		port->stamps = WIRE_STAMP_USER;
		port->settled = rm_mono_add(now.mono, SETTLE_NS);
	}
}
