#include "host-agent/rnic/look_pace.h"

#include "rackmesh/core/clock.h"

#define LOOK_NS (3 * RM_NS_PER_S)
#define LOOK_AWAITED_NS (500 * RM_NS_PER_MS) /* interval while an RNIC is missing */
/* Drivers fill the GID table shortly after the event that announces it. */
#define LOOK_EVENT_NS (100 * RM_NS_PER_MS)

static int64_t
larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

int64_t
look_pace_ns(bool up, int64_t cpu_ns)
{
	return larger(up ? LOOK_NS : LOOK_AWAITED_NS, 400 * cpu_ns);
}

int64_t
look_pace_event_ns(int64_t cpu_ns)
{
	return larger(LOOK_EVENT_NS, 200 * cpu_ns);
}
