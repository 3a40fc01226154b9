/* What a rack knows and tells of the paths that leave it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/paths/found_ways.h"
#include "tor-aggregator/paths/path_rows.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/rack/tor_rack_state.h"
#include "tor-aggregator/window/roster.h"

#define OPEN_SECONDS 12 /* as long as bins can be open, and one at either edge */
/* Of a member that is neither good nor bad: so many lost in its mesh, it is no witness.
 */
#define DOUBT_LOST 3
#define DOUBT_SHARE 0.12
#define AGE_EVERY_NS (10 * RM_NS_PER_S)

int
tor_rack_paths_new(struct tor_rack *rack, rm_mono_t now)
{
	const struct path_table_options table = {
		.tor = rack->tor,
		.max_flows = PATH_TABLE_MAX_FLOWS,
		.max_paths = PATH_TABLE_MAX_PATHS,
	};
	const struct path_rows_options rows = {
		.row_interval_ns = rack->options.row_interval_ns,
		.open_seconds = OPEN_SECONDS,
		.max_flows = PATH_ROWS_MAX_FLOWS,
	};
	int r;

	rack->brake_permille = 1000;
	rack->witnesses = calloc(WIRE_MAX_MEMBERS, sizeof(*rack->witnesses));
	rack->mesh = calloc(WIRE_MAX_MEMBERS, sizeof(*rack->mesh));
	if (rack->witnesses == NULL || rack->mesh == NULL)
		return -ENOMEM;
	r = path_table_new(&table, &rack->paths);
	if (r == 0)
		r = path_rows_new(&rows, now, &rack->path_rows);
	if (r == 0)
		r = found_ways_new(&rack->found_ways);
	return r;
}

void
tor_rack_paths_free(struct tor_rack *rack)
{
	path_table_free(rack->paths);
	path_rows_free(rack->path_rows);
	found_ways_free(rack->found_ways);
	free(rack->witnesses);
	free(rack->mesh);
}

int
tor_rack_path(struct tor_rack *rack, const struct wire_path *path, rm_mono_t traced,
    rm_mono_t now)
{
	const struct roster_rnic *dst = roster_find(
	    rack->roster, (struct wire_rnic_id){ path->dst_guid, path->dst_port_num });

	if (dst == NULL || dst->index < WINDOW_FOREIGN_BASE || dst->tor_number == 0)
		return -ENOENT;
	return path_table_learn(rack->paths, path, dst->tor, traced, now);
}

void
tor_rack_brake(struct tor_rack *rack, uint32_t rate_permille)
{
	rack->brake_permille = rate_permille;
}

void
tor_rack_slowed(struct tor_rack *rack, uint32_t hosts)
{
	rack->hosts_slowed = hosts;
}

void
tor_rack_certificate(struct tor_rack *rack, size_t host, int64_t ends_s)
{
	if (!rack->stale) /* else hosts are numbered anew first */
		rack->hosts[host].certificate_ends_s = ends_s;
}

static void
count_mesh(struct tor_rack *rack, const struct window_closed *closed)
{
	const size_t members = roster_members(rack->roster);

	memset(rack->mesh, 0, members * sizeof(*rack->mesh));
	for (size_t i = 0; i < closed->pair_count; i++) {
		const struct window_pair *pair = &closed->pairs[i];
		const uint32_t lost = pair->outcomes[WIRE_NO_REPLY];

		if (pair->src >= members || pair->dst >= members)
			continue;
		rack->mesh[pair->src].sent +=
		    lost + pair->outcomes[WIRE_OK] + pair->outcomes[WIRE_LATE_REPLY];
		rack->mesh[pair->src].lost += lost;
	}
}

/* Its mesh fails, while others are well; the judge has not made up its mind. */
static bool
is_doubtful(const struct tor_rack *rack, size_t i)
{
	return rack->states[i].health == RM_HEALTH_UNKNOWN &&
	       rack->mesh[i].lost >= DOUBT_LOST &&
	       (double)rack->mesh[i].lost >= DOUBT_SHARE * (double)rack->mesh[i].sent;
}

static void
find_witnesses(struct tor_rack *rack, const struct window_closed *closed)
{
	const size_t members = roster_members(rack->roster);
	bool some_good = false;

	count_mesh(rack, closed);
	for (size_t i = 0; i < members; i++)
		some_good = some_good || rack->states[i].health == RM_HEALTH_GOOD;
	for (size_t i = 0; i < members; i++) {
		const size_t host = roster_member(rack->roster, i)->host_index;

		rack->witnesses[i] = rack->hosts[host].state == HOST_OK &&
				     rack->states[i].health != RM_HEALTH_BAD &&
				     !(some_good && is_doubtful(rack, i));
	}
}

static void
emit(struct wire_summary *summary, void *arg)
{
	tor_rack_tell(arg, summary);
}

void
tor_rack_paths_close(struct tor_rack *rack, rm_mono_t now, rm_wall_t wall,
    const struct window_closed *closed, bool judged)
{
	const struct path_rows_second second = {
		.end = closed->end,
		.witnesses = rack->witnesses,
		.partial = closed->partial || !judged,
		.roster = rack->roster,
		.paths = rack->paths,
		.now = now,
		.wall = wall,
		.emit = emit,
		.arg = rack,
	};

	/* The judged second is one of the path rows only when it ends with one. */
	if (closed->end.ns % PATH_ROWS_SECOND_NS != 0)
		return;
	find_witnesses(rack, closed);
	path_rows_close(rack->path_rows, &second);
	if (path_rows_empty(rack->path_rows) &&
	    rm_mono_since(now, rack->paths_aged) >= AGE_EVERY_NS) {
		path_table_age(rack->paths, now);
		rack->paths_aged = now;
	}
}

const struct path_table *
tor_rack_paths(const struct tor_rack *rack)
{
	return rack->paths;
}

const struct path_rows *
tor_rack_path_rows(const struct tor_rack *rack)
{
	return rack->path_rows;
}

size_t
tor_rack_found_ways(
    struct tor_rack *rack, rm_mono_t now, struct wire_path *out, size_t max)
{
	return found_ways_next(rack->found_ways, rack->paths, now, out, max);
}

void
tor_rack_found_ways_again(struct tor_rack *rack)
{
	found_ways_again(rack->found_ways);
}
