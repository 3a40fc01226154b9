/*
 * check - what --check finds beside the options: certificates, files, folders,
 * addresses.
 *
 * Every finding is logged at once, with the place of its option in the config's file,
 * so that one call tells of all. What a daemon does at its start is asked of the same
 * functions here; who is asked is the kernel, so call it as the daemon's user.
 * Nothing is made, written or listened on.
 */
#ifndef RACKMESH_CHECK_CHECK_H
#define RACKMESH_CHECK_CHECK_H

#include "rackmesh/identity/identity.h"

struct rm_credentials;
struct rm_credentials_config;
struct rm_http_places;
struct rm_http_site;
struct rm_list;

struct rm_check {
	const char *path; /* of the config; NULL: none */
	unsigned errors, warnings;
};

/* place: "rnics[2].tor". An error is what keeps the daemon from starting, or from doing
 * what its config asks for; a warning is for a person to think about. */
void rm_check_error(struct rm_check *check, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void rm_check_warn(struct rm_check *check, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The certificate and its key, and whether they are those of who the config says that
 * we are. name: of the config, where peers do not ask for it (claim->name NULL):
 * another one is warned of. */
void rm_check_credentials(struct rm_check *check,
    const struct rm_credentials_config *config, const struct rm_identity_claim *claim,
    const char *name);

/* The same at the daemon's start. Has logged why when it fails. */
int rm_check_identity(
    const struct rm_credentials *credentials, const struct rm_identity_claim *claim);

/* "", NULL: none; as in the functions below. */
void rm_check_file(struct rm_check *check, const char *place, const char *file);
/* There and writable, or to be made in one that is. Folders that the units make
 * (StateDirectory=, RuntimeDirectory=) may be missing. */
void rm_check_folder(struct rm_check *check, const char *place, const char *folder);

/* address:port where we listen: is it one of this host, and may we? A port that is
 * taken is no finding: it is our own, while we run. */
void rm_check_listen(struct rm_check *check, const char *place, const char *text);
/* http.listen, http.socket, http.tls_listen. */
void rm_check_http(struct rm_check *check, const struct rm_http_places *places,
    const struct rm_credentials_config *config);

/* name:port or address:port of somebody to connect to. Blocks while a name is looked
 * up. */
void rm_check_peer(struct rm_check *check, const char *place, const char *text);
/* place[0], place[1], ...: none twice. list: of char *. */
void rm_check_peers(
    struct rm_check *check, const char *place, const struct rm_list *list);

/* The files of certificates with which others' servers are met; prefix: "alerts".
 * Passwords and tokens are read with the config. */
void rm_check_site(
    struct rm_check *check, const char *prefix, const struct rm_http_site *site);

#endif
