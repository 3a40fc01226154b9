/* Many links of one certificate at the door, among others'. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rackmesh/net/strangers.h"
#include "tests/support/tls_fixture.h"

#define CALLERS (RM_STRANGERS_SAME_MAX + 3)

struct caller {
	struct rm_strangers *strangers;
	struct rm_link *link;
	struct rm_stranger stranger;
	struct end dials;
	bool open;
	int reason; /* 1: its link is open */
};

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	return 0;
}

static int
on_open(struct rm_link *link, void *arg)
{
	struct caller *caller = arg;

	caller->open = true;
	rm_strangers_named(caller->strangers, &caller->stranger);
	return 0;
}

static void
on_close(struct rm_link *link, int reason, void *arg)
{
	struct caller *caller = arg;

	rm_strangers_remove(caller->strangers, &caller->stranger);
	caller->reason = reason;
	caller->link = NULL;
	rm_link_free(link);
}

static void
comes(struct ends *ends, struct rm_strangers *strangers, struct caller *caller,
    struct rm_tls *tls)
{
	static const struct rm_link_callbacks callbacks = { on_frame, on_close, NULL,
		on_open };
	struct rm_link_limits limits = { 4096, 4096, ends->accepting.tls, true };
	int fds[2];

	loopback_pair(fds, 0);
	*caller = (struct caller){ .strangers = strangers, .reason = 1 };
	caller->dials.tls = tls;
	end_begin(ends->loop, &caller->dials, fds[0], false);
	assert_int_equal(
	    rm_link_new(ends->loop, fds[1], &limits, &callbacks, caller, &caller->link),
	    0);
	rm_strangers_add(strangers, &caller->stranger, caller->link, rm_mono_now());
	LOOPBACK_WAIT(ends->loop, caller->open);
}

static void
goes(struct caller *caller)
{
	rm_link_free(caller->link);
	rm_link_free(caller->dials.link);
}

static void
of_one_identity_only_the_newest_few_stand_at_the_door(void **state)
{
	const struct pki_wish wish = { .uri = "rackmesh://r1/agent/h2" };
	struct rm_strangers strangers = { 0 };
	struct caller callers[CALLERS], other, known;
	struct ends *ends = *state;
	struct rm_tls_files files = pki_issue(ends->pki, "other", &wish);
	struct rm_tls *tls = tls_of(ends->loop, &files);

	comes(ends, &strangers, &other, tls);
	comes(ends, &strangers, &known, ends->dialing.tls);
	rm_strangers_remove(&strangers, &known.stranger);
	for (size_t i = 0; i < CALLERS; i++)
		comes(ends, &strangers, &callers[i], ends->dialing.tls);
	LOOPBACK_WAIT(
	    ends->loop, callers[CALLERS - RM_STRANGERS_SAME_MAX - 1].reason != 1);
	for (size_t i = 0; i < CALLERS; i++)
		assert_int_equal(callers[i].reason,
		    i < CALLERS - RM_STRANGERS_SAME_MAX ? -EUSERS : 1);
	assert_int_equal(other.reason, 1);
	assert_int_equal(known.reason, 1);
	assert_int_equal(strangers.count, RM_STRANGERS_SAME_MAX + 1);
	assert_int_equal(strangers.pushed_out, CALLERS - RM_STRANGERS_SAME_MAX);
	for (size_t i = 0; i < CALLERS; i++)
		goes(&callers[i]);
	goes(&other);
	goes(&known);
	rm_tls_free(tls);
}

static void
without_tls_everybody_is_nobody(void **state)
{
	struct rm_strangers strangers = { 0 };
	struct caller callers[CALLERS];
	struct ends *ends = *state;

	for (size_t i = 0; i < CALLERS; i++)
		comes(ends, &strangers, &callers[i], NULL);
	assert_int_equal(strangers.count, CALLERS);
	assert_int_equal(strangers.pushed_out, 0);
	for (size_t i = 0; i < CALLERS; i++)
		goes(&callers[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    of_one_identity_only_the_newest_few_stand_at_the_door, ends_setup,
		    ends_teardown),
		cmocka_unit_test_setup_teardown(
		    without_tls_everybody_is_nobody, ends_setup_bare, ends_teardown),
	};

	return cmocka_run_group_tests_name("strangers_named", tests, NULL, NULL);
}
