/* Requests that concern the whole region, with a topology file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "controller_fixture.h"
#include "rackmesh/http/http_client.h"

struct answer {
	bool done;
	long status;
	char text[32768];
};

static void
on_answer(const struct rm_http_answer *from, void *arg)
{
	struct answer *answer = arg;

	assert_int_equal(from->r, 0);
	answer->done = true;
	answer->status = from->status;
	snprintf(answer->text, sizeof(answer->text), "%s", from->body);
}

/* body NULL: a GET, else a POST. */
static struct answer
ask(struct fixture *f, const char *path, const char *body)
{
	struct rm_http_client *client = NULL;
	struct answer answer = { 0 };
	char url[256];

	snprintf(url, sizeof(url), "unix:%s:%s", f->socket, path);
	assert_int_equal(rm_http_client_new(f->loop, &client), 0);
	assert_int_equal(
	    rm_http_client_send(client, url, "text/plain", body,
		body == NULL ? 0 : strlen(body), 8 * RM_NS_PER_S, on_answer, &answer),
	    0);
	LOOPBACK_WAIT(f->loop, answer.done);
	rm_http_client_free(client);
	return answer;
}

static void
reports(struct fixture *f, const char *path, const char *body, long status,
    const char *what)
{
	struct answer answer = ask(f, path, body);

	if (answer.status != status || strstr(answer.text, what) == NULL)
		fail_msg("%s: %ld %s", path, answer.status, answer.text);
}

static void
planned(struct fixture *f)
{
	start_four_racks(f);
	report_four_racks(f);
	LOOPBACK_WAIT(f->loop, f->agg.plans == 4);
}

static void
a_controller_with_a_file_leads(void **state)
{
	struct fixture *f = *state;

	planned(f);
	reports(f, "/v1/leader", NULL, 200, "\"leading\":true,\"leader\":\"c1\"");
	reports(f, "/v1/leader", NULL, 200, "\"store\":\"file\"");
	reports(f, "/v1/topology/export", NULL, 200, "region: lab\nswitches:\n");
	reports(f, "/v1/topology/import", "region: lab\n", 409, "change it there");
}

static void
an_address_finds_its_rnic(void **state)
{
	struct fixture *f = *state;

	planned(f);
	reports(f, "/v1/resolve/10.0.0.100", NULL, 200, "\"host\":\"tor1-h1\"");
	reports(f, "/v1/resolve/::ffff:10.0.0.100", NULL, 200, "\"host\":\"tor1-h1\"");
	reports(f, "/v1/resolve/10.0.0.99", NULL, 404, "no RNIC");
	reports(f, "/v1/resolve/h1", NULL, 400, "expected an address");
}

static void
ask_resolve(struct fixture *f, uint8_t last)
{
	const struct wire_resolve resolve = { 77, { 4, { 10, 0, 0, last }, 0 } };
	struct wire_bytes bytes;

	f->agg.resolved = false;
	agg_send(&f->agg, wire_write_resolve(f->agg.writer, &resolve, &bytes), &bytes);
	LOOPBACK_WAIT(f->loop, f->agg.resolved);
}

static void
an_aggregator_asks_which_rnic_has_an_address(void **state)
{
	struct fixture *f = *state;

	planned(f);
	ask_resolve(f, 200);
	assert_true(f->agg.found);
	assert_string_equal(f->agg.resolved_host, "tor2-h1");
	ask_resolve(f, 99);
	assert_false(f->agg.found);
}

static void
ask_join(struct fixture *f, uint64_t guid, uint32_t qpn, uint32_t dst_qpn)
{
	const struct wire_join join = { 77, { guid, 0 }, qpn, dst_qpn, WIRE_QP_RC };
	struct wire_bytes bytes;

	f->agg.resolved = false;
	agg_send(&f->agg, wire_write_join(f->agg.writer, &join, &bytes), &bytes);
	LOOPBACK_WAIT(f->loop, f->agg.resolved);
}

static void
the_peer_of_an_older_qp_is_the_asker_of_the_reverse(void **state)
{
	struct fixture *f = *state;

	planned(f);
	ask_join(f, 100, 17, 18);
	assert_false(f->agg.found);
	ask_join(f, 200, 18, 17);
	assert_true(f->agg.found);
	assert_string_equal(f->agg.resolved_host, "tor1-h1");
	ask_join(f, 100, 17, 18);
	assert_true(f->agg.found);
	assert_string_equal(f->agg.resolved_host, "tor2-h1");
	/* A request with an unknown RNIC must not affect later ones. */
	ask_join(f, 999, 18, 17);
	assert_false(f->agg.found);
	ask_join(f, 100, 17, 18);
	assert_true(f->agg.found);
	reports(f, "/metrics", NULL, 200, "joins_total{result=\"found\"} 3\n");
	reports(f, "/metrics", NULL, 200,
	    "joins_refused_total{reason=\"unauthorized\"} 1\n");
}

static void
the_newest_of_two_rnics_with_an_address_wins(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(150, "tor1-h9", "tor1", REGION_V4);

	planned(f);
	rnic.addresses[0].bytes[3] = 100; /* the address of tor1-h1 */
	agg_register(&f->agg, &rnic);
	LOOPBACK_WAIT(f->loop, f->agg.members[0] == 5);
	reports(f, "/v1/resolve/10.0.0.100", NULL, 200, "\"host\":\"tor1-h9\"");
	reports(
	    f, "/v1/refused", NULL, 200, "\"ambiguous\":[{\"address\":\"10.0.0.100\"");
	reports(f, "/metrics", NULL, 200, "rnics_ambiguous_total 1\n");
}

static void
the_brake_is_sent_at_once_and_to_new_aggregators(void **state)
{
	struct fixture *f = *state;

	planned(f);
	reports(f, "/v1/brake", NULL, 200, "\"rate_permille\":1000,\"version\":0");
	reports(f, "/v1/brake?rate_permille=0", "", 200, "\"rate_permille\":0");
	LOOPBACK_WAIT(f->loop, f->agg.brake.version > 0);
	assert_int_equal(f->agg.brake.rate_permille, 0);
	f->agg.brake = (struct wire_brake){ 0 };
	agg_hello(f, &f->agg);
	LOOPBACK_WAIT(f->loop, f->agg.brake.version > 0);
	reports(f, "/v1/brake", "", 400, "expected ?rate_permille=");
	reports(f, "/v1/brake?rate_permille=1001", "", 400, "rate_permille");
	reports(f, "/v1/brake?rate_permille=1&by=a%20b", "", 400, "by: ");
}

static void
a_drill_goes_through_to_the_aggregator(void **state)
{
	struct fixture *f = *state;

	planned(f);
	f->agg.drill_status = 200;
	f->agg.drill_json = "{\"results\":[]}";
	reports(f, "/v1/drill/tor1-h1/rnic0", NULL, 200, "{\"results\":[]}");
	assert_string_equal(f->agg.drilled, "00:00:00:00:00:64");
	reports(f, "/v1/drill/00:00:00:00:00:64?seconds=5", NULL, 200, "results");
	reports(f, "/v1/drill/h77/rnic0", NULL, 404, "no such RNIC");
	f->agg.drill_status = 0;
	reports(f, "/v1/drill/tor1-h1/rnic0", NULL, 502, "malformed");
	rm_link_free(f->agg.link);
	f->agg.link = NULL;
	loopback_run(f->loop, 50 * RM_NS_PER_MS);
	reports(f, "/v1/drill/tor1-h1/rnic0", NULL, 503, "no aggregator");
}

static void
the_leader_pings_every_half_second(void **state)
{
	struct fixture *f = *state;

	planned(f);
	LOOPBACK_WAIT(f->loop, f->agg.pings >= 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_controller_with_a_file_leads),
		TEST(an_address_finds_its_rnic),
		TEST(an_aggregator_asks_which_rnic_has_an_address),
		TEST(the_peer_of_an_older_qp_is_the_asker_of_the_reverse),
		TEST(the_newest_of_two_rnics_with_an_address_wins),
		TEST(the_brake_is_sent_at_once_and_to_new_aggregators),
		TEST(a_drill_goes_through_to_the_aggregator),
		TEST(the_leader_pings_every_half_second),
	};

	return cmocka_run_group_tests_name("controller_region", tests, NULL, NULL);
}
