/* scheme_fixture - a fabric of three racks with two RNICs each and two spines, and
 * flows over a chosen spine. */
#ifndef TESTS_UNIT_SIM_SCHEME_FIXTURE_H
#define TESTS_UNIT_SIM_SCHEME_FIXTURE_H

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/scheme.h"

#define S INT64_C(1000000000)
#define MAX_FLOWS 64

struct fixture {
	struct clos *clos;
	struct scheme *scheme;
	struct seen_flow flows[MAX_FLOWS];
	size_t count;
	double values[SCHEME_PARAMETERS];
};

static inline int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	*state = f;
	return f == NULL
		   ? -1
		   : clos_new(
			 &(struct clos_options){
			     .tiers = 2, .racks = 3, .middle = 2, .rnics_per_rack = 2 },
			 &f->clos);
}

static inline int
teardown(void **state)
{
	struct fixture *f = *state;

	if (f->scheme != NULL)
		f->scheme->type->free(f->scheme);
	clos_free(f->clos);
	free(f);
	return 0;
}

/* Sets the scheme's parameters, the window first. Call it before begin(), which reads
 * them. */
static inline void
use(struct fixture *f, const double values[SCHEME_PARAMETERS])
{
	memcpy(f->values, values, sizeof f->values);
}

static inline void
begin(struct fixture *f, const struct scheme_type *type)
{
	assert_int_equal(type->new (f->clos, f->values, &f->scheme), 0);
}

static inline uint8_t
path(const struct fixture *f, uint32_t src, uint32_t dst, const char *spine,
    uint32_t links[CLOS_MAX_HOPS])
{
	for (uint64_t hash = 0; hash < 1000; hash++) {
		const uint32_t n = clos_route(f->clos, src, dst, hash, links);

		if (n == 2 ||
		    clos_part(f->clos, links[1])->to == clos_find(f->clos, spine))
			return (uint8_t)n;
	}
	fail_msg("no way by %s", spine);
	return 0;
}

/* A flow whose probes and replies take the same spine; `lost` of its probes are lost
 * before they arrive. */
static inline struct seen_flow *
flow(struct fixture *f, const char *src, const char *dst, const char *spine,
    uint32_t sent, uint32_t lost)
{
	struct seen_flow *flow = &f->flows[f->count++];

	assert_in_range(f->count, 1, MAX_FLOWS);
	*flow = (struct seen_flow){ .src = clos_find(f->clos, src),
		.dst = clos_find(f->clos, dst),
		.port = (uint16_t)f->count,
		.traced = true,
		.sent = sent,
		.forward = lost };
	flow->out_count = path(f, flow->src, flow->dst, spine, flow->out);
	flow->back_count = path(f, flow->dst, flow->src, spine, flow->back);
	return flow;
}

/* Reports the flows added so far as the results up to end_ns. Returns the number of
 * named parts. */
static inline int
report(struct fixture *f, int64_t end_ns, const struct scheme_named **ret)
{
	const struct seen seen = { end_ns, f->flows, f->count };
	int r;

	assert_int_equal(f->scheme->type->report(f->scheme, &seen), 0);
	f->count = 0;
	r = f->scheme->type->judge(f->scheme, ret);
	assert_true(r >= 0);
	return r;
}

/* Reports a window of 20 s: exactly these parts must be named. */
static inline void
check_named(struct fixture *f, size_t count, ...)
{
	const struct scheme_named *named;
	const int n = report(f, 20 * S, &named);
	va_list names;

	va_start(names, count);
	assert_int_equal(n, count);
	for (size_t i = 0; i < count; i++) {
		const uint32_t part = clos_find(f->clos, va_arg(names, const char *));
		bool found = false;

		assert_int_not_equal(part, CLOS_NONE);
		for (int k = 0; k < n; k++)
			found |= named[k].part == part;
		assert_true(found);
	}
	va_end(names);
}

#endif
