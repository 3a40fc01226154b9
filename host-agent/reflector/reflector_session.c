#include "host-agent/reflector/reflector_session.h"

#include <stdlib.h>
#include <string.h>

/* no exit(): hh.tbl is NULL if an entry could not be added */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

#define IDLE_NS (60 * RM_NS_PER_S)
/* replies sent one after the other whose send times later replies can carry */
#define FOLLOW_UPS 8

struct session_key {
	uint8_t bytes[16];
	uint16_t ssid;
	uint8_t family;
	uint8_t zero;
};

struct reflector_session {
	struct session_key key;
	struct wire_rnic_id prober;
	rm_mono_t used;
	struct reflector_class classes[REFLECTOR_CLASSES];
	size_t class_count;
	struct reflector_follow_up follow_ups[FOLLOW_UPS]; /* the newest one is last */
	size_t follow_up_count;
	uint32_t stamped_seq; /* sequence number of the newest stamp */
	bool stamped;
	struct reflector_auth auth;
	uint16_t slot, generation;
	/* the list of sessions by last use, the longest unused first */
	struct reflector_session *prev, *next;
	UT_hash_handle hh;
};

struct reflector_sessions {
	size_t max;
	struct reflector_session *table;  /* uthash */
	struct reflector_session *by_use; /* utlist */
	/* The session of a token is found by its slot. Slots from slot_count on are
	 * never touched, so they take no memory. */
	struct reflector_session **slots;
	uint16_t *generations; /* generation of the next session in the slot */
	uint16_t *free_slots;
	size_t slot_count, free_count;
};

struct reflector_sessions *
reflector_sessions_new(size_t max)
{
	struct reflector_sessions *sessions = calloc(1, sizeof(*sessions));

	if (sessions == NULL)
		return NULL;
	sessions->max = max < REFLECTOR_MAX_SESSIONS ? max : REFLECTOR_MAX_SESSIONS;
	sessions->slots = calloc(sessions->max, sizeof(struct reflector_session *));
	sessions->generations = calloc(sessions->max, sizeof(uint16_t));
	sessions->free_slots = calloc(sessions->max, sizeof(uint16_t));
	if (sessions->slots == NULL || sessions->generations == NULL ||
	    sessions->free_slots == NULL) {
		reflector_sessions_free(sessions);
		return NULL;
	}
	return sessions;
}

static void
session_drop(struct reflector_sessions *sessions, struct reflector_session *session)
{
	HASH_DEL(sessions->table, session);
	DL_DELETE(sessions->by_use, session);
	sessions->slots[session->slot] = NULL;
	sessions->generations[session->slot]++;
	sessions->free_slots[sessions->free_count++] = session->slot;
	if (session->auth.epoch != 0)
		probe_macs_clear(&session->auth.macs);
	free(session);
}

void
reflector_sessions_free(struct reflector_sessions *sessions)
{
	if (sessions == NULL)
		return;
	while (sessions->by_use != NULL)
		session_drop(sessions, sessions->by_use);
	free(sessions->slots);
	free(sessions->generations);
	free(sessions->free_slots);
	free(sessions);
}

static struct session_key
session_key(const struct wire_address *from, uint16_t ssid)
{
	struct session_key key = { .ssid = ssid, .family = from->family };

	memcpy(key.bytes, from->bytes, from->family == 4 ? 4 : 16);
	return key;
}

struct reflector_session *
reflector_sessions_find(
    struct reflector_sessions *sessions, const struct wire_address *from, uint16_t ssid)
{
	struct session_key key = session_key(from, ssid);
	struct reflector_session *session;

	HASH_FIND(hh, sessions->table, &key, sizeof(key), session);
	return session;
}

void
reflector_sessions_touch(struct reflector_sessions *sessions,
    struct reflector_session *session, rm_mono_t now)
{
	session->used = now;
	if (session->next != NULL) { /* the session is not the newest one yet */
		DL_DELETE(sessions->by_use, session);
		DL_APPEND(sessions->by_use, session);
	}
}

static bool
sessions_make_room(struct reflector_sessions *sessions, rm_mono_t now)
{
	struct reflector_session *oldest = sessions->by_use;

	if (HASH_COUNT(sessions->table) < sessions->max)
		return true;
	if (oldest == NULL || rm_mono_since(now, oldest->used) < IDLE_NS)
		return false;
	session_drop(sessions, oldest);
	return true;
}

struct reflector_session *
reflector_sessions_add(struct reflector_sessions *sessions,
    const struct wire_address *from, uint16_t ssid, struct wire_rnic_id prober,
    rm_mono_t now)
{
	struct reflector_session *session;

	if (!sessions_make_room(sessions, now))
		return NULL;
	session = calloc(1, sizeof(*session));
	if (session == NULL)
		return NULL;
	session->key = session_key(from, ssid);
	session->prober = prober;
	session->used = now;
	HASH_ADD(hh, sessions->table, key, sizeof(session->key), session);
	if (session->hh.tbl == NULL) {
		free(session);
		return NULL;
	}
	session->slot = sessions->free_count > 0
			    ? sessions->free_slots[--sessions->free_count]
			    : (uint16_t)sessions->slot_count++;
	session->generation = sessions->generations[session->slot];
	sessions->slots[session->slot] = session;
	DL_APPEND(sessions->by_use, session);
	return session;
}

/* The RNIC of the session became known: the session counts in the row of that RNIC from
 * now on, starting with its counts so far. */
static void
session_learn(struct reflector_session *session, struct wire_rnic_id prober)
{
	session->prober = prober;
	session->auth.epoch = 0;
	for (size_t i = 0; i < session->class_count; i++)
		session->classes[i].row = NULL;
}

void
reflector_sessions_sweep(struct reflector_sessions *sessions,
    const struct wire_peer *(*keep)(const struct wire_address *address, void *arg),
    void *arg)
{
	struct reflector_session *session, *next;

	DL_FOREACH_SAFE (sessions->by_use, session, next) {
		struct wire_address address = { .family = session->key.family };
		const struct wire_peer *peer;

		memcpy(address.bytes, session->key.bytes, sizeof(address.bytes));
		peer = keep(&address, arg);
		if (peer != NULL && session->prober.guid == 0)
			session_learn(session, peer->id);
		if (peer == NULL || peer->id.guid != session->prober.guid ||
		    peer->id.port != session->prober.port)
			session_drop(sessions, session);
	}
}

struct wire_rnic_id
reflector_session_prober(const struct reflector_session *session)
{
	return session->prober;
}

struct reflector_auth *
reflector_session_auth(struct reflector_session *session)
{
	return &session->auth;
}

struct reflector_class *
reflector_session_class(struct reflector_session *session, uint8_t dscp)
{
	struct reflector_class *class;

	for (size_t i = 0; i < session->class_count; i++)
		if (session->classes[i].dscp == dscp)
			return &session->classes[i];
	if (session->class_count == REFLECTOR_CLASSES)
		return NULL;
	class = &session->classes[session->class_count++];
	class->dscp = dscp;
	return class;
}

uint64_t
reflector_session_token(const struct reflector_session *session, uint32_t seq)
{
	return (uint64_t)seq << 32 | (uint64_t)session->generation << 16 |
	       session->slot;
}

void
reflector_sessions_stamp(
    struct reflector_sessions *sessions, uint64_t token, int64_t stamp_ns)
{
	uint16_t slot = (uint16_t)token, generation = (uint16_t)(token >> 16);
	uint32_t seq = (uint32_t)(token >> 32);
	struct reflector_session *session =
	    slot < sessions->slot_count ? sessions->slots[slot] : NULL;

	if (session == NULL || session->generation != generation)
		return;
	/* The network has duplicated the probe. The prober keeps T3 of the first reply,
	 * and must not combine it with T4 of the second. */
	if (session->stamped && session->stamped_seq == seq)
		return;
	session->stamped = true;
	session->stamped_seq = seq;
	if (session->follow_up_count == FOLLOW_UPS) {
		memmove(session->follow_ups, session->follow_ups + 1,
		    (FOLLOW_UPS - 1) * sizeof(session->follow_ups[0]));
		session->follow_up_count--;
	}
	session->follow_ups[session->follow_up_count++] =
	    (struct reflector_follow_up){ .seq = seq, .stamp_ns = stamp_ns };
}

/* Returns the newest send time first: the prober still waits for this T4, while older
 * probes may have expired. */
struct reflector_follow_up
reflector_session_follow_up(struct reflector_session *session)
{
	if (session->follow_up_count == 0)
		return (struct reflector_follow_up){ 0 };
	return session->follow_ups[--session->follow_up_count];
}
