/* A client that may see some regions gets nothing about the other regions, whatever it
 * requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <jansson.h>

#include "analyzer/analyzer_state.h"
#include "rackmesh/http/http_server.h"
#include "tests/support/tls_fixture.h"
#include "tests/unit/analyzer/analyzer_fixture.h"

#define EVERYWHERE "everywhere-0123456789abcdef0123456789"
#define LAB_ONLY "lab-only-0123456789abcdef0123456789ab"
#define BOTH "both-0123456789abcdef0123456789abcdef"
#define ELSEWHERE "elsewhere-0123456789abcdef0123456789a"
#define OTHER "otherland" /* the region that a viewer of "lab" must not see */

/* Every route of the analyzer: what the test requests, and the status that a viewer of
 * both regions and a viewer of "lab" alone get. */
static const struct route {
	const char *path, *rest;
	long both, lab_only;
	bool names_other; /* in an answer to a viewer of both regions */
} routes[] = {
	{ "/metrics", "", 200, 403, true },
	{ "/healthz", "", 200, 200, false },
	{ "/readyz", "", 200, 403, false },
	{ "/", "", 200, 200, false },
	{ "/v1/health", "", 200, 200, true },
	{ "/v1/racks", "", 200, 200, true },
	{ "/v1/aggregators", "", 200, 200, true },
	{ "/v1/sla", "", 200, 200, true },
	{ "/v1/incidents", "", 200, 200, true },
	{ "/v1/incidents/", "99", 200, 404, true },
	{ "/v1/drill/", "h9/r0", 200, 404, false },
	{ "/v1/mesh", "", 200, 200, true },
	{ "/v1/mesh/", "tor3", 200, 404, true },
	{ "/v1/counters/", "tor3", 200, 404, true },
	{ "/v1/hosts/", "tor3", 200, 404, true },
	{ "/v1/history/", "rm_rack", 200, 200, true },
};

static struct sealed { /* HTTP with TLS; aggregators connect without */
	struct pki *pki;
	struct rm_tls *tls;
	struct rm_http_client *client;
	struct rm_http_tls shows;
	char tokens[96];
} sealed;

static void
listen_sealed(struct fixture *f)
{
	const struct rm_http_places places = { "", "", "127.0.0.1:0", sealed.tokens,
		.regions = &f->analyzer->shown };
	struct rm_error error = { 0 };

	if (rm_http_places_listen(
		f->analyzer->server, &places, sealed.tls, NULL, &error) < 0)
		fail_msg("%s", error.text);
}

static void
ask(struct fixture *f, const char *token, const char *path, struct answer *answer)
{
	char url[256];
	const struct rm_http_exchange exchange = { .url = url,
		.bearer = token,
		.tls = &sealed.shows,
		.max_body_bytes = 1 << 20,
		.timeout_ns = LOOPBACK_PATIENCE_NS,
		.done = on_answer,
		.arg = answer };

	snprintf(url, sizeof(url), "https://localhost:%d%s",
	    rm_http_server_tls_port(f->analyzer->server), path);
	*answer = (struct answer){ 0 };
	assert_int_equal(rm_http_client_start(sealed.client, &exchange, NULL), 0);
	LOOPBACK_WAIT(f->loop, answer->done);
}

static const struct route *
route_of(const char *path)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (strcmp(routes[i].path, path) == 0)
			return &routes[i];
	fail_msg("%s: may it be shown to who may see some regions only?", path);
	return NULL;
}

/* Requests `path` with `more` appended. True: the answer names the other region. */
static bool
reports(struct fixture *f, const char *token, const struct route *route,
    const char *more, long status)
{
	struct answer answer;
	char path[128];
	bool reported;

	snprintf(path, sizeof(path), "%s%s%s", route->path, route->rest, more);
	ask(f, token, path, &answer);
	if (answer.status != status)
		fail_msg("%s: %ld %s", path, answer.status, answer.text);
	reported =
	    strstr(answer.text, OTHER) != NULL || strstr(answer.text, "tor3") != NULL;
	answer_clear(&answer);
	return reported;
}

static void
report_of_two_regions(struct fixture *f)
{
	hello(f);
	send_summary(f, "tor1", 1);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 1);
	leave(f);
	memset(f->agg.seq, 0, sizeof(f->agg.seq));
	memset(f->agg.acked, 0, sizeof(f->agg.acked));
	f->agg.region = OTHER;
	f->agg.third = "tor3";
	hello(f);
	send_summary(f, "tor3", 9);
	send_incident(f, "tor3", 0x99, WIRE_OPENED);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 1 &&
				   f->agg.acked[WIRE_LANE_INCIDENT] == 1);
}

/* An acknowledged message is on disk already, but reaches the files of the history
 * later. */
static void
wait_for_history(struct fixture *f)
{
	for (int i = 0; i < 600; i++) {
		if (reports(f, EVERYWHERE, route_of("/v1/history/"), "", 200))
			return;
		loopback_run(f->loop, 50 * RM_NS_PER_MS);
	}
	fail_msg("nothing in history");
}

static void
no_route_shows_data_of_other_regions(void **state)
{
	struct fixture *f = *state;
	const char *path;
	size_t count = 0;

	report_of_two_regions(f);
	wait_for_history(f);
	for (; (path = rm_http_route_at(f->analyzer->server, count)) != NULL; count++) {
		const struct route *route = route_of(path);
		const bool by_name = strcmp(path, "/v1/history/") == 0;

		/* A viewer of everything must see the other region: otherwise the
		 * checks of LAB_ONLY would prove nothing. */
		if (reports(f, EVERYWHERE, route, "", 200) != route->names_other ||
		    reports(f, BOTH, route, "", route->both) != route->names_other)
			fail_msg("%s does not show all", path);
		if (reports(f, LAB_ONLY, route, "", route->lab_only) ||
		    reports(f, LAB_ONLY, route, "?region=" OTHER,
			by_name ? 403 : route->lab_only))
			fail_msg("%s shows another region", path);
		reports(f, ELSEWHERE, route, "", 403);
	}
	assert_int_equal(count, sizeof(routes) / sizeof(routes[0]));
}

static void
an_answer_of_only_some_regions_is_marked(void **state)
{
	struct fixture *f = *state;
	struct answer answer;

	report_of_two_regions(f);
	ask(f, LAB_ONLY, "/v1/health", &answer);
	assert_true(json_is_true(json_object_get(answer.json, "limited")));
	assert_int_equal(json_array_size(json_object_get(answer.json, "regions")), 1);
	answer_clear(&answer);
	ask(f, LAB_ONLY, "/v1/incidents", &answer);
	assert_int_equal(json_integer_value(json_object_get(answer.json, "open")), 0);
	answer_clear(&answer);
	ask(f, EVERYWHERE, "/v1/health", &answer);
	assert_true(json_is_false(json_object_get(answer.json, "limited")));
	answer_clear(&answer);
	ask(f, BOTH, "/v1/history/rm_rack?region=" OTHER, &answer);
	assert_int_equal(answer.status, 200);
	answer_clear(&answer);
}

static int64_t
changes_of(struct fixture *f, const char *token, const char *more, int64_t *number)
{
	struct answer answer;
	char path[64];
	int64_t changes;
	json_t *list;

	snprintf(path, sizeof(path), "/v1/incidents%s", more);
	ask(f, token, path, &answer);
	changes = json_integer_value(json_object_get(answer.json, "changes"));
	list = json_object_get(answer.json, "incidents");
	*number = json_integer_value(
	    json_object_get(json_array_get(list, json_array_size(list) - 1), "number"));
	answer_clear(&answer);
	return changes;
}

static void
changes_are_counted_of_regions_that_may_be_seen(void **state)
{
	struct fixture *f = *state;
	int64_t number;

	report_of_two_regions(f);
	assert_int_equal(changes_of(f, LAB_ONLY, "", &number), 0);
	leave(f);
	memset(f->agg.seq, 0, sizeof(f->agg.seq));
	memset(f->agg.acked, 0, sizeof(f->agg.acked));
	f->agg.region = f->agg.third = NULL;
	hello(f);
	send_incident(f, "tor1", 0x42, WIRE_OPENED);
	send_incident(f, "tor2", 0x43, WIRE_OPENED);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_INCIDENT] == 2);
	assert_int_equal(changes_of(f, LAB_ONLY, "", &number), 2);
	assert_int_equal(number, 1);
	assert_int_equal(changes_of(f, LAB_ONLY, "?since=1", &number), 2);
	assert_int_equal(number, 2);
	assert_int_equal(changes_of(f, LAB_ONLY, "?since=0&limit=1", &number), 1);
	assert_int_equal(changes_of(f, LAB_ONLY, "?since=2", &number), 2);
	assert_int_equal(number, 0); /* no incident has changed since */
	assert_int_equal(changes_of(f, BOTH, "", &number), 3);
	assert_int_equal(number, 1);
	assert_int_equal(changes_of(f, EVERYWHERE, "?region=lab", &number), 3);
	assert_int_equal(number, 2);
}

static const char *
trouble_of(struct fixture *f, const char *token, char text[512])
{
	struct answer answer;

	ask(f, token, "/v1/health", &answer);
	snprintf(text, 512, "%s",
	    json_string_value(json_object_get(answer.json, "trouble")));
	answer_clear(&answer);
	return text;
}

/* Databases quote refused lines in their errors, and these lines may name any region.
 */
static void
error_texts_of_a_database_are_shown_to_viewers_of_all_regions_only(void **state)
{
	struct fixture *f = *state;
	char text[512];

	stop(f);
	snprintf(f->more, sizeof(f->more), "influx: {url: 'http://127.0.0.1:9'}\n");
	start(f);
	listen_sealed(f);
	hello(f);
	send_summary(f, "tor1", 1);
	for (int i = 0; trouble_of(f, EVERYWHERE, text)[0] == '\0'; i++) {
		assert_true(i < 600);
		loopback_run(f->loop, 50 * RM_NS_PER_MS);
	}
	assert_non_null(strstr(text, "database"));
	assert_string_equal(trouble_of(f, LAB_ONLY, text),
	    "points wait to be written; a viewer of all regions is shown the reason");
}

static int
setup_sealed(void **state)
{
	static const char tokens[] =
	    "root " EVERYWHERE "\r\nann\t" LAB_ONLY " lab\r\n"
	    "both " BOTH " " OTHER ",lab\nno " ELSEWHERE " nowhere";
	struct rm_tls_files files;
	struct fixture *f;

	setup(state);
	f = *state;
	snprintf(sealed.tokens, sizeof(sealed.tokens), "%s/tokens", f->folder);
	assert_int_equal(
	    rm_file_replace(sealed.tokens, (const uint8_t *)tokens, sizeof(tokens) - 1),
	    0);
	assert_int_equal(chmod(sealed.tokens, 0600), 0);
	sealed.pki = pki_new();
	files = pki_issue(sealed.pki, "server",
	    &(struct pki_wish){
		.uri = "rackmesh://*/analyzer/an1", .dns = "localhost" });
	sealed.tls = tls_of(f->loop, &files);
	sealed.shows.authorities = files.authorities;
	assert_int_equal(rm_http_client_new(f->loop, &sealed.client), 0);
	listen_sealed(f);
	return 0;
}

static int
teardown_sealed(void **state)
{
	struct fixture *f = *state;

	rm_http_client_free(sealed.client);
	stop(f);
	rm_tls_free(sealed.tls);
	pki_free(sealed.pki);
	start(f);
	return teardown(state);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup_sealed, teardown_sealed)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_route_shows_data_of_other_regions),
		TEST(an_answer_of_only_some_regions_is_marked),
		TEST(changes_are_counted_of_regions_that_may_be_seen),
		TEST(
		    error_texts_of_a_database_are_shown_to_viewers_of_all_regions_only),
	};

	return cmocka_run_group_tests_name("analyzer_viewers", tests, NULL, NULL);
}
