#include "tor-aggregator/suspect/rack_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_legs.h"
#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/suspect/rack_suspect.h"
#include "tor-aggregator/window/rack_view.h"

/* A rack of ten hosts with one RNIC each, of which three may report falsely. All
 * members probe each other ten times and are answered, unless a test changes that. */
#define HOSTS 10
#define MAX_FAULTY 3
#define SENT 10
#define MEMBER 7

struct case_ {
	struct rack_host hosts[HOSTS];
	struct rack_member members[HOSTS];
	struct rack rack;
	struct rack_pair pairs[HOSTS * HOSTS];
	struct rack_legs legs;
	bool blamed[HOSTS];
	struct rack_blame blame;
	struct rack_tally tallies[HOSTS], tally;
	struct rack_support *support;
};

static struct rack_pair *
pair_of(struct case_ *c, size_t src, size_t dst)
{
	return &c->pairs[src * HOSTS + dst];
}

static int
setup(void **state)
{
	static struct case_ c;

	memset(&c, 0, sizeof(c));
	c.rack = (struct rack){ .members = c.members,
		.member_count = HOSTS,
		.hosts = c.hosts,
		.host_count = HOSTS };
	for (size_t i = 0; i < HOSTS; i++) {
		c.members[i].host_index = i;
		for (size_t k = 0; k < HOSTS; k++)
			*pair_of(&c, i, k) = (struct rack_pair){ .src = (uint32_t)i,
				.dst = (uint32_t)k,
				.sent = i == k ? 0 : SENT,
				.answered = i == k ? 0 : SENT };
	}
	c.legs.pairs = c.pairs;
	c.legs.pair_count = HOSTS * HOSTS;
	c.blame.members = c.blamed;
	*state = &c;
	return rack_support_new(&c.support);
}

static int
teardown(void **state)
{
	struct case_ *c = *state;

	rack_support_free(c->support);
	return 0;
}

static bool
holds(struct case_ *c)
{
	const struct rack_view view = { .rack = &c->rack,
		.legs = &c->legs,
		.blame = &c->blame,
		.tallies = c->tallies };

	return rack_support_holds(c->support, &view, MEMBER, &c->tally);
}

static void
losses_with_all_peers_are_the_rnics_own(void **state)
{
	struct case_ *c = *state;

	for (size_t i = 0; i < HOSTS; i++) {
		pair_of(c, i, MEMBER)->answered /= 2;
		pair_of(c, MEMBER, i)->answered /= 2;
	}
	assert_true(holds(c));
}

static void
a_few_reports_are_not_enough_to_blame_an_rnic(void **state)
{
	struct case_ *c = *state;

	for (size_t i = 0; i < MAX_FAULTY; i++)
		pair_of(c, i, MEMBER)->answered = 0;
	assert_false(holds(c));
	pair_of(c, MAX_FAULTY, MEMBER)->answered = 0;
	assert_true(holds(c));
}

/* Its own link is down, or its memory is full: its results prove nothing about others.
 */
static void
a_host_that_cannot_send_blames_no_rnic(void **state)
{
	struct case_ *c = *state;
	struct rack_pair *pair = pair_of(c, MAX_FAULTY, MEMBER);

	for (size_t i = 0; i < MAX_FAULTY; i++)
		pair_of(c, i, MEMBER)->answered = 0;
	pair->sent = pair->answered = 0;
	pair->send_failed = SENT;
	assert_false(holds(c));
}

/* Without the blamed RNICs, the ones that refuse it are more than a third of the rest.
 */
static void
a_few_peers_that_refuse_it_do_not_make_it_lossy(void **state)
{
	struct case_ *c = *state;

	for (size_t i = 0; i < MAX_FAULTY; i++)
		pair_of(c, MEMBER, i)->answered = 0;
	c->blamed[MAX_FAULTY] = c->blamed[MAX_FAULTY + 1] = true;
	assert_false(holds(c));
}

/* Losses with blamed RNICs are due to these; a few losses with others are no fault. */
static void
a_stray_beside_blamed_peers_is_no_fault(void **state)
{
	struct case_ *c = *state;

	c->blamed[0] = c->blamed[1] = true;
	pair_of(c, 0, MEMBER)->answered = pair_of(c, 1, MEMBER)->answered = 0;
	for (size_t i = 2; i < HOSTS; i++) {
		pair_of(c, MEMBER, i)->sent *= 10;
		pair_of(c, MEMBER, i)->answered *= 10;
		pair_of(c, MEMBER, i)->answered -= i < MEMBER;
	}
	assert_false(holds(c));
}

static void
probes_that_could_not_be_sent_were_not_refused(void **state)
{
	struct case_ *c = *state;

	for (size_t i = 0; i < HOSTS; i++) {
		struct rack_pair *pair = pair_of(c, MEMBER, i);

		pair->send_failed = pair->sent;
		pair->sent = pair->answered = 0;
	}
	assert_true(holds(c));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(losses_with_all_peers_are_the_rnics_own),
		TEST(a_few_reports_are_not_enough_to_blame_an_rnic),
		TEST(a_host_that_cannot_send_blames_no_rnic),
		TEST(a_few_peers_that_refuse_it_do_not_make_it_lossy),
		TEST(a_stray_beside_blamed_peers_is_no_fault),
		TEST(probes_that_could_not_be_sent_were_not_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
