/*
 * fake_world - what is around a daemon, in memory: clock, loop and timers, worker,
 * links, dialers, listeners, HTTP server and client. For fuzzers that drive a whole
 * daemon by a script; the same script does the same every time.
 *
 * It takes the place of those modules of rackmesh/: link it as an object library.
 * There is one world. Time stands still but for fake_world_pass. What a daemon promises
 * to all of them is checked here: every frame that it sends is a message, every
 * request is answered once, and nothing is left when it has gone.
 */
#ifndef TESTS_SUPPORT_FAKE_WORLD_H
#define TESTS_SUPPORT_FAKE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/net/link.h"

/* Noon again, and nobody there. */
void fake_world_begin(void);
/* The daemon has been freed: aborts if anything of it is left. */
void fake_world_end(void);

/* Ends links that are being closed, lets queues drain, runs the worker's jobs. */
void fake_world_turn(void);
/* Timers fire, each at its time, with a turn behind each. */
void fake_world_pass(int64_t ns);
/* The process stands still: all timers that are due fire once, behind it. */
void fake_world_freeze(int64_t ns);

/* ---- links ---------------------------------------------------------------------- */

/* Somebody dials the first listener. identity: borrowed, "": no TLS. NULL: refused. */
struct rm_link *fake_world_connect(const char *identity);
/* The i-th (of however many, modulo) that was accepted and is open; NULL: none. */
struct rm_link *fake_world_accepted(size_t i);
/* The i-th link that a dialer has; NULL: none. */
struct rm_link *fake_world_dialed(size_t i);
/* The i-th dialer that has no link reaches its which-th address, or nobody. */
struct rm_link *fake_world_answer(size_t i, size_t which, const char *identity);
void fake_world_unreachable(size_t i);

/* A frame comes; not while the link is paused or being closed. False: the link is gone.
 */
bool fake_link_receives(struct rm_link *link, const uint8_t *data, size_t len);
void fake_link_ends(struct rm_link *link, int reason);
/* Takes nothing any more, or all again. */
void fake_link_blocks(struct rm_link *link, bool blocks);
bool fake_link_paused(const struct rm_link *link);
/* The handshake's certificate is near its end. */
void fake_link_expires(struct rm_link *link, int64_t ends_s);

/* Whatever is sent; it may not call the daemon. NULL: nobody wants to know. */
void fake_world_on_sent(
    void (*fn)(struct rm_link *link, const uint8_t *data, size_t len, void *arg),
    void *arg);

/* ---- HTTP ----------------------------------------------------------------------- */

/* A request to the server that there is; all text ends in 0. query: "a=b&c=d". Returns
 * the status of the answer, 0: it comes later. */
int fake_world_ask(enum rm_http_verb verb, const char *path, const char *query,
    const char *body, size_t body_len);
/* The i-th of what the daemon asks of others is answered; status 0: nobody is there. */
void fake_world_reply(size_t i, long status, const char *body, int64_t retry_after_s);

#endif
