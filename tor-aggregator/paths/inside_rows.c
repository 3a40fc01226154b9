#include "tor-aggregator/paths/inside_rows.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/paths/flow_counts.h"

/* With each second the losses of earlier seconds count by a tenth less. */
#define FADE 0.9
/* least number of earlier losses that show which member loses most */
#define MIN_EARLIER 3.0
/* a flow may be dead after this many probes without an answer */
#define DEAD_SENT 2

/* Both of two members lose a similar share of their probes to other racks if the
 * smaller share is at least this part of the larger one. */
#define SIMILAR 0.4

#define NO_MEMBER SIZE_MAX

struct inside_member {             /* probes of earlier seconds, faded */
	double lost;               /* inside the rack, from and to this member */
	double sent_out, lost_out; /* from this member to other racks */
};

struct inside_rows {
	struct inside_member members[WIRE_MAX_MEMBERS];
	double all_lost; /* probes that were lost inside the rack, faded */
	struct wire_path_row rows[INSIDE_ROWS_CLASSES];
	size_t row_count;
	bool taken; /* the rows begin anew with the next second */
};

int
inside_rows_new(struct inside_rows **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret != NULL ? 0 : -ENOMEM;
}

void
inside_rows_free(struct inside_rows *rows)
{
	free(rows);
}

static double
share_out(const struct inside_member *member)
{
	return member->lost_out >= MIN_EARLIER ? member->lost_out / member->sent_out
					       : 0;
}

/* True: both members lose a similar share of their probes to other racks. */
static bool
are_similar(const struct inside_member *a, const struct inside_member *b)
{
	const double x = share_out(a), y = share_out(b);

	return x > 0 && y > 0 && fmin(x, y) >= SIMILAR * fmax(x, y);
}

/* Returns the member whose flows are left out. */
static size_t
most_lossy(const struct inside_rows *rows, const bool *witnesses, size_t members)
{
	size_t most = NO_MEMBER, last = NO_MEMBER, count = 0;

	for (size_t i = 0; rows->all_lost > 0 && i < members; i++) {
		if (!witnesses[i])
			continue;
		count++;
		last = most == NO_MEMBER ? NO_MEMBER : i;
		if (most == NO_MEMBER ||
		    rows->members[i].lost > rows->members[most].lost) {
			last = most;
			most = i;
		}
	}
	return count == 2 && are_similar(&rows->members[most], &rows->members[last])
		   ? NO_MEMBER
		   : most;
}

static bool
is_evidence(const struct flow_count *flow, const bool *witnesses, size_t members)
{
	return flow->src < members && flow->dst < members && witnesses[flow->src] &&
	       witnesses[flow->dst];
}

static struct wire_path_row *
row_of(struct inside_rows *rows, uint8_t dscp)
{
	for (size_t i = 0; i < rows->row_count; i++)
		if (rows->rows[i].dscp == dscp)
			return &rows->rows[i];
	if (rows->row_count == INSIDE_ROWS_CLASSES)
		return NULL;
	rows->rows[rows->row_count] = (struct wire_path_row){
		.dst_tor = "", .path = "", .dscp = dscp, .samples = ""
	};
	return &rows->rows[rows->row_count++];
}

/* Adds the flow to its row. flows: number of the second's flows in each row so far. */
static void
add_flow(struct inside_rows *rows, const struct flow_count *flow, uint32_t *flows)
{
	struct wire_path_row *row = row_of(rows, flow->dscp);
	uint32_t *of;

	if (row == NULL)
		return;
	of = &flows[row - rows->rows];
	row->sent += flow->sent;
	row->lost_unknown += flow->lost;
	row->timed += flow->timed;
	row->slow += flow->slow;
	row->slow_ns += flow->slow_ns;
	if (++*of > row->flows)
		row->flows = *of;
	row->flows_dead += flow->sent >= DEAD_SENT && flow->lost == flow->sent;
	row->flows_partial += flow->lost > 0 && flow->lost < flow->sent;
	row->flows_silent += flow->lost > 0 && flow->lost == flow->sent;
}

static void
fade(struct inside_rows *rows, size_t members)
{
	rows->all_lost *= FADE;
	for (size_t i = 0; i < members; i++) {
		rows->members[i].lost *= FADE;
		rows->members[i].sent_out *= FADE;
		rows->members[i].lost_out *= FADE;
	}
}

/* Adds the second to what was lost in earlier seconds. */
static void
note_losses(struct inside_rows *rows, const struct flow_second *second,
    const bool *witnesses, size_t members)
{
	fade(rows, members);
	for (size_t i = 0; i < second->inside.count; i++) {
		const struct flow_count *flow = &second->inside.flows[i];

		if (flow->lost == 0 || !is_evidence(flow, witnesses, members))
			continue;
		rows->all_lost += flow->lost;
		rows->members[flow->src].lost += flow->lost;
		rows->members[flow->dst].lost += flow->lost;
	}
	for (size_t i = 0; i < second->flows.count; i++) {
		const struct flow_count *flow = &second->flows.flows[i];

		if (flow->left_out || flow->src >= members)
			continue;
		rows->members[flow->src].sent_out += flow->sent;
		rows->members[flow->src].lost_out += flow->lost;
	}
}

static size_t
lost_in(const struct flow_counts *flows, const bool *witnesses, size_t members)
{
	size_t lost = 0;

	for (size_t i = 0; i < flows->count; i++)
		if (is_evidence(&flows->flows[i], witnesses, members))
			lost += flows->flows[i].lost;
	return lost;
}

void
inside_rows_add(struct inside_rows *rows, const struct flow_second *second,
    const bool *witnesses, size_t members)
{
	const struct flow_counts *flows = &second->inside;
	const size_t most = most_lossy(rows, witnesses, members);
	const bool is_known =
	    lost_in(flows, witnesses, members) == 0 || rows->all_lost >= MIN_EARLIER;
	uint32_t counted[INSIDE_ROWS_CLASSES] = { 0 };

	if (rows->taken)
		rows->row_count = 0;
	rows->taken = false;
	for (size_t i = 0; is_known && i < flows->count; i++) {
		const struct flow_count *flow = &flows->flows[i];

		if (flow->sent > 0 && flow->src != most && flow->dst != most &&
		    is_evidence(flow, witnesses, members))
			add_flow(rows, flow, counted);
	}
	note_losses(rows, second, witnesses, members);
}

size_t
inside_rows_take(struct inside_rows *rows, const struct wire_path_row **ret)
{
	*ret = rows->rows;
	rows->taken = true;
	return rows->row_count;
}

void
inside_rows_forget(struct inside_rows *rows)
{
	*rows = (struct inside_rows){ 0 };
}
