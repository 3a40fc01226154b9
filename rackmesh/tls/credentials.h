/*
 * credentials - a daemon's certificate and CA bundle from its config, with its log
 * lines and metrics.
 *
 * Without options, a daemon reads certificate, key and authorities below
 * /etc/rackmesh/tls, and does not start if they are missing. Plaintext must be set in
 * the config. Logs when files are loaded or refused, and once an hour that the
 * certificate expires soon: when a third of its life at loading is left.
 */
#ifndef RACKMESH_TLS_CREDENTIALS_H
#define RACKMESH_TLS_CREDENTIALS_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/config/config.h"

struct rm_credentials;
struct rm_loop;
struct rm_metrics;
struct rm_tls;

struct rm_credentials_config {
	char *certificate, *key, *authorities;
	char *revoked; /* "": none */
	bool plaintext;
};

/* For a daemon's option table; config: its struct rm_credentials_config in struct type.
 */
/* clang-format off */
#define RM_CREDENTIALS_OPTIONS(type, config)                                               \
	{ "tls.certificate", RM_STRING, offsetof(type, config.certificate),                \
	  "/etc/rackmesh/tls/certificate.pem", 1, 1023, 0,                                 \
	  "certificate chain (PEM), beginning with this daemon's own certificate; "        \
	  "the only URI in its subjectAltName is the daemon's identity; after a "          \
	  "change, this and the other files are used within a second", NULL, NULL, 0 },    \
	{ "tls.key", RM_STRING, offsetof(type, config.key),                                \
	  "/etc/rackmesh/tls/key.pem", 1, 1023, 0,                                         \
	  "private key of the certificate (PEM); only the daemon may read it "             \
	  "(mode 0600)", NULL, NULL, 0 },                                                  \
	{ "tls.authorities", RM_STRING, offsetof(type, config.authorities),                \
	  "/etc/rackmesh/tls/authorities.pem", 1, 1023, 0,                                 \
	  "CA bundle (PEM) that the certificates of peers must chain to", NULL, NULL, 0 }, \
	{ "tls.revoked", RM_STRING, offsetof(type, config.revoked), "", 0, 1023, 0,        \
	  "certificate revocation lists (PEM) of these CAs; \"\": none", NULL, NULL, 0 },  \
	{ "plaintext", RM_BOOL, offsetof(type, config.plaintext), "false", 0, 0, 0,        \
	  "true: no TLS between the daemons, and no identity is checked; for "             \
	  "labs only", NULL, NULL, 0 }
/* clang-format on */

/* Checks the files of a config without plaintext. error: the file, what is wrong with
 * it, and what to do. */
int rm_credentials_read(struct rm_loop *loop,
    const struct rm_credentials_config *config, struct rm_error *error,
    struct rm_tls **ret);

/* config: borrowed for the call. An error is logged. */
int rm_credentials_new(struct rm_loop *loop, const struct rm_credentials_config *config,
    struct rm_credentials **ret);
void rm_credentials_free(struct rm_credentials *credentials); /* NULL is fine */

/* Returns NULL for plaintext. The result is for all connections of the daemon; it lives
 * longer than they do. */
struct rm_tls *rm_credentials_tls(const struct rm_credentials *credentials);

/* Registers rackmesh_tls_*, which every daemon has. */
int rm_credentials_metrics(
    struct rm_credentials *credentials, struct rm_metrics *metrics);

#endif
