#include "host-agent/counters/counter_report.h"

#include <string.h>

#include "host-agent/counters/counter_table.h"
#include "host-agent/counters/counters.h"
#include "rackmesh/metrics/counter_delta.h"
#include "schemas/wire/text.h"

/* Returns the counter's number on the wire; 0: no aggregator uses it. */
static unsigned
number_of(const struct counter_row *row)
{
	for (unsigned i = 1; i < WIRE_COUNTERS; i++)
		if (strcmp(wire_counter_str(i), row->name) == 0)
			return i;
	return 0;
}

/* The power of a lane is the larger one of the last two readings: in a single reading
 * the link may have been down for a moment. A power is reported until the next reading
 * of the module. */
static bool
light_of(const struct counter_state *state, uint64_t *ret)
{
	if (!state->there || state->back || state->change != COUNTER_COUNTED)
		return false;
	*ret = state->delta > state->total ? state->delta : state->total;
	return true;
}

/* Adds a counter's last increase to *value, or stores a gauge in it. first: *value has
 * no gauge of another port yet. False: the counter has no increase in the last
 * interval. */
static bool
add(const struct counter_row *row, const struct counter_state *state, bool first,
    uint64_t *value)
{
	if (!state->there)
		return false;
	if (counter_row_is_optics(row))
		return light_of(state, value);
	if (row->width == 0) {
		if (first || state->total > *value)
			*value = state->total;
		return true;
	}
	if (state->back ||
	    (state->change != COUNTER_COUNTED && state->change != COUNTER_WRAPPED))
		return false;
	*value += state->delta;
	return true;
}

/* Adds up the value over the network devices of a bond. A device that does not exist is
 * left out; if one that exists has no increase, there is no sum. */
static bool
add_lowers(const struct counter_row *row, const struct counter_state *const *lowers,
    size_t lower_count, size_t at, uint64_t *value)
{
	bool any = false;

	for (size_t i = 0; i < lower_count; i++) {
		if (!lowers[i][at].there)
			continue;
		if (!add(row, &lowers[i][at], !any, value))
			return false;
		any = true;
	}
	return any;
}

/* ---- the light of a bond ---- */

/* nanowatts: a receiver without light shows less than this, so its port is down. */
#define NOISE_NW 5000

struct light {          /* the optical power that a module receives */
	unsigned lanes; /* a bit for each lane with a value */
	uint64_t darkest, brightest;
};

static struct light
light_received(const struct counter_state *states)
{
	struct light light = { .darkest = UINT64_MAX };
	size_t at = 0;

	for (const struct counter_row *row = counter_rows; row->name != NULL; row++) {
		const size_t count = counter_row_values(row);
		uint64_t value = 0;

		for (size_t i = 0; i < count; i++) {
			if (number_of(row) != WIRE_COUNTER_OPTICS_RX_NW ||
			    !light_of(&states[at + i], &value))
				continue;
			light.lanes |= 1u << i;
			light.darkest = value < light.darkest ? value : light.darkest;
			light.brightest =
			    value > light.brightest ? value : light.brightest;
		}
		at += count;
	}
	return light;
}

/* Lanes are judged against the other lanes of their module, so one module is reported
 * for the whole bond: of the modules that receive light, the one with the darkest lane.
 * Returns 1, or 0 if the modules differ in their lanes. */
static size_t
choose_light(const struct counter_state *const *lowers, size_t lower_count,
    const struct counter_state **ret)
{
	struct light best = { 0 };

	*ret = NULL;
	for (size_t i = 0; i < lower_count; i++) {
		const struct light light = light_received(lowers[i]);

		if (light.lanes == 0)
			continue;
		if (*ret != NULL && light.lanes != best.lanes)
			return 0;
		if (*ret == NULL ||
		    (light.brightest >= NOISE_NW &&
			(best.brightest < NOISE_NW || light.darkest < best.darkest))) {
			best = light;
			*ret = lowers[i];
		}
	}
	return *ret == NULL ? 0 : 1;
}

size_t
counter_report_fill(const struct counter_state *states,
    const struct counter_state *const *lowers, size_t lower_count,
    struct wire_counter_value ret[COUNTER_REPORT_VALUES])
{
	const struct counter_state *light;
	const size_t lights = choose_light(lowers, lower_count, &light);
	size_t at = 0, count = 0;

	for (const struct counter_row *row = counter_rows; row->name != NULL; row++) {
		const unsigned number = number_of(row);
		const bool is_light = counter_row_is_optics(row);

		for (size_t i = 0; i < counter_row_values(row); i++, at++) {
			uint64_t value = 0;

			if (number == 0 ||
			    (!add(row, &states[at], true, &value) &&
				(states[at].there ||
				    !add_lowers(row, is_light ? &light : lowers,
					is_light ? lights : lower_count, at, &value))))
				continue;
			ret[count++] = (struct wire_counter_value){ .value = value,
				.counter = (uint16_t)number,
				.index = (uint8_t)i };
		}
	}
	return count;
}

static const struct counters_port *
port_at(const struct counters *counters, const char *rdma_device, const char *netdev,
    uint8_t port)
{
	for (size_t i = 0; i < counters_ports(counters); i++) {
		const struct counters_port *shown = counters_port(counters, i);

		if (shown->wanted && shown->place.port == port &&
		    strcmp(shown->place.rdma_device, rdma_device) == 0 &&
		    strcmp(shown->place.netdev, netdev) == 0)
			return shown;
	}
	return NULL;
}

static bool
was_read_twice(const struct counters_port *port)
{
	return port != NULL && port->error == 0 && port->interval_ns > 0;
}

/* Collects the states of the network devices of a bond. Each device must have been read
 * together with the bond; otherwise returns 0, and no device is used. */
static size_t
lowers_read_with(const struct counters *counters, const struct counters_port *bond,
    const struct counter_state *ret[COUNTER_MAX_LOWERS])
{
	for (size_t i = 0; i < bond->reading.lower_count; i++) {
		const struct counters_port *lower =
		    port_at(counters, "", bond->reading.lowers[i], 0);

		if (!was_read_twice(lower) || lower->at.ns != bond->at.ns ||
		    lower->interval_ns != bond->interval_ns)
			return 0;
		ret[i] = lower->states;
	}
	return bond->reading.lower_count;
}

const struct counters_port *
counter_report_of(const struct counters *counters,
    const struct counter_port_place *place,
    struct wire_counter_value values[COUNTER_REPORT_VALUES],
    struct wire_rnic_counters *ret)
{
	const struct counters_port *port =
	    port_at(counters, place->rdma_device, place->netdev, place->port);
	const struct counter_state *lowers[COUNTER_MAX_LOWERS];
	size_t lower_count;

	if (!was_read_twice(port))
		return NULL;
	lower_count = lowers_read_with(counters, port, lowers);
	*ret = (struct wire_rnic_counters){ .interval_ns = (uint64_t)port->interval_ns,
		.values = values };
	ret->value_count =
	    counter_report_fill(port->states, lowers, lower_count, values);
	return port;
}
