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

/* True: the counter counts time. Times of two ports are not added up, because both
 * ports may have waited at the same time. */
static bool
is_time(const struct counter_row *row)
{
	return strcmp(row->unit, "microseconds") == 0 ||
	       strcmp(row->unit, "seconds") == 0;
}

/* Adds a counter's last increase to *value. For times and gauges: stores the largest
 * value instead of the sum. first: *value has none of another port yet. False: the
 * counter has no increase in the last interval. */
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
	if (!is_time(row))
		*value += state->delta;
	else if (first || state->delta > *value)
		*value = state->delta;
	return true;
}

/* Stores the sum of the value over the network devices of a bond. A device that does
 * not have the value is left out; if one that has it has no increase, there is no
 * sum. */
static bool
add_lowers(const struct counter_row *row, const struct counter_state *const *lowers,
    size_t lower_count, size_t at, uint64_t *value)
{
	bool any = false;
	uint64_t sum = 0;

	for (size_t i = 0; lowers != NULL && i < lower_count; i++) {
		if (!lowers[i][at].there)
			continue;
		if (!add(row, &lowers[i][at], !any, &sum))
			return false;
		any = true;
	}
	*value = sum;
	return any;
}

/* True: a bond's own value does not show its cables. A bond with one working port keeps
 * its carrier, and the file symbol_error of the RDMA device of a bond of mlx5 is
 * always 0. */
static bool
is_of_cables(unsigned number)
{
	return number == WIRE_COUNTER_LINK_DOWN ||
	       number == WIRE_COUNTER_CARRIER_CHANGES ||
	       number == WIRE_COUNTER_SYMBOL_ERR;
}

/* ---- the slot of a bond ---- */

/* The index of the first value of a counter that aggregators know. */
static size_t
place_of(unsigned number)
{
	size_t at = 0;

	for (const struct counter_row *row = counter_rows; row->name != NULL; row++) {
		if (number_of(row) == number)
			break;
		at += counter_row_values(row);
	}
	return at;
}

/* `of` in thousandths of the smaller one of `max` and `slot`; 1000: not known. */
static uint64_t
share_of_smaller(
    const struct counter_state *states, unsigned of, unsigned max, unsigned slot)
{
	const struct counter_state *own = &states[place_of(of)];
	const struct counter_state *one = &states[place_of(max)];
	const struct counter_state *other = &states[place_of(slot)];
	const uint64_t smaller = one->total < other->total ? one->total : other->total;

	return own->there && one->there && other->there && smaller > 0
		   ? 1000 * own->total / smaller
		   : 1000;
}

static uint64_t
pcie_share(const struct counter_state *states)
{
	const uint64_t lanes = share_of_smaller(states, WIRE_COUNTER_PCI_LINK_LANES,
	    WIRE_COUNTER_PCI_LINK_LANES_MAX, WIRE_COUNTER_PCI_SLOT_LANES_MAX);
	const uint64_t speed = share_of_smaller(states, WIRE_COUNTER_PCI_LINK_MTS,
	    WIRE_COUNTER_PCI_LINK_MTS_MAX, WIRE_COUNTER_PCI_SLOT_MTS_MAX);

	return lanes < speed ? lanes : speed;
}

/* The ports of a bond may be cards in different slots. What a link has is judged
 * against what its own ends can use, so all values of PCIe links are those of one port:
 * the one whose link has the smallest share. NULL: no port has such values. */
static const struct counter_state *
choose_slot(const struct counter_state *const *lowers, size_t lower_count)
{
	const size_t lanes = place_of(WIRE_COUNTER_PCI_LINK_LANES);
	const struct counter_state *worst = NULL;

	for (size_t i = 0; lowers != NULL && i < lower_count; i++)
		if (lowers[i][lanes].there &&
		    (worst == NULL || pcie_share(lowers[i]) < pcie_share(worst)))
			worst = lowers[i];
	return worst;
}

static bool
is_of_slot(unsigned number)
{
	return number >= WIRE_COUNTER_PCI_LINK_LANES &&
	       number <= WIRE_COUNTER_PCI_SLOT_MTS_MAX;
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
 * NULL: no module receives light, or the modules do not all have the same lanes. */
static const struct counter_state *
choose_light(const struct counter_state *const *lowers, size_t lower_count)
{
	const struct counter_state *darkest = NULL;
	struct light best = { 0 };

	for (size_t i = 0; lowers != NULL && i < lower_count; i++) {
		const struct light light = light_received(lowers[i]);

		if (light.lanes == 0)
			continue;
		if (darkest != NULL && light.lanes != best.lanes)
			return NULL;
		if (darkest == NULL ||
		    (light.brightest >= NOISE_NW &&
			(best.brightest < NOISE_NW || light.darkest < best.darkest))) {
			best = light;
			darkest = lowers[i];
		}
	}
	return darkest;
}

struct bond {
	const struct counter_state *const *lowers; /* NULL: they were not all read */
	size_t lower_count;                        /* 0: the RNIC is no bond */
	const struct counter_state *light, *slot;  /* of one port each; or NULL */
};

static bool
add_of_ports(const struct bond *bond, const struct counter_row *row, unsigned number,
    size_t at, uint64_t *value)
{
	if (counter_row_is_optics(row))
		return bond->light != NULL && add(row, &bond->light[at], true, value);
	if (is_of_slot(number))
		return bond->slot != NULL && add(row, &bond->slot[at], true, value);
	return add_lowers(row, bond->lowers, bond->lower_count, at, value);
}

/* False: neither the RNIC nor, if it is a bond, its ports have this value. */
static bool
read_value(const struct counter_state *states, const struct bond *bond,
    const struct counter_row *row, unsigned number, size_t at, uint64_t *value)
{
	if (states[at].there && (bond->lower_count == 0 || !is_of_cables(number)))
		return add(row, &states[at], true, value);
	return add_of_ports(bond, row, number, at, value);
}

/* The row, and the index of its first value; NULL: there is none of that name. */
static const struct counter_row *
row_of(const char *name, size_t *at)
{
	*at = 0;
	for (const struct counter_row *row = counter_rows; row->name != NULL; row++) {
		if (strcmp(row->name, name) == 0)
			return row;
		*at += counter_row_values(row);
	}
	return NULL;
}

/* True: the gauge was 0 in the last reading and in the one before. */
static bool
stays_zero(const struct counter_state *gauge)
{
	return gauge->there && !gauge->back && gauge->change == COUNTER_COUNTED &&
	       gauge->total == 0 && gauge->delta == 0;
}

/* True: PFC was off at both ends of the last interval. */
static bool
is_pfc_off(const struct counter_state *states, const struct bond *bond)
{
	size_t at;
	const struct counter_row *row = row_of("pfc_enabled", &at);
	const bool own = bond->lower_count == 0 || states[at].there;
	const struct counter_state *const *ports = own ? &states : bond->lowers;
	const size_t count = own ? 1 : bond->lower_count;

	for (size_t k = 0; ports != NULL && k < count; k++)
		for (size_t i = 0; i < counter_row_values(row); i++)
			if (!stays_zero(&ports[k][at + i]))
				return false;
	return ports != NULL;
}

/* mlx5 counts global pauses only while they are on. It also counts all pauses together:
 * if PFC was off for the whole interval, these are global ones. */
static bool
read_global_pauses(const struct counter_state *states, const struct bond *bond,
    unsigned number, uint64_t *value)
{
	const char *all =
	    number == WIRE_COUNTER_GPAUSE_RX_FRAMES   ? "pause_ctrl_rx_frames"
	    : number == WIRE_COUNTER_GPAUSE_TX_FRAMES ? "pause_ctrl_tx_frames"
						      : NULL;
	const struct counter_row *row;
	size_t at;

	if (all == NULL || !is_pfc_off(states, bond))
		return false;
	row = row_of(all, &at);
	return read_value(states, bond, row, number, at, value);
}

size_t
counter_report_fill(const struct counter_state *states,
    const struct counter_state *const *lowers, size_t lower_count,
    struct wire_counter_value ret[COUNTER_REPORT_VALUES])
{
	const struct bond bond = { .lowers = lowers,
		.lower_count = lower_count,
		.light = choose_light(lowers, lower_count),
		.slot = choose_slot(lowers, lower_count) };
	size_t at = 0, count = 0;

	for (const struct counter_row *row = counter_rows; row->name != NULL; row++) {
		const unsigned number = number_of(row);

		for (size_t i = 0; i < counter_row_values(row); i++, at++) {
			uint64_t value = 0;

			if (number == 0 ||
			    (!read_value(states, &bond, row, number, at, &value) &&
				!read_global_pauses(states, &bond, number, &value)))
				continue;
			ret[count++] = (struct wire_counter_value){ .value = value,
				.counter = (uint16_t)number,
				.index = (uint8_t)i };
		}
	}
	return count;
}

static bool
was_read_twice(const struct counters_port *port)
{
	return port != NULL && port->error == 0 && port->interval_ns > 0;
}

/* Finds the states of the network devices of a bond. False: not each was read together
 * with the bond. */
static bool
lowers_read_with(const struct counters *counters, const struct counters_port *bond,
    const struct counter_state *ret[COUNTER_MAX_LOWERS])
{
	for (size_t i = 0; i < bond->reading.lower_count; i++) {
		const struct counters_port *lower = counters_lower(counters, bond, i);

		if (!was_read_twice(lower) || lower->at.ns != bond->at.ns ||
		    lower->interval_ns != bond->interval_ns)
			return false;
		ret[i] = lower->states;
	}
	return true;
}

const struct counters_port *
counter_report_of(const struct counters *counters,
    const struct counter_port_place *place,
    struct wire_counter_value values[COUNTER_REPORT_VALUES],
    struct wire_rnic_counters *ret)
{
	const struct counters_port *port = counters_find(counters, place);
	const struct counter_state *lowers[COUNTER_MAX_LOWERS];

	if (!was_read_twice(port))
		return NULL;
	*ret = (struct wire_rnic_counters){ .interval_ns = (uint64_t)port->interval_ns,
		.values = values };
	ret->value_count = counter_report_fill(port->states,
	    lowers_read_with(counters, port, lowers) ? lowers : NULL,
	    port->reading.lower_count, values);
	return port;
}
