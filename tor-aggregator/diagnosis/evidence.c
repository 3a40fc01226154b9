#include "tor-aggregator/diagnosis/evidence.h"

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
	static const uint8_t sums[] = { SWITCH_TX_DISCARDS, SWITCH_TX_BUFFER_DROPS,
		SWITCH_WRED_DROPS, SWITCH_ECN_MARKED, SWITCH_TX_PKTS,
		SWITCH_PFC_RX_FRAMES, SWITCH_PFC_TX_FRAMES, SWITCH_QUEUE_DROP_PKTS,
		SWITCH_PFCWD_DETECTED, SWITCH_GPAUSE_RX_FRAMES,
		SWITCH_GPAUSE_TX_FRAMES };
	static const uint8_t longest[] = { SWITCH_PFC_RX_PAUSE_US,
		SWITCH_PFC_TX_PAUSE_US, SWITCH_PFCWD_STORMED };

	for (size_t i = 0; i < sizeof(sums); i++)
		add_number_of_cable(evidence, cable, sums[i]);
	for (size_t i = 0; i < sizeof(longest); i++)
		take_longest(evidence, cable, longest[i]);
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
