#include "tor-aggregator/diagnosis/proof.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Shorter readings are merged, so that PROOF_READINGS are enough for PROOF_KEPT_NS. */
#define SHORT_NS (PROOF_KEPT_NS / PROOF_READINGS)

enum direction { RECEIVED, SENT, PAUSED_US, PAUSING_US, DIRECTIONS };

struct reading {
	rm_mono_t at; /* end of the reading */
	int64_t ns;
	uint8_t there, pauses_there[DIRECTIONS]; /* bits of the values that are set */
	uint64_t numbers[PROOF_NUMBERS];
	uint64_t pauses[DIRECTIONS][PROOF_PRIORITIES];
};

struct part {
	char name[EVIDENCE_NAME_BYTES];
	size_t next, count;
	struct reading readings[PROOF_READINGS];
};

struct side {
	struct part **parts;
	size_t count, capacity;
	/* Index of the part that is expected next, because reports always come in the
	 * same order. */
	size_t hint;
};

struct proof {
	struct side sides[PROOF_SIDES + 1]; /* hosts, the switch, and the probes */
};

static const struct ratio {
	const char *name, *what;
	/* names of the counters that the number needs, for display */
	const char *needs;
	uint8_t side, of, per;
} ratios[PROOF_RATIOS] = {
	/* clang-format off */
	[PROOF_PROBE_CE] = { "probe_ce", "probes that arrived with a congestion mark", "no probe arrives with ECT, so none can be marked", PROOF_PROBES, PROOF_MARKED, PROOF_PACKETS },
	[PROOF_SWITCH_CE] = { "switch_ce", "packets that the switch has marked, of those it sent", "the switch counts no marks (SONiC: off by default)", PROOF_SWITCH, PROOF_MARKED, PROOF_PACKETS },
	[PROOF_HOST_CE] = { "host_ce", "RDMA packets received with a congestion mark", "no RNIC counts ecn_ce_rx and rdma_rx_pkts", PROOF_HOST, PROOF_MARKED, PROOF_PACKETS },
	[PROOF_CNP_PER_CE] = { "cnp_per_ce", "CNPs sent for each mark received", "no RNIC counts cnp_tx and ecn_ce_rx", PROOF_HOST, PROOF_CNPS_SENT, PROOF_MARKED },
	[PROOF_CNP_BALANCE] = { "cnp_balance", "CNPs that reached RNICs of the rack, to those that were sent in it", "no RNIC counts cnp_rx_handled and cnp_tx", PROOF_HOST, PROOF_CNPS_RECEIVED, PROOF_CNPS_SENT },
	[PROOF_CNP_IGNORED] = { "cnp_ignored", "CNPs received that slowed no flow down", "no RNIC counts cnp_rx_ignored and cnp_rx_handled", PROOF_HOST, PROOF_CNPS_IGNORED, PROOF_CNPS_RECEIVED },
	/* clang-format on */
};

static const uint8_t pause_numbers[PROOF_SIDES][DIRECTIONS] = {
	[PROOF_HOST] = { WIRE_COUNTER_PFC_RX_FRAMES, WIRE_COUNTER_PFC_TX_FRAMES,
	    WIRE_COUNTER_PFC_RX_PAUSE_US, WIRE_COUNTER_PFC_TX_PAUSE_US },
	[PROOF_SWITCH] = { SWITCH_PFC_RX_FRAMES, SWITCH_PFC_TX_FRAMES,
	    SWITCH_PFC_RX_PAUSE_US, SWITCH_PFC_TX_PAUSE_US },
};

const char *
proof_ratio_str(enum proof_ratio ratio)
{
	return ratios[ratio].name;
}

const char *
proof_ratio_what(enum proof_ratio ratio)
{
	return ratios[ratio].what;
}

struct proof *
proof_new(void)
{
	return calloc(1, sizeof(struct proof));
}

void
proof_free(struct proof *proof)
{
	if (proof == NULL)
		return;
	for (int s = 0; s <= PROOF_PROBES; s++) {
		for (size_t i = 0; i < proof->sides[s].count; i++)
			free(proof->sides[s].parts[i]);
		free(proof->sides[s].parts);
	}
	free(proof);
}

static uint64_t
plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* ---- keeping readings ---- */

/* The reading i before the newest one. */
static const struct reading *
reading_of(const struct part *part, size_t i)
{
	return &part->readings[(part->next + PROOF_READINGS - 1 - i) % PROOF_READINGS];
}

static bool
is_old(const struct reading *reading, int64_t least_ns, rm_mono_t now)
{
	const int64_t age_ns = rm_mono_since(now, reading->at);

	return age_ns >= least_ns && age_ns / 2 > reading->ns;
}

static void
forget_old(struct side *side, rm_mono_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < side->count; i++)
		if (is_old(reading_of(side->parts[i], 0), PROOF_FORGET_NS, now))
			free(side->parts[i]);
		else
			side->parts[kept++] = side->parts[i];
	side->count = kept;
}

static struct part *
add_part(struct side *side, const char *name, rm_mono_t at)
{
	struct part *part, **parts;

	forget_old(side, at);
	if (side->count == PROOF_MAX_PARTS)
		return NULL;
	if (side->count == side->capacity) {
		const size_t capacity = side->capacity == 0 ? 16 : 2 * side->capacity;

		parts = reallocarray(side->parts, capacity, sizeof(struct part *));
		if (parts == NULL)
			return NULL;
		side->parts = parts;
		side->capacity = capacity;
	}
	part = calloc(1, sizeof(*part));
	if (part == NULL)
		return NULL;
	snprintf(part->name, sizeof(part->name), "%s", name);
	side->parts[side->count++] = part;
	return part;
}

static struct part *
find_or_add(struct side *side, const char *name, rm_mono_t at)
{
	for (size_t i = 0; i < side->count; i++) {
		const size_t look = (side->hint + i) % side->count;

		if (strcmp(side->parts[look]->name, name) == 0) {
			side->hint = look + 1;
			return side->parts[look];
		}
	}
	return add_part(side, name, at);
}

/* Adds the next reading to this one. A value is set only if both readings have it. */
static void
append(struct reading *reading, const struct reading *next)
{
	reading->at = next->at;
	reading->ns += next->ns;
	reading->there &= next->there;
	for (int n = 0; n < PROOF_NUMBERS; n++)
		reading->numbers[n] = plus(reading->numbers[n], next->numbers[n]);
	for (int d = 0; d < DIRECTIONS; d++) {
		reading->pauses_there[d] &= next->pauses_there[d];
		for (int p = 0; p < PROOF_PRIORITIES; p++)
			reading->pauses[d][p] =
			    plus(reading->pauses[d][p], next->pauses[d][p]);
	}
}

static void
keep(struct proof *proof, int side, const char *name, const struct reading *reading)
{
	struct reading *last;
	struct part *part;

	if (reading->ns <= 0)
		return;
	part = find_or_add(&proof->sides[side], name, reading->at);
	if (part == NULL)
		return;
	last = &part->readings[(part->next + PROOF_READINGS - 1) % PROOF_READINGS];
	if (part->count > 0 && reading->ns <= SHORT_NS - last->ns) {
		append(last, reading);
		return;
	}
	part->readings[part->next] = *reading;
	part->next = (part->next + 1) % PROOF_READINGS;
	if (part->count < PROOF_READINGS)
		part->count++;
}

static void
set_number(struct reading *reading, enum proof_number number, uint64_t value)
{
	reading->there |= (uint8_t)(1u << number);
	reading->numbers[number] = value;
}

static void
take_number(struct reading *reading, enum proof_number number,
    const struct evidence *evidence, unsigned counter)
{
	uint64_t value;

	if (evidence_sum(evidence, counter, 0, &value))
		set_number(reading, number, value);
}

static void
take_pauses(
    struct reading *reading, enum proof_side side, const struct evidence *evidence)
{
	for (int d = 0; d < DIRECTIONS; d++) {
		const unsigned number = pause_numbers[side][d];

		reading->pauses_there[d] = evidence->there[number];
		memcpy(reading->pauses[d], evidence->value[number],
		    sizeof(reading->pauses[d]));
	}
}

void
proof_add_rnic(struct proof *proof, const struct evidence *evidence, rm_mono_t at)
{
	struct reading reading = { .at = at, .ns = evidence->host_ns };
	uint64_t handled, ignored = 0;

	take_number(&reading, PROOF_MARKED, evidence, WIRE_COUNTER_ECN_CE_RX);
	take_number(&reading, PROOF_PACKETS, evidence, WIRE_COUNTER_RDMA_RX_PKTS);
	take_number(&reading, PROOF_SENT, evidence, WIRE_COUNTER_RDMA_TX_PKTS);
	take_number(&reading, PROOF_CNPS_SENT, evidence, WIRE_COUNTER_CNP_TX);
	take_number(
	    &reading, PROOF_CNPS_IGNORED, evidence, WIRE_COUNTER_CNP_RX_IGNORED);
	/* Not every driver has the counter of CNPs without effect. */
	evidence_sum(evidence, WIRE_COUNTER_CNP_RX_IGNORED, 0, &ignored);
	if (evidence_sum(evidence, WIRE_COUNTER_CNP_RX_HANDLED, 0, &handled))
		set_number(&reading, PROOF_CNPS_RECEIVED, plus(handled, ignored));
	take_pauses(&reading, PROOF_HOST, evidence);
	keep(proof, PROOF_HOST, evidence->name, &reading);
}

/* Takes the largest of the drops of the port and of its queues: they count the same
 * packets, and not all switches have all of these counters. */
static void
take_drops(struct reading *reading, const struct evidence *evidence)
{
	static const uint8_t numbers[] = { SWITCH_TX_DISCARDS, SWITCH_WRED_DROPS,
		SWITCH_QUEUE_DROP_PKTS };
	uint64_t most = 0, value;
	bool any = false;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!evidence_sum(evidence, numbers[i], 0, &value))
			continue;
		any = true;
		if (value > most)
			most = value;
	}
	if (any)
		set_number(reading, PROOF_DROPPED, most);
}

void
proof_add_port(struct proof *proof, const struct evidence *evidence, rm_mono_t at)
{
	struct reading reading = { .at = at, .ns = evidence->switch_ns };

	take_number(&reading, PROOF_MARKED, evidence, SWITCH_ECN_MARKED);
	take_number(&reading, PROOF_PACKETS, evidence, SWITCH_TX_PKTS);
	take_drops(&reading, evidence);
	take_pauses(&reading, PROOF_SWITCH, evidence);
	keep(proof, PROOF_SWITCH, evidence->port, &reading);
}

void
proof_add_probes(
    struct proof *proof, uint64_t markable, uint64_t marked, int64_t ns, rm_mono_t at)
{
	struct reading reading = { .at = at, .ns = ns };

	if (markable == 0)
		return;
	set_number(&reading, PROOF_MARKED, marked);
	set_number(&reading, PROOF_PACKETS, markable);
	keep(proof, PROOF_PROBES, "", &reading);
}

/* ---- adding up ---- */

/* The number of the part's newest readings that are used. */
static size_t
counting(const struct part *part, rm_mono_t now)
{
	size_t count = 0;

	while (count < part->count &&
	       rm_mono_since(now, reading_of(part, count)->at) < PROOF_KEPT_NS)
		count++;
	return count == 0 && part->count > 0 && !is_old(reading_of(part, 0), 0, now)
		   ? 1
		   : count;
}

static bool
has_both(const struct reading *reading, unsigned of, unsigned per)
{
	const unsigned both = 1u << of | 1u << per;

	return (reading->there & both) == both;
}

/* Adds the counts of one part, from readings that have both counters. */
static void
sum_part(const struct part *part, size_t count, unsigned of, unsigned per,
    struct proof_sum *sum)
{
	uint64_t own_of = 0, own_per = 0;
	bool counted = false, ever = false;

	for (size_t i = 0; i < part->count; i++) {
		const struct reading *reading = reading_of(part, i);

		if (!has_both(reading, of, per))
			continue;
		ever = true;
		if (i >= count)
			continue;
		counted = true;
		own_of = plus(own_of, reading->numbers[of]);
		own_per = plus(own_per, reading->numbers[per]);
	}
	sum->of = plus(sum->of, own_of);
	sum->per = plus(sum->per, own_per);
	if (own_of >= PROOF_FEW && own_per > 0 &&
	    100 * (double)own_of / (double)own_per > sum->most_pct)
		sum->most_pct = 100 * (double)own_of / (double)own_per;
	sum->counted += counted;
	/* Do not report a counter as missing after one reading: the first reading has
	 * no increase, nor has one after a reset. */
	sum->missing += !ever && part->count >= 2;
}

struct timed { /* the paused time of one part, in one direction and priority */
	int64_t ns, steady_ns, frames_ns;
	uint64_t us, frames;
};

static bool
has_pause(const struct reading *reading, enum direction direction, unsigned priority)
{
	return (reading->pauses_there[direction] >> priority & 1) != 0;
}

static double
share_of(uint64_t us, int64_t ns)
{
	const double pct = 100 * 1e3 * (double)us / (double)ns;

	/* The device's clock and this one differ, so the result could be above 100. */
	return pct < 100 ? pct : 100;
}

static struct timed
time_part(const struct part *part, size_t count, enum direction frames,
    enum direction us, unsigned priority)
{
	struct timed timed = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct reading *reading = reading_of(part, i);

		if (has_pause(reading, frames, priority)) {
			timed.frames_ns += reading->ns;
			timed.frames =
			    plus(timed.frames, reading->pauses[frames][priority]);
		}
		if (!has_pause(reading, us, priority))
			continue;
		timed.ns += reading->ns;
		timed.us = plus(timed.us, reading->pauses[us][priority]);
		if (share_of(reading->pauses[us][priority], reading->ns) >=
		    PROOF_STEADY_PCT)
			timed.steady_ns += reading->ns;
	}
	return timed;
}

static void
share_part(
    const struct part *part, const struct timed *timed, struct proof_share *share)
{
	double pct, rate;

	if (timed->ns == 0) {
		if (timed->frames_ns == 0)
			return;
		rate = 1e9 * (double)timed->frames / (double)timed->frames_ns;
		share->untimed++;
		if (rate > share->untimed_rate)
			share->untimed_rate = rate;
		return;
	}
	share->known = true;
	share->timed++;
	pct = share_of(timed->us, timed->ns);
	share->steady += pct >= PROOF_STEADY_PCT && timed->steady_ns >= PROOF_STEADY_NS;
	if (pct <= share->pct)
		return;
	share->pct = pct;
	share->ns = timed->ns;
	snprintf(share->who, sizeof(share->who), "%s", part->name);
}

static void
pause_part(const struct part *part, size_t count, enum proof_side side,
    struct proof_total *total)
{
	bool counts = false;

	for (unsigned p = 0; p < PROOF_PRIORITIES; p++) {
		struct proof_pauses *pauses = &total->pauses[side][p];
		const struct timed in = time_part(part, count, RECEIVED, PAUSED_US, p);
		const struct timed out = time_part(part, count, SENT, PAUSING_US, p);

		pauses->knows_received |= in.frames_ns > 0;
		pauses->received = plus(pauses->received, in.frames);
		pauses->knows_sent |= out.frames_ns > 0;
		pauses->sent = plus(pauses->sent, out.frames);
		share_part(part, &in, &pauses->paused);
		share_part(part, &out, &pauses->pausing);
		counts |=
		    in.ns > 0 || in.frames_ns > 0 || out.ns > 0 || out.frames_ns > 0;
	}
	total->parts[side].pauses += counts;
}

static void
note_worst(struct proof_worst *worst, const char *name, const struct proof_sum *sum)
{
	worst->parts++;
	if (sum->per <= worst->per)
		return;
	worst->of = sum->of;
	worst->per = sum->per;
	snprintf(worst->who, sizeof(worst->who), "%s", name);
}

static int64_t
length(const struct part *part, size_t count)
{
	int64_t ns = 0;

	for (size_t i = 0; i < count; i++)
		ns += reading_of(part, i)->ns;
	return ns;
}

static void
blame_part(const struct part *part, size_t count, struct proof_total *total)
{
	struct proof_sum sent = { 0 }, ignored = { 0 };

	sum_part(part, count, PROOF_CNPS_SENT, PROOF_MARKED, &sent);
	if (sent.per >= PROOF_CNP_OFF_MARKS &&
	    (double)sent.of * 1e9 < (double)length(part, count) &&
	    100 * (double)sent.of < PROOF_CNP_OFF_PCT * (double)sent.per)
		note_worst(&total->cnp_off, part->name, &sent);
	sum_part(part, count, PROOF_CNPS_IGNORED, PROOF_CNPS_RECEIVED, &ignored);
	if (ignored.per >= PROOF_FEW &&
	    100 * (double)ignored.of >= PROOF_CNP_IGNORED_PCT * (double)ignored.per)
		note_worst(&total->cnp_ignored, part->name, &ignored);
}

static void
count_part(const struct part *part, size_t count, enum proof_side side, rm_mono_t now,
    struct proof_total *total)
{
	struct proof_parts *parts = &total->parts[side];
	const int64_t age_ns = rm_mono_since(now, reading_of(part, 0)->at),
		      ns = length(part, count);

	if (!parts->ever || age_ns < parts->age_ns)
		parts->age_ns = age_ns;
	parts->ever = true;
	parts->read += count > 0;
	if (ns > parts->ns)
		parts->ns = ns;
}

void
proof_sum_up(const struct proof *proof, rm_mono_t now, struct proof_total *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (int s = 0; s <= PROOF_PROBES; s++)
		for (size_t i = 0; i < proof->sides[s].count; i++) {
			const struct part *part = proof->sides[s].parts[i];
			const size_t count = counting(part, now);

			if (s != PROOF_PROBES)
				count_part(part, count, (enum proof_side)s, now, ret);
			if (count == 0)
				continue;
			for (int r = 0; r < PROOF_RATIOS; r++)
				if (ratios[r].side == s)
					sum_part(part, count, ratios[r].of,
					    ratios[r].per, &ret->ratios[r]);
			if (s == PROOF_PROBES)
				continue;
			for (unsigned n = 0; n < PROOF_NUMBERS; n++)
				sum_part(part, count, n, n, &ret->numbers[s][n]);
			pause_part(part, count, (enum proof_side)s, ret);
			if (s == PROOF_HOST)
				blame_part(part, count, ret);
		}
}

struct scaled {
	int64_t ns;
	uint64_t sums[PROOF_NUMBERS];
};

static uint64_t
per_minute(const struct scaled *scaled, enum proof_number number)
{
	const double value = (double)scaled->sums[number] * 60 * (double)RM_NS_PER_S /
			     (double)scaled->ns;

	return value < (double)UINT64_MAX ? (uint64_t)value : UINT64_MAX;
}

#define ALL_OF_CNPS                                                       \
	(1u << PROOF_PACKETS | 1u << PROOF_SENT | 1u << PROOF_CNPS_SENT | \
	    1u << PROOF_CNPS_RECEIVED)

/* Adds up the readings that have all of these counters. */
static struct scaled
sum_cnps(const struct part *part, size_t count, unsigned all)
{
	struct scaled scaled = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct reading *reading = reading_of(part, i);

		if ((reading->there & all) != all)
			continue;
		scaled.ns += reading->ns;
		for (int n = 0; n < PROOF_NUMBERS; n++)
			scaled.sums[n] = plus(scaled.sums[n], reading->numbers[n]);
	}
	return scaled;
}

static void
add_cnps(const struct part *part, size_t count, struct proof_cnps *ret)
{
	const struct scaled scaled = sum_cnps(part, count, ALL_OF_CNPS);

	if (scaled.ns < PROOF_CNPS_NS)
		return;
	ret->rnics++;
	ret->rdma_sent = plus(ret->rdma_sent, per_minute(&scaled, PROOF_SENT));
	ret->rdma_received =
	    plus(ret->rdma_received, per_minute(&scaled, PROOF_PACKETS));
	ret->cnps_sent = plus(ret->cnps_sent, per_minute(&scaled, PROOF_CNPS_SENT));
	ret->cnps_received =
	    plus(ret->cnps_received, per_minute(&scaled, PROOF_CNPS_RECEIVED));
}

struct proof_cnps
proof_cnps(const struct proof *proof, rm_mono_t now)
{
	const struct side *side = &proof->sides[PROOF_HOST];
	struct proof_cnps cnps = { 0 };

	for (size_t i = 0; i < side->count; i++)
		add_cnps(side->parts[i], counting(side->parts[i], now), &cnps);
	return cnps;
}

static enum proof_cnp_counters
cnp_counters_of(const struct part *part, size_t count, uint64_t *sent)
{
	const struct scaled scaled = sum_cnps(part, count, 1u << PROOF_SENT);

	if (scaled.ns < PROOF_CNPS_NS)
		return PROOF_COUNTS_NONE;
	*sent = per_minute(&scaled, PROOF_SENT);
	return sum_cnps(part, count, ALL_OF_CNPS).ns >= PROOF_CNPS_NS
		   ? PROOF_COUNTS_CNPS
		   : PROOF_COUNTS_SENT;
}

enum proof_cnp_counters
proof_cnp_counters(
    const struct proof *proof, const char *rnic, rm_mono_t now, uint64_t *sent)
{
	const struct side *side = &proof->sides[PROOF_HOST];

	*sent = 0;
	for (size_t i = 0; i < side->count; i++)
		if (strcmp(side->parts[i]->name, rnic) == 0)
			return cnp_counters_of(
			    side->parts[i], counting(side->parts[i], now), sent);
	return PROOF_COUNTS_NONE;
}

/* ---- reading it ---- */

static void
report_unknown(
    const struct proof_total *total, const struct ratio *ratio, char error[PROOF_TEXT])
{
	const struct proof_parts *parts =
	    ratio->side == PROOF_PROBES ? NULL : &total->parts[ratio->side];
	const char *who = ratio->side == PROOF_SWITCH ? "the switch" : "an RNIC";

	if (parts == NULL || parts->read > 0)
		snprintf(error, PROOF_TEXT, "%s", ratio->needs);
	else if (parts->ever)
		snprintf(error, PROOF_TEXT, "%s was last read %" PRId64 " s ago", who,
		    parts->age_ns / RM_NS_PER_S);
	else if (ratio->side == PROOF_SWITCH)
		snprintf(error, PROOF_TEXT,
		    "the switch is not read, or was read only "
		    "once");
	else
		snprintf(error, PROOF_TEXT, "no RNIC has reported counters");
}

enum proof_status
proof_read(const struct proof_total *total, enum proof_ratio ratio, double *ret,
    char error[PROOF_TEXT])
{
	const struct proof_sum *sum = &total->ratios[ratio];

	error[0] = '\0';
	if (sum->counted == 0) {
		report_unknown(total, &ratios[ratio], error);
		return PROOF_UNKNOWN;
	}
	if (sum->missing > 0)
		snprintf(error, PROOF_TEXT, "%u of %u do not count it", sum->missing,
		    sum->counted + sum->missing);
	if (sum->per < PROOF_FEW)
		return PROOF_IDLE;
	*ret = 100 * (double)sum->of / (double)sum->per;
	return PROOF_KNOWN;
}
