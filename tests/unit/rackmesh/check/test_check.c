#include "rackmesh/check/check.h"

#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/config/config.h"
#include "rackmesh/config/user.h"
#include "rackmesh/core/log.h"
#include "rackmesh/http/http_origin.h"
#include "rackmesh/identity/http_places.h"
#include "rackmesh/tls/credentials.h"
#include "tests/support/pki.h"

struct world {
	struct pki *pki;
	struct rm_check check;
	char config[256], folder[256];
	char reported[4096]; /* "E text\n", "W text\n" */
};

static void
keep_line(enum rm_log_level level, const char *line, void *arg)
{
	struct world *w = arg;
	size_t len = strlen(w->reported);

	if (level > RM_LOG_WARNING)
		return;
	snprintf(w->reported + len, sizeof(w->reported) - len, "%c %s\n",
	    level == RM_LOG_ERROR ? 'E' : 'W', line);
}

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->pki = pki_new();
	snprintf(w->folder, sizeof(w->folder), "%s", pki_path(w->pki, "folder", ""));
	snprintf(w->config, sizeof(w->config), "%s", pki_path(w->pki, "x", ".yaml"));
	pki_write(w->pki, w->config, "name: agg1\ntls:\n  certificate: c.pem\n", 0644);
	w->check.path = w->config;
	assert_int_equal(mkdir(w->folder, 0755), 0);
	rm_log_set_sink(keep_line, w);
	*state = w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	rm_log_set_sink(NULL, NULL);
	assert_int_equal(rmdir(w->folder), 0);
	pki_free(w->pki);
	free(w);
	return 0;
}

/* Expects these numbers of errors and warnings since the last call, and a message
 * that contains text. NULL: no message. */
static void
found(struct world *w, unsigned errors, unsigned warnings, const char *text)
{
	if (w->check.errors != errors || w->check.warnings != warnings)
		fail_msg("%u errors, %u warnings: %s", w->check.errors,
		    w->check.warnings, w->reported);
	if (text == NULL)
		assert_string_equal(w->reported, "");
	else if (strstr(w->reported, text) == NULL)
		fail_msg("expected \"%s\" in: %s", text, w->reported);
	w->check.errors = w->check.warnings = 0;
	w->reported[0] = '\0';
}

static const char *const tors[] = { "tor1", "tor2" };
static const struct rm_identity_claim claim = {
	.role = RM_ROLE_AGGREGATOR,
	.region = "r1",
	.name = "agg1",
	.tors = tors,
	.tor_count = 2,
};

static void
check_files(struct world *w, const struct rm_tls_files *files)
{
	const struct rm_credentials_config config = {
		.certificate = (char *)files->certificate,
		.key = (char *)files->key,
		.authorities = (char *)files->authorities,
		.revoked = (char[]){ "" },
	};

	rm_check_credentials(&w->check, &config, &claim, "agg1");
}

static void
check_wish(struct world *w, const struct pki_wish *wish)
{
	struct rm_tls_files files = pki_issue(w->pki, "own", wish);

	check_files(w, &files);
}

#define GOOD "rackmesh://r1/aggregator/agg1/tor1,tor2,tor3"

static void
a_good_certificate_makes_no_finding(void **state)
{
	struct world *w = *state;

	check_wish(w, &(struct pki_wish){ .uri = GOOD });
	found(w, 0, 0, NULL);
}

static void
a_problem_that_prevents_the_start_is_an_error(void **state)
{
	struct world *w = *state;
	struct rm_tls_files files;

	check_wish(w, &(struct pki_wish){ .uri = GOOD, .expired = true });
	found(w, 1, 0, "tls.certificate: ");
	check_wish(w, &(struct pki_wish){ .uri = GOOD, .expired = true });
	found(w, 1, 0, "own.pem: certificate has expired: renew it");
	check_wish(w, &(struct pki_wish){ .uri = GOOD, .foreign_key = true });
	found(w, 1, 0, "own.key: is not the key of ");
	check_wish(w, &(struct pki_wish){ .uri = GOOD, .self_signed = true });
	found(w, 1, 0,
	    "own.pem: self-signed certificate: its authority is not in the file of "
	    "authorities");
	check_wish(w, &(struct pki_wish){ .uri = GOOD, .other_uri = "urn:x" });
	found(w, 1, 0, "has 2 URIs as names");

	files = pki_issue(w->pki, "own", &(struct pki_wish){ .uri = GOOD });
	assert_int_equal(chmod(files.key, 0644), 0);
	check_files(w, &files);
	found(w, 1, 0, "has mode 0644, expected 0600 or 0400\n");
	assert_int_equal(unlink(files.key), 0);
	check_files(w, &files);
	found(w, 1, 0, "x.yaml:3:3: tls.key: ");
}

static void
a_certificate_of_another_identity_is_an_error_that_names_both(void **state)
{
	struct world *w = *state;
	struct rm_identity_claim nameless = { .role = RM_ROLE_ANALYZER };
	struct rm_tls_files files;

	check_wish(
	    w, &(struct pki_wish){ .uri = "rackmesh://r1/aggregator/agg2/tor1" });
	found(w, 1, 0, "the certificate is of 'agg2', and the config says 'agg1'");
	check_wish(
	    w, &(struct pki_wish){ .uri = "rackmesh://r2/aggregator/agg1/tor1,tor2" });
	found(w, 1, 0, "of region 'r2', and the config says region 'r1'");
	check_wish(w, &(struct pki_wish){ .uri = "rackmesh://r1/agent/agg1" });
	found(w, 1, 0, "of role 'agent', and this daemon's is 'aggregator'");
	check_wish(
	    w, &(struct pki_wish){ .uri = "rackmesh://r1/aggregator/agg1/tor1" });
	found(w, 1, 0, "does not name ToR 'tor2', which the config lists");
	check_wish(w, &(struct pki_wish){ .uri = "spiffe://r1/ns/a/sa/b" });
	found(w, 1, 0, "is not an identity of Rackmesh: 'spiffe://r1/ns/a/sa/b'");
	check_wish(
	    w, &(struct pki_wish){ .uri = "spiffe://r1/aggregator/agg1/tor1/tor2" });
	found(w, 0, 0, NULL);

	/* A name for which no peer connects is reported; the check goes on. */
	files = pki_issue(
	    w->pki, "own", &(struct pki_wish){ .uri = "rackmesh://*/analyzer/a1" });
	rm_check_credentials(&w->check,
	    &(struct rm_credentials_config){ .certificate = (char *)files.certificate,
		.key = (char *)files.key,
		.authorities = (char *)files.authorities,
		.revoked = (char[]){ "" } },
	    &nameless, "a2");
	found(w, 0, 1, "W ");
}

/* Less than a fifth of its life is left: the renewal must have failed. */
static void
a_certificate_that_ends_soon_is_a_warning(void **state)
{
	struct world *w = *state;

	check_wish(w, &(struct pki_wish){ .uri = GOOD, .ending = true });
	found(w, 0, 1, "less than a fifth of its life is left: renew it");
}

static void
plaintext_is_a_warning(void **state)
{
	struct world *w = *state;

	rm_check_credentials(&w->check,
	    &(struct rm_credentials_config){ .plaintext = true }, &claim, "agg1");
	found(w, 0, 1, "plaintext: identities of peers are not checked");
}

static void
a_folder_is_writable_or_can_be_made(void **state)
{
	struct world *w = *state;
	char path[512];

	rm_check_folder(&w->check, "state_folder", "");
	rm_check_folder(&w->check, "state_folder", w->folder);
	snprintf(path, sizeof(path), "%s/new", w->folder);
	rm_check_folder(&w->check, "state_folder", path);
	found(w, 0, 0, NULL);
	assert_int_equal(access(path, F_OK), -1); /* and the check did not create it */

	snprintf(path, sizeof(path), "%s/no/such", w->folder);
	rm_check_folder(&w->check, "state_folder", path);
	found(w, 1, 0, "No such file or directory; create it, or name another folder");
	rm_check_folder(&w->check, "state_folder", w->config);
	found(w, 1, 0, "Not a directory; name another folder");
	rm_check_folder(&w->check, "state_folder", "tmp");
	found(w, 0, 1, "expected a path that begins with /");
	/* systemd creates this folder: StateDirectory=. */
	rm_check_folder(&w->check, "state_folder", "/var/lib/rackmesh/no-such-daemon");
	found(w, 0, 1, "its unit creates it at the start");
}

static void
an_address_to_listen_on_is_one_of_this_host(void **state)
{
	struct world *w = *state;

	rm_check_listen(&w->check, "listen", "127.0.0.1:0");
	rm_check_listen(&w->check, "listen", "[::1]:0");
	rm_check_listen(&w->check, "listen", "0.0.0.0:7471");
	found(w, 0, 0, NULL);
	rm_check_listen(&w->check, "listen", "192.0.2.7:7471");
	found(w, 1, 0, "192.0.2.7:7471: this host does not have that address");
	rm_check_listen(&w->check, "http.tls_listen", "localhost");
	found(w, 1, 0,
	    "with a port, as 127.0.0.1:7471 or [::1]:7471, found \"localhost\"");
}

static void
a_port_is_listened_on_only_once(void **state)
{
	struct world *w = *state;

	rm_check_listen(&w->check, "listen", "127.0.0.1:7471");
	rm_check_listen(&w->check, "http.listen", "127.0.0.2:7471");
	rm_check_listen(&w->check, "http.tls_listen", "[::1]:7471");
	found(w, 0, 0, NULL);
	rm_check_listen(&w->check, "http.tls_listen", "127.0.0.1:7471");
	found(w, 1, 0,
	    "http.tls_listen: 127.0.0.1:7471: listen listens there, too "
	    "(127.0.0.1:7471); give another port");
	w->check.listen_count = 0;
	rm_check_listen(&w->check, "listen", "0.0.0.0:7471");
	rm_check_listen(&w->check, "http.listen", "127.0.0.1:7471");
	found(w, 1, 0, "http.listen: 127.0.0.1:7471: listen listens there, too");
	/* Port 0: any free port. */
	rm_check_listen(&w->check, "listen", "127.0.0.1:0");
	rm_check_listen(&w->check, "http.listen", "127.0.0.1:0");
	found(w, 0, 0, NULL);
}

static void
a_server_has_one_url_and_its_password_is_not_shown(void **state)
{
	struct world *w = *state;
	char *texts[] = { (char[]){ "http://10.0.0.1:9093" },
		(char[]){ "https://me:hidden@[fd00::1]/hidden" },
		(char[]){ "http://10.0.0.1:9093" },
		(char[]){ "http://0.0.0.0:9093/hidden" } };

	rm_check_urls(&w->check, "alerts.webhooks", &(struct rm_list){ texts, 2 });
	found(w, 0, 0, NULL);
	rm_check_urls(&w->check, "alerts.webhooks", &(struct rm_list){ texts, 4 });
	assert_null(strstr(w->reported, "hidden"));
	found(w, 1, 1, "webhooks[2]: listed twice");
}

static void
http_is_served_where_it_can_be(void **state)
{
	struct world *w = *state;
	const struct rm_credentials_config plain = { .plaintext = true };
	char path[512];

	snprintf(path, sizeof(path), "%s/sock", w->folder);
	rm_check_http(&w->check,
	    &(struct rm_http_places){ .tcp = "127.0.0.1:0", .socket = path, .tls = "" },
	    &plain);
	found(w, 0, 0, NULL);
	rm_check_http(&w->check,
	    &(struct rm_http_places){
		.tcp = "", .socket = w->config, .tls = "127.0.0.1:0" },
	    &plain);
	found(w, 2, 0, "exists and is not a socket");
}

/* With http.tls_listen and tokens: checks what would prevent clients from
 * connecting. */
static void
check_https(struct world *w, const struct pki_wish *wish, const char *tokens)
{
	const struct rm_tls_files files = pki_issue(w->pki, "own", wish);

	rm_check_http(&w->check,
	    &(struct rm_http_places){
		.tcp = "", .socket = "", .tls = "127.0.0.1:0", .tokens = tokens },
	    &(struct rm_credentials_config){
		.certificate = (char *)files.certificate });
}

static void
problems_that_do_not_prevent_the_start_are_warnings(void **state)
{
	struct world *w = *state;
	const char *tokens = pki_path(w->pki, "viewers", ".tokens");
	char path[512];

	snprintf(path, sizeof(path), "%s", tokens);
	check_https(w, &(struct pki_wish){ .uri = GOOD, .dns = "agg1.example" }, NULL);
	found(w, 0, 0, NULL);
	check_https(w, &(struct pki_wish){ .uri = GOOD }, "");
	found(w, 0, 1, "own.pem has neither a DNS name nor an IP address");
	check_https(w, &(struct pki_wish){ .uri = GOOD, .dns = "agg1.example" }, path);
	found(w, 1, 0, "viewers.tokens: No such file");
	pki_write(w->pki, path, "ann short\n", 0600);
	check_https(w, &(struct pki_wish){ .uri = GOOD, .dns = "agg1.example" }, path);
	found(w, 1, 0, "viewers.tokens:1: a token has 32 to 128 characters");
}

static void
a_peer_is_one_host(void **state)
{
	struct world *w = *state;
	char *texts[] = { (char[]){ "10.0.0.1:7481" }, (char[]){ "0.0.0.0:7481" },
		(char[]){ "10.0.0.1:7481" }, (char[]){ "224.0.0.1:7481" },
		(char[]){ "10.0.0.2:0" } };

	rm_check_peers(&w->check, "controllers", &(struct rm_list){ texts, 5 });
	found(w, 3, 1, "controllers[2]: listed twice");
}

/* On a bare host even this name need not have an address. */
static void
a_name_of_a_peer_is_looked_up(void **state)
{
	struct world *w = *state;
	char *texts[] = { (char[]){ "localhost:7481" } };
	struct addrinfo *info = NULL;
	const int r = getaddrinfo("localhost", NULL, NULL, &info);

	if (r == 0)
		freeaddrinfo(info);
	rm_check_peers(&w->check, "controllers", &(struct rm_list){ texts, 1 });
	/* The name does not exist, or no name server answered. */
	found(w, r == EAI_NONAME, r == EAI_AGAIN,
	    r == 0 ? NULL : "controllers[0]: cannot resolve localhost: ");
}

static void
certificates_for_others_servers_are_read(void **state)
{
	struct world *w = *state;
	char nowhere[] = "/nowhere.pem";

	rm_check_origin(&w->check, "alerts",
	    &(struct rm_http_origin){
		.authorities = w->config, .certificate = nowhere });
	found(w, 1, 0, "alerts.certificate: cannot read /nowhere.pem");
}

/* Root refuses a key of another user and can write to every folder; the daemon's
 * user meets other results. This test runs last: the user cannot be changed back. */
static void
access_is_checked_with_the_rights_of_the_given_user(void **state)
{
	struct world *w = *state;
	struct rm_tls_files files;
	struct rm_error error = { 0 };

	assert_true(rm_user_become("no-such-user", &error) < 0);
	assert_string_equal(error.text, "user no-such-user: there is none");
	if (geteuid() != 0)
		skip();
	files = pki_issue(w->pki, "own", &(struct pki_wish){ .uri = GOOD });
	assert_int_equal(chmod(w->folder, 0700), 0);
	if (rm_user_become("nobody", &error) < 0)
		fail_msg("%s", error.text);
	rm_check_folder(&w->check, "state_folder", w->folder);
	check_files(w, &files);
	assert_int_equal(seteuid(0), 0);
	found(w, 2, 0, "Permission denied");

	assert_int_equal(chown(files.key, 65534, 65534), 0);
	assert_int_equal(chmod(pki_path(w->pki, ".", ""), 0755), 0);
	check_files(w, &files);
	found(w, 1, 0, "belongs to user 65534, expected 0 or root");
	assert_int_equal(rm_user_become("nobody", &error), 0);
	check_files(w, &files);
	assert_int_equal(seteuid(0), 0);
	found(w, 0, 0, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_good_certificate_makes_no_finding),
		TEST(a_problem_that_prevents_the_start_is_an_error),
		TEST(a_certificate_of_another_identity_is_an_error_that_names_both),
		TEST(a_certificate_that_ends_soon_is_a_warning),
		TEST(plaintext_is_a_warning),
		TEST(problems_that_do_not_prevent_the_start_are_warnings),
		TEST(a_folder_is_writable_or_can_be_made),
		TEST(an_address_to_listen_on_is_one_of_this_host),
		TEST(a_port_is_listened_on_only_once),
		TEST(a_server_has_one_url_and_its_password_is_not_shown),
		TEST(http_is_served_where_it_can_be),
		TEST(a_peer_is_one_host),
		TEST(a_name_of_a_peer_is_looked_up),
		TEST(certificates_for_others_servers_are_read),
		TEST(access_is_checked_with_the_rights_of_the_given_user),
	};

	return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
