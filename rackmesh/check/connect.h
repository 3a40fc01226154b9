/*
 * connect - connects to all peers of a config at the same time, for --check --connect,
 * each within CONNECT_TIMEOUT_NS. For a peer that was reached, it prints a line on
 * standard output; one that was not reached is an error with the place of its option.
 * Nothing changes at the peers: a daemon gets a hello with the role of a check, and of
 * other servers only a page is read.
 */
#ifndef RACKMESH_CHECK_CONNECT_H
#define RACKMESH_CHECK_CONNECT_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/identity/authority.h"

#define CONNECT_TIMEOUT_NS (5 * RM_NS_PER_S)

struct rm_check;
struct rm_connect;
struct rm_credentials_config;
struct rm_http_origin;
struct rm_list;

/* The messages of the daemons' protocol, which this folder does not know. */
struct rm_connect_messages {
	const uint8_t *hello; /* borrowed until rm_connect_free */
	size_t hello_len;
	/* Reads a frame of the peer: its name, and the reason of a refusal ("": not
	 * refused); both live as long as data. < 0: the frame is no answer. */
	int (*answer)(
	    const uint8_t *data, size_t len, const char **name, const char **refused);
};

/* check: gets the errors; borrowed, as credentials are. messages: NULL if no daemon is
 * dialed. NULL: no memory, or no usable certificate, which rm_check_credentials has
 * logged. */
struct rm_connect *rm_connect_new(struct rm_check *check,
    const struct rm_credentials_config *credentials,
    const struct rm_connect_messages *messages);
void rm_connect_free(struct rm_connect *connect); /* NULL is fine */

/* Adds a daemon. request: what the peer's certificate has to allow, for each of `tors`
 * if there are any. All pointers are borrowed until rm_connect_run returns. */
void rm_connect_daemon(struct rm_connect *connect, const char *place,
    const char *address, const struct rm_request *request, const char *const *tors,
    size_t tor_count);

/* Adds another server. page: path to append to the URL; the server must have it. NULL:
 * the URL itself is read, and any status is accepted; then only the server's name is
 * printed, because the rest of the URL may be secret. */
void rm_connect_url(struct rm_connect *connect, const char *place, const char *url,
    const char *page, const struct rm_http_origin *origin);

/* Adds the URLs of a list of char *, with the places place[0], place[1], ... */
void rm_connect_urls(struct rm_connect *connect, const char *place,
    const struct rm_list *list, const char *page, const struct rm_http_origin *origin);

#define RM_CONNECT_ALERTMANAGER "/-/ready"

/* Runs until every peer has answered or timed out. */
void rm_connect_run(struct rm_connect *connect);

#endif
