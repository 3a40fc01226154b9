#include "tor-aggregator/mesh/rack_mesh.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/window/roster.h"

#define MINUTE_SLICES 7 /* the newest slice is not full */
#define HOUR_SLICES 5
#define SLICE_NS (10 * RM_NS_PER_S) /* of a minute */
#define SLICES_PER_SLICE 90         /* slices of a minute in a slice of an hour */

/* There are four bins per octave, from 2^10 ns up. */
#define FIRST_OCTAVE 10
#define BINS 64

struct slice {
	uint32_t counts[MESH_COUNTS];
	uint16_t rtt[BINS];
	/* how often all bins of rtt were halved because one bin was full */
	uint8_t halved;
};

struct pair {
	uint16_t src, dst;
	rm_mono_t seen;
	/* index: number of the slice modulo MINUTE_SLICES; NULL: there were no probes
	 */
	struct slice *minute[MINUTE_SLICES];
	struct slice *hour[HOUR_SLICES];
};

struct rack_mesh {
	rm_mono_t started;
	int64_t number; /* number of the minute's slice that is being filled */
	size_t newest;  /* index of that slice in the array minute */
	struct pair *pairs;
	size_t count, room;
	size_t slices;
	uint32_t *rows[WIRE_MAX_MEMBERS]; /* by src, then dst: index into pairs + 1 */
	/* The RNICs, by index in the roster. */
	struct wire_rnic_id ids[WIRE_MAX_MEMBERS];
	size_t members;
	uint64_t refused;
};

int
rack_mesh_new(rm_mono_t now, struct rack_mesh **ret)
{
	struct rack_mesh *mesh = calloc(1, sizeof(*mesh));

	if (mesh == NULL)
		return -ENOMEM;
	mesh->started = now;
	mesh->number = now.ns / SLICE_NS;
	mesh->newest = (size_t)(mesh->number % MINUTE_SLICES);
	*ret = mesh;
	return 0;
}

static void
drop_slice(struct rack_mesh *mesh, struct slice **slice)
{
	if (*slice != NULL)
		mesh->slices--;
	free(*slice);
	*slice = NULL;
}

static void
drop_slices(struct rack_mesh *mesh, struct pair *pair)
{
	for (size_t i = 0; i < MINUTE_SLICES; i++)
		drop_slice(mesh, &pair->minute[i]);
	for (size_t i = 0; i < HOUR_SLICES; i++)
		drop_slice(mesh, &pair->hour[i]);
}

void
rack_mesh_free(struct rack_mesh *mesh)
{
	if (mesh == NULL)
		return;
	for (size_t i = 0; i < mesh->count; i++)
		drop_slices(mesh, &mesh->pairs[i]);
	for (size_t i = 0; i < WIRE_MAX_MEMBERS; i++)
		free(mesh->rows[i]);
	free(mesh->pairs);
	free(mesh);
}

/* ---- pairs ---- */

/* Returns the pair, or NULL if there is none. */
static struct pair *
find_pair(const struct rack_mesh *mesh, uint32_t src, uint32_t dst)
{
	const uint32_t *row = src < WIRE_MAX_MEMBERS ? mesh->rows[src] : NULL;

	if (row == NULL || dst >= WIRE_MAX_MEMBERS || row[dst] == 0)
		return NULL;
	return &mesh->pairs[row[dst] - 1];
}

/* Returns the pair, which is made if it does not exist. NULL: there are too many pairs,
 * or there is no memory. */
static struct pair *
add_pair(struct rack_mesh *mesh, uint32_t src, uint32_t dst)
{
	uint32_t **row = &mesh->rows[src];

	if (mesh->count == MESH_MAX_PAIRS)
		return NULL;
	if (mesh->count == mesh->room) {
		const size_t room = mesh->room == 0 ? 64 : 2 * mesh->room;
		struct pair *pairs =
		    reallocarray(mesh->pairs, room, sizeof(*mesh->pairs));

		if (pairs == NULL)
			return NULL;
		mesh->pairs = pairs;
		mesh->room = room;
	}
	if (*row == NULL)
		*row = calloc(WIRE_MAX_MEMBERS, sizeof(**row));
	if (*row == NULL)
		return NULL;
	mesh->pairs[mesh->count] =
	    (struct pair){ .src = (uint16_t)src, .dst = (uint16_t)dst };
	(*row)[dst] = (uint32_t)++mesh->count;
	return &mesh->pairs[mesh->count - 1];
}

/* Removes the pair; the last pair moves to its index. */
static void
drop_pair(struct rack_mesh *mesh, struct pair *pair)
{
	const struct pair *last = &mesh->pairs[mesh->count - 1];

	drop_slices(mesh, pair);
	mesh->rows[pair->src][pair->dst] = 0;
	if (pair != last) {
		mesh->rows[last->src][last->dst] = (uint32_t)(pair - mesh->pairs) + 1;
		*pair = *last;
	}
	mesh->count--;
}

static struct slice *
get_slice(struct rack_mesh *mesh, struct slice **slice)
{
	if (*slice == NULL) {
		*slice = calloc(1, sizeof(**slice));
		mesh->slices += *slice != NULL;
	}
	return *slice;
}

/* ---- results ---- */

static unsigned
bin_of(uint32_t rtt_ns)
{
	unsigned octave, bin;

	if (rtt_ns < 1u << FIRST_OCTAVE)
		return 0;
	octave = 31 - (unsigned)__builtin_clz(rtt_ns);
	bin = (octave - FIRST_OCTAVE) * 4 + ((rtt_ns >> (octave - 2)) & 3);
	return bin < BINS ? bin : BINS - 1;
}

/* Returns the value with the same relative distance to both ends of the bin: their
 * harmonic mean. */
static uint32_t
bin_value_ns(unsigned bin)
{
	const uint64_t quarter = UINT64_C(1) << (bin / 4 + FIRST_OCTAVE - 2);
	const uint64_t low = quarter * (4 + bin % 4), high = low + quarter;

	return (uint32_t)(2 * low * high / (low + high));
}

static void
halve(struct slice *slice)
{
	for (size_t i = 0; i < BINS; i++)
		slice->rtt[i] = (uint16_t)((slice->rtt[i] + 1) / 2);
	slice->halved++;
}

static void
count_rtt(struct slice *slice, unsigned bin)
{
	if (slice->rtt[bin] == UINT16_MAX)
		halve(slice);
	slice->rtt[bin]++;
}

static void
count_outcome(struct slice *slice, uint8_t outcome)
{
	static const uint8_t places[WIRE_OUTCOMES] = {
		[WIRE_OK] = MESH_OK,
		[WIRE_NO_REPLY] = MESH_NO_REPLY,
		[WIRE_LATE_REPLY] = MESH_LATE_REPLY,
		[WIRE_SEND_FAILED] = MESH_NOT_SENT,
		[WIRE_SENT_LATE] = MESH_NOT_SENT,
		[WIRE_STALE_QPN] = MESH_SENT,
		[WIRE_SELF_LOSS] = MESH_SENT,
		[WIRE_INVALID] = MESH_SENT,
	};
	const uint8_t place = places[outcome];

	slice->counts[place]++;
	if (place != MESH_SENT && place != MESH_NOT_SENT)
		slice->counts[MESH_SENT]++;
}

void
rack_mesh_add(struct rack_mesh *mesh, rm_mono_t sent, const struct wire_result *result,
    uint32_t src, uint32_t dst)
{
	struct slice *slice = NULL;
	struct pair *pair;

	if (result->kind != WIRE_TOR_MESH || src >= mesh->members ||
	    dst >= mesh->members)
		return;
	pair = find_pair(mesh, src, dst);
	if (pair == NULL)
		pair = add_pair(mesh, src, dst);
	if (pair != NULL)
		slice = get_slice(mesh, &pair->minute[mesh->newest]);
	if (slice == NULL) {
		mesh->refused++;
		return;
	}
	count_outcome(slice, result->outcome);
	if (result->outcome == WIRE_OK && (result->flags & WIRE_SPLIT))
		count_rtt(slice, bin_of(result->rtt_ns));
	if (sent.ns > pair->seen.ns)
		pair->seen = sent;
}

void
rack_mesh_directions(struct rack_mesh *mesh, uint32_t src, uint32_t dst,
    uint64_t forward, uint64_t reverse)
{
	struct pair *pair = find_pair(mesh, src, dst);
	struct slice *slice;

	if (pair == NULL)
		return;
	slice = get_slice(mesh, &pair->minute[mesh->newest]);
	if (slice == NULL)
		return;
	slice->counts[MESH_LOST_FORWARD] += (uint32_t)forward;
	slice->counts[MESH_LOST_REVERSE] += (uint32_t)reverse;
}

/* ---- time ---- */

static void
merge(struct slice *into, const struct slice *from)
{
	for (size_t i = 0; i < MESH_COUNTS; i++)
		into->counts[i] += from->counts[i];
	for (unsigned i = 0; i < BINS; i++) {
		uint32_t more = (uint32_t)from->rtt[i] << from->halved;

		if (more == 0)
			continue;
		while (into->rtt[i] + (more >> into->halved) > UINT16_MAX)
			halve(into);
		into->rtt[i] = (uint16_t)(into->rtt[i] + (more >> into->halved));
	}
}

/* Ends the newest slice. Frees the old slices whose places the slices up to `number`
 * take. */
static void
turn_pair(struct rack_mesh *mesh, struct pair *pair, int64_t number)
{
	struct slice *full = pair->minute[mesh->newest];
	const int64_t hour = mesh->number / SLICES_PER_SLICE;
	struct slice *slice;

	if (full != NULL) {
		slice = get_slice(mesh, &pair->hour[hour % HOUR_SLICES]);
		if (slice != NULL)
			merge(slice, full);
	}
	for (int64_t n = number; n > mesh->number && n > number - MINUTE_SLICES; n--)
		drop_slice(mesh, &pair->minute[n % MINUTE_SLICES]);
	for (int64_t n = number / SLICES_PER_SLICE;
	     n > hour && n > number / SLICES_PER_SLICE - HOUR_SLICES; n--)
		drop_slice(mesh, &pair->hour[n % HOUR_SLICES]);
}

static bool
is_empty(const struct pair *pair)
{
	for (size_t i = 0; i < MINUTE_SLICES; i++)
		if (pair->minute[i] != NULL)
			return false;
	for (size_t i = 0; i < HOUR_SLICES; i++)
		if (pair->hour[i] != NULL)
			return false;
	return true;
}

void
rack_mesh_tick(struct rack_mesh *mesh, rm_mono_t now)
{
	const int64_t number = now.ns / SLICE_NS;

	if (number <= mesh->number)
		return;
	for (size_t i = mesh->count; i-- > 0;) {
		turn_pair(mesh, &mesh->pairs[i], number);
		if (is_empty(&mesh->pairs[i]))
			drop_pair(mesh, &mesh->pairs[i]);
	}
	mesh->number = number;
	mesh->newest = (size_t)(number % MINUTE_SLICES);
}

/* ---- members ---- */

/* moves: indexed by the old index of an RNIC, its new index; WIRE_MAX_MEMBERS: it has
 * left. True: an index has changed. */
static bool
find_moves(const struct rack_mesh *mesh, const struct roster *roster, uint16_t *moves)
{
	bool moved = false;

	for (size_t i = 0; i < mesh->members; i++) {
		const struct roster_rnic *rnic = roster_find(roster, mesh->ids[i]);

		moves[i] = rnic != NULL && rnic->index < WIRE_MAX_MEMBERS
			       ? (uint16_t)rnic->index
			       : WIRE_MAX_MEMBERS;
		moved = moved || moves[i] != i;
	}
	return moved;
}

/* First removes all pairs from the table, then inserts them under their new indexes, so
 * that no pair overwrites another. */
static void
move_pairs(struct rack_mesh *mesh, const uint16_t *moves)
{
	size_t kept = 0;

	for (size_t i = 0; i < WIRE_MAX_MEMBERS; i++) {
		free(mesh->rows[i]);
		mesh->rows[i] = NULL;
	}
	for (size_t i = 0; i < mesh->count; i++) {
		struct pair pair = mesh->pairs[i];

		pair.src = moves[pair.src];
		pair.dst = moves[pair.dst];
		if (pair.src < WIRE_MAX_MEMBERS && mesh->rows[pair.src] == NULL)
			mesh->rows[pair.src] =
			    calloc(WIRE_MAX_MEMBERS, sizeof(uint32_t));
		if (pair.src == WIRE_MAX_MEMBERS || pair.dst == WIRE_MAX_MEMBERS ||
		    mesh->rows[pair.src] == NULL) {
			drop_slices(mesh, &pair);
			continue;
		}
		mesh->pairs[kept++] = pair;
		mesh->rows[pair.src][pair.dst] = (uint32_t)kept;
	}
	mesh->count = kept;
}

void
rack_mesh_renumber(struct rack_mesh *mesh, const struct roster *roster)
{
	uint16_t moves[WIRE_MAX_MEMBERS];

	if (find_moves(mesh, roster, moves))
		move_pairs(mesh, moves);
	mesh->members = roster_members(roster);
	for (size_t i = 0; i < mesh->members; i++)
		mesh->ids[i] = roster_member(roster, i)->id;
}

/* ---- results ---- */

static void
sum_slices(struct slice *const *slices, size_t count, uint64_t *counts, uint64_t *rtt)
{
	for (size_t s = 0; s < count; s++) {
		if (slices[s] == NULL)
			continue;
		for (size_t i = 0; i < MESH_COUNTS; i++)
			counts[i] += slices[s]->counts[i];
		for (size_t i = 0; i < BINS; i++)
			rtt[i] += (uint64_t)slices[s]->rtt[i] << slices[s]->halved;
	}
}

/* Calculates percentiles by the nearest rank. */
static void
quantiles(const uint64_t *rtt, uint32_t *ret)
{
	static const unsigned percents[MESH_QUANTILES] = { 50, 95, 99 };
	uint64_t all = 0, below = 0;
	unsigned q = 0;

	memset(ret, 0, MESH_QUANTILES * sizeof(*ret));
	for (size_t i = 0; i < BINS; i++)
		all += rtt[i];
	for (unsigned i = 0; i < BINS && all > 0; i++) {
		below += rtt[i];
		while (q < MESH_QUANTILES && below * 100 >= all * percents[q])
			ret[q++] = bin_value_ns(i);
	}
}

/* The direction of a loss becomes known a second or two after the loss, so the oldest
 * slice also has directions of losses that are in no slice any more. This function
 * reduces the directions to the number of losses. */
static void
limit_directions(uint64_t *counts)
{
	const uint64_t lost = counts[MESH_NO_REPLY];
	uint64_t *forward = &counts[MESH_LOST_FORWARD],
		 *reverse = &counts[MESH_LOST_REVERSE];

	if (*forward > lost)
		*forward = lost;
	if (*reverse > lost - *forward)
		*reverse = lost - *forward;
}

bool
rack_mesh_next(const struct rack_mesh *mesh, enum mesh_period period, size_t *at,
    struct mesh_row *ret)
{
	while (*at < mesh->count) {
		const struct pair *pair = &mesh->pairs[(*at)++];
		struct slice *newest = pair->minute[mesh->newest];
		uint64_t rtt[BINS] = { 0 };

		*ret = (struct mesh_row){ pair->src, pair->dst, .seen = pair->seen };
		if (period == MESH_MINUTE) {
			sum_slices(pair->minute, MINUTE_SLICES, ret->counts, rtt);
		} else {
			sum_slices(pair->hour, HOUR_SLICES, ret->counts, rtt);
			sum_slices(&newest, 1, ret->counts, rtt);
		}
		limit_directions(ret->counts);
		quantiles(rtt, ret->rtt_ns);
		if (ret->counts[MESH_SENT] + ret->counts[MESH_NOT_SENT] > 0)
			return true;
	}
	return false;
}

int64_t
rack_mesh_covered_ns(
    const struct rack_mesh *mesh, enum mesh_period period, rm_mono_t now)
{
	const int64_t hour = mesh->number / SLICES_PER_SLICE;
	const rm_mono_t oldest = { period == MESH_MINUTE
				       ? (mesh->number - MINUTE_SLICES + 1) * SLICE_NS
				       : (hour - HOUR_SLICES + 1) * SLICES_PER_SLICE *
					     SLICE_NS };

	return rm_mono_since(
	    now, oldest.ns > mesh->started.ns ? oldest : mesh->started);
}

size_t
rack_mesh_pairs(const struct rack_mesh *mesh)
{
	return mesh->count;
}

size_t
rack_mesh_bytes(const struct rack_mesh *mesh)
{
	size_t bytes = sizeof(*mesh) + mesh->room * sizeof(struct pair);

	for (size_t i = 0; i < WIRE_MAX_MEMBERS; i++)
		if (mesh->rows[i] != NULL)
			bytes += WIRE_MAX_MEMBERS * sizeof(uint32_t);
	/* malloc adds 8 bytes and rounds up to a multiple of 16. */
	return bytes + mesh->slices * ((sizeof(struct slice) + 8 + 15) / 16 * 16);
}

const uint64_t *
rack_mesh_refused(const struct rack_mesh *mesh)
{
	return &mesh->refused;
}
