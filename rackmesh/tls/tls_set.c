#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include "rackmesh/tls/tls_state.h"

#define TLS_MAX_AUTHORITIES 64
#define TLS_MAX_SHOWN_BYTES \
	(32 << 10) /* bytes of a peer's certificates, before the peer is known */

/* Makes OpenSSL fail instead of asking for a key's password on a terminal. */
static int
no_password(char *out, int size, int writing, void *arg)
{
	return -1;
}

/* The last error of OpenSSL as text; OpenSSL's queue of errors is emptied. */
static const char *
openssl_reports(void)
{
	const char *text = ERR_reason_error_string(ERR_peek_last_error());

	ERR_clear_error();
	return text != NULL ? text : "it cannot be used";
}

/* Reads all certificates of a PEM file, in order. */
static int
certificates_read(const char *path, const struct tls_bytes *bytes, int most,
    struct rm_error *error, STACK_OF(X509) * *ret)
{
	BIO *bio = BIO_new_mem_buf(bytes->data, (int)bytes->len);
	STACK_OF(X509) *all = sk_X509_new_null();
	X509 *one;
	int r = 0;

	while (r == 0 && (one = PEM_read_bio_X509(bio, NULL, no_password, NULL))) {
		if (sk_X509_num(all) == most)
			r = rm_error_set(error, -EBADMSG,
			    "%s: more than %d certificates", path, most);
		if (r < 0 || sk_X509_push(all, one) == 0) {
			X509_free(one);
			r = r < 0 ? r : rm_error_set(error, -ENOMEM, "out of memory");
		}
	}
	if (r == 0 && ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
		r = rm_error_set(error, -EBADMSG, "%s: certificate %d: %s", path,
		    sk_X509_num(all) + 1, openssl_reports());
	if (r == 0 && sk_X509_num(all) <= 0)
		r = rm_error_set(error, -EBADMSG,
		    "%s: contains no certificate in PEM, which begins with BEGIN "
		    "CERTIFICATE",
		    path);
	BIO_free(bio);
	ERR_clear_error();
	if (r < 0)
		sk_X509_pop_free(all, X509_free);
	else
		*ret = all;
	return r;
}

static int
store_add_authorities(X509_STORE *store, const char *path,
    const struct tls_bytes *bytes, struct rm_error *error)
{
	STACK_OF(X509) *all = NULL;
	int r = certificates_read(path, bytes, TLS_MAX_AUTHORITIES, error, &all);

	for (int i = 0; r == 0 && i < sk_X509_num(all); i++) {
		X509 *one = sk_X509_value(all, i);

		if (!(X509_get_extension_flags(one) & EXFLAG_CA))
			r = rm_error_set(error, -EBADMSG,
			    "%s: certificate %d is not an authority's", path, i + 1);
		else if (X509_STORE_add_cert(store, one) != 1)
			r = rm_error_set(
			    error, -ENOMEM, "%s: %s", path, openssl_reports());
	}
	sk_X509_pop_free(all, X509_free);
	return r;
}

/* True: the list is signed by the authority of its issuer's name, or there is no such
 * authority. */
static bool
list_is_genuine(X509_STORE *store, X509_CRL *list)
{
	STACK_OF(X509) *all = X509_STORE_get1_all_certs(store);
	bool known = false, signed_by = false;

	for (int i = 0; i < sk_X509_num(all); i++) {
		X509 *one = sk_X509_value(all, i);

		if (X509_NAME_cmp(
			X509_get_subject_name(one), X509_CRL_get_issuer(list)) != 0)
			continue;
		known = true;
		signed_by |= X509_CRL_verify(list, X509_get0_pubkey(one)) == 1;
	}
	sk_X509_pop_free(all, X509_free);
	ERR_clear_error();
	return signed_by || !known;
}

static int
store_add_lists(X509_STORE *store, const char *path, const struct tls_bytes *bytes,
    struct rm_error *error)
{
	BIO *bio = BIO_new_mem_buf(bytes->data, (int)bytes->len);
	X509_CRL *one;
	int r = 0, n = 0;

	while (r == 0 && (one = PEM_read_bio_X509_CRL(bio, NULL, no_password, NULL))) {
		if (++n > TLS_MAX_AUTHORITIES)
			r = rm_error_set(error, -EBADMSG, "%s: more than %d lists",
			    path, TLS_MAX_AUTHORITIES);
		else if (!list_is_genuine(store, one))
			r = rm_error_set(error, -EBADMSG,
			    "%s: list %d is not signed by its authority", path, n);
		else if (X509_STORE_add_crl(store, one) != 1)
			r = rm_error_set(
			    error, -ENOMEM, "%s: %s", path, openssl_reports());
		X509_CRL_free(one);
	}
	if (r == 0 && ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
		r = rm_error_set(
		    error, -EBADMSG, "%s: list %d: %s", path, n + 1, openssl_reports());
	/* An empty file of CRLs means that no certificate was revoked so far. */
	if (r == 0 && n == 0 && bytes->len > 0)
		r = rm_error_set(error, -EBADMSG, "%s: contains no %s in PEM", path,
		    "list of revoked certificates");
	BIO_free(bio);
	ERR_clear_error();
	if (r == 0 && n > 0)
		X509_STORE_set_flags(
		    store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
	return r;
}

static int
store_new(char *const paths[TLS_FILES], const struct tls_bytes bytes[TLS_FILES],
    struct rm_error *error, X509_STORE **ret)
{
	X509_STORE *store = X509_STORE_new();
	int r;

	if (store == NULL)
		return rm_error_set(error, -ENOMEM, "out of memory");
	X509_STORE_set_depth(store, TLS_MAX_DEPTH);
	r = store_add_authorities(
	    store, paths[TLS_AUTHORITIES], &bytes[TLS_AUTHORITIES], error);
	if (r == 0 && bytes[TLS_REVOKED].data != NULL)
		r = store_add_lists(
		    store, paths[TLS_REVOKED], &bytes[TLS_REVOKED], error);
	if (r == 0)
		*ret = store;
	else
		X509_STORE_free(store);
	return r;
}

/* Advice for an operator on the error; "": there is none. */
static const char *
remedy(int error)
{
	switch (error) {
	case X509_V_ERR_CERT_HAS_EXPIRED:
		return ": renew it";
	case X509_V_ERR_CERT_NOT_YET_VALID:
		return ": compare the clocks of this host and of the authority";
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_CERT_SIGNATURE_FAILURE:
		return ": its authority is not in the file of authorities";
	default:
		return "";
	}
}

/* Checks that a peer with the same files would accept our own certificate. */
static int
set_check_own(struct tls_set *set, const char *path, X509 *leaf, STACK_OF(X509) * chain,
    struct rm_error *failure)
{
	int error = tls_verify_own(set->store, leaf, chain);
	int uris;

	if (error != X509_V_OK)
		return rm_error_set(failure, -EBADMSG, "%s: %s%s", path,
		    X509_verify_cert_error_string(error), remedy(error));
	if (tls_certificate_identity(leaf, set->identity, &uris) < 0)
		return rm_error_set(failure, -EBADMSG,
		    "%s: has %d URIs as names, expected exactly one, the daemon's "
		    "identity",
		    path, uris);
	if (!(X509_get_extension_flags(leaf) & EXFLAG_XKUSAGE) ||
	    !(X509_get_extended_key_usage(leaf) & (XKU_SSL_CLIENT | XKU_SSL_SERVER)))
		return rm_error_set(failure, -EBADMSG,
		    "%s: its extended key usage allows neither clients nor servers",
		    path);
	set->begins_wall_s = tls_wall_s(X509_get0_notBefore(leaf));
	set->expires_wall_s = tls_wall_s(X509_get0_notAfter(leaf));
	for (int i = 0; i < sk_X509_num(chain); i++) {
		int64_t until = tls_wall_s(X509_get0_notAfter(sk_X509_value(chain, i)));

		if (until < set->expires_wall_s)
			set->expires_wall_s = until;
	}
	return 0;
}

static bool
context_restrict(SSL_CTX *ctx)
{
	/* No tickets and no sessions: by resuming a session, a peer could continue
	 * after its certificate was revoked. */
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN |
				  SSL_MODE_ENABLE_PARTIAL_WRITE |
				  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_security_level(ctx, TLS_SECURITY_LEVEL);
	SSL_CTX_set_max_cert_list(ctx, TLS_MAX_SHOWN_BYTES);
	return SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) == 1 &&
	       SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) == 1 &&
	       SSL_CTX_set_num_tickets(ctx, 0) == 1 &&
	       /* The cheapest cipher first: 128 bits are secure for longer than the
		* data matters. */
	       SSL_CTX_set_ciphersuites(ctx,
		   "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
		   "TLS_CHACHA20_POLY1305_SHA256") == 1;
}

static SSL_CTX *
context_new(struct tls_set *set, bool accepting, X509 *leaf, STACK_OF(X509) * chain,
    EVP_PKEY *key)
{
	SSL_CTX *ctx =
	    SSL_CTX_new(accepting ? TLS_server_method() : TLS_client_method());

	if (ctx == NULL)
		return NULL;
	SSL_CTX_set1_cert_store(ctx, set->store);
	SSL_CTX_set_verify(
	    ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	SSL_CTX_set_cert_verify_callback(
	    ctx, tls_verify_handshake, accepting ? set : NULL);
	if (context_restrict(ctx) &&
	    SSL_CTX_use_cert_and_key(ctx, leaf, key, chain, 1) == 1)
		return ctx;
	SSL_CTX_free(ctx);
	return NULL;
}

/* leaf and chain: from our file. A key that does not match the certificate is refused
 * here. */
static int
set_build(struct tls_set *set, char *const paths[TLS_FILES],
    const struct tls_bytes *key_bytes, STACK_OF(X509) * chain, struct rm_error *error)
{
	BIO *bio = BIO_new_mem_buf(key_bytes->data, (int)key_bytes->len);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
	X509 *leaf = sk_X509_shift(chain);
	int r = 0;

	BIO_free(bio);
	if (key == NULL)
		r = rm_error_set(error, -EBADMSG,
		    "%s: contains no key in PEM without a password; openssl pkey -in "
		    "FILE removes it",
		    paths[TLS_KEY]);
	else if (X509_check_private_key(leaf, key) != 1)
		r = rm_error_set(error, -EBADMSG,
		    "%s: is not the key of %s; give the two that belong together",
		    paths[TLS_KEY], paths[TLS_CERTIFICATE]);
	if (r == 0)
		r = set_check_own(set, paths[TLS_CERTIFICATE], leaf, chain, error);
	ERR_clear_error();
	if (r == 0) {
		set->accepting = context_new(set, true, leaf, chain, key);
		set->connecting = context_new(set, false, leaf, chain, key);
		if (set->accepting == NULL || set->connecting == NULL)
			r = rm_error_set(error, -EBADMSG, "%s: %s",
			    paths[TLS_CERTIFICATE], openssl_reports());
	}
	X509_free(leaf);
	EVP_PKEY_free(key);
	ERR_clear_error();
	return r;
}

int
tls_set_new(char *const paths[TLS_FILES], const struct tls_bytes bytes[TLS_FILES],
    struct rm_error *error, struct tls_set **ret)
{
	struct tls_set *set = calloc(1, sizeof(*set));
	STACK_OF(X509) *chain = NULL;
	int r;

	if (set == NULL)
		return rm_error_set(error, -ENOMEM, "out of memory");
	ERR_clear_error();
	r = store_new(paths, bytes, error, &set->store);
	if (r == 0)
		r = certificates_read(paths[TLS_CERTIFICATE], &bytes[TLS_CERTIFICATE],
		    TLS_MAX_CHAIN, error, &chain);
	if (r == 0)
		r = set_build(set, paths, &bytes[TLS_KEY], chain, error);
	sk_X509_pop_free(chain, X509_free);
	if (r == 0)
		*ret = set;
	else
		tls_set_free(set);
	return r;
}

void
tls_set_free(struct tls_set *set)
{
	if (set == NULL)
		return;
	SSL_CTX_free(set->accepting);
	SSL_CTX_free(set->connecting);
	X509_STORE_free(set->store);
	free(set);
}
