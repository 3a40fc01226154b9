/* HTTPS with client certificates: http_server and http_client together, and each
 * with other peers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_server.h"
#include "tests/support/tls_fixture.h"

#define OPERATOR_URI "rackmesh://r1/operator/ann"

struct world {
	struct rm_loop *loop;
	struct pki *pki;
	struct rm_tls *tls;
	struct rm_tls_files files; /* certificates of the operator */
	struct rm_http_server *server;
	struct rm_http_client *client;
	struct rm_http_tls shows;
	unsigned changes, answers;
	int r;
	long status;
	char body[512], reason[512];
};

#define LARGE (3 << 20)

static void
on_large(struct rm_http_request *request, void *arg)
{
	char *text = malloc(LARGE);
	size_t len;

	assert_non_null(text);
	assert_non_null(rm_http_body(request, &len));
	memset(text, 'a' + (int)(len % 26), LARGE);
	rm_http_reply_plain(request, 200, text, LARGE);
	free(text);
}

static bool
allows(
    const char *identity, enum rm_http_verb verb, char *reason, size_t len, void *arg)
{
	if (strstr(identity, "/operator/") != NULL)
		return true;
	if (verb == RM_HTTP_READ)
		return true;
	snprintf(reason, len, "%s may only look", identity);
	return false;
}

static void
on_who(struct rm_http_request *request, void *arg)
{
	rm_http_reply_json(
	    request, 200, json_pack("{s:s}", "who", rm_http_identity(request)));
}

static void
on_change(struct rm_http_request *request, void *arg)
{
	struct world *w = arg;

	w->changes++;
	on_who(request, arg);
}

static void
on_done(const struct rm_http_answer *answer, void *arg)
{
	struct world *w = arg;

	w->answers++;
	w->r = answer->r;
	w->status = answer->status;
	snprintf(w->body, sizeof(w->body), "%s", answer->body);
	snprintf(w->reason, sizeof(w->reason), "%s", answer->reason);
}

static int
setup(void **state)
{
	static const struct pki_wish server = { .uri = TOR_URI, .dns = "localhost" };
	struct world *w = calloc(1, sizeof(*w));
	struct rm_address address = loopback_address(0);
	struct rm_tls_files files;

	assert_int_equal(rm_loop_new(&w->loop), 0);
	w->pki = pki_new();
	files = pki_issue(w->pki, "server", &server);
	files.revoked = pki_revoke(w->pki, "revoked", NULL, NULL);
	w->tls = tls_of(w->loop, &files);
	w->files =
	    pki_issue(w->pki, "operator", &(struct pki_wish){ .uri = OPERATOR_URI });
	w->shows = (struct rm_http_tls){ w->files.authorities, w->files.certificate,
		w->files.key };
	assert_int_equal(rm_http_server_new(w->loop, &w->server), 0);
	assert_int_equal(rm_http_server_listen(w->server, &address), 0);
	assert_int_equal(rm_http_server_tls_port(w->server), -ENOTCONN);
	assert_int_equal(rm_http_server_listen_tls(w->server, &address, w->tls), 0);
	rm_http_server_authorise(w->server, allows, w);
	rm_http_route(w->server, RM_HTTP_READ, "/v1/who", on_who, w);
	rm_http_route(w->server, RM_HTTP_CHANGE, "/v1/change", on_change, w);
	rm_http_route(w->server, RM_HTTP_CHANGE, "/v1/large", on_large, w);
	assert_int_equal(rm_http_client_new(w->loop, &w->client), 0);
	*state = w;
	return 0;
}

static void
client_anew(struct world *w)
{
	rm_http_client_free(w->client);
	assert_int_equal(rm_http_client_new(w->loop, &w->client), 0);
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
	free(w);
	return 0;
}

static long
ask(struct world *w, const char *scheme, int port, const char *path, const char *body)
{
	char url[128];
	struct rm_http_exchange exchange = {
		.url = url,
		.body = body,
		.body_len = body != NULL ? strlen(body) : 0,
		.tls = &w->shows,
		.timeout_ns = 5 * RM_NS_PER_S,
		.done = on_done,
		.arg = w,
	};
	unsigned before = w->answers;

	snprintf(url, sizeof(url), "%s://127.0.0.1:%d%s", scheme, port, path);
	w->r = rm_http_client_start(w->client, &exchange, NULL);
	if (w->r < 0)
		return 0;
	LOOPBACK_WAIT(w->loop, w->answers > before);
	return w->status;
}

static long
ask_tls(struct world *w, const char *path, const char *body)
{
	return ask(w, "https", rm_http_server_tls_port(w->server), path, body);
}

static void
show(struct world *w, const char *name, const struct pki_wish *wish)
{
	w->files = pki_issue(w->pki, name, wish);
	w->shows.certificate = w->files.certificate;
	w->shows.key = w->files.key;
}

static void
a_handler_knows_the_identity_of_the_client(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask_tls(w, "/v1/who", NULL), 200);
	assert_string_equal(w->body, "{\"who\":\"" OPERATOR_URI "\"}\n");
	assert_int_equal(
	    ask(w, "http", rm_http_server_port(w->server), "/v1/who", NULL), 200);
	assert_string_equal(w->body, "{\"who\":\"\"}\n");
	loopback_run(w->loop, 600 * RM_NS_PER_MS);
	assert_int_equal(rm_tls_counts(w->tls)->handshakes, 1);
}

static void
changes_need_a_role_that_allows_them(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask_tls(w, "/v1/change", "{}"), 200);
	assert_int_equal(w->changes, 1);
	assert_int_equal(
	    ask(w, "http", rm_http_server_port(w->server), "/v1/change", "{}"), 403);
	show(w, "agent", &(struct pki_wish){ .uri = AGENT_URI });
	assert_int_equal(ask_tls(w, "/v1/who", NULL), 200);
	assert_int_equal(ask_tls(w, "/v1/change", "{}"), 403);
	assert_string_equal(w->body, "{\"error\":\"" AGENT_URI " may only look\"}\n");
	assert_int_equal(w->changes, 1);
}

static void
on_large_done(const struct rm_http_answer *answer, void *arg)
{
	struct world *w = arg;

	w->answers++;
	w->status = answer->status;
	assert_int_equal(answer->r, 0);
	assert_int_equal(answer->body_len, LARGE);
	assert_int_equal(answer->body[LARGE - 1], 'a' + 60000 % 26);
}

static void
large_bodies_pass_both_directions_on_one_connection(void **state)
{
	struct world *w = *state;
	static char body[60000];
	char url[128];
	struct rm_http_exchange exchange = {
		.url = url,
		.body = body,
		.body_len = sizeof(body),
		.tls = &w->shows,
		.max_body_bytes = LARGE + 1,
		.timeout_ns = 10 * RM_NS_PER_S,
		.done = on_large_done,
		.arg = w,
	};

	memset(body, 'b', sizeof(body));
	snprintf(url, sizeof(url), "https://127.0.0.1:%d/v1/large",
	    rm_http_server_tls_port(w->server));
	for (unsigned i = 1; i <= 5; i++) {
		assert_int_equal(rm_http_client_start(w->client, &exchange, NULL), 0);
		LOOPBACK_WAIT(w->loop, w->answers == i);
		assert_int_equal(w->status, 200);
	}
	loopback_run(w->loop, 600 * RM_NS_PER_MS);
	assert_int_equal(rm_tls_counts(w->tls)->handshakes, 1);
}

/* The requests are read in full before they are checked. */
static void
large_bodies_of_clients_without_a_certificate_are_not_read(void **state)
{
	struct world *w = *state;
	char *body = malloc(LARGE + 1);

	assert_non_null(body);
	memset(body, 'b', LARGE);
	body[LARGE] = '\0';
	rm_http_server_max_body(w->server, LARGE);
	assert_int_equal(ask_tls(w, "/v1/change", body), 200);
	w->shows.certificate = w->shows.key = NULL;
	client_anew(w);
	ask_tls(w, "/v1/change", body);
	assert_true(w->r < 0 || w->status == 413);
	assert_int_equal(ask_tls(w, "/v1/change", "{}"), 403);
	assert_int_equal(w->changes, 1);
	free(body);
}

static void
without_a_rule_no_client_is_served(void **state)
{
	struct world *w = *state;

	rm_http_server_authorise(w->server, NULL, NULL);
	assert_int_equal(ask_tls(w, "/v1/who", NULL), 403);
	assert_int_equal(ask_tls(w, "/nothing", NULL), 403);
	assert_int_equal(ask_tls(w, "/v1/change", "{}"), 403);
	assert_int_equal(w->changes, 0);
}

static void
clients_with_no_or_a_bad_certificate_are_not_served(void **state)
{
	static const struct pki_wish bad[] = {
		{ .uri = OPERATOR_URI, .expired = true },
		{ .uri = OPERATOR_URI, .other_uri = AGENT_URI },
		{ .uri = OPERATOR_URI, .self_signed = true },
		{ .uri = OPERATOR_URI, .server_only = true },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		show(w, "bad", &bad[i]);
		client_anew(w);
		ask_tls(w, "/v1/who", NULL);
		assert_true(w->r < 0);
		LOOPBACK_WAIT(w->loop, rm_tls_counts(w->tls)->refused == i + 1);
	}
	assert_int_equal(rm_tls_counts(w->tls)->handshakes, 0);
	/* A client without a certificate gets the reason as text, which a browser
	 * shows. */
	w->shows.certificate = w->shows.key = NULL;
	client_anew(w);
	assert_int_equal(ask_tls(w, "/v1/who", NULL), 403);
	assert_non_null(
	    strstr(w->body, "a viewer's or an operator's certificate is needed"));
	assert_int_equal(ask_tls(w, "/nothing", NULL), 403);
	assert_int_equal(ask_tls(w, "/v1/change", "{}"), 403);
	assert_int_equal(w->changes, 0);
	/* The server closed each connection, so that none of them occupies a place. */
	assert_int_equal(rm_tls_counts(w->tls)->handshakes, 3);
	assert_int_equal(rm_tls_counts(w->tls)->unknown, 3);
}

static void
plaintext_on_the_tls_port_is_cut_and_counted(void **state)
{
	struct world *w = *state;

	ask(w, "http", rm_http_server_tls_port(w->server), "/v1/who", NULL);
	assert_true(w->r < 0);
	assert_int_equal(rm_tls_counts(w->tls)->garbled, 1);
}

static void
a_revoked_client_is_not_served_on_an_open_connection(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask_tls(w, "/v1/who", NULL), 200);
	pki_revoke(w->pki, "revoked", NULL, "operator");
	rm_tls_look(w->tls);
	assert_int_equal(ask_tls(w, "/v1/who", NULL), 403);
	assert_non_null(strstr(w->body, "not accepted any more"));
}

static unsigned
descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(folder) != NULL)
		n++;
	closedir(folder);
	return n;
}

static void
half_open_handshakes_end_after_two_seconds_and_leave_nothing(void **state)
{
	struct world *w = *state;
	unsigned before = descriptors();
	rm_mono_t begun = rm_mono_now();
	int fds[64];

	for (int i = 0; i < 64; i++) {
		fds[i] = loopback_connect(rm_http_server_tls_port(w->server));
		assert_int_equal(write(fds[i], "\x16\x03\x01\x02\x00\x01", 6), 6);
	}
	LOOPBACK_WAIT(w->loop, rm_tls_counts(w->tls)->timed_out == 64);
	assert_in_range(rm_mono_since(rm_mono_now(), begun), RM_TLS_HANDSHAKE_NS,
	    RM_TLS_HANDSHAKE_NS + RM_NS_PER_S);
	assert_int_equal(ask_tls(w, "/v1/who", NULL), 200);
	for (int i = 0; i < 64; i++)
		close(fds[i]);
	client_anew(w);
	LOOPBACK_WAIT(w->loop, descriptors() <= before);
}

static void
the_client_trusts_only_the_configured_authority(void **state)
{
	struct world *w = *state;
	struct pki *other = pki_new();

	w->shows.authorities = pki_path(other, "authorities", ".pem");
	ask_tls(w, "/v1/who", NULL);
	assert_int_equal(w->r, -EPROTO);
	assert_non_null(strstr(w->reason, "certificate"));
	w->shows.authorities = NULL; /* with the system's authorities */
	ask_tls(w, "/v1/who", NULL);
	assert_int_equal(w->r, -EPROTO);
	w->shows.authorities = "/nowhere.pem"; /* the client's own mistake */
	ask_tls(w, "/v1/who", NULL);
	assert_int_equal(w->r, -EINVAL);
	pki_free(other);
}

static void
the_client_uses_no_key_that_is_open_to_others(void **state)
{
	struct world *w = *state;

	chmod(w->shows.key, 0640);
	ask_tls(w, "/v1/who", NULL);
	assert_int_equal(w->r, -EACCES);
	assert_int_equal(w->answers, 0);
}

static void
the_next_connection_of_the_client_uses_its_new_files(void **state)
{
	struct world *w = *state;
	struct pki_authority *next = pki_authority(w->pki, "next", NULL);

	assert_int_equal(ask_tls(w, "/v1/who", NULL), 200);
	/* From now on another root signs the certificates of both sides. */
	pki_trust(w->pki, pki_root(w->pki), next);
	pki_issue(w->pki, "server",
	    &(struct pki_wish){ .uri = TOR_URI, .dns = "localhost", .by = next });
	show(w, "operator", &(struct pki_wish){ .uri = AGENT_URI, .by = next });
	rm_tls_look(w->tls);
	assert_int_equal(rm_tls_counts(w->tls)->rotations, 1);
	client_anew(w);
	assert_int_equal(ask_tls(w, "/v1/who", NULL), 200);
	assert_string_equal(w->body, "{\"who\":\"" AGENT_URI "\"}\n");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_handler_knows_the_identity_of_the_client),
		TEST(changes_need_a_role_that_allows_them),
		TEST(large_bodies_pass_both_directions_on_one_connection),
		TEST(large_bodies_of_clients_without_a_certificate_are_not_read),
		TEST(without_a_rule_no_client_is_served),
		TEST(clients_with_no_or_a_bad_certificate_are_not_served),
		TEST(plaintext_on_the_tls_port_is_cut_and_counted),
		TEST(a_revoked_client_is_not_served_on_an_open_connection),
		TEST(half_open_handshakes_end_after_two_seconds_and_leave_nothing),
		TEST(the_client_trusts_only_the_configured_authority),
		TEST(the_client_uses_no_key_that_is_open_to_others),
		TEST(the_next_connection_of_the_client_uses_its_new_files),
	};

	return cmocka_run_group_tests_name("http_tls", tests, NULL, NULL);
}
