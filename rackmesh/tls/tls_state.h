/*
 * tls_state - structs of the tls files; private to them and to http_listener.
 *
 * A set is the result of one reading of the files: it is never changed, only replaced
 * as a whole. A connection uses the set with which it began.
 */
#ifndef RACKMESH_TLS_TLS_STATE_H
#define RACKMESH_TLS_TLS_STATE_H

#include <openssl/ssl.h>

#include "rackmesh/tls/tls.h"

#define TLS_DIGEST_BYTES 32
/* maximum number of certificates that this daemon sends as its chain */
#define TLS_MAX_CHAIN 8
#define TLS_SECURITY_LEVEL 2 /* no SHA-1, no RSA below 2048 bits */
/* intermediate authorities between a certificate and a configured authority */
#define TLS_MAX_DEPTH 4

/* If less than 1 / TLS_ENDING_PARTS of a certificate's life is left, its renewal must
 * have failed. */
#define TLS_ENDING_PARTS 5

struct rm_timer;

enum tls_file { TLS_CERTIFICATE, TLS_KEY, TLS_AUTHORITIES, TLS_REVOKED, TLS_FILES };

struct tls_bytes {
	uint8_t *data; /* NULL: no such file is configured */
	size_t len;
};

struct tls_set {
	X509_STORE *store;
	SSL_CTX *accepting, *connecting;
	char identity[RM_TLS_MAX_IDENTITY];
	int64_t begins_wall_s, expires_wall_s;
};

/* Belongs to a connection, and is freed with it. */
struct tls_note {
	/* number of the set of files with which the peer was checked */
	uint64_t generation;
	/* time in which all certificates of the peer's chain are valid */
	int64_t since_wall_s, until_wall_s;
	/* time at which the certificate that this side has sent expires */
	int64_t own_until_wall_s;
	bool checked;
	/* what is wrong with the peer's certificate; "": nothing is wrong */
	char reason[256];
};

struct rm_tls {
	struct rm_timer *timer;
	char *paths[TLS_FILES];
	struct tls_set *set;
	uint64_t generation;
	/* digests of the last good and bad files */
	uint8_t good[TLS_DIGEST_BYTES], bad[TLS_DIGEST_BYTES];
	struct rm_tls_counts counts;
	struct rm_error trouble;
};

/* paths: used in the text of error. */
int tls_set_new(char *const paths[TLS_FILES], const struct tls_bytes bytes[TLS_FILES],
    struct rm_error *error, struct tls_set **ret);
void tls_set_free(struct tls_set *set); /* NULL is fine */

int tls_note_add(SSL *ssl, uint64_t generation, int64_t own_until_wall_s);
struct tls_note *tls_note_of(const SSL *ssl);
/* For SSL_CTX_set_cert_verify_callback. arg: not NULL if this side accepts
 * connections. */
int tls_verify_handshake(X509_STORE_CTX *ctx, void *arg);
/* Returns an X509_V_ code. note may be NULL. */
int tls_verify_peer(X509_STORE *store, const SSL *ssl, struct tls_note *note);
/* Checks our own certificate. chain: the certificates that are sent with it. Returns an
 * X509_V_ code. */
int tls_verify_own(X509_STORE *store, X509 *leaf, STACK_OF(X509) * chain);
/* -EBADMSG: there is not exactly one URI; count: the number. */
int tls_certificate_identity(
    const X509 *certificate, char identity[RM_TLS_MAX_IDENTITY], int *count);
int64_t tls_wall_s(const ASN1_TIME *time); /* INT64_MIN: no time */
/* True: less than 1/parts of the certificate's life is left now. */
bool tls_last_part(int64_t since_s, int64_t until_s, int64_t now_s, int parts);

/* Count the end of a handshake. tls_handshake_failed returns -EACCES, -EPROTO or
 * -ECONNRESET (error 0) with a text, and empties OpenSSL's queue of errors. */
void tls_handshake_done(struct rm_tls *tls);
int tls_handshake_failed(
    struct rm_tls *tls, const SSL *ssl, unsigned long error, struct rm_error *failure);
int tls_handshake_late(struct rm_tls *tls, struct rm_error *error);
/* Counts an HTTPS request that was refused because of its certificate or token. */
void tls_request_refused(struct rm_tls *tls);
/* As tls_handshake_failed, for an error after the handshake: only then does a peer
 * report that it refuses our certificate. */
int tls_broken(
    struct rm_tls *tls, const SSL *ssl, unsigned long error, struct rm_error *failure);

#endif
