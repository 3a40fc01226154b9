#include "tor-aggregator/judge/evidence_flows.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/fnv.h"
#include "schemas/wire.h"
#include "tor-aggregator/window/ring.h"
#include "tor-aggregator/window/similar.h"

/* Results come in the order in which their probes were sent, except for deviations of
 * up to this time. */
#define DISORDER_NS (2 * RM_NS_PER_S)
/* Each flow is examined in slices of this length. If a fault begins or ends within a
 * slice, a lost flow looks as if it had lost single packets. */
#define SLICE_NS RM_NS_PER_S
#define SLOTS 2048 /* slots for flows and pairs; a power of two */
#define MAX_ENTRIES (SLOTS / 2)
#define MAX_PAIRS (MAX_ENTRIES / 2) /* the rest of the entries is for flows */
/* Maximum number of results that are read: for some seconds inside a rack; and for 45
 * s, of a rack of 60 RNICs with a hundred results per second each. */
#define MAX_SCANNED 65536
#define MAX_SCANNED_OUTSIDE 262144
/* Share of lost flows that lose all packets of a slice, if flows are lost. */
#define WHOLE_SHARE 0.75
#define MIN_WHOLE 4
#define MIN_SLICE_SENT 4 /* with fewer probes, a lossy flow may lose all by chance */
#define SURE 4.0         /* ln of the likelihood ratio: flows, against packets */
#define DEAD_SHARE 0.9   /* a pair that loses at least this share is not evidence */
#define OTHERS_PART 0.25 /* the others' share of loss, divided by that of the RNIC */
/* with fewer losses than this, the shares of two RNICs are not compared */
#define MIN_PARTIAL_LOST 5

/* For evidence_flows_lose_alike. If three of four flows cross a lossy link or spine,
 * and some of these flows cross it twice, the spread (chi-square) of n losses is larger
 * by about n/2. If n is at least ALIKE_LOSSES standard deviations of the spread, that
 * is clear: half of ALIKE_LOSSES standard deviations. */
#define ALIKE_MIN_FLOWS 6
#define ALIKE_LOSSES 12.0
#define ALIKE_DEVIATIONS 2.5
/* If the flows over one of two switches lose so many standard deviations more than the
 * others, they are not alike. The more switches there are, the likelier it is that one
 * of them exceeds this limit by chance: each time their number doubles, the limit rises
 * by ALIKE_OVER_MORE. */
#define ALIKE_OVER_SWITCH 2.0
#define ALIKE_OVER_MORE 0.25
/* If the probability that at least one flow loses no packet by chance is lower than
 * this, a flow that lost none is not like the others. */
#define ALIKE_NONE_LOST 0.2

struct entry { /* a flow of the RNIC in one slice, or a pair of RNICs in all slices */
	uint64_t key, other; /* other: for a flow, the RNIC at its other end */
	uint32_t sent, lost;
	bool is_pair;
	struct evidence_path path; /* only of flows to other racks */
};

struct table {
	struct entry entries[MAX_ENTRIES];
	size_t count, pairs;
	uint16_t slots[SLOTS]; /* index + 1; 0: free */
};

/* Returns NULL if the table is full. */
static struct entry *
entry_of(struct table *table, uint64_t key, uint64_t other, bool is_pair)
{
	for (size_t at = key % SLOTS;; at = (at + 1) % SLOTS) {
		struct entry *entry;

		if (table->slots[at] == 0) {
			if (table->count == MAX_ENTRIES ||
			    (is_pair && table->pairs == MAX_PAIRS))
				return NULL;
			table->pairs += is_pair;
			entry = &table->entries[table->count++];
			*entry = (struct entry){
				.key = key, .other = other, .is_pair = is_pair
			};
			table->slots[at] = (uint16_t)table->count;
			return entry;
		}
		entry = &table->entries[table->slots[at] - 1];
		if (entry->key == key && entry->is_pair == is_pair)
			return entry;
	}
}

static uint64_t
hash_of(uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t parts[] = { a, b, c };

	return rm_fnv1a(RM_FNV1A, parts, sizeof parts);
}

static uint64_t
end_of(uint64_t guid, uint8_t port)
{
	return hash_of(guid, port, 0);
}

static bool
is_end(uint64_t guid, uint8_t port, struct wire_rnic_id rnic)
{
	return guid == rnic.guid && port == rnic.port;
}

/* A flow is the same in all classes: switches select its path by addresses and ports.
 */
static void
add_result(struct table *table, const struct ring_result *result,
    struct wire_rnic_id rnic, rm_mono_t since)
{
	const uint64_t src = end_of(result->src_guid, result->src_port_num);
	const uint64_t dst = end_of(result->dst_guid, result->dst_port_num);
	const uint64_t slice =
	    (uint64_t)(rm_mono_since(result->sent, since) / SLICE_NS);
	const bool from = is_end(result->src_guid, result->src_port_num, rnic);
	const bool mine = from || is_end(result->dst_guid, result->dst_port_num, rnic);
	struct entry *entry =
	    mine ? entry_of(table, hash_of(src, dst, slice << 16 | result->src_port),
		       from ? dst : src, false)
		 : entry_of(table, hash_of(src, dst, 0), 0, true);

	if (entry == NULL)
		return;
	entry->sent++;
	entry->lost += result->outcome == WIRE_NO_REPLY;
}

static bool
is_within(const struct ring_result *result, rm_mono_t since, rm_mono_t end)
{
	return result->sent.ns >= since.ns && result->sent.ns < end.ns &&
	       (result->outcome == WIRE_OK || result->outcome == WIRE_NO_REPLY ||
		   result->outcome == WIRE_LATE_REPLY);
}

struct scan { /* results of probes that were sent from `since` until `end` */
	const struct ring *ring;
	rm_mono_t since, end;
	size_t next, max; /* of the ring's results, the newest first */
};

/* Returns the next result; NULL: there are no more. */
static const struct ring_result *
scan_next(struct scan *scan)
{
	while (scan->next < scan->max) {
		const struct ring_result *result = ring_get(scan->ring, scan->next++);

		if (result == NULL ||
		    rm_mono_since(scan->since, result->sent) > DISORDER_NS)
			return NULL;
		if (is_within(result, scan->since, scan->end))
			return result;
	}
	return NULL;
}

/* Adds all probes inside the rack: those of the RNIC as flows in slices. */
static void
add_inside(struct table *table, struct wire_rnic_id rnic, struct scan scan)
{
	const struct ring_result *result;

	while ((result = scan_next(&scan)) != NULL)
		if (result->kind == WIRE_TOR_MESH)
			add_result(table, result, rnic, scan.since);
}

/* True: the RNIC sent this probe to another rack. */
static bool
is_outside(const struct ring_result *result, struct wire_rnic_id rnic)
{
	return is_end(result->src_guid, result->src_port_num, rnic) &&
	       (result->kind == WIRE_INTER_TOR || result->kind == WIRE_WITNESS);
}

/* Adds the probes of the RNIC to other racks, as flows in slices. */
static void
add_outside_slices(struct table *table, struct wire_rnic_id rnic, struct scan scan)
{
	const struct ring_result *result;

	while ((result = scan_next(&scan)) != NULL)
		if (is_outside(result, rnic))
			add_result(table, result, rnic, scan.since);
}

/* Adds the probes of the RNIC to other racks, as flows with their paths. */
static void
add_outside(struct table *table, struct wire_rnic_id rnic, struct scan scan,
    evidence_path_of *path_of, const void *arg)
{
	const struct ring_result *result;

	while ((result = scan_next(&scan)) != NULL) {
		const struct wire_rnic_id to = { result->dst_guid,
			result->dst_port_num };
		const uint64_t dst = end_of(to.guid, to.port);
		struct entry *entry;

		if (!is_outside(result, rnic))
			continue;
		entry = entry_of(table, hash_of(dst, result->src_port, 0), dst, false);
		if (entry == NULL)
			continue;
		if (entry->sent == 0)
			entry->path =
			    path_of(arg, rnic, to, result->src_port, result->sent);
		entry->sent++;
		entry->lost += result->outcome == WIRE_NO_REPLY;
	}
}

static bool
is_dead(uint64_t lost, uint64_t sent)
{
	return (double)lost >= DEAD_SHARE * (double)sent;
}

/* True: the RNIC loses nearly all packets to and from the other end of this flow. */
static bool
is_with_dead(const struct table *table, const struct entry *flow)
{
	uint64_t sent = 0, lost = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct entry *entry = &table->entries[i];

		if (entry->is_pair || entry->other != flow->other)
			continue;
		sent += entry->sent;
		lost += entry->lost;
	}
	return is_dead(lost, sent);
}

struct counts {
	double sent, lost;
};

/* Returns the ln of the likelihood ratio for one flow that lost packets in a slice.
 * Single packets are lost with the probability `share`. */
static double
weight_of(const struct entry *flow, double share)
{
	const double all = pow(share, flow->sent);
	const double whole = all / (1 - pow(1 - share, flow->sent));

	return flow->lost == flow->sent ? log(WHOLE_SHARE / whole)
					: log((1 - WHOLE_SHARE) / (1 - whole));
}

struct outside { /* the flows of one RNIC to other racks, in slices */
	int whole, partial, passed; /* flows that lost all, some or no packets */
	struct counts some;         /* packets of the flows that did not lose all */
};

static struct outside
see_outside(struct wire_rnic_id rnic, struct scan scan)
{
	struct table table = { .count = 0 };
	struct outside ret = { 0 };

	add_outside_slices(&table, rnic, scan);
	for (size_t i = 0; i < table.count; i++) {
		const struct entry *entry = &table.entries[i];

		if (entry->sent < MIN_SLICE_SENT)
			continue;
		ret.whole += entry->lost == entry->sent;
		ret.partial += entry->lost > 0 && entry->lost < entry->sent;
		ret.passed += entry->lost == 0;
		if (entry->lost == entry->sent)
			continue;
		ret.some.sent += entry->sent;
		ret.some.lost += entry->lost;
	}
	return ret;
}

/* True: both lose a similar share of the packets of the flows that do not lose all. */
static bool
lose_similar_shares(const struct outside *a, const struct outside *b)
{
	return a->some.lost >= MIN_PARTIAL_LOST && b->some.lost >= MIN_PARTIAL_LOST &&
	       similar_shares(a->some.lost / a->some.sent, b->some.lost / b->some.sent);
}

/* Finds the other end of the probes of the RNIC inside its rack. */
static struct wire_rnic_id
other_of(struct wire_rnic_id rnic, struct scan scan)
{
	const struct ring_result *result;

	while ((result = scan_next(&scan)) != NULL) {
		if (result->kind != WIRE_TOR_MESH)
			continue;
		if (is_end(result->src_guid, result->src_port_num, rnic))
			return (struct wire_rnic_id){ result->dst_guid,
				result->dst_port_num };
		if (is_end(result->dst_guid, result->dst_port_num, rnic))
			return (struct wire_rnic_id){ result->src_guid,
				result->src_port_num };
	}
	return rnic;
}

/*
 * For a rack in which no other two RNICs probe each other: the probes to other racks
 * show whether the RNIC loses whole flows. Each flow in a slice counts the same, so
 * that a few flows to a dead RNIC do not decide. Of the remaining flows, the RNIC and
 * the other one lose a similar share of packets if a part that they share is at fault:
 * beside a lossy ToR, a dead link may take more whole flows of one of them.
 */
static bool
are_lost_outside(struct wire_rnic_id rnic, struct scan scan)
{
	const struct wire_rnic_id other = other_of(rnic, scan);
	const struct outside mine = see_outside(rnic, scan);
	struct outside others;

	if (mine.passed >= MIN_WHOLE && mine.whole >= MIN_WHOLE &&
	    mine.whole >= WHOLE_SHARE * (mine.whole + mine.partial))
		return true;
	if (mine.whole < MIN_WHOLE ||
	    (other.guid == rnic.guid && other.port == rnic.port))
		return false;
	others = see_outside(other, scan);
	return lose_similar_shares(&mine, &others);
}

bool
evidence_flows_are_lost(
    const struct ring *ring, struct wire_rnic_id rnic, rm_mono_t since, rm_mono_t end)
{
	const struct scan scan = { ring, since, end, .max = MAX_SCANNED };
	struct table table = { .count = 0 };
	struct counts mine = { 0, 0 }, others = { 0, 0 };
	unsigned whole = 0;
	double weight = 0;

	add_inside(&table, rnic, scan);
	if (table.pairs == 0)
		return are_lost_outside(rnic, scan);
	for (size_t i = 0; i < table.count; i++) {
		struct entry *entry = &table.entries[i];
		struct counts *to = entry->is_pair ? &others : &mine;

		if (entry->is_pair ? is_dead(entry->lost, entry->sent)
				   : is_with_dead(&table, entry)) {
			entry->sent = 0;
			continue;
		}
		to->sent += entry->sent;
		to->lost += entry->lost;
	}
	if (mine.lost == 0 || mine.lost == mine.sent || others.lost == 0 ||
	    others.lost * mine.sent < OTHERS_PART * mine.lost * others.sent)
		return false;
	for (size_t i = 0; i < table.count; i++) {
		const struct entry *entry = &table.entries[i];

		if (entry->is_pair || entry->lost == 0 || entry->sent < 2)
			continue;
		whole += entry->lost == entry->sent;
		weight += weight_of(entry, mine.lost / mine.sent);
	}
	return whole >= MIN_WHOLE && weight >= SURE;
}

/* True: all flows end at one ToR, or may cross one switch between the ToRs. */
static bool
have_common_part(const struct table *table)
{
	uint64_t switches = UINT64_MAX;
	bool several = false;
	uint16_t tor = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct entry *entry = &table->entries[i];

		if (entry->sent == 0)
			continue;
		several |= tor != 0 && entry->path.tor != tor;
		tor = entry->path.tor;
		switches &= entry->path.switches;
	}
	return !several || switches != 0;
}

/* Returns how many switches the flows cross, as far as they are known. */
static int
switches_of(const struct table *table)
{
	uint64_t switches = 0;

	for (size_t i = 0; i < table->count; i++)
		if (table->entries[i].path.switches != UINT64_MAX)
			switches |= table->entries[i].path.switches;
	return __builtin_popcountll(switches);
}

/* True: the flows whose probes cross one switch lose packets at a higher rate than the
 * others. Replies may cross other switches, so the difference may be a part of the rate
 * only. all: sums over all flows. */
static bool
is_worse_over_a_switch(const struct table *table, struct counts all)
{
	const double share = all.lost / all.sent;
	const int switches = switches_of(table);
	const double limit =
	    ALIKE_OVER_SWITCH +
	    (switches > 2 ? ALIKE_OVER_MORE * log2(switches / 2.0) : 0);

	for (unsigned bit = 0; bit < 64; bit++) {
		struct counts over = { 0, 0 };
		double variance;

		for (size_t i = 0; i < table->count; i++) {
			const struct entry *entry = &table->entries[i];

			if ((entry->path.switches >> bit & 1) == 0)
				continue;
			over.sent += entry->sent;
			over.lost += entry->lost;
		}
		variance =
		    share * (1 - share) * over.sent * (all.sent - over.sent) / all.sent;
		if (over.lost - share * over.sent > limit * sqrt(variance))
			return true;
	}
	return false;
}

/* True: a flow lost no packet, so the part that loses packets is not on its path. */
static bool
is_a_flow_spared(const struct table *table, double share, double flows)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct entry *entry = &table->entries[i];

		if (entry->lost == 0 &&
		    flows * pow(1 - share, entry->sent) < ALIKE_NONE_LOST)
			return true;
	}
	return false;
}

enum rack_flows
evidence_flows_lose_alike(const struct ring *ring, struct wire_rnic_id rnic,
    rm_mono_t since, rm_mono_t end, evidence_path_of *path_of, const void *arg)
{
	const struct scan scan = { ring, since, end, .max = MAX_SCANNED_OUTSIDE };
	struct table table = { .count = 0 };
	struct counts all = { 0, 0 };
	double flows = 0, spread = 0, deviation;

	add_outside(&table, rnic, scan, path_of, arg);
	for (size_t i = 0; i < table.count; i++) {
		struct entry *entry = &table.entries[i];

		if (is_with_dead(&table, entry)) {
			entry->sent = entry->lost = 0;
			continue;
		}
		flows++;
		all.sent += entry->sent;
		all.lost += entry->lost;
	}
	deviation = sqrt(2 * (flows - 1));
	if (flows < ALIKE_MIN_FLOWS || all.lost < ALIKE_LOSSES * deviation ||
	    have_common_part(&table))
		return RACK_FLOWS_TOO_FEW;
	if (is_worse_over_a_switch(&table, all) ||
	    is_a_flow_spared(&table, all.lost / all.sent, flows))
		return RACK_FLOWS_DIFFERENT;
	for (size_t i = 0; i < table.count; i++) {
		const struct entry *entry = &table.entries[i];
		const double share = all.lost / all.sent;
		const double more = entry->lost - share * entry->sent;

		if (entry->sent > 0)
			spread += more * more / (share * (1 - share) * entry->sent);
	}
	return spread <= flows - 1 + ALIKE_DEVIATIONS * deviation
		   ? RACK_FLOWS_ALIKE
		   : RACK_FLOWS_DIFFERENT;
}
