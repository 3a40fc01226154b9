/*
 * Path rows of hostile aggregators into the judgement between racks: all counted rows
 * are rows that were accepted, and each part that is named has a name.
 *
 * Input: records of one byte (the action) and one byte (the rack); for rows also three
 * bytes of counts and a text up to the next zero: the path.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/localise/localise.h"
#include "tests/support/failing_malloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_RECORDS 64
#define TEXT 200
#define WALL (INT64_C(1700000000) * RM_NS_PER_S)

static const char *const tors[] = { "tor1", "tor2", "s1", "a>b" };
static const char *const ends[] = { "h1", "h1/r0", "", "a>b/c:1" };

struct world {
	struct localise *localise;
	struct wire_writer *writer;
	int64_t now_ns;
	uint64_t seq, reported;
};

static void
report(struct world *world, const char *tor, uint8_t what, const uint8_t counts[3],
    const char *path)
{
	/* A clock may be set back, or show any time. */
	const bool is_odd = (what & 12) == 8 && counts[2] > 200;
	const int64_t back_ns = (what & 12) == 12 ? counts[0] * 100 * RM_NS_PER_S : 0;
	const uint64_t odd = (uint64_t)counts[0] << 56 | counts[1];
	const uint64_t end = is_odd ? odd : (uint64_t)(WALL + world->now_ns - back_ns);
	const struct wire_path_row rows[] = {
		{ .dst_tor = tors[counts[0] % 4],
		    .path = path,
		    .sent = counts[1],
		    .lost_forward = what & 16 ? counts[2] : 0,
		    .lost_reverse = what & 32 ? counts[2] : 0,
		    .lost_unknown = what & 64 ? counts[2] : 0,
		    .flows = counts[1] / 2u,
		    .flows_dead = counts[2] / 2u,
		    .flows_partial = counts[0] / 8u,
		    .flows_silent = counts[2] / 2u,
		    .samples = path },
		{ .dst_tor = tors[(counts[0] >> 2) % 4],
		    .path = "tor1@10.0.0.1 s1@10.1.0.1 tor2@10.2.0.1",
		    .sent = counts[1],
		    .timed = counts[1],
		    .slow = what & 16 ? counts[2] : 0,
		    .overdue = what & 32 ? counts[2] : 0,
		    .slow_ns = counts[2] * (uint64_t)RM_NS_PER_S },
	};
	const struct wire_summary summary = {
		.head = { "agg", "r1", 1, ++world->seq },
		.tor = tor,
		.start_wall_ns = end > RM_NS_PER_S ? end - (uint64_t)RM_NS_PER_S : 0,
		.end_wall_ns = end,
		.paths_start_wall_ns =
		    end - (uint64_t)counts[0] * (uint64_t)RM_NS_PER_S,
		.paths = rows,
		.path_count = 2,
		.end_ns = !(what & 128) ? 0
			  : is_odd      ? odd
					: (uint64_t)world->now_ns,
	};
	struct wire_summary_view view;
	struct wire_bytes bytes;

	if (wire_write_summary(world->writer, &summary, &bytes) < 0 ||
	    wire_open_summary(&view, bytes.data, bytes.len) < 0)
		return;
	world->reported += 2;
	(void)localise_summary(world->localise, &view, (rm_mono_t){ world->now_ns });
}

static void
judge(struct world *world, int64_t step_ns)
{
	const struct localise_counts *counts = localise_counts(world->localise);
	const struct rm_verdict *verdicts;
	int n;

	world->now_ns += step_ns;
	n = localise_judge(world->localise, (rm_mono_t){ world->now_ns },
	    (rm_wall_t){ WALL + world->now_ns }, &verdicts);
	if (n > LOCALISE_MAX_VERDICTS ||
	    counts->rows + counts->refused_rows > world->reported)
		abort();
	for (int i = 0; i < n; i++) {
		if (verdicts[i].part.name[0] == '\0' || verdicts[i].confidence <= 0 ||
		    verdicts[i].confidence >= 1)
			abort();
		(void)localise_health(world->localise, &verdicts[i]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct localise_options options = { "r1", 10 * RM_NS_PER_S };
	struct world world = { .now_ns = 100 * RM_NS_PER_S };
	size_t at = 0;

	world.writer = wire_writer_new();
	if (world.writer == NULL || localise_new(&options, &world.localise) < 0)
		abort();
	for (int i = 0; i < MAX_RECORDS && at + 5 <= size; i++) {
		const uint8_t what = data[at], *counts = data + at + 2;
		const char *tor = tors[data[at + 1] % 4];
		char path[TEXT] = "";
		size_t len = 0;

		at += 5;
		if ((what & 3) == 3) {
			localise_tor_verdict(world.localise, tor,
			    (enum localise_tor_report)(what >> 2 & 3),
			    (rm_mono_t){ world.now_ns });
			localise_rack_is_seen(world.localise, tor, what & 16);
			if (what & 64)
				localise_rack_end(world.localise, tors[counts[0] % 4],
				    "rnic-down", ends[counts[1] % 4]);
			else if (what & 128)
				localise_ends_none(world.localise);
			if (what & 32)
				localise_rack_found(world.localise, tor, "rnic-down",
				    (rm_mono_t){ world.now_ns });
		} else {
			while (at + len < size && len + 1 < TEXT && data[at + len] != 0)
				len++;
			memcpy(path, data + at, len);
			at += len + (at + len < size);
			if (what & 128) /* of the allocations that this needs */
				failing_malloc_arm(1 + counts[0] % 16u);
			report(&world, tor, what, counts, path);
			(void)failing_malloc_disarm();
		}
		judge(&world, (int64_t)(what & 12) * RM_NS_PER_S / 8);
	}
	judge(&world, 20 * RM_NS_PER_S);
	localise_free(world.localise);
	wire_writer_free(world.writer);
	return 0;
}
