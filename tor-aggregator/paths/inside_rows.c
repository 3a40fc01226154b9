#include "tor-aggregator/paths/inside_rows.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "tor-aggregator/paths/flow_counts.h"
#include "tor-aggregator/window/roster.h"
#include "tor-aggregator/window/similar.h"

/* With each second the losses of earlier seconds count by a twentieth less. */
#define FADE 0.95
/* least number of earlier losses that show which member loses most */
#define MIN_EARLIER 3.0
/* a flow may be dead after this many probes without an answer */
#define DEAD_SENT 2
/* least number of members that remain if the members of two hosts are left out */
#define MIN_MEMBERS 4
#define MAX_HOSTS 2 /* largest number of hosts that are left out */

#define NO_HOST SIZE_MAX

struct inside_member {             /* probes of earlier seconds, faded */
	double lost;               /* inside the rack, from and to this member */
	double sent_out, lost_out; /* from this member to other racks */
};

struct inside_rows {
	struct inside_member members[WIRE_MAX_MEMBERS];
	double all_sent, all_lost; /* probes inside the rack, faded */
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

/* ---- what is left out ---- */

struct witnesses { /* of a second */
	const struct roster *roster;
	const bool *are;         /* by member */
	size_t hosts[MAX_HOSTS]; /* hosts that are left out; NO_HOST: none */
};

static size_t
host_of(const struct witnesses *witnesses, size_t member)
{
	return roster_member(witnesses->roster, member)->host_index;
}

static bool
is_witness(const struct witnesses *witnesses, size_t member)
{
	size_t host;

	if (member >= roster_members(witnesses->roster) || !witnesses->are[member])
		return false;
	host = host_of(witnesses, member);
	return host != witnesses->hosts[0] && host != witnesses->hosts[1];
}

/* Returns the host of the witness that lost most, or NO_HOST. *count: number of
 * witnesses. */
static size_t
most_lossy(
    const struct inside_rows *rows, const struct witnesses *witnesses, size_t *count)
{
	size_t most = NO_HOST;
	double lost = 0;

	*count = 0;
	for (size_t i = 0; i < roster_members(witnesses->roster); i++) {
		if (!is_witness(witnesses, i))
			continue;
		++*count;
		if (rows->members[i].lost <= lost)
			continue;
		lost = rows->members[i].lost;
		most = host_of(witnesses, i);
	}
	return most;
}

/* Probes of the witnesses of one host to other racks, faded. */
struct host_losses {
	size_t host;
	double sent, lost;
};

static double
share_out(const struct host_losses *of)
{
	return of->lost >= MIN_EARLIER ? of->lost / of->sent : 0;
}

/* True: there are witnesses on two hosts only, and both hosts lose a similar share of
 * their probes to other racks, and not much less of those inside the rack. */
static bool
are_two_alike(const struct inside_rows *rows, const struct witnesses *witnesses)
{
	struct host_losses hosts[2] = { 0 };
	size_t count = 0;
	double a, b;

	for (size_t i = 0; i < roster_members(witnesses->roster); i++) {
		size_t at = 0;

		if (!is_witness(witnesses, i))
			continue;
		while (at < count && hosts[at].host != host_of(witnesses, i))
			at++;
		if (at == 2)
			return false;
		if (at == count)
			hosts[count++].host = host_of(witnesses, i);
		hosts[at].sent += rows->members[i].sent_out;
		hosts[at].lost += rows->members[i].lost_out;
	}
	if (count != 2)
		return false;
	a = share_out(&hosts[0]);
	b = share_out(&hosts[1]);
	return similar_shares(a, b) &&
	       rows->all_lost >= SIMILAR_PART * fmin(a, b) * rows->all_sent;
}

static void
leave_out(const struct inside_rows *rows, struct witnesses *witnesses)
{
	size_t count;

	if (rows->all_lost <= 0 || are_two_alike(rows, witnesses))
		return;
	witnesses->hosts[0] = most_lossy(rows, witnesses, &count);
	witnesses->hosts[1] = most_lossy(rows, witnesses, &count);
	most_lossy(rows, witnesses, &count);
	if (count < MIN_MEMBERS)
		witnesses->hosts[1] = NO_HOST;
}

/* ---- rows ---- */

struct second_flows { /* the flows of a row in one second */
	uint32_t all, dead, partial, silent;
};

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

/* flows: by row */
static void
add_flow(
    struct inside_rows *rows, const struct flow_count *flow, struct second_flows *flows)
{
	struct wire_path_row *row = row_of(rows, flow->dscp);
	struct second_flows *of;

	if (row == NULL)
		return;
	row->sent += flow->sent;
	row->lost_unknown += flow->lost;
	row->timed += flow->timed;
	row->slow += flow->slow;
	row->slow_ns += flow->slow_ns;
	of = &flows[row - rows->rows];
	of->all++;
	of->dead += flow->sent >= DEAD_SENT && flow->lost == flow->sent;
	of->partial += flow->lost > 0 && flow->lost < flow->sent;
	of->silent += flow->lost > 0 && flow->lost == flow->sent;
}

/* Of several seconds, a row has the flows of the one in which most flows lost packets;
 * without losses, those of the one with most flows. */
static void
take_flows(struct wire_path_row *row, const struct second_flows *of)
{
	const uint32_t lossy = of->partial + of->silent;
	const uint32_t before = row->flows_partial + row->flows_silent;

	if (lossy < before || (lossy == before && of->all <= row->flows))
		return;
	row->flows = of->all;
	row->flows_dead = of->dead;
	row->flows_partial = of->partial;
	row->flows_silent = of->silent;
}

static void
fade(struct inside_rows *rows, size_t members)
{
	rows->all_sent *= FADE;
	rows->all_lost *= FADE;
	for (size_t i = 0; i < members; i++) {
		rows->members[i].lost *= FADE;
		rows->members[i].sent_out *= FADE;
		rows->members[i].lost_out *= FADE;
	}
}

/* Adds the second to what was lost in earlier seconds. No host must be left out. */
static void
note_losses(struct inside_rows *rows, const struct flow_second *second,
    const struct witnesses *witnesses)
{
	const size_t members = roster_members(witnesses->roster);

	fade(rows, members);
	for (size_t i = 0; i < second->inside.count; i++) {
		const struct flow_count *flow = &second->inside.flows[i];

		if (!is_witness(witnesses, flow->src) ||
		    !is_witness(witnesses, flow->dst))
			continue;
		rows->all_sent += flow->sent;
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

/* Adds the flows of the second to the rows, unless it has losses and earlier losses do
 * not show which member loses most. */
static void
add_second(struct inside_rows *rows, const struct flow_counts *flows,
    const struct witnesses *witnesses)
{
	struct second_flows counted[INSIDE_ROWS_CLASSES] = { 0 };
	size_t lost = 0;

	for (size_t i = 0; i < flows->count; i++)
		if (is_witness(witnesses, flows->flows[i].src) &&
		    is_witness(witnesses, flows->flows[i].dst))
			lost += flows->flows[i].lost;
	if (lost > 0 && rows->all_lost < MIN_EARLIER)
		return;
	for (size_t i = 0; i < flows->count; i++) {
		const struct flow_count *flow = &flows->flows[i];

		if (flow->sent > 0 && is_witness(witnesses, flow->src) &&
		    is_witness(witnesses, flow->dst))
			add_flow(rows, flow, counted);
	}
	for (size_t i = 0; i < rows->row_count; i++)
		take_flows(&rows->rows[i], &counted[i]);
}

void
inside_rows_add(struct inside_rows *rows, const struct flow_second *second,
    const bool *witnesses, const struct roster *roster)
{
	const struct witnesses all = { roster, witnesses, { NO_HOST, NO_HOST } };
	struct witnesses some = all;

	if (rows->taken)
		rows->row_count = 0;
	rows->taken = false;
	leave_out(rows, &some);
	add_second(rows, &second->inside, &some);
	note_losses(rows, second, &all);
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
