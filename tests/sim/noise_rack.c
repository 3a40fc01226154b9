#include "tests/sim/noise_rack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "tor-aggregator/judge/rack_judge.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

#define BINS_PER_S 4
#define BINS (NOISE_STRETCH_S * BINS_PER_S)
#define BIN_NS (250 * RM_NS_PER_MS)
#define JUDGE_BINS 4
#define NEWEST_BINS 2
#define MESH_PER_S 10 /* probes per second to one peer, as in plans */
#define MAX_PER_S 70  /* probes per second to all peers */
#define WITNESS_BELOW 4
#define WITNESSES 3
#define WITNESS_PER_S 10
#define START_NS (1000 * RM_NS_PER_S)
#define WALL_NS INT64_C(1800000000000000000)

enum side { SENDS, RECEIVES, SIDES };

struct pair {
	uint32_t src, dst; /* dst >= rnics: the peer is a witness outside of the rack */
	double per_bin, owed;
	uint32_t sent[JUDGE_BINS], out[JUDGE_BINS], back[JUDGE_BINS]; /* lost */
};

struct side_counts { /* sums since the beginning of the stretch */
	uint32_t tried, lost;
};

struct noise_rack {
	uint32_t rnics;
	double loss;
	struct rack_judge *judge;
	struct pair *pairs;
	struct window_pair *seen;
	size_t pair_count;
	struct side_counts *counts; /* indexed by bin + 1, RNIC, side; the last entry is
				       for the whole rack */
	struct rack rack;
	struct rack_member members[NOISE_RACK_MAX_RNICS], witnesses[WITNESSES];
	struct rack_host hosts[NOISE_RACK_MAX_RNICS];
	char names[NOISE_RACK_MAX_RNICS][16];
};

static struct side_counts *
counts_at(const struct noise_rack *rack, uint32_t bin, uint32_t rnic, enum side side)
{
	return &rack->counts[((size_t)bin * (rack->rnics + 1) + rnic) * SIDES + side];
}

static void
name_all(struct noise_rack *rack)
{
	for (uint32_t i = 0; i < rack->rnics; i++) {
		snprintf(rack->names[i], sizeof rack->names[i], "h%u", i);
		rack->members[i] =
		    (struct rack_member){ { UINT64_C(0x020000000000) + i, 0 },
			    rack->names[i], "r0", i };
		rack->hosts[i] =
		    (struct rack_host){ .name = rack->names[i], .state = HOST_OK };
	}
	for (uint32_t i = 0; i < WITNESSES; i++)
		rack->witnesses[i] =
		    (struct rack_member){ { UINT64_C(0x030000000000) + i, 0 }, "far",
			    "r0", 0 };
	rack->rack = (struct rack){ .tor = "tor1",
		.members = rack->members,
		.member_count = rack->rnics,
		.remotes = rack->witnesses,
		.remote_count = WITNESSES,
		.hosts = rack->hosts,
		.host_count = rack->rnics };
}

static void
pair_all(struct noise_rack *rack)
{
	const uint32_t peers = rack->rnics - 1;
	const double mesh_per_s =
	    peers * MESH_PER_S > MAX_PER_S ? (double)MAX_PER_S / peers : MESH_PER_S;

	for (uint32_t i = 0; i < rack->rnics; i++) {
		for (uint32_t k = 0; k < rack->rnics; k++)
			if (k != i)
				rack->pairs[rack->pair_count++] =
				    (struct pair){ .src = i,
					    .dst = k,
					    .per_bin = mesh_per_s / BINS_PER_S };
		for (uint32_t k = 0; k < WITNESSES && rack->rnics < WITNESS_BELOW; k++)
			rack->pairs[rack->pair_count++] = (struct pair){ .src = i,
				.dst = rack->rnics + k,
				.per_bin = (double)WITNESS_PER_S / BINS_PER_S };
	}
}

int
noise_rack_new(uint32_t rnics, double loss, struct noise_rack **ret)
{
	const size_t most = (size_t)rnics * (rnics + WITNESSES);
	struct noise_rack *rack = calloc(1, sizeof *rack);

	if (rack == NULL)
		return -ENOMEM;
	rack->rnics = rnics;
	rack->loss = loss;
	rack->pairs = calloc(most, sizeof *rack->pairs);
	rack->seen = calloc(most, sizeof *rack->seen);
	rack->counts =
	    calloc((size_t)(BINS + 1) * (rnics + 1) * SIDES, sizeof *rack->counts);
	if (rack->pairs == NULL || rack->seen == NULL || rack->counts == NULL) {
		noise_rack_free(rack);
		return -ENOMEM;
	}
	name_all(rack);
	pair_all(rack);
	*ret = rack;
	return 0;
}

void
noise_rack_free(struct noise_rack *rack)
{
	if (rack == NULL)
		return;
	rack_judge_free(rack->judge);
	free(rack->pairs);
	free(rack->seen);
	free(rack->counts);
	free(rack);
}

/* ---- one bin --------------------------------------------------------------------- */

static bool
is_worse(const struct noise_rack *rack, const struct noise_worse *worse, uint32_t bin,
    uint32_t from, uint32_t to)
{
	const uint32_t rnic = worse->place / NOISE_RACK_SIDES,
		       side = worse->place % NOISE_RACK_SIDES;

	if (worse->loss <= 0 || bin < worse->from_s * BINS_PER_S ||
	    bin >= worse->to_s * BINS_PER_S)
		return false;
	return rnic == rack->rnics || (rnic == from && side != RECEIVES) ||
	       (rnic == to && side != SENDS);
}

static void
note(struct noise_rack *rack, uint32_t bin, uint32_t rnic, enum side side,
    uint32_t tried, uint32_t lost)
{
	struct side_counts *counts;

	if (rnic >= rack->rnics)
		return; /* a witness, which is not a place of this rack */
	counts = counts_at(rack, bin + 1, rnic, side);
	counts->tried += tried;
	counts->lost += lost;
}

/* Returns how many of this number of packets are lost in one direction. */
static uint32_t
send(struct noise_rack *rack, const struct noise_worse *worse, uint32_t bin,
    uint32_t from, uint32_t to, uint32_t count, struct dice *dice)
{
	const double loss =
	    is_worse(rack, worse, bin, from, to) ? worse->loss : rack->loss;
	uint32_t lost = 0;

	for (uint32_t i = 0; i < count; i++)
		lost += dice_share(dice) < loss;
	note(rack, bin, from, SENDS, count, lost);
	note(rack, bin, to, RECEIVES, count, lost);
	/* For the whole rack, each packet counts once. */
	counts_at(rack, bin + 1, rack->rnics, SENDS)->tried += count;
	counts_at(rack, bin + 1, rack->rnics, SENDS)->lost += lost;
	return lost;
}

static void
probe(struct noise_rack *rack, const struct noise_worse *worse, uint32_t bin,
    struct pair *pair, struct dice *dice)
{
	const uint32_t at = bin % JUDGE_BINS;
	uint32_t sent;

	pair->owed += pair->per_bin;
	sent = (uint32_t)pair->owed;
	pair->owed -= sent;
	pair->sent[at] = sent;
	pair->out[at] = send(rack, worse, bin, pair->src, pair->dst, sent, dice);
	pair->back[at] =
	    send(rack, worse, bin, pair->dst, pair->src, sent - pair->out[at], dice);
}

/* The window that is judged: the sum of the pair's last bins. */
static struct window_pair
see(const struct noise_rack *rack, const struct pair *pair, uint32_t bin)
{
	const bool outside = pair->dst >= rack->rnics;
	struct window_pair ret = { .src = pair->src,
		.dst =
		    outside ? WINDOW_REMOTE_BASE + pair->dst - rack->rnics : pair->dst,
		.kind = outside ? WIRE_WITNESS : WIRE_TOR_MESH,
		.counted = !outside };

	for (uint32_t i = 0; i < JUDGE_BINS; i++) {
		const uint32_t lost = pair->out[i] + pair->back[i];

		ret.outcomes[WIRE_NO_REPLY] += lost;
		ret.outcomes[WIRE_OK] += pair->sent[i] - lost;
		if (!outside)
			ret.arrived += pair->sent[i] - pair->out[i];
	}
	for (uint32_t age = 0; age < NEWEST_BINS && age <= bin; age++) {
		const uint32_t i = (bin - age) % JUDGE_BINS;

		ret.newest_sent += pair->sent[i];
		ret.newest_lost += pair->out[i] + pair->back[i];
	}
	return ret;
}

/* ---- a stretch ------------------------------------------------------------------- */

static int
begin(struct noise_rack *rack, struct dice *dice)
{
	rack_judge_free(rack->judge);
	rack->judge = NULL;
	memset(rack->counts, 0,
	    (size_t)(BINS + 1) * (rack->rnics + 1) * SIDES * sizeof *rack->counts);
	for (size_t i = 0; i < rack->pair_count; i++) {
		struct pair *pair = &rack->pairs[i];

		memset(pair->sent, 0, sizeof pair->sent);
		memset(pair->out, 0, sizeof pair->out);
		memset(pair->back, 0, sizeof pair->back);
		pair->owed = dice_share(dice);
	}
	return rack_judge_new(&rack->judge);
}

/* Counts only verdicts on RNICs and on the ToR: hosts are not simulated. */
static bool
names_somebody(const struct rack_judgement *judgement)
{
	for (size_t i = 0; i < judgement->verdict_count; i++)
		if (judgement->verdicts[i].part.type != RM_PART_HOST)
			return true;
	return false;
}

static int
judge(struct noise_rack *rack, uint32_t bin, bool *named)
{
	const int64_t end_ns = START_NS + (bin + 1) * BIN_NS;
	struct window_closed window = { .start = { end_ns - JUDGE_BINS * BIN_NS },
		.end = { end_ns },
		.pairs = rack->seen,
		.pair_count = rack->pair_count };
	struct rack_judgement judgement;
	int r;

	for (size_t i = 0; i < rack->pair_count; i++)
		rack->seen[i] = see(rack, &rack->pairs[i], bin);
	r = rack_judge_window(rack->judge, &rack->rack, &window,
	    (rm_wall_t){ WALL_NS + window.start.ns }, &judgement);
	if (r == 0)
		*named = names_somebody(&judgement);
	return r;
}

static int
run(void *arg, const struct noise_worse *worse, uint32_t counted_from_s,
    struct dice *dice)
{
	struct noise_rack *rack = arg;
	const size_t row = (size_t)(rack->rnics + 1) * SIDES;
	bool before = false, named = false;
	int openings = 0, r = begin(rack, dice);

	for (uint32_t bin = 0; bin < BINS && r == 0; bin++) {
		memcpy(&rack->counts[(bin + 1) * row], &rack->counts[bin * row],
		    row * sizeof *rack->counts);
		for (size_t i = 0; i < rack->pair_count; i++)
			probe(rack, worse, bin, &rack->pairs[i], dice);
		if (bin + 1 < JUDGE_BINS)
			continue;
		r = judge(rack, bin, &named);
		openings += named && !before && bin >= counted_from_s * BINS_PER_S;
		before = named;
	}
	return r < 0 ? r : openings;
}

static void
met(const void *arg, uint32_t place, uint32_t from_s, uint32_t to_s, uint64_t *tried,
    uint64_t *lost)
{
	const struct noise_rack *rack = arg;
	const uint32_t rnic = place / NOISE_RACK_SIDES, side = place % NOISE_RACK_SIDES;

	*tried = *lost = 0;
	for (uint32_t s = 0; s < SIDES; s++) {
		const struct side_counts *from, *to;

		if (rnic < rack->rnics && side != SIDES && s != side)
			continue;
		from = counts_at(rack, from_s * BINS_PER_S, rnic, s);
		to = counts_at(rack, to_s * BINS_PER_S, rnic, s);
		*tried += to->tried - from->tried;
		*lost += to->lost - from->lost;
	}
}

struct noise_subject
noise_rack_subject(struct noise_rack *rack)
{
	return (struct noise_subject){ .places = rack->rnics * NOISE_RACK_SIDES + 1,
		.racks = 1,
		.run = run,
		.met = met,
		.arg = rack };
}
