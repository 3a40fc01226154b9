/*
 * tls - mutual TLS 1.3: a daemon's certificate, and the authorities that it trusts.
 *
 * One rm_tls serves all connections of a daemon: listeners, dialers, HTTP servers. Both
 * ends show a certificate that leads to one of our authorities, is valid now, is meant
 * for this side of a connection (extended key usage), and has exactly one URI in its
 * subjectAltName: that URI is the peer's identity (what SPIFFE's X.509-SVID asks for).
 * Names and addresses in certificates mean nothing. Nothing older than TLS 1.3, no
 * resumption, no renegotiation, no early data.
 *
 * The files are checked every second by their contents, so a rename, a changed symlink
 * and a rewrite are all noticed. A set that is complete and consistent (key and
 * certificate, certificate and authorities) is used for connections from then on; any
 * other is refused with a sentence in the log, and the former set stays in use. Open
 * connections continue; one whose peer is not accepted any more is closed within
 * RM_TLS_RECHECK_NS, because every link asks rm_tls_still_good in that interval.
 * Shortly before a certificate of a link ends, the side that has dialed begins anew.
 *
 * Without a list of revoked certificates none is revoked; a list whose time is over
 * stays in force.
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

struct rm_tls_files {            /* PEM; copied */
	const char *certificate; /* own certificate first, then intermediates */
	const char *key;         /* 0600 or 0400, owned by the process's user or root */
	const char *authorities; /* one or more, so that they can be rotated */
	const char *revoked;     /* CRLs of them; NULL: none */
};

struct rm_tls_counts {
	uint64_t handshakes, refused; /* refused: by either side's certificate */
	uint64_t garbled;             /* not TLS 1.3, or cut off within the handshake */
	uint64_t timed_out;           /* handshakes that took too long */
	uint64_t unknown; /* requests refused: neither a certificate nor a token that is
			     allowed */
	uint64_t rotations, bad_files; /* new files loaded; new files refused */
};

/* Reads the files. error: which file, and what is wrong with it. -EACCES: the key is
 * open to others. -EBADMSG: not PEM, does not fit together, not one URI, expired. */
int rm_tls_new(struct rm_loop *loop, const struct rm_tls_files *files,
    struct rm_error *error, struct rm_tls **ret);
void rm_tls_free(struct rm_tls *tls); /* NULL is fine; after all connections */
void rm_tls_look(struct rm_tls *tls); /* checks the files now, at a reload */

/* Makes the SSL object of a new connection; the caller frees it (a bufferevent does).
 * NULL: no memory. */
struct ssl_st *rm_tls_accepting(struct rm_tls *tls);
struct ssl_st *rm_tls_connecting(struct rm_tls *tls);

/* After the handshake: the peer's URI into identity. -EBADMSG: not exactly one. */
int rm_tls_identity(const struct ssl_st *ssl, char identity[RM_TLS_MAX_IDENTITY]);
/* The one URI in any certificate. -EBADMSG: not exactly one. */
int rm_tls_certificate_identity(
    const struct x509_st *certificate, char identity[RM_TLS_MAX_IDENTITY]);
/* True: the first certificate of this PEM file also has a DNS name or an IP address.
 * Daemons do not need one, browsers do. -EBADMSG: there is no certificate. */
int rm_tls_file_names_host(const char *path);
/* Checks that the peer's certificate is valid now, by the authorities and CRLs in use
 * now. */
bool rm_tls_still_good(const struct rm_tls *tls, const struct ssl_st *ssl);

const char *rm_tls_own_identity(const struct rm_tls *tls);
int64_t rm_tls_expires_wall_s(const struct rm_tls *tls); /* of what we show */
/* The same, once less than a fifth of its life is left, as any renewal should have
 * happened before; 0: not yet. tls: NULL is fine. */
int64_t rm_tls_ending_wall_s(const struct rm_tls *tls, int64_t now_wall_s);
const struct rm_tls_counts *rm_tls_counts(const struct rm_tls *tls);
/* The last refusal of new files, "" once they are good. */
const char *rm_tls_trouble(const struct rm_tls *tls);

#endif
