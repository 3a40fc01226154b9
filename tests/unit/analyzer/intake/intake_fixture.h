/*
 * intake_fixture - an intake over loopback: the test plays the aggregator, and the
 * modules that the intake calls.
 *
 * Include it after cmocka.h. Every failure fails the test.
 */
#ifndef TESTS_UNIT_ANALYZER_INTAKE_FIXTURE_H
#define TESTS_UNIT_ANALYZER_INTAKE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/intake/intake.h"
#include "rackmesh/core/log.h"
#include "rackmesh/net/link.h"
#include "rackmesh/net/listener.h"
#include "tests/support/loopback.h"

struct aggregator { /* a simulated aggregator */
	struct rm_link *link;
	struct wire_writer *writer;
	const char *name, *region;
	uint16_t newer; /* versions ahead of the intake's */
	uint16_t summary_interval_s;
	bool welcome, closed;
	char refused[256];
	uint64_t acked[WIRE_LANE_INCIDENT + 1]; /* last acknowledged number, by lane */
	uint64_t acked_incarnation;
	unsigned acks, pings, drills;
	uint64_t drill_token;
	uint64_t incarnation; /* of its lanes */
	uint64_t life;        /* of the process */
	uint64_t summary_ends_ns;
};

struct fixture {
	struct rm_loop *loop;
	struct intake *intake;
	struct rm_listener *listener;
	struct aggregator agg;
	/* The modules that the intake calls. */
	uint64_t tickets;
	int take_status, incident_reports;
	const char *hello_reports;
	unsigned hellos, gone, left, seen, summaries, repeats, incidents, drilled;
	uint64_t drilled_token;
};

static inline void
quiet(enum rm_log_level level, const char *line, void *arg)
{
}

/* ---- the modules that the intake calls ---- */

static const char *
on_hello(const struct intake_info *session, void *arg)
{
	struct fixture *f = arg;

	f->hellos++;
	return f->hello_reports;
}

static inline void
on_gone(const struct intake_info *session, void *arg)
{
	struct fixture *f = arg;

	f->gone++;
}

static inline void
on_left(const struct intake_info *session, void *arg)
{
	struct fixture *f = arg;

	f->left++;
}

static inline void
on_seen(const struct intake_info *session, void *arg)
{
	struct fixture *f = arg;

	f->seen++;
}

static inline int
take(struct fixture *f, uint64_t *ticket)
{
	if (f->take_status < 0)
		return f->take_status;
	*ticket = ++f->tickets;
	return 0;
}

static inline int
take_summary(const struct wire_summary_view *view, uint64_t *ticket, void *arg)
{
	return take(arg, ticket);
}

static inline int
take_incident(const struct wire_incident *incident, uint64_t *ticket, void *arg)
{
	return take(arg, ticket);
}

static inline void
on_summary(const struct wire_summary_view *view, bool repeated, void *arg)
{
	struct fixture *f = arg;

	f->summaries++;
	f->repeats += repeated;
}

static inline int
on_incident(const struct wire_incident *incident, void *arg)
{
	struct fixture *f = arg;

	f->incidents += f->incident_reports == 0;
	return f->incident_reports;
}

static inline void
on_drilled(const struct intake_info *session, const struct wire_drill_answer *answer,
    void *arg)
{
	struct fixture *f = arg;

	f->drilled++;
	f->drilled_token = answer->token;
}

static inline void
start(struct fixture *f)
{
	const struct intake_options options = { "an1", 77, 2, 600 * RM_NS_PER_MS };
	const struct intake_callbacks callbacks = {
		.on_hello = on_hello,
		.on_gone = on_gone,
		.on_left = on_left,
		.on_seen = on_seen,
		.take_summary = take_summary,
		.take_incident = take_incident,
		.on_summary = on_summary,
		.on_incident = on_incident,
		.on_drilled = on_drilled,
		.arg = f,
	};
	struct rm_address address = loopback_address(0);

	f->tickets = 0;
	assert_int_equal(intake_new(f->loop, &options, &callbacks, &f->intake), 0);
	assert_int_equal(
	    rm_listener_new(f->loop, &address, intake_accept, f->intake, &f->listener),
	    0);
}

static inline void
stop(struct fixture *f)
{
	rm_listener_free(f->listener);
	intake_free(f->intake);
	f->listener = NULL;
	f->intake = NULL;
}

static inline int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	rm_log_set_sink(quiet, NULL);
	assert_int_equal(rm_loop_new(&f->loop), 0);
	f->agg = (struct aggregator){
		.name = "agg1", .region = "lab", .incarnation = 5, .life = 3
	};
	f->agg.writer = wire_writer_new();
	start(f);
	*state = f;
	return 0;
}

static inline int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_link_free(f->agg.link);
	wire_writer_free(f->agg.writer);
	stop(f);
	rm_loop_free(f->loop);
	free(f);
	rm_log_set_sink(NULL, NULL);
	return 0;
}

/* ---- the aggregator ---- */

static inline int
agg_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct aggregator *agg = arg;
	struct wire_welcome welcome;
	struct wire_drill drill;
	struct wire_ack ack;

	switch (wire_kind_of(data, len)) {
	case WIRE_WELCOME:
		assert_int_equal(wire_open_welcome(&welcome, data, len), 0);
		snprintf(agg->refused, sizeof(agg->refused), "%s", welcome.refused);
		agg->welcome = welcome.refused[0] == '\0';
		break;
	case WIRE_ACK:
		assert_int_equal(wire_open_ack(&ack, data, len), 0);
		assert_true(ack.seq >= agg->acked[ack.lane]);
		agg->acked[ack.lane] = ack.seq;
		agg->acked_incarnation = ack.incarnation;
		agg->acks++;
		break;
	case WIRE_PING:
		agg->pings++;
		break;
	case WIRE_DRILL:
		assert_int_equal(wire_open_drill(&drill, data, len), 0);
		agg->drill_token = drill.token;
		agg->drills++;
		break;
	default:
		fail_msg("a message that an aggregator does not know");
	}
	return 0;
}

static inline void
agg_on_close(struct rm_link *link, int reason, void *arg)
{
	struct aggregator *agg = arg;

	rm_link_free(link);
	agg->link = NULL;
	agg->closed = true;
}

static inline void
connect_to(struct fixture *f, struct aggregator *agg)
{
	static const struct rm_link_callbacks callbacks = { agg_on_frame, agg_on_close,
		NULL };
	static const struct rm_link_limits limits = { 16 << 20, 64 << 20 };

	rm_link_free(agg->link);
	agg->welcome = agg->closed = false;
	memset(agg->acked, 0, sizeof(agg->acked));
	assert_int_equal(
	    rm_link_new(f->loop, loopback_connect(rm_listener_port(f->listener)),
		&limits, &callbacks, agg, &agg->link),
	    0);
}

static inline void
send_bytes(struct aggregator *agg, int r, const struct wire_bytes *bytes)
{
	assert_int_equal(r, 0);
	assert_int_equal(rm_link_send(agg->link, bytes->data, bytes->len), 0);
}

static inline void
hello(struct fixture *f, struct aggregator *agg)
{
	const struct wire_tor_state tors[] = { { .tor = "tor1" }, { .tor = "tor2" } };
	const struct wire_hello message = { .role = WIRE_ROLE_AGGREGATOR,
		.version_min = (uint16_t)(WIRE_VERSION + agg->newer),
		.version_max = (uint16_t)(WIRE_VERSION + agg->newer),
		.region = agg->region,
		.id = agg->name,
		.incarnation = agg->life,
		.tors = tors,
		.tor_count = 2,
		.summary_interval_s = agg->summary_interval_s };
	struct wire_bytes bytes;

	connect_to(f, agg);
	agg->refused[0] = '\0';
	send_bytes(agg, wire_write_hello(agg->writer, &message, &bytes), &bytes);
	LOOPBACK_WAIT(f->loop, agg->welcome || agg->refused[0] != '\0');
}

static inline struct wire_lane_head
head_of(const struct aggregator *agg, uint64_t seq)
{
	return (struct wire_lane_head){ agg->name, agg->region, agg->incarnation, seq };
}

static inline void
send_summary_of(struct aggregator *agg, uint64_t seq, const char *tor)
{
	const struct wire_summary summary = { .head = head_of(agg, seq),
		.tor = tor,
		.end_wall_ns = agg->summary_ends_ns };
	struct wire_bytes bytes;

	send_bytes(agg, wire_write_summary(agg->writer, &summary, &bytes), &bytes);
}

static inline void
send_summary(struct aggregator *agg, uint64_t seq)
{
	send_summary_of(agg, seq, "tor1");
}

static inline void
send_incident(struct aggregator *agg, uint64_t seq)
{
	const struct wire_incident incident = { .head = head_of(agg, seq),
		.incident_id = seq,
		.state = WIRE_OPENED,
		.tor = "tor1",
		.part_type = "rnic",
		.part = "h1/r0",
		.kind = "rnic-down" };
	struct wire_bytes bytes;

	send_bytes(agg, wire_write_incident(agg->writer, &incident, &bytes), &bytes);
}

static inline void
send_ping(struct aggregator *agg)
{
	struct wire_bytes bytes;

	send_bytes(agg, wire_write_ping(agg->writer, 1, &bytes), &bytes);
}

/* Returns when the intake has handled all messages sent so far. */
static inline void
settle(struct fixture *f)
{
	unsigned seen = f->seen;

	send_ping(&f->agg);
	LOOPBACK_WAIT(f->loop, f->seen > seen);
	loopback_run(f->loop, 20 * RM_NS_PER_MS);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif
