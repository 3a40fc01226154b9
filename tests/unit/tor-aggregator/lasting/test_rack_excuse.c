#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tor-aggregator/lasting/rack_excuse.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/window/rack_view.h"

/* One member with a peer and a remote RNIC; of each half-second, the probes inside the
 * rack and those out of it. */
struct fixture {
	struct rack rack;
	struct rack_tally tally;
	struct rack_course course;
	struct rack_excuse_facts facts;
};

#define SENT 50 /* probes of half a second, inside and outside each */

static struct rack_pair
pair_of(bool remote, uint32_t older_lost, uint32_t newer_lost)
{
	return (struct rack_pair){
		.remote = remote,
		.sent = 2 * SENT,
		.answered = 2 * SENT - older_lost - newer_lost,
		.newest_sent = SENT,
		.newest_lost = newer_lost,
	};
}

static void
add_half_counts(struct rack_tally *tally, uint32_t inside_lost, uint32_t outside_lost)
{
	tally->sent += 2 * SENT;
	tally->lost += inside_lost + outside_lost;
	tally->inside_sent += SENT;
	tally->inside_answered += SENT - inside_lost;
	tally->outside_sent += SENT;
	tally->outside_answered += SENT - outside_lost;
}

/* The losses of each half-second, oldest first. */
static void
set_losses(struct fixture *f, const uint32_t inside[RACK_COURSE_HALVES],
    const uint32_t outside[RACK_COURSE_HALVES])
{
	*f = (struct fixture){
		.facts = { .rack = &f->rack, .tally = &f->tally, .course = &f->course }
	};
	for (size_t i = 0; i < RACK_COURSE_HALVES; i += 2) {
		const struct rack_pair in = pair_of(false, inside[i], inside[i + 1]);
		const struct rack_pair out = pair_of(true, outside[i], outside[i + 1]);

		rack_course_begin_second(&f->course);
		rack_course_add(&f->course, &in);
		rack_course_add(&f->course, &out);
		add_half_counts(&f->tally, inside[i], outside[i]);
		add_half_counts(&f->tally, inside[i + 1], outside[i + 1]);
	}
}

static const uint32_t none[RACK_COURSE_HALVES];
static const uint32_t steady[RACK_COURSE_HALVES] = { 1, 2, 1, 1, 2, 1, 1, 2, 1, 1 };
static const uint32_t heavy[RACK_COURSE_HALVES] = { 9, 8, 9, 7, 9, 8, 9, 7, 9, 8 };

static void
steady_losses_inside_and_outside_have_no_excuse(void **state)
{
	struct fixture f;

	(void)state;
	set_losses(&f, steady, steady);
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_NONE);
}

static void
losses_that_are_all_outside_excuse_a_named_rnic_too(void **state)
{
	struct fixture f;

	(void)state;
	set_losses(&f, none, heavy);
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_OUTSIDE);
	f.facts.named = true;
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_OUTSIDE);
}

static void
an_outage_of_the_only_peer_excuses_only_a_new_verdict(void **state)
{
	struct fixture f;

	(void)state;
	set_losses(&f, heavy, heavy);
	f.tally.inside_sent = f.tally.inside_answered = 0;
	f.facts.peer_outage = true;
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_NO_WITNESS);
	f.facts.named = true;
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_NONE);
}

/* Both RNICs of a rack of two are lossy: neither is a witness for the other one. */
static void
a_peer_that_is_lossy_excuses_no_losses(void **state)
{
	struct fixture f;

	(void)state;
	set_losses(&f, steady, steady);
	f.tally.inside_sent = f.tally.inside_answered = 0;
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_NONE);
}

static void
only_a_half_second_with_nearly_all_probes_lost_is_an_outage(void **state)
{
	static const uint32_t all[RACK_COURSE_HALVES] = { 0, 0, 0, SENT };
	struct fixture f;

	(void)state;
	set_losses(&f, heavy, heavy);
	assert_false(rack_course_has_outage(&f.course));
	set_losses(&f, all, none);
	assert_false(rack_course_has_outage(&f.course));
	set_losses(&f, all, all);
	assert_true(rack_course_has_outage(&f.course));
}

/* The only peer is stalled, and sent nothing. */
static void
a_silent_stalled_peer_excuses_only_a_new_verdict(void **state)
{
	struct fixture f;

	(void)state;
	set_losses(&f, heavy, heavy);
	f.tally.inside_sent = f.tally.inside_answered = 0;
	f.tally.any_stall = true;
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_NO_WITNESS);
	f.facts.named = true;
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_NONE);
}

/* The only peer is stalled, and none of the probes that it sent is lost. */
static void
a_stalled_peer_that_loses_nothing_excuses_a_named_rnic_too(void **state)
{
	struct fixture f;

	(void)state;
	set_losses(&f, heavy, heavy);
	f.tally.inside_sent = f.tally.inside_answered = 0;
	f.tally.any_stall = true;
	f.tally.stalled_sent = 20;
	f.facts.named = true;
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_OUTSIDE);
}

static void
stutters_excuse_few_losses_but_not_many(void **state)
{
	struct fixture f;

	(void)state;
	set_losses(&f, steady, steady);
	f.facts.stutters = true;
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_STUTTER);
	set_losses(&f, heavy, heavy);
	f.facts.stutters = true;
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_NONE);
}

static void
an_outage_excuses_the_losses(void **state)
{
	static const uint32_t at_once[RACK_COURSE_HALVES] = { 0, 0, 0, 20, 20, 0, 0, 0,
		0, 0 };
	static const uint32_t all[RACK_COURSE_HALVES] = { 5, 5, 5, 5, SENT, 5, 5, 5, 5,
		5 };
	struct fixture f;

	(void)state;
	set_losses(&f, at_once, at_once);
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_OUTAGE);
	set_losses(&f, all, all);
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_OUTAGE);
}

static void
heavy_losses_of_the_newest_half_seconds_have_no_excuse(void **state)
{
	static const uint32_t newest[RACK_COURSE_HALVES] = { 0, 0, 0, 0, 0, 9, 9, 9, 9,
		9 };
	struct fixture f;

	(void)state;
	set_losses(&f, newest, newest);
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_NONE);
}

static void
losses_that_begin_outside_excuse_later_ones_inside(void **state)
{
	static const uint32_t later[RACK_COURSE_HALVES] = { 0, 0, 0, 9, 8, 9, 8, 9, 8,
		9 };
	struct fixture f;

	(void)state;
	set_losses(&f, later, heavy);
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_BEGAN_OUTSIDE);
}

static bool
all_are_flows(void *arg, size_t member, int64_t window_ns)
{
	(void)arg;
	assert_int_equal(member, 3);
	assert_int_equal(window_ns, RACK_COURSE_SECONDS * RM_NS_PER_S);
	return true;
}

static void
lost_flows_excuse_the_losses(void **state)
{
	struct fixture f;

	(void)state;
	set_losses(&f, heavy, heavy);
	f.facts.member = 3;
	f.rack.flows_are_lost = all_are_flows;
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_FLOWS);
}

static void
a_named_rnic_is_excused_by_nothing_else(void **state)
{
	static const uint32_t later[RACK_COURSE_HALVES] = { 0, 0, 0, SENT, 1, 0, 0, 0,
		0, 0 };
	struct fixture f;

	(void)state;
	set_losses(&f, later, steady);
	f.facts.named = f.facts.stutters = true;
	f.rack.flows_are_lost = all_are_flows;
	assert_int_equal(rack_excuse_find(&f.facts), RACK_EXCUSE_NONE);
}

static void
the_newest_second_has_its_own_losses(void **state)
{
	static const uint32_t counts[RACK_COURSE_HALVES] = { 7, 7, 7, 7, 7, 7, 7, 7, 2,
		3 };
	struct fixture f;

	(void)state;
	set_losses(&f, counts, none);
	assert_int_equal(rack_course_newest_lost(&f.course), 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady_losses_inside_and_outside_have_no_excuse),
		cmocka_unit_test(losses_that_are_all_outside_excuse_a_named_rnic_too),
		cmocka_unit_test(an_outage_of_the_only_peer_excuses_only_a_new_verdict),
		cmocka_unit_test(a_peer_that_is_lossy_excuses_no_losses),
		cmocka_unit_test(
		    only_a_half_second_with_nearly_all_probes_lost_is_an_outage),
		cmocka_unit_test(a_silent_stalled_peer_excuses_only_a_new_verdict),
		cmocka_unit_test(
		    a_stalled_peer_that_loses_nothing_excuses_a_named_rnic_too),
		cmocka_unit_test(stutters_excuse_few_losses_but_not_many),
		cmocka_unit_test(an_outage_excuses_the_losses),
		cmocka_unit_test(
		    heavy_losses_of_the_newest_half_seconds_have_no_excuse),
		cmocka_unit_test(losses_that_begin_outside_excuse_later_ones_inside),
		cmocka_unit_test(lost_flows_excuse_the_losses),
		cmocka_unit_test(a_named_rnic_is_excused_by_nothing_else),
		cmocka_unit_test(the_newest_second_has_its_own_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
