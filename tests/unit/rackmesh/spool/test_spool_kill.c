#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>

#include "spool_fixture.h"

#define KILLS 20

/* Appends records as fast as promises come and prints each promise, until it is
 * killed. */
static void
child_appends(struct fixture *f, int out)
{
	uint64_t reported;

	if (start(f) < 0)
		_exit(1);
	reported = rm_spool_next(f->spool) - 1;
	alarm(600); /* ends this process if the test dies before it */
	for (;;) {
		uint8_t bytes[FIXTURE_MAX_RECORD];
		uint64_t next = rm_spool_next(f->spool);

		if (next < reported + 50)
			rm_spool_append(f->spool, bytes,
			    record_bytes(next, bytes, 50 + next % 300), NULL);
		event_base_loop(rm_loop_base(f->loop), EVLOOP_NONBLOCK);
		if (f->durable <= reported)
			continue;
		reported = f->durable;
		if (write(out, &reported, sizeof(reported)) != sizeof(reported))
			_exit(1);
		if (reported % 7 == 0 && reported > 40)
			rm_spool_done(f->spool, reported - 40);
	}
}

/* Waits for this many further promises. Returns the number of the last promised
 * record. */
static uint64_t
run_and_kill(struct fixture *f, uint64_t enough)
{
	uint64_t promised = 0;
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct fixture mine = *f;

		close(ends[0]);
		if (rm_loop_new(&mine.loop) < 0)
			_exit(1);
		child_appends(&mine, ends[1]);
	}
	close(ends[1]);
	while (read(ends[0], &promised, sizeof(promised)) == sizeof(promised) &&
	       promised < enough)
		;
	kill(child, SIGKILL);
	while (read(ends[0], &promised, sizeof(promised)) == sizeof(promised))
		;
	close(ends[0]);
	waitpid(child, &status, 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	return promised;
}

static void
kill_9_loses_no_acknowledged_record(void **state)
{
	struct fixture *f = *state;
	uint64_t from = 1; /* the number at which this run begins */

	f->options.segment_bytes = 4096;
	for (uint64_t i = 0; i < KILLS; i++) {
		uint64_t promised = run_and_kill(f, from + 30 + i * 3);
		struct rm_spool_item item;

		assert_true(promised >= from + 30);
		assert_int_equal(start(f), 0);
		/* The child had finished the records up to 40 before. */
		for (uint64_t seq = promised - 30; seq <= promised; seq++) {
			if (seq < from)
				continue;
			assert_true(take(f, seq, &item));
			assert_int_equal(item.seq, seq);
		}
		assert_true(take(f, 0, &item));
		walk(f, NULL, NULL);
		assert_int_equal(rm_spool_counts(f->spool)->quarantined, 0);
		assert_true(rm_spool_next(f->spool) > promised);
		assert_true(rm_spool_next(f->spool) < promised + 100);
		from = rm_spool_next(f->spool);
		stop(f);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    kill_9_loses_no_acknowledged_record, setup, teardown),
	};

	return cmocka_run_group_tests_name("spool_kill", tests, NULL, NULL);
}
