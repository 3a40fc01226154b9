/*
 * etcd_fixture - a loop, an etcd client and a fake etcd for one unit test.
 */
#ifndef TESTS_SUPPORT_ETCD_FIXTURE_H
#define TESTS_SUPPORT_ETCD_FIXTURE_H

#include <errno.h>
#include <event2/event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/etcd/etcd.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/loop/loop.h"
#include "tests/support/fake_etcd.h"

/* The whole time passes only if a test fails. */
#define ETCD_DEADLINE_NS (60 * RM_NS_PER_S)

struct etcd_fixture {
	struct rm_loop *loop;
	struct rm_timer *tick; /* ends a wait at its deadline */
	struct rm_http_client *http;
	struct rm_etcd *etcd;
	struct fake_etcd fake;
};

static inline void
etcd_fixture_on_tick(void *arg)
{
	struct etcd_fixture *f = arg;

	rm_timer_after(f->tick, 5 * RM_NS_PER_MS);
}

static inline void
etcd_fixture_open(struct etcd_fixture *f, const struct rm_etcd_options *options)
{
	struct rm_etcd_options own = { .timeout_ns = RM_NS_PER_S };
	const char *endpoints[2];

	assert_int_equal(rm_loop_new(&f->loop), 0);
	assert_int_equal(rm_timer_new(f->loop, etcd_fixture_on_tick, f, &f->tick), 0);
	etcd_fixture_on_tick(f);
	assert_int_equal(rm_http_client_new(f->loop, &f->http), 0);
	assert_int_equal(fake_etcd_new(rm_loop_base(f->loop), &f->fake), 0);
	if (options != NULL)
		own = *options;
	endpoints[0] = f->fake.url;
	if (own.endpoint_count == 0) {
		own.endpoints = endpoints;
		own.endpoint_count = 1;
	}
	assert_int_equal(rm_etcd_new(f->loop, f->http, &own, &f->etcd), 0);
}

static inline void
etcd_fixture_close(struct etcd_fixture *f)
{
	rm_etcd_free(f->etcd);
	rm_http_client_free(f->http);
	fake_etcd_clear(&f->fake);
	rm_timer_free(f->tick);
	rm_loop_free(f->loop);
}

/* Runs the loop until the condition holds; fails the test after the deadline. */
#define ETCD_UNTIL(f, condition)                                                     \
	do {                                                                         \
		rm_mono_t end_ = rm_mono_add(rm_mono_now(), ETCD_DEADLINE_NS);       \
		while (!(condition)) {                                               \
			assert_true(rm_mono_since(end_, rm_mono_now()) > 0);         \
			assert_true(event_base_loop(                                 \
					rm_loop_base((f)->loop), EVLOOP_ONCE) >= 0); \
		}                                                                    \
	} while (0)

#endif
