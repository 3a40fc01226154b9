/*
 * fake_world - everything around a daemon, in memory: clock, loop and timers, worker,
 * links, dialers, listeners, HTTP server and client. For fuzzers that drive a whole
 * daemon by a script; the same script always has the same result.
 *
 * It replaces those modules of rackmesh/: link it as an object library. There is one
 * world. The time changes only by fake_world_pass and fake_world_freeze. The world
 * checks what all peers of a daemon rely on: every frame that it sends is a valid
 * message, every request is answered once, and nothing is left after it is freed.
 */
#ifndef TESTS_SUPPORT_FAKE_WORLD_H
#define TESTS_SUPPORT_FAKE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/net/link.h"

/* Resets the time, and removes all peers. */
void fake_world_begin(void);
/* Called after the daemon was freed: aborts if any of its objects is left. */
void fake_world_end(void);

/* Ends links that are being closed, drains queues, runs the worker's jobs. */
void fake_world_turn(void);
/* Lets time pass: timers fire, each at its time and followed by a turn. */
void fake_world_pass(int64_t ns);
/* Stops the process for this time: all timers that become due fire once, at its end. */
void fake_world_freeze(int64_t ns);

/* ---- links ---------------------------------------------------------------------- */

/* A peer connects to the first listener. identity: borrowed; "": no TLS. Returns
 * NULL if it is refused. */
struct rm_link *fake_world_connect(const char *identity);
/* Returns the i-th accepted link that is open (i modulo their number); NULL: none. */
struct rm_link *fake_world_accepted(size_t i);
/* Returns the i-th link of a dialer; NULL: none. */
struct rm_link *fake_world_dialed(size_t i);
/* The i-th dialer without a link connects to its which-th address, or the attempt
 * fails. */
struct rm_link *fake_world_answer(size_t i, size_t which, const char *identity);
void fake_world_unreachable(size_t i);

/* Delivers a frame to the link, but not while it is paused or being closed. False:
 * the link is gone. */
bool fake_link_receives(struct rm_link *link, const uint8_t *data, size_t len);
void fake_link_ends(struct rm_link *link, int reason);
/* The link accepts no data any more, or all data again. */
void fake_link_blocks(struct rm_link *link, bool blocks);
bool fake_link_paused(const struct rm_link *link);
/* The peer's certificate expires soon. */
void fake_link_expires(struct rm_link *link, int64_t ends_s);

/* Called for all that is sent; it must not call the daemon. NULL: not called. */
void fake_world_on_sent(
    void (*fn)(struct rm_link *link, const uint8_t *data, size_t len, void *arg),
    void *arg);

/* ---- HTTP ----------------------------------------------------------------------- */

/* Sends a request to the daemon's server. Each text ends with a NUL byte. query:
 * "a=b&c=d". Returns the status of the answer; 0: it comes later. */
int fake_world_ask(enum rm_http_verb verb, const char *path, const char *query,
    const char *body, size_t body_len);
/* Answers the i-th request of the daemon's client. status 0: the server is not
 * reachable. */
void fake_world_reply(size_t i, long status, const char *body, int64_t retry_after_s);

#endif
