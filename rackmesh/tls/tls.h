/*
 * tls - mutual TLS 1.3: a daemon's certificate, and the authorities that it trusts.
 *
 * One rm_tls serves all connections of a daemon: listeners, dialers, HTTP servers. Both
 * sides send a certificate. It must chain to one of the configured authorities, be
 * valid now, allow this side of a connection (extended key usage), and have exactly one
 * URI in its subjectAltName. That URI is the peer's identity (as in SPIFFE's
 * X.509-SVID); names and addresses in certificates are not used. There is no TLS older
 * than 1.3, no resumption, no renegotiation, and no early data.
 *
 * The files are checked every second by their contents, so a rename, a changed symlink
 * and a rewrite are all noticed. A set that is complete and consistent (key and
 * certificate, certificate and authorities) is used for connections from then on; any
 * other is refused with a sentence in the log, and the former set stays in use. Open
 * connections continue. If the peer's certificate is not accepted any more, its link is
 * closed within RM_TLS_RECHECK_NS, as every link calls rm_tls_still_good in that time.
 * Shortly before a certificate of a link expires, the side that has dialed closes the
 * link and dials again.
 *
 * Without a revocation list no certificate is revoked. A list that has expired still
 * counts.
 */
#ifndef RACKMESH_TLS_TLS_H
#define RACKMESH_TLS_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/error.h"

#define RM_TLS_MAX_IDENTITY 2048 /* bytes of a URI, with its 0 byte */
#define RM_TLS_MAX_FILE_BYTES (1u << 20)
#define RM_TLS_HANDSHAKE_NS (2 * 1000000000LL)
#define RM_TLS_RECHECK_NS (5 * 1000000000LL)

struct rm_loop;
struct rm_tls;
struct ssl_st;
struct x509_st;

struct rm_tls_files { /* PEM; copied */
	/* the daemon's own certificate first, then the intermediate certificates */
	const char *certificate;
	/* mode 0600 or 0400; the owner is the process's user or root */
	const char *key;
	/* one or more CA certificates, so that they can be rotated */
	const char *authorities;
	const char *revoked; /* CRLs of the authorities; NULL: there are none */
};

struct rm_tls_counts {
	/* refused: one side has refused the other side's certificate */
	uint64_t handshakes, refused;
	/* the peer does not use TLS 1.3, or the handshake was cut off */
	uint64_t garbled;
	uint64_t timed_out; /* handshakes that took too long */
	/* HTTPS requests refused: the client has neither a certificate nor a token that
	 * is allowed */
	uint64_t unknown;
	/* how often new files were loaded, and how often new files were refused */
	uint64_t rotations, bad_files;
};

/* Reads the files. error: the file, and what is wrong with it. -EACCES: others may read
 * the key. -EBADMSG: not PEM, files that do not match, not exactly one URI, or
 * expired. */
int rm_tls_new(struct rm_loop *loop, const struct rm_tls_files *files,
    struct rm_error *error, struct rm_tls **ret);
void rm_tls_free(
    struct rm_tls *tls); /* Free it after all connections; NULL is allowed. */
void rm_tls_look(struct rm_tls *tls); /* checks the files now, for a reload */

/* Makes the SSL object of a new connection; the caller frees it (a bufferevent does).
 * NULL: no memory. */
struct ssl_st *rm_tls_accepting(struct rm_tls *tls);
struct ssl_st *rm_tls_connecting(struct rm_tls *tls);

/* Copies the URI of the peer's certificate, after the handshake. -EBADMSG: there is not
 * exactly one. */
int rm_tls_identity(const struct ssl_st *ssl, char identity[RM_TLS_MAX_IDENTITY]);
/* Does the same for any certificate. */
int rm_tls_certificate_identity(
    const struct x509_st *certificate, char identity[RM_TLS_MAX_IDENTITY]);
/* 1: the first certificate of this PEM file has a DNS name or an IP address; 0: it has
 * neither. Daemons do not need one, browsers do. -EBADMSG: there is no certificate. */
int rm_tls_file_names_host(const char *path);
/* True: the peer's certificate is valid now, by the present authorities and CRLs. */
bool rm_tls_still_good(const struct rm_tls *tls, const struct ssl_st *ssl);

const char *rm_tls_own_identity(const struct rm_tls *tls);
/* When our certificate chain expires: the earliest end of its certificates. */
int64_t rm_tls_expires_wall_s(const struct rm_tls *tls);
/* When the certificate ends, if less than a fifth of its life is left: a renewal should
 * have happened before. 0: more is left. tls: NULL is allowed. */
int64_t rm_tls_ending_wall_s(const struct rm_tls *tls, int64_t now_wall_s);
const struct rm_tls_counts *rm_tls_counts(const struct rm_tls *tls);
/* Text on the last refusal of new files; "": the last files were good. */
const char *rm_tls_trouble(const struct rm_tls *tls);

#endif
