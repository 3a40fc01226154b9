#include "tor-aggregator/paths/path_rows_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/part.h"
#include "schemas/wire.h"
#include "tor-aggregator/paths/flow_counts.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/window/roster.h"

#define SAMPLES 8
#define SAMPLE_BYTES (4 * RM_NAME_BYTES + 16) /* "h1/r0>h9/r0:49153 " */
#define SAMPLED_ROWS 256 /* of one message: the rest goes without samples */
#define DEAD_SENT 2      /* of which nothing came back */

struct path_build {
	size_t max_rows;
	/* By (path, ToR, class): as a flow from 0 to the path, of the port "ToR". */
	struct flow_counts keys;
	struct wire_path_row *rows; /* by index of its key */
	struct row_samples {
		unsigned named; /* flows */
		char *text;     /* NULL: none yet */
	} * row_samples;
	char (*texts)[SAMPLES * SAMPLE_BYTES];
	size_t text_count;
};

int
path_build_new(size_t max_rows, struct path_build **ret)
{
	struct path_build *build = calloc(1, sizeof(*build));

	if (build == NULL)
		return -ENOMEM;
	build->max_rows = max_rows;
	flow_counts_init(&build->keys, max_rows);
	build->rows = calloc(max_rows, sizeof(*build->rows));
	build->row_samples = calloc(max_rows, sizeof(*build->row_samples));
	build->texts = calloc(SAMPLED_ROWS, sizeof(*build->texts));
	if (build->rows == NULL || build->row_samples == NULL || build->texts == NULL) {
		path_build_free(build);
		return -ENOMEM;
	}
	*ret = build;
	return 0;
}

void
path_build_free(struct path_build *build)
{
	if (build == NULL)
		return;
	flow_counts_release(&build->keys);
	free(build->rows);
	free(build->row_samples);
	free(build->texts);
	free(build);
}

/* NULL: too many rows, or out of memory. */
static struct wire_path_row *
row_of(struct path_build *build, const struct flow_count *flow,
    const struct roster *roster, const struct path_table *paths)
{
	const size_t before = build->keys.count;
	const struct flow_count *key =
	    flow_counts_get(&build->keys, 0, flow->path, flow->dst_tor, flow->dscp);
	size_t at;

	if (key == NULL)
		return NULL;
	at = (size_t)(key - build->keys.flows);
	if (at < before)
		return &build->rows[at];
	build->row_samples[at] = (struct row_samples){ 0 };
	build->rows[at] = (struct wire_path_row){
		.dst_tor = roster_tor_name(roster, flow->dst_tor),
		.path = path_table_text(paths, flow->path),
		.dscp = flow->dscp,
		.samples = "",
	};
	return &build->rows[at];
}

static void
sample(struct path_build *build, struct wire_path_row *row,
    const struct flow_count *flow, const struct roster *roster)
{
	const struct roster_rnic *src = roster_at(roster, flow->src);
	const struct roster_rnic *dst = roster_at(roster, flow->dst);
	struct row_samples *samples = &build->row_samples[row - build->rows];
	size_t len;

	if (samples->named == SAMPLES || src == NULL || dst == NULL)
		return;
	if (samples->text == NULL) {
		if (build->text_count == SAMPLED_ROWS)
			return;
		samples->text = build->texts[build->text_count++];
		samples->text[0] = 0;
		row->samples = samples->text;
	}
	len = strlen(samples->text);
	snprintf(samples->text + len, sizeof(build->texts[0]) - len, "%s%s/%s>%s/%s:%u",
	    len > 0 ? " " : "", src->host, src->device, dst->host, dst->device,
	    flow->src_port);
	samples->named++;
}

size_t
path_build_rows(struct path_build *build, const struct flow_counts *flows,
    const struct roster *roster, const struct path_table *paths,
    const struct wire_path_row **rows, uint64_t *refused)
{
	flow_counts_clear(&build->keys);
	build->text_count = 0;
	for (size_t i = 0; i < flows->count; i++) {
		const struct flow_count *flow = &flows->flows[i];
		struct wire_path_row *row = row_of(build, flow, roster, paths);

		if (row == NULL) {
			(*refused)++;
			continue;
		}
		row->sent += flow->sent;
		row->lost_forward += flow->ways[LOST_FORWARD];
		row->lost_reverse += flow->ways[LOST_REVERSE];
		row->lost_unknown += flow->ways[LOST_UNKNOWN];
		row->flows++;
		row->flows_dead += flow->sent >= DEAD_SENT && flow->lost == flow->sent;
		row->flows_partial += flow->lost > 0 && flow->lost < flow->sent;
		row->flows_silent += flow->lost > 0 && flow->lost == flow->sent;
		if (flow->lost > 0)
			sample(build, row, flow, roster);
	}
	*rows = build->rows;
	return build->keys.count;
}
