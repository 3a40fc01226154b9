/*
 * check - the checks of --check beyond the options: certificates, files, folders,
 * addresses.
 *
 * Every finding is logged at once, with the place of its option in the config's file,
 * so that one call reports all. A daemon's start uses the same functions. The kernel
 * decides what is allowed, so call them as the daemon's user. The checks create no
 * file, write nothing and listen on no port.
 */
#ifndef RACKMESH_CHECK_CHECK_H
#define RACKMESH_CHECK_CHECK_H

#include "rackmesh/identity/identity.h"

struct rm_credentials;
struct rm_credentials_config;
struct rm_http_places;
struct rm_http_origin;
struct rm_list;

#define RM_CHECK_LISTENS 4

struct rm_check {
	const char *path; /* path of the config file; NULL: there is none */
	unsigned errors, warnings;
	struct {
		const char *place, *text; /* borrowed */
	} listens[RM_CHECK_LISTENS];      /* the addresses that were checked so far */
	size_t listen_count;
};

/* place: "rnics[2].tor". An error keeps the daemon from starting, or from doing what
 * its config asks for; a warning does not, but an operator should look at it. */
void rm_check_error(struct rm_check *check, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void rm_check_warn(struct rm_check *check, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Checks that the certificate and its key can be used, and that they are those of the
 * identity in the config. name: the name in the config. If peers do not check the name
 * (claim->name NULL), a certificate with another name is only a warning. */
void rm_check_credentials(struct rm_check *check,
    const struct rm_credentials_config *config, const struct rm_identity_claim *claim,
    const char *name);

/* Does the same when the daemon starts. Logs the reason of a failure. */
int rm_check_identity(
    const struct rm_credentials *credentials, const struct rm_identity_claim *claim);

/* In this function and the next ones, a path "" or NULL means that the option is not
 * set. Checks that the file can be read. */
void rm_check_file(struct rm_check *check, const char *place, const char *file);
/* Checks that the folder exists and is writable, or that its parent is. Folders that
 * the systemd units create (StateDirectory=, RuntimeDirectory=) may be missing. */
void rm_check_folder(struct rm_check *check, const char *place, const char *folder);

/* Checks an address:port on which the daemon listens: the address must belong to this
 * host, the user must be allowed to listen there, and no other option of this config
 * may name it. A port that is in use is no error, because the running daemon itself
 * uses it. */
void rm_check_listen(struct rm_check *check, const char *place, const char *text);
/* Checks http.listen, http.socket and http.tls_listen. */
void rm_check_http(struct rm_check *check, const struct rm_http_places *places,
    const struct rm_credentials_config *config);

/* Checks the name:port or address:port of a peer. Blocks while the name is looked up.
 */
void rm_check_peer(struct rm_check *check, const char *place, const char *text);
/* Checks that no item of the list is given twice; the items' places are place[0],
 * place[1], ... list: of char *. */
void rm_check_peers(
    struct rm_check *check, const char *place, const struct rm_list *list);

/* Checks that the name of a URL's server can be looked up, and blocks until the answer
 * comes. For a list it also checks that no URL is given twice. */
void rm_check_url(struct rm_check *check, const char *place, const char *url);
void rm_check_urls(
    struct rm_check *check, const char *place, const struct rm_list *list);

/* Checks the certificate files that requests to other servers use; prefix: "alerts".
 * Passwords and tokens are read with the config. */
void rm_check_origin(
    struct rm_check *check, const char *prefix, const struct rm_http_origin *origin);

#endif
