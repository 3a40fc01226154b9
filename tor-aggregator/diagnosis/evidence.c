#include "tor-aggregator/diagnosis/evidence.h"

#include <stdio.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire/text.h"

#define BIT(i) (1u << (i))

void
evidence_set(struct evidence *evidence, unsigned number, unsigned index, uint64_t value)
{
	if (number == 0 || number >= EVIDENCE_NUMBERS || index >= EVIDENCE_INDEXES)
		return;
	evidence->there[number] |= (uint8_t)BIT(index);
	evidence->value[number][index] = value;
}

static bool
is_gauge(unsigned number)
{
	return wire_counter_is_gauge(number) || number == SWITCH_PFCWD_STORMED ||
	       number == SWITCH_OPER_UP || number == SWITCH_PFC_ON ||
	       number == SWITCH_SPEED_MBPS || number == SWITCH_LANES ||
	       number == SWITCH_LANE_MBPS || number == SWITCH_OPTICS_RX_LOWEST_NW ||
	       number == SWITCH_OPTICS_RX_HIGHEST_NW ||
	       number == SWITCH_OPTICS_RX_LOW_ALARM_NW;
}

void
evidence_add(struct evidence *evidence, unsigned number, unsigned index, uint64_t value)
{
	if (number < EVIDENCE_NUMBERS && index < EVIDENCE_INDEXES &&
	    (evidence->there[number] & BIT(index)) != 0 && !is_gauge(number) &&
	    __builtin_add_overflow(value, evidence->value[number][index], &value))
		value = UINT64_MAX;
	evidence_set(evidence, number, index, value);
}

static void
add_ns(int64_t *sum, int64_t ns)
{
	if (__builtin_add_overflow(*sum, ns, sum))
		*sum = INT64_MAX;
}

/* ---- the ports of a bond ---- */

/* First increases, which are added up; after CABLE_SUMS numbers, those whose longest
 * time or highest value is used. */
#define CABLE_SUMS 11
static const uint8_t cable_numbers[EVIDENCE_CABLE_NUMBERS] = { SWITCH_TX_DISCARDS,
	SWITCH_TX_BUFFER_DROPS, SWITCH_WRED_DROPS, SWITCH_ECN_MARKED, SWITCH_TX_PKTS,
	SWITCH_PFC_RX_FRAMES, SWITCH_PFC_TX_FRAMES, SWITCH_QUEUE_DROP_PKTS,
	SWITCH_PFCWD_DETECTED, SWITCH_GPAUSE_RX_FRAMES, SWITCH_GPAUSE_TX_FRAMES,
	SWITCH_PFC_RX_PAUSE_US, SWITCH_PFC_TX_PAUSE_US, SWITCH_PFCWD_STORMED };

/* Adds the values of the port to those of its cable, which is added if it is new. */
static void
note_cable(struct evidence *evidence, const struct evidence *port)
{
	struct evidence_cable *cable = evidence->of_cables;
	size_t i = 0;

	while (i < evidence->of_cable_count && strcmp(cable[i].port, port->port) != 0)
		i++;
	if (i == EVIDENCE_CABLES)
		return;
	if (i == evidence->of_cable_count) {
		evidence->of_cable_count++;
		cable[i] = (struct evidence_cable){ 0 };
		memcpy(cable[i].port, port->port, sizeof(cable[i].port));
	}
	for (size_t n = 0; n < EVIDENCE_CABLE_NUMBERS; n++) {
		uint64_t value = 0;

		(void)evidence_sum(port, cable_numbers[n], 0, &value);
		if (__builtin_add_overflow(
			cable[i].value[n], value, &cable[i].value[n]))
			cable[i].value[n] = UINT64_MAX;
	}
}

#define MORE " and %zu more"
#define MORE_BYTES 11 /* its length: there are at most EVIDENCE_CABLES */

/* Appends the names of the ports whose value is at least `least`, up to this length of
 * out. The ports whose names do not fit are counted. False: not even one name fits, so
 * nothing was appended. */
static bool
append_ports(const struct evidence *evidence, size_t n, double least,
    const char *separator, size_t most_len, char out[EVIDENCE_PORTS_BYTES])
{
	size_t len = strlen(out), written = 0, left = 0;

	for (size_t i = 0; i < evidence->of_cable_count; i++)
		left += (double)evidence->of_cables[i].value[n] >= least;
	for (size_t i = 0; i < evidence->of_cable_count; i++) {
		const struct evidence_cable *cable = &evidence->of_cables[i];
		const char *before = written == 0 ? "" : separator;
		const size_t more = strlen(before) + strlen(cable->port);

		if ((double)cable->value[n] < least)
			continue;
		if (len + more + (left > 1 ? MORE_BYTES : 0) > most_len)
			break;
		len += (size_t)snprintf(
		    out + len, EVIDENCE_PORTS_BYTES - len, "%s%s", before, cable->port);
		written++;
		left--;
	}
	if (written > 0 && left > 0)
		snprintf(out + len, EVIDENCE_PORTS_BYTES - len, MORE, left);
	return written > 0;
}

#define BOND " (bond of "
#define BOND_COUNT BOND "%zu ports)"
#define BOND_COUNT_BYTES 18

void
evidence_ports(
    const struct evidence *evidence, unsigned number, char out[EVIDENCE_PORTS_BYTES])
{
	const size_t count = evidence->of_cable_count, room = EVIDENCE_PORTS_BYTES - 1;
	size_t n = 0, shown = 0, len;
	uint64_t most = 0;
	double least;

	while (n < EVIDENCE_CABLE_NUMBERS && cable_numbers[n] != number)
		n++;
	if (n == EVIDENCE_CABLE_NUMBERS || count == 0) {
		snprintf(out, EVIDENCE_PORTS_BYTES, "%s", evidence->port);
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (evidence->of_cables[i].value[n] > most)
			most = evidence->of_cables[i].value[n];
	least = EVIDENCE_SHOWS * (double)most;
	for (size_t i = 0; i < count; i++)
		shown += (double)evidence->of_cables[i].value[n] >= least;
	out[0] = '\0';
	(void)append_ports(evidence, n, least, " and ",
	    shown == count ? room : room - BOND_COUNT_BYTES, out);
	if (shown == count)
		return;
	len = strlen(out);
	strcat(out, BOND);
	if (append_ports(evidence, n, 0, " ", room - strlen(")"), out))
		strcat(out, ")");
	else
		snprintf(out + len, EVIDENCE_PORTS_BYTES - len, BOND_COUNT, count);
}

void
evidence_extend(struct evidence *evidence, const struct evidence *next)
{
	add_ns(&evidence->host_ns, next->host_ns);
	add_ns(&evidence->switch_ns, next->switch_ns);
	for (unsigned number = 1; number < EVIDENCE_NUMBERS; number++)
		for (unsigned i = 0; i < EVIDENCE_INDEXES; i++)
			if ((next->there[number] & BIT(i)) != 0)
				evidence_add(
				    evidence, number, i, next->value[number][i]);
	if (evidence->of_cable_count > 0 && next->port[0] != '\0')
		note_cable(evidence, next);
}

static void
add_number_of_cable(
    struct evidence *evidence, const struct evidence *cable, unsigned number)
{
	evidence->there[number] &= cable->there[number];
	for (unsigned i = 0; i < EVIDENCE_INDEXES; i++)
		if ((evidence->there[number] & BIT(i)) != 0)
			evidence_add(evidence, number, i, cable->value[number][i]);
}

static void
take_longest(struct evidence *evidence, const struct evidence *cable, unsigned number)
{
	for (unsigned i = 0; i < EVIDENCE_INDEXES; i++)
		if ((cable->there[number] & BIT(i)) != 0 &&
		    ((evidence->there[number] & BIT(i)) == 0 ||
			cable->value[number][i] > evidence->value[number][i]))
			evidence_set(evidence, number, i, cable->value[number][i]);
}

void
evidence_add_cable(struct evidence *evidence, const struct evidence *cable)
{
	if (evidence->of_cable_count == 0)
		note_cable(evidence, evidence);
	note_cable(evidence, cable);
	for (size_t n = 0; n < EVIDENCE_CABLE_NUMBERS; n++)
		(n < CABLE_SUMS ? add_number_of_cable : take_longest)(
		    evidence, cable, cable_numbers[n]);
}

void
evidence_give(struct evidence *evidence, enum evidence_given given, double value)
{
	evidence->given_there |= BIT(given);
	evidence->given[given] = value;
}

bool
evidence_is_switch(unsigned number)
{
	return number >= EVIDENCE_SWITCH_FIRST;
}

#define MOST_PER_NS 1000
#define UPDATE_NS (60 * RM_NS_PER_S)

static bool
is_paused_time(unsigned number)
{
	return number == SWITCH_PFC_RX_PAUSE_US || number == SWITCH_PFC_TX_PAUSE_US ||
	       number == WIRE_COUNTER_PFC_RX_PAUSE_US ||
	       number == WIRE_COUNTER_PFC_TX_PAUSE_US;
}

bool
evidence_is_possible(unsigned number, uint64_t delta, int64_t ns)
{
	const double most = is_paused_time(number)
				? (double)(ns + UPDATE_NS) / RM_NS_PER_US
				: MOST_PER_NS * (double)ns;

	return (double)delta <= most;
}

double
evidence_seconds(const struct evidence *evidence, unsigned number)
{
	const int64_t ns =
	    evidence_is_switch(number) ? evidence->switch_ns : evidence->host_ns;

	return (double)ns / 1e9;
}

/* True: the number is set, and its interval is longer than 0. */
static bool
has(const struct evidence *evidence, unsigned number, unsigned index)
{
	return (evidence->there[number] & BIT(index)) != 0 &&
	       evidence_seconds(evidence, number) > 0;
}

bool
evidence_sum(
    const struct evidence *evidence, unsigned number, unsigned where, uint64_t *ret)
{
	uint64_t sum = 0;
	bool any = false;

	for (unsigned i = 0; i < EVIDENCE_INDEXES; i++) {
		if (!has(evidence, number, i))
			continue;
		if (where != 0 &&
		    (!has(evidence, where, i) || evidence->value[where][i] == 0))
			continue;
		any = true;
		if (__builtin_add_overflow(sum, evidence->value[number][i], &sum))
			sum = UINT64_MAX;
	}
	if (any)
		*ret = sum;
	return any;
}

bool
evidence_most(const struct evidence *evidence, unsigned number, uint64_t *ret)
{
	uint64_t most = 0;
	bool any = false;

	for (unsigned i = 0; i < EVIDENCE_INDEXES; i++) {
		if (!has(evidence, number, i))
			continue;
		any = true;
		if (evidence->value[number][i] > most)
			most = evidence->value[number][i];
	}
	if (any)
		*ret = most;
	return any;
}
