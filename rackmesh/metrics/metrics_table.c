#include "rackmesh/metrics/metrics_table.h"

#include <stdint.h>
#include <stdio.h>

#include "rackmesh/metrics/metrics.h"

int
metrics_table_add(struct rm_metrics *metrics, const struct metrics_counter *table,
    const void *base, const char *more)
{
	char labels[METRICS_LABEL_BYTES];
	int r = 0;

	for (const struct metrics_counter *c = table; r == 0 && c->name != NULL; c++) {
		snprintf(labels, sizeof(labels), "%s%s%s", more,
		    more[0] != 0 && c->label[0] != 0 ? "," : "", c->label);
		r = rm_metrics_counter(metrics, table, c->name, labels, c->help,
		    (const uint64_t *)(const void *)((const char *)base + c->offset));
	}
	return r;
}
