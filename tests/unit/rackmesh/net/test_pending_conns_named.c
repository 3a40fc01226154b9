/* Many unauthenticated links with one certificate, among links with others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rackmesh/net/pending_conns.h"
#include "tests/support/tls_fixture.h"

#define CALLERS (RM_PENDING_CONNS_SAME_MAX + 3)

struct caller {
	struct rm_pending_conns *pending_conns;
	struct rm_link *link;
	struct rm_pending_conn pending_conn;
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
	rm_pending_conns_named(caller->pending_conns, &caller->pending_conn);
	return 0;
}

static void
on_close(struct rm_link *link, int reason, void *arg)
{
	struct caller *caller = arg;

	rm_pending_conns_remove(caller->pending_conns, &caller->pending_conn);
	caller->reason = reason;
	caller->link = NULL;
	rm_link_free(link);
}

static void
caller_connects(struct ends *ends, struct rm_pending_conns *pending_conns,
    struct caller *caller, struct rm_tls *tls)
{
	static const struct rm_link_callbacks callbacks = { on_frame, on_close, NULL,
		on_open };
	struct rm_link_limits limits = { 4096, 4096, ends->accepting.tls, true };
	int fds[2];

	loopback_pair(fds, 0);
	*caller = (struct caller){ .pending_conns = pending_conns, .reason = 1 };
	caller->dials.tls = tls;
	end_begin(ends->loop, &caller->dials, fds[0], false);
	assert_int_equal(
	    rm_link_new(ends->loop, fds[1], &limits, &callbacks, caller, &caller->link),
	    0);
	rm_pending_conns_add(
	    pending_conns, &caller->pending_conn, caller->link, rm_mono_now());
	LOOPBACK_WAIT(ends->loop, caller->open);
}

static void
caller_free(struct caller *caller)
{
	rm_link_free(caller->link);
	rm_link_free(caller->dials.link);
}

static void
only_the_newest_few_connections_of_an_identity_are_pending(void **state)
{
	const struct pki_wish wish = { .uri = "rackmesh://r1/agent/h2" };
	struct rm_pending_conns pending_conns = { 0 };
	struct caller callers[CALLERS], other, known;
	struct ends *ends = *state;
	struct rm_tls_files files = pki_issue(ends->pki, "other", &wish);
	struct rm_tls *tls = tls_of(ends->loop, &files);

	caller_connects(ends, &pending_conns, &other, tls);
	caller_connects(ends, &pending_conns, &known, ends->dialing.tls);
	rm_pending_conns_remove(&pending_conns, &known.pending_conn);
	for (size_t i = 0; i < CALLERS; i++)
		caller_connects(ends, &pending_conns, &callers[i], ends->dialing.tls);
	LOOPBACK_WAIT(
	    ends->loop, callers[CALLERS - RM_PENDING_CONNS_SAME_MAX - 1].reason != 1);
	for (size_t i = 0; i < CALLERS; i++)
		assert_int_equal(callers[i].reason,
		    i < CALLERS - RM_PENDING_CONNS_SAME_MAX ? -EUSERS : 1);
	assert_int_equal(other.reason, 1);
	assert_int_equal(known.reason, 1);
	assert_int_equal(pending_conns.count, RM_PENDING_CONNS_SAME_MAX + 1);
	assert_int_equal(pending_conns.pushed_out, CALLERS - RM_PENDING_CONNS_SAME_MAX);
	for (size_t i = 0; i < CALLERS; i++)
		caller_free(&callers[i]);
	caller_free(&other);
	caller_free(&known);
	rm_tls_free(tls);
}

static void
without_tls_connections_have_no_identity(void **state)
{
	struct rm_pending_conns pending_conns = { 0 };
	struct caller callers[CALLERS];
	struct ends *ends = *state;

	for (size_t i = 0; i < CALLERS; i++)
		caller_connects(ends, &pending_conns, &callers[i], NULL);
	assert_int_equal(pending_conns.count, CALLERS);
	assert_int_equal(pending_conns.pushed_out, 0);
	for (size_t i = 0; i < CALLERS; i++)
		caller_free(&callers[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    only_the_newest_few_connections_of_an_identity_are_pending,
		    ends_setup, ends_teardown),
		cmocka_unit_test_setup_teardown(
		    without_tls_connections_have_no_identity, ends_setup_bare,
		    ends_teardown),
	};

	return cmocka_run_group_tests_name("pending_conns_named", tests, NULL, NULL);
}
