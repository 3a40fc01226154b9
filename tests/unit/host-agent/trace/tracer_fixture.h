/*
 * tracer_fixture - a tracer in a fake fabric of two ToRs and a spine.
 *
 * Include it after cmocka.h. Every failure fails the test.
 */
#ifndef UNIT_TRACER_FIXTURE_H
#define UNIT_TRACER_FIXTURE_H

#include "host-agent/trace/tracer.h"

#define S RM_NS_PER_S

#define SPINE_SILENT 255 /* only the spine does not answer */

struct fixture {
	struct tracer *tracer;
	rm_mono_t now;
	unsigned jobs, packets;
	uint8_t spine; /* current address of the path's second hop, or SPINE_SILENT */
	bool silent;   /* no hop answers */
	uint64_t to;
	struct port *port;
};

static const struct wire_address own[2] = { { 4, { 10, 1, 0, 1 }, 0 }, { 0 } };
static const uint16_t ports[] = { 50001, 50002, 50003 };
static const uint8_t dscps[] = { 26, 0 };
static const uint16_t sizes[] = { 256 };

static inline int
setup(void **state)
{
	static struct fixture fixture;
	struct tracer_options options = { 30 * S, 200, 1 };
	struct fixture *f = &fixture;

	*f = (struct fixture){ .now = { 1000 * S }, .spine = 1, .to = 1 };
	*state = f;
	return tracer_new(&options, &f->tracer);
}

static inline int
teardown(void **state)
{
	struct fixture *f = *state;

	tracer_free(f->tracer);
	return 0;
}

static inline struct wire_target
target(uint64_t dst, enum wire_probe_kind kind)
{
	return (struct wire_target){ .src = { 1, 1 },
		.dst = { dst, 1 },
		.kind = kind,
		.address = { 4, { 10, 2, (uint8_t)(dst >> 8), (uint8_t)dst }, 862 },
		.flows = ports,
		.flow_count = 3,
		.dscps = dscps,
		.dscp_count = 2,
		.sizes = sizes,
		.size_count = 1,
		.interval_us = 100000 };
}

static inline void
set(struct fixture *f, const struct wire_target *targets, size_t count)
{
	assert_int_equal(
	    tracer_set(f->tracer, 0, targets, count, own, f->port, f->to, f->now), 0);
}

/* The fabric: ToR 7.0.0.1, a spine, ToR 7.0.0.3. */
static inline void
answer(struct fixture *f, const struct tracer_job *job)
{
	for (unsigned ttl = 1; ttl <= job->ttl_count && ttl <= 3 && !f->silent; ttl++) {
		struct trace_answer found = { .flow = job->flow,
			.token = job->tokens[ttl - 1],
			.from = { 4, { 7, 0, ttl == 2 ? f->spine : 0, (uint8_t)ttl },
			    0 },
			.expired = true };

		if (ttl == 2 && f->spine == SPINE_SILENT)
			continue;
		tracer_answer(f->tracer, &found, f->now);
	}
}

/* Runs the tracer's timer for ns, as the agent does. */
static inline void
run(struct fixture *f, int64_t ns)
{
	rm_mono_t end = rm_mono_add(f->now, ns);

	for (;;) {
		struct tracer_job job;
		rm_mono_t due;

		while (tracer_next(f->tracer, f->now, &job)) {
			f->jobs++;
			f->packets += job.ttl_count;
			answer(f, &job);
		}
		due = tracer_due(f->tracer, f->now);
		assert_true(due.ns > f->now.ns); /* otherwise the loop would spin */
		if (due.ns >= end.ns)
			break;
		f->now = due;
	}
	f->now = end;
}

static inline void
lengths(struct fixture *f, uint64_t dst, uint8_t routers)
{
	for (size_t i = 0; i < 3; i++)
		tracer_length(f->tracer, 0, (struct wire_rnic_id){ dst, 1 }, ports[i],
		    routers, f->now);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif
