/*
 * connect - tries the peers of a config, for --check --connect: all at once, each
 * within CONNECT_TIMEOUT_NS. A reached peer is a line on standard output; a peer that
 * was not reached is an error with the place of its option. Nothing changes at the
 * peers: a daemon gets a hello of a check, and from other servers a page is read that
 * changes nothing.
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
	const uint8_t *hello; /* borrowed as long as the rm_connect */
	size_t hello_len;
	/* Reads a frame of the peer: its name, and the reason of a refusal ("": not
	 * refused); both live as long as data. < 0: the frame is no answer. */
	int (*answer)(
	    const uint8_t *data, size_t len, const char **name, const char **refused);
};

/* check: takes the findings; borrowed, as credentials are. words: NULL where no daemon
 * is dialed. Returns NULL without memory, or without a usable certificate, which
 * rm_check_credentials has logged. */
struct rm_connect *rm_connect_new(struct rm_check *check,
    const struct rm_credentials_config *credentials,
    const struct rm_connect_messages *messages);
void rm_connect_free(struct rm_connect *connect); /* NULL is fine */

/* request: what the peer's certificate has to allow, for each of these ToRs if there
 * are any. All pointers are borrowed until rm_connect_run returns. */
void rm_connect_daemon(struct rm_connect *connect, const char *place,
    const char *address, const struct rm_request *request, const char *const *tors,
    size_t tor_count);

/* page: path to append to url; it must exist. NULL: url itself, and any status is
 * accepted; only the server's name is printed then, as the rest of the URL may be
 * secret. */
void rm_connect_url(struct rm_connect *connect, const char *place, const char *url,
    const char *page, const struct rm_http_origin *origin);

/* place[0], place[1], ...; list: of char *. */
void rm_connect_urls(struct rm_connect *connect, const char *place,
    const struct rm_list *list, const char *page, const struct rm_http_origin *origin);

#define RM_CONNECT_ALERTMANAGER "/-/ready"

/* Runs until every peer has answered or timed out. */
void rm_connect_run(struct rm_connect *connect);

#endif
