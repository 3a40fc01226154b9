#include "rackmesh/tls/tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/file.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/tls/tls_state.h"

static int
file_read(const char *path, enum tls_file which, struct tls_bytes *bytes,
    struct rm_error *error)
{
	int r;

	if (which == TLS_KEY)
		return rm_file_read_secret(
		    path, RM_TLS_MAX_FILE_BYTES, &bytes->data, &bytes->len, error);
	r = rm_file_read(path, RM_TLS_MAX_FILE_BYTES, &bytes->data, &bytes->len);
	if (r < 0)
		return rm_error_set(error, r, "%s: %s", path, strerror(-r));
	return 0;
}

/* Reads the files. digest: a hash of their contents, and of errors of reading. */
static int
tls_files_read(char *const paths[TLS_FILES], struct tls_bytes bytes[TLS_FILES],
    uint8_t digest[TLS_DIGEST_BYTES], struct rm_error *error)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	int r = 0;

	memset(bytes, 0, TLS_FILES * sizeof(bytes[0]));
	if (md == NULL || EVP_DigestInit_ex(md, EVP_sha256(), NULL) != 1)
		r = rm_error_set(error, -ENOMEM, "out of memory");
	for (int i = 0; r == 0 && i < TLS_FILES; i++) {
		if (paths[i] == NULL)
			continue;
		r = file_read(paths[i], i, &bytes[i], error);
		EVP_DigestUpdate(md, &r, sizeof(r));
		EVP_DigestUpdate(md, &bytes[i].len, sizeof(bytes[i].len));
		EVP_DigestUpdate(md, bytes[i].data, bytes[i].len);
	}
	memset(digest, 0, TLS_DIGEST_BYTES);
	if (md != NULL)
		EVP_DigestFinal_ex(md, digest, NULL);
	EVP_MD_CTX_free(md);
	return r;
}

/* also wipes the key */
static void
tls_files_clear(struct tls_bytes bytes[TLS_FILES])
{
	for (int i = 0; i < TLS_FILES; i++) {
		if (bytes[i].data != NULL)
			OPENSSL_cleanse(bytes[i].data, bytes[i].len);
		free(bytes[i].data);
		bytes[i] = (struct tls_bytes){ 0 };
	}
}

#define TLS_LOOK_NS RM_NS_PER_S

/* Uses new files all together, or none of them. */
static int
tls_look(struct rm_tls *tls, struct rm_error *error)
{
	uint8_t digest[TLS_DIGEST_BYTES];
	struct tls_bytes bytes[TLS_FILES];
	struct tls_set *set = NULL;
	int r;

	r = tls_files_read(tls->paths, bytes, digest, error);
	if (r == 0 && tls->set != NULL &&
	    memcmp(digest, tls->good, sizeof(digest)) == 0) {
		tls_files_clear(bytes);
		memset(tls->bad, 0, sizeof(tls->bad));
		error->text[0] = '\0';
		return 0;
	}
	if (memcmp(digest, tls->bad, sizeof(digest)) == 0) {
		tls_files_clear(bytes);
		return -EALREADY; /* the files were refused */
	}
	if (r == 0)
		r = tls_set_new(tls->paths, bytes, error, &set);
	tls_files_clear(bytes);
	if (r < 0) {
		/* The files are not the cause of a lack of memory, so they are tried
		 * again. */
		if (r != -ENOMEM)
			memcpy(tls->bad, digest, sizeof(digest));
		return r;
	}
	tls_set_free(tls->set);
	tls->set = set;
	tls->generation++;
	memcpy(tls->good, digest, sizeof(digest));
	memset(tls->bad, 0, sizeof(tls->bad));
	error->text[0] = '\0';
	return 1;
}

void
rm_tls_look(struct rm_tls *tls)
{
	struct rm_error error = { .text = "" };
	int r = tls_look(tls, &error);

	if (r > 0)
		tls->counts.rotations++;
	if (r < 0 && r != -EALREADY)
		tls->counts.bad_files++;
	if (r != -EALREADY)
		tls->trouble = error;
	rm_timer_after(tls->timer, TLS_LOOK_NS);
}

static void
tls_on_look(void *arg)
{
	rm_tls_look(arg);
}

static int
tls_copy_paths(struct rm_tls *tls, const struct rm_tls_files *files)
{
	const char *const paths[TLS_FILES] = { files->certificate, files->key,
		files->authorities, files->revoked };

	for (int i = 0; i < TLS_FILES; i++) {
		if (paths[i] == NULL)
			continue;
		tls->paths[i] = strdup(paths[i]);
		if (tls->paths[i] == NULL)
			return -ENOMEM;
	}
	return 0;
}

int
rm_tls_new(struct rm_loop *loop, const struct rm_tls_files *files,
    struct rm_error *error, struct rm_tls **ret)
{
	struct rm_tls *tls;
	struct rm_error reports = { .text = "" };
	int r;

	if (files->certificate == NULL || files->key == NULL ||
	    files->authorities == NULL)
		return rm_error_set(
		    error, -EINVAL, "certificate, key and authorities are needed");
	tls = calloc(1, sizeof(*tls));
	if (tls == NULL)
		return rm_error_set(error, -ENOMEM, "out of memory");
	r = tls_copy_paths(tls, files);
	if (r == 0)
		r = rm_timer_new(loop, tls_on_look, tls, &tls->timer);
	if (r < 0)
		rm_error_set(&reports, r, "%s", strerror(-r));
	else
		r = tls_look(tls, &reports);
	if (r < 0) {
		rm_tls_free(tls);
		return rm_error_set(error, r, "%s", reports.text);
	}
	rm_timer_after(tls->timer, TLS_LOOK_NS);
	*ret = tls;
	return 0;
}

void
rm_tls_free(struct rm_tls *tls)
{
	if (tls == NULL)
		return;
	rm_timer_free(tls->timer);
	tls_set_free(tls->set);
	for (int i = 0; i < TLS_FILES; i++)
		free(tls->paths[i]);
	free(tls);
}

static struct ssl_st *
tls_begin(const struct rm_tls *tls, SSL_CTX *ctx, bool accepting)
{
	SSL *ssl = SSL_new(ctx);

	if (ssl != NULL &&
	    tls_note_add(ssl, tls->generation, tls->set->expires_wall_s) < 0) {
		SSL_free(ssl);
		ssl = NULL;
	}
	ERR_clear_error();
	if (ssl == NULL)
		return NULL;
	if (accepting)
		SSL_set_accept_state(ssl);
	else
		SSL_set_connect_state(ssl);
	return ssl;
}

struct ssl_st *
rm_tls_accepting(struct rm_tls *tls)
{
	return tls_begin(tls, tls->set->accepting, true);
}

struct ssl_st *
rm_tls_connecting(struct rm_tls *tls)
{
	return tls_begin(tls, tls->set->connecting, false);
}

int
rm_tls_identity(const struct ssl_st *ssl, char identity[RM_TLS_MAX_IDENTITY])
{
	const X509 *leaf = SSL_get0_peer_certificate(ssl);
	int uris;

	identity[0] = '\0';
	if (leaf == NULL)
		return -EBADMSG;
	return tls_certificate_identity(leaf, identity, &uris);
}

bool
rm_tls_still_good(const struct rm_tls *tls, const struct ssl_st *ssl)
{
	struct tls_note *note = tls_note_of(ssl);
	int64_t now_s = rm_wall_now().ns / RM_NS_PER_S;

	if (note == NULL)
		return false;
	/* Nothing has changed since the last check. Checking signatures takes CPU time,
	 * and there may be many links. */
	if (note->checked && note->generation == tls->generation &&
	    now_s >= note->since_wall_s && now_s <= note->until_wall_s)
		return true;
	note->generation = tls->generation;
	return tls_verify_peer(tls->set->store, ssl, note) == X509_V_OK;
}

const char *
rm_tls_own_identity(const struct rm_tls *tls)
{
	return tls->set->identity;
}

int64_t
rm_tls_expires_wall_s(const struct rm_tls *tls)
{
	return tls->set->expires_wall_s;
}

bool
tls_last_part(int64_t since_s, int64_t until_s, int64_t now_s, int parts)
{
	return until_s - now_s < (until_s - since_s) / parts;
}

int64_t
rm_tls_ending_wall_s(const struct rm_tls *tls, int64_t now_wall_s)
{
	int64_t until_s = tls != NULL ? tls->set->expires_wall_s : 0;

	return tls != NULL && tls_last_part(tls->set->begins_wall_s, until_s,
				  now_wall_s, TLS_ENDING_PARTS)
		   ? until_s
		   : 0;
}

const struct rm_tls_counts *
rm_tls_counts(const struct rm_tls *tls)
{
	return &tls->counts;
}

const char *
rm_tls_trouble(const struct rm_tls *tls)
{
	return tls->trouble.text;
}

/* ---- how a handshake or a connection ends ---- */

/* If the error is an alert by which the peer refused our certificate: the meaning of
 * the alert; else NULL. */
static const char *
alert_of_refusal(unsigned long error)
{
	int alert = ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET;

	if (ERR_GET_LIB(error) != ERR_LIB_SSL)
		return NULL;
	switch (alert) {
	case SSL_AD_BAD_CERTIFICATE:
	case SSL_AD_UNSUPPORTED_CERTIFICATE:
	case SSL_AD_CERTIFICATE_REVOKED:
	case SSL_AD_CERTIFICATE_EXPIRED:
	case SSL_AD_CERTIFICATE_UNKNOWN:
	case SSL_AD_UNKNOWN_CA:
	case SSL_AD_ACCESS_DENIED:
	case SSL_AD_CERTIFICATE_REQUIRED:
		return SSL_alert_desc_string_long(alert);
	default:
		return NULL;
	}
}

int
tls_broken(
    struct rm_tls *tls, const SSL *ssl, unsigned long error, struct rm_error *failure)
{
	const struct tls_note *note = tls_note_of(ssl);
	const char *alert = alert_of_refusal(error), *text;

	ERR_clear_error();
	if (note != NULL && note->reason[0] != '\0') {
		tls->counts.refused++;
		return rm_error_set(failure, -EACCES,
		    "the peer's certificate is refused: %s", note->reason);
	}
	if (alert != NULL) {
		tls->counts.refused++;
		return rm_error_set(
		    failure, -EACCES, "the peer refused the certificate: %s", alert);
	}
	if (ERR_GET_LIB(error) == ERR_LIB_SSL &&
	    ERR_GET_REASON(error) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
		tls->counts.refused++;
		return rm_error_set(failure, -EACCES, "the peer has no certificate");
	}
	tls->counts.garbled++;
	text = ERR_reason_error_string(error);
	return rm_error_set(failure, -EPROTO, "the peer does not use TLS 1.3 (%s)",
	    text != NULL ? text : "it cannot be read");
}

void
tls_handshake_done(struct rm_tls *tls)
{
	tls->counts.handshakes++;
}

int
tls_handshake_failed(
    struct rm_tls *tls, const SSL *ssl, unsigned long error, struct rm_error *failure)
{
	if (error != 0)
		return tls_broken(tls, ssl, error, failure);
	tls->counts.garbled++;
	return rm_error_set(failure, -ECONNRESET,
	    "the peer ended the connection within the TLS handshake");
}

int
tls_handshake_late(struct rm_tls *tls, struct rm_error *error)
{
	tls->counts.timed_out++;
	return rm_error_set(error, -ETIMEDOUT, "the TLS handshake took too long");
}

void
tls_request_refused(struct rm_tls *tls)
{
	tls->counts.unknown++;
}
