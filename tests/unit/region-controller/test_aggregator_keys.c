/* Which probe keys a controller sends, and with which version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "controller_fixture.h"

static void
start_with_keys(struct fixture *f, char secret[96])
{
	static char more[192];

	snprintf(secret, 96, "%s/secret", f->folder);
	assert_int_equal(rm_file_replace_secret(secret,
			     (const uint8_t *)"0123456789abcdef0123456789abcdef\n", 33),
	    0);
	snprintf(more, sizeof(more), "probe_keys: {secret_file: %s}\n", secret);
	f->more = more;
	write_clos(f, 2);
	start(f, 300);
}

/* The clock of an earlier leader was years ahead. Both aggregators of the rack get
 * newer versions, also the one that had reported its version before. */
static void
keys_are_numbered_above_those_of_a_leader_with_another_clock(void **state)
{
	const uint64_t ahead =
	    (uint64_t)(rm_wall_now().ns / RM_NS_PER_MS) + 10ull * 365 * 86400 * 1000;
	struct fixture *f = *state;
	struct aggregator other = { .loop = f->loop, .name = "agg2", .region = "lab" };
	char secret[96];

	start_with_keys(f, secret);
	other.writer = wire_writer_new();
	assert_non_null(other.writer);
	agg_serves(&other, "tor1");
	agg_hello(f, &other);
	agg_register_rack(&other, "tor1", 100, 2);
	LOOPBACK_WAIT(f->loop, other.plans == 1 && other.keys == 1);
	assert_true(other.held[0].keys_version < ahead);
	agg_serves(&f->agg, "tor1");
	f->agg.held[0].keys_version = ahead;
	agg_hello(f, &f->agg);
	LOOPBACK_WAIT(f->loop, f->agg.keys == 1 && other.keys == 2);
	assert_true(other.held[0].keys_version == f->agg.held[0].keys_version);
	loopback_run(f->loop, 100 * RM_NS_PER_MS);
	assert_int_equal(f->agg.keys, 1);
	assert_int_equal(other.keys, 2);

	/* The controller restarts and knows no version: again it numbers above those
	 * reported. */
	rm_link_free(other.link);
	wire_writer_free(other.writer);
	stop(f);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
	start(f, 300);
	agg_hello(f, &f->agg);
	agg_register_rack(&f->agg, "tor1", 100, 2);
	LOOPBACK_WAIT(f->loop, f->agg.keys == 2);
	unlink(secret);
}

/* The controller's clock or the aggregators' epochs may be wrong by days. The epoch
 * that most aggregators hold is continued, since racks with different epochs could not
 * verify each other's probes. */
static void
a_leader_continues_with_the_epoch_that_most_aggregators_hold(void **state)
{
	const uint32_t ours = (uint32_t)(rm_wall_now().ns / RM_NS_PER_S / 86400) + 1;
	struct fixture *f = *state;
	struct aggregator other = { .loop = f->loop, .name = "agg2", .region = "lab" };
	char secret[96];

	start_with_keys(f, secret);
	other.writer = wire_writer_new();
	assert_non_null(other.writer);
	agg_serves(&f->agg, "tor1");
	f->agg.held[0].keys_version = 1;
	f->agg.held[0].keys_epoch = UINT32_MAX - 1; /* out of range: ignored */
	agg_hello(f, &f->agg);
	agg_register_rack(&f->agg, "tor1", 100, 2);
	LOOPBACK_WAIT(f->loop, f->agg.keys == 1);
	assert_int_equal(f->agg.epoch, ours);
	f->agg.held[0].keys_epoch = ours - 10;
	agg_hello(f, &f->agg);
	LOOPBACK_WAIT(f->loop, f->agg.keys == 2);
	assert_int_equal(f->agg.epoch, ours - 10);
	agg_serves(&other, "tor2");
	other.held[0].keys_version = 1;
	other.held[0].keys_epoch = ours - 11; /* one epoch older than that of agg1 */
	agg_hello(f, &other);
	agg_register_rack(&other, "tor2", 200, 2);
	LOOPBACK_WAIT(f->loop, other.keys >= 1);
	assert_int_equal(other.epoch, ours - 10);
	/* agg2 reconnects with today's epoch: as many hold it as hold the other, and
	 * the clock decides. */
	other.held[0].keys_epoch = ours;
	agg_hello(f, &other);
	LOOPBACK_WAIT(f->loop, f->agg.epoch == ours && other.epoch == ours);
	/* Then with a far epoch, from a wrong clock or an old state: it gets the epoch
	 * of the others. */
	other.held[0].keys_epoch = ours + 500;
	agg_hello(f, &other);
	LOOPBACK_WAIT(f->loop, other.welcome);
	loopback_run(f->loop, 100 * RM_NS_PER_MS);
	assert_int_equal(f->agg.epoch, ours);
	assert_int_equal(other.epoch, ours);
	rm_link_free(other.link);
	wire_writer_free(other.writer);
	unlink(secret);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keys_are_numbered_above_those_of_a_leader_with_another_clock),
		TEST(a_leader_continues_with_the_epoch_that_most_aggregators_hold),
	};

	return cmocka_run_group_tests_name("aggregator_keys", tests, NULL, NULL);
}
