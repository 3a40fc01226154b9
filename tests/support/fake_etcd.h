/*
 * fake_etcd - an etcd of one process for unit tests: the gateway's part that Rackmesh
 * uses, on the test's own loop, with faults on demand.
 *
 * It keeps keys, revisions, leases and a history as etcd does; the test bends the
 * fields below while it runs.
 */
#ifndef TESTS_SUPPORT_FAKE_ETCD_H
#define TESTS_SUPPORT_FAKE_ETCD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct fake_etcd_state;

struct fake_etcd {
	char url[64];
	uint64_t cluster_id;
	int64_t revision;
	int64_t shown_less;  /* lists and reads show this much less than revision */
	unsigned behind;     /* so many lists come from an older state */
	bool mute;           /* changes are not told to watches */
	bool silent;         /* nothing is answered */
	bool deaf_txn;       /* transactions are done, but not answered */
	bool deaf_watch;     /* watches are not answered */
	bool lease_dead;     /* keepalives say so */
	bool keepalive_lost; /* keepalives are not answered */
	bool compacted;      /* watches are canceled so */
	const char *token;   /* NULL: no authentication */
	int fail_status;     /* of the next fail_count requests */
	const char *fail_body;
	unsigned fail_count;
	unsigned lists, reads, txns, grants, keepalives, revokes, logins, watches;
	int64_t watched_from; /* of the last watch */
	unsigned compactions;
	int64_t compacted_to; /* asked for last */
	struct fake_etcd_state *state;
};

int fake_etcd_new(struct event_base *base, struct fake_etcd *ret);
void fake_etcd_clear(struct fake_etcd *fake);

void fake_etcd_put(struct fake_etcd *fake, const char *key, const char *value);
void fake_etcd_delete(struct fake_etcd *fake, const char *key);
/* As if nobody had noticed: a key with whatever revision, without an event. */
void fake_etcd_plant(
    struct fake_etcd *fake, const char *key, const char *value, int64_t mod_revision);
/* The state of now is what `behind` lists show. */
void fake_etcd_snapshot(struct fake_etcd *fake);
const char *fake_etcd_value(
    const struct fake_etcd *fake, const char *key); /* or NULL */

size_t fake_etcd_streams(const struct fake_etcd *fake); /* open watches */
/* Text to all watches as it is; or an event of a revision, header and all. */
void fake_etcd_send(struct fake_etcd *fake, const char *text);
void fake_etcd_event(struct fake_etcd *fake, const char *key, const char *value,
    int64_t mod_revision, int64_t header_revision); /* value NULL: deleted */
void fake_etcd_cut(struct fake_etcd *fake);         /* ends all watches */
/* Another cluster in its place: empty, and counting from 1. */
void fake_etcd_replace(struct fake_etcd *fake);

#endif
