#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ctl/accept/acceptance_state.h"
#include "ctl/output/table.h"
#include "rackmesh/metrics/sketch.h"

static double
quantile_us(const struct accept_rnic *rnic, double q)
{
	return rnic->rtt == NULL ? 0
				 : (double)rm_sketch_quantile_ns(rnic->rtt, q) / 1000;
}

static void
print_row(struct table *table, const struct accept_rnic *rnic)
{
	table_cell(table, rnic->name);
	table_cell(table, rnic->transport);
	table_cellf(table, "%" PRIu64, rnic->out.answered + rnic->out.lost);
	table_cellf(table, "%" PRIu64, rnic->out.lost);
	table_cellf(table, "%" PRIu64, rnic->in.answered + rnic->in.lost);
	table_cellf(table, "%" PRIu64, rnic->in.lost);
	if (rnic->rtt == NULL) {
		table_cell(table, NULL);
		table_cell(table, NULL);
	} else {
		table_cellf(table, "%.1f", quantile_us(rnic, 0.5));
		table_cellf(table, "%.1f", quantile_us(rnic, 0.99));
	}
	table_cell(table, rnic->verdict);
}

int
acceptance_print(const struct acceptance *acceptance)
{
	static const char *const heads[] = { "RNIC", "TRANSPORT", ">SENT", ">LOST",
		">RECEIVED", ">LOST", ">RTT P50 us", ">P99 us", "VERDICT", NULL };
	struct table *table = table_new(heads);
	int r;

	if (table == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < acceptance->rnic_count; i++)
		print_row(table, &acceptance->rnics[i]);
	r = table_print(table);
	table_free(table);
	return r;
}

json_t *
acceptance_json(const struct acceptance *acceptance)
{
	json_t *list = json_array();

	for (size_t i = 0; i < acceptance->rnic_count; i++) {
		const struct accept_rnic *rnic = &acceptance->rnics[i];

		json_array_append_new(list,
		    json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:s}",
			"rnic", rnic->name, "transport", rnic->transport, "sent",
			(json_int_t)(rnic->out.answered + rnic->out.lost), "sent_lost",
			(json_int_t)rnic->out.lost, "received",
			(json_int_t)(rnic->in.answered + rnic->in.lost),
			"received_lost", (json_int_t)rnic->in.lost, "not_sent",
			(json_int_t)rnic->unsent, "rtt_p50_us", quantile_us(rnic, 0.5),
			"rtt_p99_us", quantile_us(rnic, 0.99), "verdict",
			rnic->verdict == NULL ? "" : rnic->verdict));
	}
	return list;
}
