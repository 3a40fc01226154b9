/*
 * pki - certificates for tests: valid ones, and every kind of invalid one, as PEM
 * files.
 *
 * A pki is a temporary folder, with one authority at the beginning. Every failure fails
 * the test.
 */
#ifndef TESTS_SUPPORT_PKI_H
#define TESTS_SUPPORT_PKI_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/tls/tls.h"

struct pki;
struct pki_authority;

/* Zero except for uri: a valid certificate for clients and servers. */
struct pki_wish {
	const char *uri;          /* NULL: none */
	const char *other_uri;    /* a second URI */
	const char *dns;          /* a DNS name; 127.0.0.1 is added too */
	const char *common_name;  /* NULL: none */
	struct pki_authority *by; /* the signing authority; NULL: the first one */
	long valid_s;             /* from now; 0: an hour */
	bool client_only, server_only, no_usage;
	bool expired, not_yet; /* by one day */
	bool ending;           /* a tenth of its validity is left */
	bool self_signed;      /* signed by its own key */
	bool sha1;             /* SHA-1 as the digest of the signature */
	bool rsa, short_key;   /* RSA keys of 2048 or 1024 bits instead of P-256 */
	bool unknown_critical; /* a critical extension that is not known */
	bool authority;        /* it may sign certificates */
	bool zero_in_uri;      /* the URI ends with a zero byte */
	bool foreign_key;      /* the key file contains another key */
};

struct pki *pki_new(void);
void pki_free(struct pki *pki); /* and its folder */

struct pki_authority *pki_root(struct pki *pki); /* the first authority */
/* Creates another authority, in FOLDER/name.pem; parent NULL: a root. It lives as
 * long as the pki. */
struct pki_authority *pki_authority(
    struct pki *pki, const char *name, struct pki_authority *parent);

/* Writes FOLDER/name.pem with the chain to the root, and FOLDER/name.key; each
 * replaces an older file in one step. The paths are valid as long as the pki.
 * authorities is FOLDER/authorities.pem, which contains the first root until
 * pki_trust replaces it. */
struct rm_tls_files pki_issue(
    struct pki *pki, const char *name, const struct pki_wish *wish);
/* Writes that file with one or two roots; the second may be NULL. */
void pki_trust(
    struct pki *pki, const struct pki_authority *one, const struct pki_authority *two);
/* Writes FOLDER/name.crl: the list of by (NULL: of the first root), with the
 * certificate that was issued last as certificate_name; NULL: an empty list. Returns
 * the path. */
const char *pki_revoke(struct pki *pki, const char *name, struct pki_authority *by,
    const char *certificate_name);

const char *pki_path(struct pki *pki, const char *name, const char *end);
void pki_write(struct pki *pki, const char *path, const char *text, int mode);

#endif
