#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rackmesh/tls/tls_state.h"

static void
note_free(
    void *parent, void *note, CRYPTO_EX_DATA *ad, int index, long argl, void *argp)
{
	free(note);
}

static int
note_index(void)
{
	static int index = -1;

	if (index < 0)
		index = SSL_get_ex_new_index(0, NULL, NULL, NULL, note_free);
	return index;
}

int
tls_note_add(SSL *ssl, uint64_t generation, int64_t own_until_wall_s)
{
	struct tls_note *note = calloc(1, sizeof(*note));

	if (note == NULL)
		return -ENOMEM;
	note->generation = generation;
	note->own_until_wall_s = own_until_wall_s;
	if (SSL_set_ex_data(ssl, note_index(), note) == 1)
		return 0;
	free(note);
	return -ENOMEM;
}

struct tls_note *
tls_note_of(const SSL *ssl)
{
	return SSL_get_ex_data(ssl, note_index());
}

int64_t
tls_wall_s(const ASN1_TIME *time)
{
	struct tm tm;

	if (ASN1_TIME_to_tm(time, &tm) != 1)
		return INT64_MIN;
	return timegm(&tm);
}

/* Copies a name of the kind URI, if its text can be logged and compared. */
static int
uri_take(const ASN1_IA5STRING *uri, char identity[RM_TLS_MAX_IDENTITY])
{
	const unsigned char *at = ASN1_STRING_get0_data(uri);
	int len = ASN1_STRING_length(uri);

	if (len <= 0 || len >= RM_TLS_MAX_IDENTITY)
		return -EBADMSG;
	for (int i = 0; i < len; i++)
		if (at[i] <= ' ' || at[i] > '~')
			return -EBADMSG;
	memcpy(identity, at, (size_t)len);
	identity[len] = '\0';
	return 0;
}

int
tls_certificate_identity(
    const X509 *certificate, char identity[RM_TLS_MAX_IDENTITY], int *count)
{
	GENERAL_NAMES *names;
	int r = -EBADMSG;

	*count = 0;
	/* NULL, too, if the extension occurs twice or cannot be read. */
	names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);

		if (name->type != GEN_URI)
			continue;
		if (++*count == 1)
			r = uri_take(name->d.uniformResourceIdentifier, identity);
	}
	GENERAL_NAMES_free(names);
	ERR_clear_error();
	if (*count != 1)
		r = -EBADMSG;
	if (r < 0)
		identity[0] = '\0';
	return r;
}

int
rm_tls_file_names_host(const char *path)
{
	BIO *bio = BIO_new_file(path, "r");
	X509 *leaf = bio != NULL ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
	GENERAL_NAMES *names =
	    leaf != NULL ? X509_get_ext_d2i(leaf, NID_subject_alt_name, NULL, NULL)
			 : NULL;
	int r = leaf != NULL ? 0 : -EBADMSG;

	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		const int type = sk_GENERAL_NAME_value(names, i)->type;

		if (type == GEN_DNS || type == GEN_IPADD)
			r = 1;
	}
	GENERAL_NAMES_free(names);
	X509_free(leaf);
	BIO_free(bio);
	ERR_clear_error();
	return r;
}

int
rm_tls_certificate_identity(const X509 *certificate, char identity[RM_TLS_MAX_IDENTITY])
{
	int uris;

	return tls_certificate_identity(certificate, identity, &uris);
}

/* Checks what a peer's certificate needs besides a valid chain. NULL: it has all of
 * that; else what is wrong. */
static const char *
leaf_fault(X509 *leaf, bool client)
{
	uint32_t usage = client ? XKU_SSL_CLIENT : XKU_SSL_SERVER;
	char identity[RM_TLS_MAX_IDENTITY];
	int uris;

	if (X509_get_extension_flags(leaf) & EXFLAG_CA)
		return "it is the certificate of an authority";
	/* A certificate without the extension is refused, although OpenSSL accepts it
	 * for every use. */
	if (!(X509_get_extension_flags(leaf) & EXFLAG_XKUSAGE) ||
	    !(X509_get_extended_key_usage(leaf) & usage))
		return client ? "its extended key usage does not allow clients"
			      : "its extended key usage does not allow servers";
	if (tls_certificate_identity(leaf, identity, &uris) == 0)
		return NULL;
	if (uris == 0)
		return "it has no URI as a name, or names that cannot be read";
	return uris > 1 ? "it has more than one URI as a name"
			: "its URI is not printable, or too long";
}

/*
 * Accepts an authority without a revocation list, since it has revoked nothing, and
 * also a list that has expired or is not valid yet: to refuse all peers because a list
 * was not renewed would stop the monitoring of a whole fleet.
 */
static int
forgive_lists(int ok, X509_STORE_CTX *ctx)
{
	switch (X509_STORE_CTX_get_error(ctx)) {
	case X509_V_ERR_UNABLE_TO_GET_CRL:
	case X509_V_ERR_CRL_HAS_EXPIRED:
	case X509_V_ERR_CRL_NOT_YET_VALID:
		X509_STORE_CTX_set_error(ctx, X509_V_OK);
		return 1;
	default:
		return ok;
	}
}

/* Notes the time in which the whole chain is valid: it need not be checked again in
 * that time. */
static void
note_times(struct tls_note *note, STACK_OF(X509) * chain)
{
	note->since_wall_s = INT64_MIN;
	note->until_wall_s = INT64_MAX;
	for (int i = 0; i < sk_X509_num(chain); i++) {
		const X509 *at = sk_X509_value(chain, i);
		int64_t since = tls_wall_s(X509_get0_notBefore(at));
		int64_t until = tls_wall_s(X509_get0_notAfter(at));

		if (since > note->since_wall_s)
			note->since_wall_s = since;
		if (until < note->until_wall_s)
			note->until_wall_s = until;
	}
	note->checked = true;
}

/* Verifies the chain in ctx. Returns an X509_V_ code, and the text in note. */
static int
verify(X509_STORE_CTX *ctx, bool client, struct tls_note *note)
{
	X509 *leaf = X509_STORE_CTX_get0_cert(ctx);
	char identity[RM_TLS_MAX_IDENTITY];
	const char *fault = NULL;
	int error, uris;

	note->checked = false;
	note->reason[0] = '\0';
	X509_STORE_CTX_set_verify_cb(ctx, forgive_lists);
	error = X509_V_OK;
	if (X509_verify_cert(ctx) != 1) {
		error = X509_STORE_CTX_get_error(ctx);
		if (error == X509_V_OK) /* out of memory, for example */
			error = X509_V_ERR_UNSPECIFIED;
		if (error == X509_V_ERR_INVALID_PURPOSE && leaf != NULL)
			fault = leaf_fault(leaf, client); /* a more precise reason */
		if (fault == NULL)
			fault = X509_verify_cert_error_string(error);
	} else {
		fault = leaf_fault(leaf, client);
		if (fault != NULL)
			error = X509_V_ERR_CERT_REJECTED;
	}
	X509_STORE_CTX_set_error(ctx, error);
	if (error == X509_V_OK) {
		note_times(note, X509_STORE_CTX_get0_chain(ctx));
		return error;
	}
	if (leaf == NULL || tls_certificate_identity(leaf, identity, &uris) < 0)
		strcpy(identity, "a certificate without an identity");
	snprintf(note->reason, sizeof(note->reason), "%.120s: %s", identity, fault);
	return error;
}

int
tls_verify_handshake(X509_STORE_CTX *ctx, void *arg)
{
	const SSL *ssl =
	    X509_STORE_CTX_get_ex_data(ctx, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct tls_note *note = tls_note_of(ssl);

	return note != NULL && verify(ctx, arg != NULL, note) == X509_V_OK;
}

int
tls_verify_peer(X509_STORE *store, const SSL *ssl, struct tls_note *note)
{
	X509_STORE_CTX *ctx = X509_STORE_CTX_new();
	X509 *leaf = SSL_get0_peer_certificate(ssl);
	bool client = SSL_is_server(ssl);
	int error = X509_V_ERR_UNSPECIFIED;

	snprintf(note->reason, sizeof(note->reason), "it cannot be checked");
	if (ctx != NULL && leaf != NULL &&
	    X509_STORE_CTX_init(ctx, store, leaf, SSL_get_peer_cert_chain(ssl)) == 1 &&
	    X509_STORE_CTX_set_default(ctx, client ? "ssl_client" : "ssl_server") ==
		1) {
		X509_VERIFY_PARAM_set_auth_level(
		    X509_STORE_CTX_get0_param(ctx), TLS_SECURITY_LEVEL);
		error = verify(ctx, client, note);
	}
	X509_STORE_CTX_free(ctx);
	ERR_clear_error();
	return error;
}

int
tls_verify_own(X509_STORE *store, X509 *leaf, STACK_OF(X509) * chain)
{
	X509_STORE_CTX *ctx = X509_STORE_CTX_new();
	int error = X509_V_ERR_OUT_OF_MEM;

	if (ctx != NULL && X509_STORE_CTX_init(ctx, store, leaf, chain) == 1) {
		X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(ctx);

		X509_VERIFY_PARAM_set_auth_level(param, TLS_SECURITY_LEVEL);
		/* Ignores whether our own certificate is revoked: this side must be
		 * able to load newer lists of other revoked certificates. */
		X509_VERIFY_PARAM_clear_flags(
		    param, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
		error = X509_V_OK;
		if (X509_verify_cert(ctx) != 1)
			error = X509_STORE_CTX_get_error(ctx);
	}
	X509_STORE_CTX_free(ctx);
	ERR_clear_error();
	return error;
}
