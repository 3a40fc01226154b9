#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include "rackmesh/core/file.h"
#include "tests/support/tls_fixture.h"

/*
 * A peer whose certificate our own code would not even load: plain OpenSSL, which
 * accepts any certificate, at the other end of the connection.
 */
struct bad_peer {
	SSL_CTX *ctx;
	SSL *ssl;
	int fd;
};

static int
believe(X509_STORE_CTX *ctx, void *arg)
{
	return 1;
}

static void
unknown_peer_begin(
    struct bad_peer *bad_peer, const struct rm_tls_files *files, int fd, bool accepting)
{
	bad_peer->fd = fd;
	bad_peer->ctx =
	    SSL_CTX_new(accepting ? TLS_server_method() : TLS_client_method());
	SSL_CTX_set_security_level(bad_peer->ctx, 0);
	SSL_CTX_set_verify(bad_peer->ctx, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_cert_verify_callback(bad_peer->ctx, believe, NULL);
	if (files != NULL) {
		assert_int_equal(SSL_CTX_use_certificate_chain_file(
				     bad_peer->ctx, files->certificate),
		    1);
		assert_int_equal(SSL_CTX_use_PrivateKey_file(
				     bad_peer->ctx, files->key, SSL_FILETYPE_PEM),
		    1);
	}
	bad_peer->ssl = SSL_new(bad_peer->ctx);
	evutil_make_socket_nonblocking(fd);
	SSL_set_fd(bad_peer->ssl, fd);
	if (accepting)
		SSL_set_accept_state(bad_peer->ssl);
	else
		SSL_set_connect_state(bad_peer->ssl);
}

static void
unknown_peer_end(struct bad_peer *bad_peer)
{
	SSL_free(bad_peer->ssl);
	SSL_CTX_free(bad_peer->ctx);
	close(bad_peer->fd);
}

/* One step of the peer's handshake. False: the peer has given up. */
static bool
unknown_peer_moves(struct bad_peer *bad_peer)
{
	char byte;
	int r = SSL_read(bad_peer->ssl, &byte, 1);

	return r > 0 || SSL_get_error(bad_peer->ssl, r) == SSL_ERROR_WANT_READ;
}

/* Connects the peer to our end, which has this role. Returns how it ended. */
static int
meet(struct ends *ends, struct end *end, bool accepting,
    const struct rm_tls_files *files)
{
	struct bad_peer bad_peer;
	int fds[2], reason;

	loopback_pair(fds, 0);
	end->closes = end->opens = 0;
	end_begin(ends->loop, end, fds[0], accepting);
	unknown_peer_begin(&bad_peer, files, fds[1], !accepting);
	LOOPBACK_WAIT(ends->loop,
	    (unknown_peer_moves(&bad_peer), end->closes > 0) || end->opens > 0);
	reason = end->closes > 0 ? end->reason : 0;
	end_hang_up(end);
	unknown_peer_end(&bad_peer);
	return reason;
}

static const struct {
	const char *name;
	struct pki_wish wish;
	const char *reports; /* our error; NULL: accepted */
	/* The roles that the certificate is valid for. */
	enum { ANY, SERVER_ONLY, CLIENT_ONLY } when;
} pending_conns[] = {
	{ "good", { .uri = AGENT_URI }, NULL, ANY },
	{ "good with other names",
	    { .uri = AGENT_URI, .dns = "h1", .common_name = "h1" }, NULL, ANY },
	{ "good of another kind of key", { .uri = AGENT_URI, .rsa = true }, NULL, ANY },
	{ "good for clients", { .uri = AGENT_URI, .client_only = true },
	    "does not allow servers", CLIENT_ONLY },
	{ "good for servers", { .uri = AGENT_URI, .server_only = true },
	    "does not allow clients", SERVER_ONLY },
	{ "expired", { .uri = AGENT_URI, .expired = true }, "has expired", ANY },
	{ "not yet valid", { .uri = AGENT_URI, .not_yet = true }, "not yet valid",
	    ANY },
	{ "two URIs", { .uri = AGENT_URI, .other_uri = TOR_URI }, "more than one URI",
	    ANY },
	{ "no URI", { .dns = "h1" }, "no URI", ANY },
	{ "no names", { 0 }, "no URI", ANY },
	{ "a zero byte in its URI", { .uri = AGENT_URI, .zero_in_uri = true },
	    "its URI is not printable", ANY },
	{ "no usage", { .uri = AGENT_URI, .no_usage = true }, "extended key usage",
	    ANY },
	{ "self-signed", { .uri = AGENT_URI, .self_signed = true }, "self-signed",
	    ANY },
	{ "SHA-1", { .uri = AGENT_URI, .sha1 = true }, "digest algorithm too weak",
	    ANY },
	{ "a short key", { .uri = AGENT_URI, .short_key = true }, "key too weak", ANY },
	{ "an unknown critical extension",
	    { .uri = AGENT_URI, .unknown_critical = true },
	    "unhandled critical extension", ANY },
	{ "an authority's", { .uri = AGENT_URI, .authority = true },
	    "certificate of an authority", ANY },
};

static void
judge(struct ends *ends, const struct rm_tls_files *files, const char *name,
    const char *reports, bool accepting)
{
	struct end *end = accepting ? &ends->accepting : &ends->dialing;
	uint64_t refused = rm_tls_counts(end->tls)->refused;
	int r = meet(ends, end, accepting, files);

	if (reports == NULL) {
		if (r != 0 || end->opens != 1)
			fail_msg("%s: turned away: %d %s", name, r, end->cause);
		assert_string_equal(end->identity, AGENT_URI);
		return;
	}
	if (r != -EACCES || end->opens != 0)
		fail_msg("%s: %d, %u opens: %s", name, r, end->opens, end->cause);
	if (strstr(end->cause, reports) == NULL)
		fail_msg("%s: %s", name, end->cause);
	assert_int_equal(rm_tls_counts(end->tls)->refused, refused + 1);
}

static void
every_bad_certificate_is_refused_in_both_roles(void **state)
{
	struct ends *ends = *state;

	for (size_t i = 0; i < sizeof(pending_conns) / sizeof(pending_conns[0]); i++) {
		struct rm_tls_files files =
		    pki_issue(ends->pki, "stranger", &pending_conns[i].wish);
		const char *reports = pending_conns[i].reports;

		/* We accept: the peer is a client. */
		judge(ends, &files, pending_conns[i].name,
		    pending_conns[i].when == CLIENT_ONLY ? NULL : reports, true);
		judge(ends, &files, pending_conns[i].name,
		    pending_conns[i].when == SERVER_ONLY ? NULL : reports, false);
	}
}

static void
a_certificate_of_another_authority_is_refused(void **state)
{
	struct ends *ends = *state;
	struct pki *other = pki_new();
	struct rm_tls_files files =
	    pki_issue(other, "stranger", &(struct pki_wish){ .uri = AGENT_URI });

	/* The same names with other keys. */
	judge(ends, &files, "foreign", "unable to get local issuer", true);
	judge(ends, &files, "foreign", "unable to get local issuer", false);
	pki_free(other);
}

static void
an_intermediate_certificate_is_accepted_as_issuer_and_a_leaf_is_not(void **state)
{
	struct ends *ends = *state;
	struct pki_authority *middle =
	    pki_authority(ends->pki, "middle", pki_root(ends->pki));
	struct pki_authority *deep = middle;
	struct rm_tls_files files;

	files = pki_issue(ends->pki, "stranger",
	    &(struct pki_wish){ .uri = AGENT_URI, .by = middle });
	judge(ends, &files, "intermediate", NULL, true);
	for (int i = 0; i < 6; i++)
		deep = pki_authority(ends->pki, "deep", deep);
	files = pki_issue(
	    ends->pki, "stranger", &(struct pki_wish){ .uri = AGENT_URI, .by = deep });
	judge(ends, &files, "too deep", "", true);
}

static void
a_revoked_intermediate_revokes_all_that_it_has_signed(void **state)
{
	struct ends *ends = *state;
	struct pki_authority *middle =
	    pki_authority(ends->pki, "middle", pki_root(ends->pki));
	struct rm_tls_files own, files;

	rm_tls_free(ends->accepting.tls);
	own = pki_issue(ends->pki, "accepting", &(struct pki_wish){ .uri = TOR_URI });
	own.revoked = pki_revoke(ends->pki, "revoked", NULL, NULL);
	ends->accepting.tls = tls_of(ends->loop, &own);
	files = pki_issue(ends->pki, "stranger",
	    &(struct pki_wish){ .uri = AGENT_URI, .by = middle });
	/* The intermediate authority has no revocation list: it has revoked no
	 * certificate. */
	judge(ends, &files, "intermediate", NULL, true);
	pki_revoke(ends->pki, "revoked", NULL, "middle");
	rm_tls_look(ends->accepting.tls);
	judge(ends, &files, "intermediate", "certificate revoked", true);
}

static void
a_peer_without_a_certificate_is_refused(void **state)
{
	struct ends *ends = *state;

	assert_int_equal(meet(ends, &ends->accepting, true, NULL), -EACCES);
	assert_non_null(strstr(ends->accepting.cause, "no certificate"));
	assert_int_equal(rm_tls_counts(ends->accepting.tls)->refused, 1);
}

static void
tls_below_1_3_is_refused(void **state)
{
	struct ends *ends = *state;
	struct rm_tls_files files =
	    pki_issue(ends->pki, "stranger", &(struct pki_wish){ .uri = AGENT_URI });

	for (int accepting = 0; accepting < 2; accepting++) {
		struct end *end = accepting ? &ends->accepting : &ends->dialing;
		struct bad_peer bad_peer;
		int fds[2];

		loopback_pair(fds, 0);
		end_begin(ends->loop, end, fds[0], accepting);
		unknown_peer_begin(&bad_peer, &files, fds[1], !accepting);
		SSL_set_max_proto_version(bad_peer.ssl, TLS1_2_VERSION);
		LOOPBACK_WAIT(
		    ends->loop, (unknown_peer_moves(&bad_peer), end->closes > 0));
		assert_int_equal(end->reason, -EPROTO);
		assert_int_equal(rm_tls_counts(end->tls)->garbled, 1);
		unknown_peer_end(&bad_peer);
	}
}

/* Each message of the peer requires an answer, and the peer reads none. */
static void
a_peer_that_asks_for_endless_tls_answers_is_disconnected(void **state)
{
	struct ends *ends = *state;
	struct end *end = &ends->accepting;
	static const struct rm_link_callbacks callbacks = { end_on_frame, end_on_close,
		NULL, end_on_open };
	struct rm_link_limits limits = { 1024, 1024, end->tls, true };
	struct rm_tls_files files =
	    pki_issue(ends->pki, "stranger", &(struct pki_wish){ .uri = AGENT_URI });
	struct bad_peer bad_peer;
	size_t most = 0;
	int fds[2];

	/* Not TCP: when both directions are full, TCP reopens its windows by the
	 * kernel's timers. */
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(
	    setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &(int){ 4096 }, sizeof(int)), 0);
	assert_int_equal(
	    rm_link_new(ends->loop, fds[0], &limits, &callbacks, end, &end->link), 0);
	unknown_peer_begin(&bad_peer, &files, fds[1], false);
	LOOPBACK_WAIT(ends->loop, (unknown_peer_moves(&bad_peer), end->opens > 0));
	for (int i = 0; i < 200000 && end->closes == 0; i++) {
		SSL_key_update(bad_peer.ssl, SSL_KEY_UPDATE_REQUESTED);
		SSL_do_handshake(bad_peer.ssl);
		event_base_loop(rm_loop_base(ends->loop), EVLOOP_NONBLOCK);
		if (end->link != NULL && rm_link_output_bytes(end->link) > most)
			most = rm_link_output_bytes(end->link);
	}
	assert_int_equal(end->closes, 1);
	assert_int_equal(end->reason, -ENOBUFS);
	assert_in_range(most, 1024, 200 << 10);
	unknown_peer_end(&bad_peer);
}

/* In TLS 1.3 the peer is connected before the refusal arrives. */
static void
a_refused_peer_gets_the_reason(void **state)
{
	struct ends *ends = *state;
	const char *list;
	struct rm_tls_files files;

	rm_tls_free(ends->accepting.tls);
	list = pki_revoke(ends->pki, "revoked", NULL, "dialing");
	files = pki_issue(ends->pki, "accepting", &(struct pki_wish){ .uri = TOR_URI });
	files.revoked = list;
	ends->accepting.tls = tls_of(ends->loop, &files);
	ends->dialing.greets = true;
	ends_connect(ends);
	LOOPBACK_WAIT(
	    ends->loop, ends->accepting.closes > 0 && ends->dialing.closes > 0);
	assert_int_equal(ends->accepting.opens, 0);
	assert_int_equal(ends->accepting.reason, -EACCES);
	assert_non_null(
	    strstr(ends->accepting.cause, AGENT_URI ": certificate revoked"));
	assert_int_equal(ends->dialing.reason, -EACCES);
	assert_non_null(strstr(ends->dialing.cause, "certificate revoked"));
	assert_int_equal(rm_tls_counts(ends->dialing.tls)->refused, 1);
}

static void
a_revocation_ends_an_established_link_within_five_seconds(void **state)
{
	struct ends *ends = *state;
	struct rm_tls_files files;
	struct loopback_watch since;

	rm_tls_free(ends->accepting.tls);
	files = pki_issue(ends->pki, "accepting", &(struct pki_wish){ .uri = TOR_URI });
	files.revoked = pki_revoke(ends->pki, "revoked", NULL, NULL);
	ends->accepting.tls = tls_of(ends->loop, &files);
	ends_open(ends);
	pki_revoke(ends->pki, "revoked", NULL, "dialing");
	since = loopback_watch();
	LOOPBACK_WAIT(ends->loop, ends->accepting.closes > 0);
	assert_true(loopback_took_ns(since) <= RM_TLS_RECHECK_NS);
	assert_int_equal(ends->accepting.reason, -EACCES);
	assert_non_null(strstr(ends->accepting.cause, "certificate revoked"));
	assert_int_equal(rm_tls_counts(ends->accepting.tls)->rotations, 1);
}

static void
an_expired_certificate_ends_an_established_link(void **state)
{
	struct ends *ends = *state;
	struct rm_tls_files files;

	rm_tls_free(ends->accepting.tls);
	files = pki_issue(
	    ends->pki, "accepting", &(struct pki_wish){ .uri = TOR_URI, .valid_s = 2 });
	ends->accepting.tls = tls_of(ends->loop, &files);
	ends_open(ends);
	LOOPBACK_WAIT(ends->loop, ends->dialing.closes > 0);
	assert_int_equal(ends->dialing.reason, -EACCES);
	assert_non_null(strstr(ends->dialing.cause, "has expired"));
}

static void
removing_an_authority_ends_its_links(void **state)
{
	struct ends *ends = *state;
	struct pki_authority *old = pki_root(ends->pki);
	struct pki_authority *new = pki_authority(ends->pki, "new root", NULL);
	struct rm_tls_files files;

	rm_tls_free(ends->accepting.tls);
	pki_trust(ends->pki, old, new);
	files = pki_issue(
	    ends->pki, "accepting", &(struct pki_wish){ .uri = TOR_URI, .by = new });
	ends->accepting.tls = tls_of(ends->loop, &files);
	/* The dialing end read the list earlier; its next look loads both. */
	LOOPBACK_WAIT(ends->loop, rm_tls_counts(ends->dialing.tls)->rotations == 1);
	ends_open(ends);
	pki_trust(ends->pki, new, NULL);
	LOOPBACK_WAIT(ends->loop, ends->accepting.closes > 0);
	assert_int_equal(ends->accepting.reason, -EACCES);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, ends_setup, ends_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_bad_certificate_is_refused_in_both_roles),
		TEST(a_certificate_of_another_authority_is_refused),
		TEST(
		    an_intermediate_certificate_is_accepted_as_issuer_and_a_leaf_is_not),
		TEST(a_revoked_intermediate_revokes_all_that_it_has_signed),
		TEST(a_peer_without_a_certificate_is_refused),
		TEST(tls_below_1_3_is_refused),
		TEST(a_peer_that_asks_for_endless_tls_answers_is_disconnected),
		TEST(a_refused_peer_gets_the_reason),
		TEST(a_revocation_ends_an_established_link_within_five_seconds),
		TEST(an_expired_certificate_ends_an_established_link),
		TEST(removing_an_authority_ends_its_links),
	};

	return cmocka_run_group_tests_name("link_tls_refused", tests, NULL, NULL);
}
