/*
 * fake_verbs - RDMA devices in the process of a test, all on one wire.
 *
 * What is sent to a QP that exists arrives there at once. It gives what Soft-RoCE
 * cannot: hardware stamps, completions that are no success, with rubbish in every field
 * that then means nothing, async events, calls that fail, devices that go. It keeps
 * account of its objects, and of what a real provider would answer with a hang or with
 * damaged memory.
 */
#ifndef TESTS_FAKE_VERBS_H
#define TESTS_FAKE_VERBS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/verbs/verbs_calls.h"

struct fake_qp;

extern const struct verbs_calls fake_verbs_calls;

/* The knobs may be turned at any time, from the test's thread. */
struct fake_device {
	char name[32];
	uint8_t gids[2][16]; /* index 0 and 1; zero: none */
	enum ibv_port_state state;
	enum ibv_mtu mtu;
	bool infiniband;
	uint16_t lid;

	/* Stamps: what create_cq_ex grants, and the clock behind them. */
	bool cycle_stamps, wall_stamps;
	uint64_t clock_khz, clock_mask;
	uint64_t (*clock)(const struct fake_device *device); /* NULL: as clock_khz */

	/* Failing: -errno, or 0. */
	int fail_open, fail_reg_mr, fail_create_cq, fail_create_qp, fail_reset;
	int fail_post_send, fail_query_port, fail_poll;
	unsigned interruptions; /* so many calls for events say -EINTR first */
	unsigned receives_left; /* so many buffers are taken, then -ENOMEM; see below */
	bool scarce;            /* receives_left counts */
	bool hold_sends;        /* they complete with fake_verbs_release */
	bool drop;              /* the wire loses everything it sends */
	uint8_t dead_gid[16];   /* does not resolve; create_ah takes dead_ns */
	int64_t dead_ns;
	int64_t slow_ns; /* what it takes to create any other */
	uint32_t max_inline;
	/* What happens just before a queue is armed, and so wakes nobody. */
	void (*before_arming)(void *arg);
	void *arg;

	/* What it has seen. */
	uint64_t sent, inlined, dropped, handles_made;
	struct ibv_ah_attr last_ah;
	uint32_t last_qpn; /* sent from */

	struct fake_device *next;
	void *contexts; /* open ones */
	uint32_t next_qpn;
};

/* A device with one port, active, and GID 0 of IPv4 10.0.0.host. Lives until
 * fake_verbs_clear. */
struct fake_device *fake_verbs_add(const char *name, uint8_t host);
/* Everything away. Returns how many objects were still there. */
size_t fake_verbs_clear(void);
size_t fake_verbs_objects(void);
/* What a real provider would not have survived, and why; NULL: nothing. */
const char *fake_verbs_violation(void);

void fake_verbs_event(struct fake_device *device, enum ibv_event_type type);
void fake_verbs_qp_event(
    struct fake_device *device, enum ibv_event_type type, uint32_t qpn);
/* The state, and the event. */
void fake_verbs_link(struct fake_device *device, bool up);
/* As the kernel takes it away: its files say -EIO from now on. */
void fake_verbs_remove(struct fake_device *device);

/* To the error state: all that is posted completes, flushed, the rest is rubbish. */
void fake_verbs_break(struct fake_device *device, uint32_t qpn);
bool fake_verbs_is_broken(struct fake_device *device, uint32_t qpn);
/* The sends held so far complete. */
void fake_verbs_release(struct fake_device *device);

/* These bytes, GRH and all, with this completion. False: no such QP, or no buffer. What
 * does not fit the buffer is left out, whatever byte_len says. */
bool fake_verbs_arrive(struct fake_device *device, uint32_t qpn, const void *bytes,
    size_t len, const struct ibv_wc *wc);
/* This completion, of whatever wr_id, on the queue that this QP receives with. */
void fake_verbs_complete(
    struct fake_device *device, uint32_t qpn, const struct ibv_wc *wc);
uint64_t fake_verbs_next_receive(struct fake_device *device, uint32_t qpn); /* wr_id */
size_t fake_verbs_posted(struct fake_device *device, uint32_t qpn);

#endif
