/* Which language the analyzer uses to query each database, and the error when the
 * database does not answer. */
#include "analyzer/past/past.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/history/influx_config.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_server.h"
#include "tests/support/tls_fixture.h"

#define NO_ROWS "{\"results\":[{}]}"

struct world {
	struct rm_loop *loop;
	struct rm_http_client *client;
	struct rm_http_server
	    *server; /* serves the analyzer's API and plays the database */
	struct influx_config influx;
	char url[64], database[16];
	struct past *past;
	int kind_status;    /* status of the database's /api/v1/status/buildinfo */
	const char *answer; /* body of the database's answer to /query */
	struct pki *pki;    /* NULL: plain HTTP */
	struct rm_tls *tls;
	struct rm_http_tls shows;
	unsigned kinds, queries, exports;
	long status; /* HTTP status of the analyzer's answer */
	char body[512];
};

static void
serve_kind(struct rm_http_request *request, void *arg)
{
	struct world *w = arg;

	w->kinds++;
	rm_http_reply_text(request, w->kind_status, "hm", 2);
}

static void
serve_query(struct rm_http_request *request, void *arg)
{
	struct world *w = arg;

	w->queries++;
	rm_http_reply_text(request, 200, w->answer, strlen(w->answer));
}

static void
serve_export(struct rm_http_request *request, void *arg)
{
	struct world *w = arg;

	w->exports++;
	rm_http_reply_text(request, 200, "", 0);
}

static void
on_answer(const struct rm_http_answer *answer, void *arg)
{
	struct world *w = arg;

	w->status = answer->status;
	snprintf(w->body, sizeof(w->body), "%s", answer->body);
}

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	const struct rm_address any = loopback_address(0);
	struct past_options options;
	static char none[1];

	*state = w;
	assert_int_equal(rm_loop_new(&w->loop), 0);
	assert_int_equal(rm_http_client_new(w->loop, &w->client), 0);
	assert_int_equal(rm_http_server_new(w->loop, &w->server), 0);
	assert_int_equal(rm_http_server_listen(w->server, &any), 0);
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%d",
	    rm_http_server_port(w->server));
	strcpy(w->database, "rackmesh");
	w->influx = (struct influx_config){ .url = w->url,
		.version = 1,
		.database = w->database,
		.retention_policy = none,
		.incident_retention_policy = none,
		.org = none,
		.bucket = none,
		.token_file = none,
		.user = none,
		.password_file = none };
	options = (struct past_options){ .loop = w->loop,
		.http = w->client,
		.server = w->server,
		.influx = &w->influx,
		.files_folder = "" };
	assert_int_equal(past_new(&options, &w->past), 0);
	rm_http_route(w->server, RM_HTTP_READ, "/v1/history/", past_ask, w->past);
	rm_http_route(
	    w->server, RM_HTTP_READ, "/api/v1/status/buildinfo", serve_kind, w);
	rm_http_route(w->server, RM_HTTP_READ, "/query", serve_query, w);
	rm_http_route(w->server, RM_HTTP_READ, "/api/v1/export", serve_export, w);
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	past_free(w->past);
	rm_http_client_free(w->client);
	rm_http_server_free(w->server);
	if (w->pki != NULL) {
		rm_tls_free(w->tls);
		pki_free(w->pki);
	}
	rm_loop_free(w->loop);
	free(w);
	return 0;
}

static long
ask_of(struct world *w, const char *measurement, int kind_status, const char *answer)
{
	char url[128];
	const struct rm_http_exchange exchange = { .url = url,
		.tls = w->pki != NULL ? &w->shows : NULL,
		.timeout_ns = LOOPBACK_PATIENCE_NS,
		.done = on_answer,
		.arg = w };

	w->kind_status = kind_status;
	w->answer = answer;
	w->status = 0;
	snprintf(url, sizeof(url), "%s://127.0.0.1:%d/v1/history/%s",
	    w->pki != NULL ? "https" : "http",
	    w->pki != NULL ? rm_http_server_tls_port(w->server)
			   : rm_http_server_port(w->server),
	    measurement);
	assert_int_equal(rm_http_client_start(w->client, &exchange, NULL), 0);
	LOOPBACK_WAIT(w->loop, w->status != 0);
	return w->status;
}

static long
ask(struct world *w, int kind_status, const char *answer)
{
	return ask_of(w, "rm_sla", kind_status, answer);
}

static void
a_database_without_build_info_is_queried_in_influxql(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask(w, 404, NO_ROWS), 200);
	assert_int_equal(ask(w, 404, NO_ROWS), 200);
	assert_int_equal(w->queries, 2);
	assert_int_equal(w->kinds, 1); /* the kind is kept */
}

static void
a_database_with_build_info_is_victoriametrics(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask(w, 200, ""), 200);
	assert_int_equal(w->exports, 1);
	/* rm_path has several points within a millisecond. */
	assert_int_equal(ask_of(w, "rm_path", 200, ""), 502);
	assert_non_null(strstr(w->body, "it stores one point per millisecond"));
	assert_int_equal(w->exports, 1);
}

static void
any_other_answer_leaves_the_kind_of_database_open(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask(w, 503, NO_ROWS), 502);
	assert_non_null(strstr(w->body, "503"));
	assert_int_equal(ask(w, 401, NO_ROWS), 502);
	assert_non_null(strstr(w->body, "does not let the analyzer read (HTTP 401)"));
	assert_int_equal(w->queries + w->exports, 0);
	assert_int_equal(ask(w, 200, ""), 200);
	assert_int_equal(w->exports, 1);
}

static void
the_kind_of_database_is_forgotten_when_a_query_fails(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask(w, 404, "<html>"), 502);
	assert_int_equal(
	    ask(w, 200, ""), 200); /* another database runs at the address now */
	assert_int_equal(w->queries, 1);
	assert_int_equal(w->exports, 1);
}

static bool
allows(
    const char *identity, enum rm_http_verb verb, char *reason, size_t len, void *arg)
{
	return true;
}

/* Later requests come from a viewer with this URI. */
static void
become_viewer(struct world *w, const char *uri)
{
	static const struct pki_wish server = { .uri = TOR_URI, .dns = "localhost" };
	const struct rm_address any = loopback_address(0);
	struct rm_tls_files files;

	w->pki = pki_new();
	files = pki_issue(w->pki, "server", &server);
	w->tls = tls_of(w->loop, &files);
	files = pki_issue(w->pki, "viewer", &(struct pki_wish){ .uri = uri });
	w->shows =
	    (struct rm_http_tls){ files.authorities, files.certificate, files.key };
	assert_int_equal(rm_http_server_listen_tls(w->server, &any, w->tls), 0);
	rm_http_server_authorise(w->server, allows, w);
}

static void
a_viewer_of_all_regions_sees_errors_of_the_database(void **state)
{
	struct world *w = *state;

	become_viewer(w, "rackmesh://*/viewer/ann");
	assert_int_equal(ask(w, 503, NO_ROWS), 502);
	assert_non_null(strstr(w->body, w->url));
	assert_non_null(strstr(w->body, "hm"));
	assert_int_equal(ask(w, 404, "{\"error\":\"secret\"}"), 502);
	assert_non_null(strstr(w->body, "it says: secret"));
}

static void
a_viewer_of_some_regions_sees_no_errors_of_the_database(void **state)
{
	static char file[] = "/nowhere/secret";
	struct world *w = *state;

	become_viewer(w, "rackmesh://r1/viewer/bob");
	assert_int_equal(ask(w, 503, NO_ROWS), 502);
	assert_non_null(
	    strstr(w->body, "the database: it cannot answer now (HTTP 503)"));
	assert_int_equal(ask(w, 302, NO_ROWS), 502);
	assert_non_null(strstr(w->body, "neither InfluxQL"));
	assert_null(strstr(w->body, "hm"));
	assert_int_equal(ask(w, 404, "{\"error\":\"secret\"}"), 502);
	assert_non_null(strstr(w->body, "cannot be read now"));
	assert_null(strstr(w->body, "secret"));
	w->influx.token_file = file;
	assert_int_equal(ask(w, 404, NO_ROWS), 502);
	assert_non_null(strstr(w->body, "cannot be read now"));
	assert_null(strstr(w->body, "secret"));
	w->influx.token_file = file + sizeof(file) - 1;
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:1");
	assert_int_equal(ask(w, 404, NO_ROWS), 502);
	assert_non_null(strstr(w->body, "the database: it does not answer\""));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_database_without_build_info_is_queried_in_influxql),
		TEST(a_database_with_build_info_is_victoriametrics),
		TEST(any_other_answer_leaves_the_kind_of_database_open),
		TEST(the_kind_of_database_is_forgotten_when_a_query_fails),
		TEST(a_viewer_of_all_regions_sees_errors_of_the_database),
		TEST(a_viewer_of_some_regions_sees_no_errors_of_the_database),
	};

	return cmocka_run_group_tests_name("past", tests, NULL, NULL);
}
