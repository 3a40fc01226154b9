/*
 * fake_etcd - an etcd inside the process of a unit test: the part of the gateway that
 * Rackmesh uses, on the test's own loop, with faults on demand.
 *
 * It keeps keys, revisions, leases and a history as etcd does; the test changes the
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
	int64_t shown_less; /* lists and reads show a revision that is lower by this */
	/* Number of lists that show the state of fake_etcd_snapshot. */
	unsigned behind;
	bool no_events;      /* watches get no events */
	bool silent;         /* no request is answered */
	bool silent_txn;     /* transactions are executed, but not answered */
	bool silent_watch;   /* watch requests are not answered */
	bool lease_dead;     /* keepalives report that the lease is gone */
	bool keepalive_lost; /* keepalives are not answered */
	bool compacted;      /* watches are cancelled because of compaction */
	const char *token;   /* the token that requests need; NULL: no authentication */
	int fail_status;     /* status of the next fail_count requests */
	const char *fail_body;
	unsigned fail_count;
	unsigned lists, reads, txns, grants, keepalives, revokes, logins, watches;
	int64_t watched_from; /* first revision of the last watch */
	unsigned compactions;
	int64_t compacted_to; /* revision of the last request to compact */
	struct fake_etcd_state *state;
};

int fake_etcd_new(struct event_base *base, struct fake_etcd *ret);
void fake_etcd_clear(struct fake_etcd *fake);

void fake_etcd_put(struct fake_etcd *fake, const char *key, const char *value);
void fake_etcd_delete(struct fake_etcd *fake, const char *key);
/* Sets a key with any revision, without an event. */
void fake_etcd_plant(
    struct fake_etcd *fake, const char *key, const char *value, int64_t mod_revision);
/* Saves the current state, which `behind` lists show. */
void fake_etcd_snapshot(struct fake_etcd *fake);
const char *fake_etcd_value(
    const struct fake_etcd *fake, const char *key); /* NULL: no such key */

size_t fake_etcd_streams(const struct fake_etcd *fake); /* number of open watches */
/* Sends a text to all watches; or an event with the header of this revision. */
void fake_etcd_send(struct fake_etcd *fake, const char *text);
void fake_etcd_event(struct fake_etcd *fake, const char *key, const char *value,
    int64_t mod_revision, int64_t header_revision); /* value NULL: deleted */
void fake_etcd_cut(struct fake_etcd *fake);         /* ends all watches */
/* Replaces the cluster by an empty one, whose revisions begin at 1. */
void fake_etcd_replace(struct fake_etcd *fake);

#endif
