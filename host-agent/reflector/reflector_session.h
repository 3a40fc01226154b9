/*
 * reflector_session - the state that the reflector keeps for each prober (address,
 * SSID): probes and replies per class, and the send times that its next replies will
 * carry.
 *
 * The number of sessions is bounded: when the table is full, a new session replaces the
 * one that is longest unused, if that one is idle. Pure: time is an argument.
 */
#ifndef HOST_AGENT_REFLECTOR_REFLECTOR_SESSION_H
#define HOST_AGENT_REFLECTOR_REFLECTOR_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/reflector/replay_window.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/identity/probe_key.h"
#include "schemas/wire.h"

#define REFLECTOR_MAX_SESSIONS 65536
#define REFLECTOR_CLASSES WIRE_MAX_CLASSES

struct reflector_counts_row;
struct reflector_session;
struct reflector_sessions;

struct reflector_class {
	uint32_t received, replied;
	struct reflector_counts_row *row; /* NULL: the class has no row yet */
	uint8_t dscp;
};

struct reflector_follow_up {
	uint32_t seq;
	int64_t stamp_ns; /* 0: none */
};

struct reflector_auth { /* only for sessions whose packets carry a MAC */
	/* epoch of the keys in macs, from the last packet; 0: there was none yet */
	uint32_t epoch;
	struct probe_macs macs;
	struct replay_window window;
};

struct reflector_sessions *reflector_sessions_new(size_t max);     /* NULL: no memory */
void reflector_sessions_free(struct reflector_sessions *sessions); /* NULL is allowed */

/* NULL: there is no session yet. */
struct reflector_session *reflector_sessions_find(struct reflector_sessions *sessions,
    const struct wire_address *from, uint16_t ssid);
/* Marks the session as used now. */
void reflector_sessions_touch(struct reflector_sessions *sessions,
    struct reflector_session *session, rm_mono_t now);
/* Returns NULL if all sessions of a full table are in use, or if there is no memory. */
struct reflector_session *reflector_sessions_add(struct reflector_sessions *sessions,
    const struct wire_address *from, uint16_t ssid, struct wire_rnic_id prober,
    rm_mono_t now);
/* Calls keep for the address of each session. keep returns the RNIC that has the
 * address now, or NULL. A session is dropped if no RNIC has its address, or another
 * RNIC than before. A session whose RNIC was not known before continues, and counts in
 * the rows of that RNIC. */
void reflector_sessions_sweep(struct reflector_sessions *sessions,
    const struct wire_peer *(*keep)(const struct wire_address *address, void *arg),
    void *arg);

struct wire_rnic_id reflector_session_prober(const struct reflector_session *session);
struct reflector_auth *reflector_session_auth(struct reflector_session *session);
/* Returns the counts of a class, and creates them if there are none. NULL: the session
 * has REFLECTOR_CLASSES classes already. */
struct reflector_class *reflector_session_class(
    struct reflector_session *session, uint8_t dscp);

/* Returns the token of the reply that was just sent: its stamp comes with the token,
 * perhaps after the session has ended. */
uint64_t reflector_session_token(const struct reflector_session *session, uint32_t seq);
void reflector_sessions_stamp(
    struct reflector_sessions *sessions, uint64_t token, int64_t stamp_ns);
/* Takes the newest send time that no reply has carried yet; seq and stamp_ns 0: there
 * is none. */
struct reflector_follow_up reflector_session_follow_up(
    struct reflector_session *session);

#endif
