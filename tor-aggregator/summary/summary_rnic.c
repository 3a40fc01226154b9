#include "tor-aggregator/summary/summary_rnic.h"

#include <stdlib.h>
#include <string.h>

#include "rackmesh/metrics/sketch.h"
#include "tor-aggregator/window/roster.h"

bool
summary_terms_init(struct summary_terms *terms)
{
	terms->rtt = rm_sketch_new();
	terms->prober_delay = rm_sketch_new();
	terms->responder_delay = rm_sketch_new();
	return terms->rtt != NULL && terms->prober_delay != NULL &&
	       terms->responder_delay != NULL;
}

void
summary_terms_clear(struct summary_terms *terms)
{
	rm_sketch_free(terms->rtt);
	rm_sketch_free(terms->prober_delay);
	rm_sketch_free(terms->responder_delay);
	*terms = (struct summary_terms){ 0 };
}

void
summary_terms_add(struct summary_terms *terms, const struct wire_result *result)
{
	if (result->outcome != WIRE_OK || !(result->flags & WIRE_SPLIT))
		return;
	rm_sketch_add(terms->rtt, result->rtt_ns);
	rm_sketch_add(terms->prober_delay, result->prober_delay_ns);
	rm_sketch_add(terms->responder_delay, result->responder_delay_ns);
}

void
summary_terms_reset(struct summary_terms *terms)
{
	rm_sketch_reset(terms->rtt);
	rm_sketch_reset(terms->prober_delay);
	rm_sketch_reset(terms->responder_delay);
}

struct summary_rnic *
summary_rnic_new(void)
{
	struct summary_rnic *rnic = calloc(1, sizeof(*rnic));

	if (rnic != NULL && !summary_terms_init(&rnic->terms)) {
		summary_rnic_free(rnic);
		rnic = NULL;
	}
	return rnic;
}

void
summary_rnic_free(struct summary_rnic *rnic)
{
	if (rnic == NULL)
		return;
	summary_terms_clear(&rnic->terms);
	free(rnic);
}

void
summary_rnic_add(struct summary_rnic *rnic, const struct wire_result *result)
{
	rnic->sent++;
	rnic->outcomes[result->outcome]++;
	summary_terms_add(&rnic->terms, result);
}

static void
quantiles(const struct rm_sketch *sketch, uint32_t out[WIRE_QUANTILES])
{
	static const double ranks[WIRE_MAX] = {
		[WIRE_P50] = 0.50,
		[WIRE_P95] = 0.95,
		[WIRE_P99] = 0.99,
	};
	uint64_t max_ns = rm_sketch_max_ns(sketch);

	for (int q = 0; q < WIRE_MAX; q++) {
		uint64_t value_ns = rm_sketch_quantile_ns(sketch, ranks[q]);

		out[q] = value_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)value_ns;
	}
	out[WIRE_MAX] = max_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)max_ns;
}

void
summary_rnic_take(struct summary_rnic *rnic, const struct roster_rnic *who)
{
	struct wire_rnic_row *row = &rnic->last;

	*row = (struct wire_rnic_row){
		.id = who->id,
		.host = who->host,
		.device = who->device,
		.bad = rnic->bad,
		.sent = rnic->sent,
	};
	memcpy(row->outcomes, rnic->outcomes, sizeof(row->outcomes));
	quantiles(rnic->terms.rtt, row->rtt_ns);
	quantiles(rnic->terms.prober_delay, row->prober_delay_ns);
	quantiles(rnic->terms.responder_delay, row->responder_delay_ns);
	rnic->has_last = true;
	rnic->due = false;
	rnic->sent = 0;
	memset(rnic->outcomes, 0, sizeof(rnic->outcomes));
	summary_terms_reset(&rnic->terms);
}
