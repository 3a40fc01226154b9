/* The HTTP listeners of a daemon, as every daemon opens them: who may do what over
 * each. */
#include "rackmesh/identity/http_places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/log.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/identity/viewer_tokens.h"
#include "tests/support/tls_fixture.h"

struct world {
	struct rm_loop *loop;
	struct pki *pki;
	struct rm_tls *tls;
	struct rm_http_server *server;
	struct rm_http_client *client;
	struct rm_http_tls shows;
	char socket[64], tokens[96]; /* "": no token */
	unsigned reads, changes, answers;
	int r;
	long status;
	char body[256];
	const char *const *headers; /* NULL: not sent */
	const char *bearer, *user, *password;
	unsigned warnings;
	char warning[512];
};

static void
on_line(enum rm_log_level level, const char *line, void *arg)
{
	struct world *w = arg;

	w->warnings += level == RM_LOG_WARNING;
	snprintf(w->warning, sizeof(w->warning), "%s", line);
}

static void
on_read(struct rm_http_request *request, void *arg)
{
	((struct world *)arg)->reads++;
	rm_http_reply_text(request, 200, "{}", 2);
}

static void
on_change(struct rm_http_request *request, void *arg)
{
	((struct world *)arg)->changes++;
	rm_http_reply_text(request, 200, "{}", 2);
}

static void
on_done(const struct rm_http_answer *answer, void *arg)
{
	struct world *w = arg;

	w->answers++;
	w->r = answer->r;
	w->status = answer->status;
	snprintf(w->body, sizeof(w->body), "%s", answer->body);
}

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct rm_tls_files files;

	*state = w;
	assert_int_equal(rm_loop_new(&w->loop), 0);
	rm_log_set_sink(on_line, w);
	w->pki = pki_new();
	files = pki_issue(
	    w->pki, "server", &(struct pki_wish){ .uri = TOR_URI, .dns = "localhost" });
	w->tls = tls_of(w->loop, &files);
	w->shows.authorities = files.authorities;
	snprintf(w->socket, sizeof(w->socket), "/tmp/rackmesh-places-%d.sock",
	    (int)getpid());
	assert_int_equal(rm_http_server_new(w->loop, &w->server), 0);
	rm_http_route(w->server, RM_HTTP_READ, "/v1/read", on_read, w);
	rm_http_route(w->server, RM_HTTP_CHANGE, "/v1/change", on_change, w);
	assert_int_equal(rm_http_client_new(w->loop, &w->client), 0);
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	rm_http_client_free(w->client);
	rm_http_server_free(w->server);
	rm_tls_free(w->tls);
	rm_loop_free(w->loop);
	pki_free(w->pki);
	rm_log_set_sink(NULL, NULL);
	free(w);
	return 0;
}

static int
listen_at(struct world *w, const char *tcp, const char *socket, const char *tls)
{
	static char mesh[] = "mesh.example";
	static char *items[] = { mesh };
	static const struct rm_list names = { items, 1 };
	const struct rm_http_places places = { tcp, socket, tls, w->tokens,
		.names = &names };
	struct rm_error error = { 0 };

	return rm_http_places_listen(w->server, &places, w->tls, "r1", &error);
}

/* place: "http://127.0.0.1:PORT" or "unix:PATH:". Returns the status; 0: no answer. */
static long
ask(struct world *w, const char *place, bool change)
{
	char url[192];
	struct rm_http_exchange exchange = {
		.url = url,
		.body = change ? "{}" : NULL,
		.body_len = change ? 2 : 0,
		.tls = &w->shows,
		.headers = w->headers,
		.bearer = w->bearer,
		.user = w->user,
		.password = w->password,
		.timeout_ns = 5 * RM_NS_PER_S,
		.done = on_done,
		.arg = w,
	};
	unsigned before = w->answers;

	snprintf(url, sizeof(url), "%s%s", place, change ? "/v1/change" : "/v1/read");
	w->status = 0;
	if (rm_http_client_start(w->client, &exchange, NULL) < 0)
		return 0;
	LOOPBACK_WAIT(w->loop, w->answers > before);
	return w->r == 0 ? w->status : 0;
}

static void
only_the_unix_socket_and_operators_may_change_something(void **state)
{
	static const struct {
		const char *uri; /* NULL: no certificate */
		long read, change;
	} clients[] = {
		{ "rackmesh://r1/operator/ann", 200, 200 },
		{ "rackmesh://*/operator/ann", 200, 200 },
		{ "rackmesh://r1/viewer/bob", 200, 403 },
		{ "rackmesh://r2,r1/operator/pam", 200, 200 },
		{ "rackmesh://r2/operator/eve", 403, 403 },
		{ "rackmesh://r2,r11/viewer/joe", 403, 403 },
		{ AGENT_URI, 403, 403 },
		{ TOR_URI, 403, 403 },
		{ NULL, 403, 403 },
	};
	const size_t count = sizeof(clients) / sizeof(clients[0]);
	struct world *w = *state;
	char tcp[64], sealed[64], local[96];

	assert_int_equal(listen_at(w, "127.0.0.1:0", w->socket, "127.0.0.1:0"), 0);
	assert_int_equal(w->warnings, 0);
	snprintf(
	    tcp, sizeof(tcp), "http://127.0.0.1:%d", rm_http_server_port(w->server));
	snprintf(sealed, sizeof(sealed), "https://127.0.0.1:%d",
	    rm_http_server_tls_port(w->server));
	snprintf(local, sizeof(local), "unix:%s:", w->socket);

	assert_int_equal(ask(w, tcp, false), 200);
	assert_int_equal(ask(w, tcp, true), 403);
	assert_int_equal(w->changes, 0);
	assert_int_equal(ask(w, local, false), 200);
	assert_int_equal(ask(w, local, true), 200);
	assert_int_equal(w->changes, 1);
	w->reads = w->changes = 0;
	for (size_t i = 0; i < count; i++) {
		struct rm_tls_files files;

		/* A kept connection would still have the previous certificate. */
		rm_http_client_free(w->client);
		assert_int_equal(rm_http_client_new(w->loop, &w->client), 0);
		w->shows.certificate = w->shows.key = NULL;
		if (clients[i].uri != NULL) {
			files = pki_issue(w->pki, "person",
			    &(struct pki_wish){ .uri = clients[i].uri });
			w->shows.certificate = files.certificate;
			w->shows.key = files.key;
		}
		assert_int_equal(ask(w, sealed, false), clients[i].read);
		assert_int_equal(ask(w, sealed, true), clients[i].change);
	}
	assert_int_equal(w->reads, 4);
	assert_int_equal(w->changes, 3);
}

/* A browser sends its user's certificate with the forms of any page. */
static void
no_web_page_changes_anything(void **state)
{
	static const char *const of_a_page[] = { "Origin: https://elsewhere.example",
		NULL };
	struct world *w = *state;
	char local[96];

	assert_int_equal(listen_at(w, "", w->socket, ""), 0);
	snprintf(local, sizeof(local), "unix:%s:", w->socket);
	assert_int_equal(ask(w, local, true), 200);
	w->headers = of_a_page;
	assert_int_equal(ask(w, local, true), 403);
	assert_int_equal(ask(w, local, false), 200);
	assert_int_equal(w->changes, 1);
}

/* Otherwise a page of another site could read answers, by a name of its own that it
 * lets resolve to this host. */
static void
a_request_to_loopback_by_a_foreign_name_is_refused(void **state)
{
	static const char *const rebound[] = { "Host: rebound.example:9474", NULL };
	static const char *const proxied[] = { "Host: mesh.example", NULL };
	static const char *const by_v6[] = { "Host: [::1]:9474", NULL };
	static const char *const foreign[] = { "Host: no\xc3\xa4\xe4!", NULL };
	struct world *w = *state;
	char tcp[64], local[96];

	assert_int_equal(listen_at(w, "127.0.0.1:0", w->socket, ""), 0);
	snprintf(
	    tcp, sizeof(tcp), "http://127.0.0.1:%d", rm_http_server_port(w->server));
	snprintf(local, sizeof(local), "unix:%s:", w->socket);
	w->headers = proxied;
	assert_int_equal(ask(w, tcp, false), 200);
	w->headers = by_v6;
	assert_int_equal(ask(w, tcp, false), 200);
	w->headers = rebound;
	/* No browser uses the Unix socket. */
	assert_int_equal(ask(w, local, true), 200);
	assert_int_equal(*rm_http_server_misdirected(w->server), 0);
	w->warnings = 0;
	assert_int_equal(ask(w, tcp, false), 421);
	assert_non_null(
	    strstr(w->body, "'rebound.example' is not a name of this host: ask for"));
	assert_int_equal(ask(w, tcp, true), 421);
	assert_non_null(
	    strstr(w->warning, "its Host \"rebound.example\" is not a name"));
	w->headers = foreign;
	assert_int_equal(ask(w, tcp, false), 421);
	assert_non_null(
	    strstr(w->body, "'no\xc3\xa4?!' is not a name of this host: ask"));
	assert_int_equal(*rm_http_server_misdirected(w->server), 3);
	assert_int_equal(w->reads, 2);
}

#define ANNS "0123456789abcdef0123456789abcdef"
#define BOBS "0123456789abcdef0123456789abcdeF"
#define EVES "0123456789abcdef0123456789abcdEF"

static void
tokens_report(struct world *w, const char *text)
{
	FILE *file = fopen(w->tokens, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(w->tokens, 0600), 0);
}

/* Sends the token in both forms: a program's bearer token and a browser's password. */
static long
ask_with(struct world *w, const char *place, const char *token, bool change)
{
	long as_bearer;

	w->bearer = token;
	as_bearer = ask(w, place, change);
	w->bearer = NULL;
	w->user = "whoever";
	w->password = token;
	assert_int_equal(ask(w, place, change), as_bearer);
	w->user = w->password = NULL;
	return as_bearer;
}

static void
a_viewers_token_is_valid_while_it_is_in_the_file(void **state)
{
	struct world *w = *state;
	char sealed[64];

	snprintf(w->tokens, sizeof(w->tokens), "%s.tokens", w->socket);
	assert_int_equal(listen_at(w, "", "", "127.0.0.1:0"), -ENODATA);
	/* As editors of other systems save it, and without the last newline. */
	tokens_report(w, "# people\r\n\r\nann " ANNS "\r\nbob\t" BOBS " r2,r1 \r\n"
			 "eve " EVES " r2");
	assert_int_equal(listen_at(w, "", "", "127.0.0.1:0"), 0);
	snprintf(sealed, sizeof(sealed), "https://127.0.0.1:%d",
	    rm_http_server_tls_port(w->server));

	assert_int_equal(ask(w, sealed, false), 401);
	assert_non_null(strstr(w->body, "a certificate or a viewer's token is needed"));
	assert_int_equal(ask_with(w, sealed, ANNS, false), 200);
	assert_int_equal(ask_with(w, sealed, BOBS, false), 200);
	assert_int_equal(ask_with(w, sealed, EVES, false), 403);
	assert_int_equal(ask_with(w, sealed, BOBS "0", false), 401);
	assert_int_equal(ask_with(w, sealed, "ann", false), 401);
	assert_int_equal(ask_with(w, sealed, ANNS, true), 403);
	assert_non_null(strstr(w->body, "viewer 'ann' of region '*' may not change"));

	tokens_report(w, "ann " ANNS "\n");
	assert_int_equal(ask_with(w, sealed, BOBS, false), 401);
	assert_int_equal(ask_with(w, sealed, ANNS, false), 200);
	assert_int_equal(w->warnings, 0);
	assert_int_equal(chmod(w->tokens, 0644), 0);
	assert_int_equal(ask_with(w, sealed, ANNS, false), 503);
	assert_non_null(strstr(w->warning, "http.tokens_file: "));
	assert_null(strstr(w->warning, ANNS));
	assert_int_equal(w->changes, 0);
	unlink(w->tokens);
}

static void
a_malformed_file_of_tokens_is_refused_with_the_line(void **state)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{ "ann\n", ":1: expected a name, a token and" },
		{ "ann " ANNS " r1 more\n", ":1: expected a name, a token and" },
		{ "ann " ANNS " r1,\n", ":1: regions are names" },
		{ "ann " ANNS " ../r1\n", ":1: regions are names" },
		{ "ann " ANNS " r1, r2\n", ":1: " },
		{ "# a\nann short\n", ":2: a token has 32 to 128 characters" },
		{ "ann/../x " ANNS "\n", ":1: a name has" },
	};
	struct world *w = *state;

	snprintf(w->tokens, sizeof(w->tokens), "%s.tokens", w->socket);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rm_error failure = { 0 };

		tokens_report(w, bad[i].text);
		assert_int_equal(rm_viewer_tokens_check(w->tokens, &failure), -EINVAL);
		assert_non_null(strstr(failure.text, bad[i].error));
		assert_null(strstr(failure.text, ANNS));
	}
	unlink(w->tokens);
}

static void
a_config_that_lets_every_client_read_gives_a_warning(void **state)
{
	static const char *const loopbacks[] = { "", "127.0.0.1:0", "127.1.2.3:0",
		"[::1]:0" };
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(loopbacks) / sizeof(loopbacks[0]); i++)
		/* This fails on a host without IPv6. */
		(void)listen_at(w, loopbacks[i], "", "");
	assert_int_equal(listen_at(w, "", w->socket, "0.0.0.0:0"), 0);
	assert_int_equal(w->warnings, 0);
	assert_int_equal(listen_at(w, "0.0.0.0:0", "", ""), 0);
	assert_int_equal(w->warnings, 1);
	assert_non_null(strstr(w->warning,
	    "http.listen: opened without TLS: every host that reaches 0.0.0.0:0 can "
	    "read; use http.tls_listen for other hosts, and 127.0.0.1 here"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_the_unix_socket_and_operators_may_change_something),
		TEST(no_web_page_changes_anything),
		TEST(a_request_to_loopback_by_a_foreign_name_is_refused),
		TEST(a_viewers_token_is_valid_while_it_is_in_the_file),
		TEST(a_malformed_file_of_tokens_is_refused_with_the_line),
		TEST(a_config_that_lets_every_client_read_gives_a_warning),
	};

	return cmocka_run_group_tests_name("http_places", tests, NULL, NULL);
}
