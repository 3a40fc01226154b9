/*
 * pki - certificates for tests: good ones, and every kind of bad one, as PEM files.
 *
 * A pki is a temporary folder, with one authority to begin with. Everything asserts.
 */
#ifndef TESTS_SUPPORT_PKI_H
#define TESTS_SUPPORT_PKI_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/tls/tls.h"

struct pki;
struct pki_authority;

struct pki_wish {        /* all zero, but a uri: a good certificate for both sides */
	const char *uri; /* NULL: none */
	const char *other_uri;    /* a second one */
	const char *dns;          /* another kind of name, and 127.0.0.1 */
	const char *common_name;  /* NULL: none */
	struct pki_authority *by; /* NULL: the first one */
	long valid_s;             /* from now; 0: an hour */
	bool client_only, server_only, no_usage;
	bool expired, not_yet; /* by a day */
	bool ending;           /* a tenth of its life is left */
	bool self_signed;      /* by its own key */
	bool sha1;             /* as the digest of the signature */
	bool rsa, short_key;   /* RSA of 2048 or 1024 bits instead of P-256 */
	bool unknown_critical; /* an extension that nobody knows */
	bool authority;        /* it may sign others */
	bool zero_in_uri;      /* a zero byte at its end */
	bool foreign_key;      /* the key file holds another key */
};

struct pki *pki_new(void);
void pki_free(struct pki *pki); /* with its folder */

struct pki_authority *pki_root(struct pki *pki); /* the first one */
/* Another one, in FOLDER/name.pem; parent NULL: a root. Lives as long as the pki. */
struct pki_authority *pki_authority(
    struct pki *pki, const char *name, struct pki_authority *parent);

/* FOLDER/name.pem with what leads to the root, FOLDER/name.key: replaced, each at once.
 * The paths are good as long as the pki; authorities is FOLDER/authorities.pem, which
 * holds the first root until pki_trust writes another. */
struct rm_tls_files pki_issue(
    struct pki *pki, const char *name, const struct pki_wish *wish);
/* Writes that file: up to two roots, the second may be NULL. */
void pki_trust(
    struct pki *pki, const struct pki_authority *one, const struct pki_authority *two);
/* FOLDER/name.crl: by's list (NULL: the first root's), with the certificate issued last
 * as whom on it; NULL: nobody. The path. */
const char *pki_revoke(
    struct pki *pki, const char *name, struct pki_authority *by, const char *whom);

const char *pki_path(struct pki *pki, const char *name, const char *end);
void pki_write(struct pki *pki, const char *path, const char *text, int mode);

#endif
