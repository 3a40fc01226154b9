/*
 * etcd_answer - the parts of requests to etcd and of its answers: values, compares,
 * operations, events.
 */
#ifndef RACKMESH_ETCD_ETCD_ANSWER_H
#define RACKMESH_ETCD_ETCD_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* the server accepts requests of 1.5 MiB */
#define RM_ETCD_MAX_VALUE_BYTES (1400u << 10)
/* maximum number of operations in one transaction; the server accepts 128 */
#define RM_ETCD_MAX_OPS 120
#define RM_ETCD_MAX_CALLS 256 /* calls that wait for an answer at a time */

struct rm_etcd_value {
	const char *key;   /* terminated */
	const char *value; /* terminated; value_len does not count the terminator */
	size_t value_len;
	int64_t create_revision, mod_revision, version, lease;
};

struct rm_etcd_answer { /* borrowed for the duration of the call */
	/* 0: etcd has carried out the request. -ETIMEDOUT, -EIO, -EPROTO (a malformed
	 * answer): it is not known whether etcd has carried it out. With all other
	 * errors etcd has changed nothing: -ECONNREFUSED, -EHOSTUNREACH, -ENETUNREACH;
	 * -EAGAIN: there is no leader, etcd is too busy, or the revision does not exist
	 * yet; -EACCES: authentication or permission; -ENOSPC: the database is full;
	 * -EMSGSIZE: request or answer is too large; -ESTALE: the revision was
	 * compacted; -ENOENT: there is no such lease; -EINVAL: etcd did not understand
	 * the request. */
	int r;
	char error[160]; /* the server's message, printable; "" when r is 0 */
	uint64_t cluster_id;
	int64_t revision; /* of the header */
	bool succeeded;   /* for a transaction: all its compares were true */
	const struct rm_etcd_value *values; /* range */
	size_t count;
	/* for calls about leases; ttl_s 0: the lease has expired */
	int64_t lease, ttl_s;
};

typedef void rm_etcd_done(const struct rm_etcd_answer *answer, void *arg);

enum rm_etcd_target { RM_ETCD_CREATE_REVISION, RM_ETCD_MOD_REVISION, RM_ETCD_LEASE };

struct rm_etcd_compare { /* all members are 0 for a key that does not exist */
	const char *key;
	enum rm_etcd_target target;
	int64_t equals;
};

struct rm_etcd_op {
	const char *key;
	const char *value; /* NULL: deletes the key */
	size_t value_len;
	int64_t lease;
};

struct rm_etcd_event {
	bool is_delete;
	/* for a deleted key: only key and mod_revision are set */
	struct rm_etcd_value value;
};

struct rm_etcd_counts {
	uint64_t calls, failed, rotations, authentications;
	uint64_t watches, watch_lines, bad_answers;
};

#endif
