/*
 * fake_verbs - fake RDMA devices inside a test process, all on one wire.
 *
 * A packet to an existing QP arrives there at once. The devices offer what Soft-RoCE
 * cannot: hardware stamps, failed completions with random values in every field that is
 * then undefined, async events, calls that fail, devices that disappear. They count
 * their objects, and note misuse that a real provider would answer with a hang or with
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

/* The test's thread may change these fields at any time. */
struct fake_device {
	char name[32];
	uint8_t gids[2][16]; /* index 0 and 1; all zero: no GID */
	enum ibv_port_state state;
	enum ibv_mtu mtu;
	bool infiniband;
	uint16_t lid;

	/* Stamps that create_cq_ex grants, and the clock behind them. */
	bool cycle_stamps, wall_stamps;
	uint64_t clock_khz, clock_mask;
	/* NULL: the same as clock_khz. */
	uint64_t (*clock)(const struct fake_device *device);

	/* The result of these calls: -errno, or 0 for success. */
	int fail_open, fail_reg_mr, fail_create_cq, fail_create_qp, fail_reset;
	int fail_post_send, fail_query_port, fail_poll;
	/* This number of calls for events returns -EINTR first. */
	unsigned interruptions;
	/* If scarce, this number of buffers is accepted, then -ENOMEM. */
	unsigned receives_left;
	bool scarce;          /* receives_left applies */
	bool hold_sends;      /* sends complete with fake_verbs_release only */
	bool drop;            /* the wire loses all packets that this device sends */
	uint8_t dead_gid[16]; /* cannot be resolved; create_ah takes dead_ns */
	int64_t dead_ns;
	int64_t slow_ns; /* duration of create_ah for any other address */
	uint32_t max_inline;
	/* Called just before a queue is armed: such a completion causes no event. */
	void (*before_arming)(void *arg);
	void *arg;

	/* What the device has counted. */
	uint64_t sent, inlined, dropped, handles_made;
	struct ibv_ah_attr last_ah;
	uint32_t last_qpn; /* the QP that sent last */

	struct fake_device *next;
	void *contexts; /* the open contexts */
	uint32_t next_qpn;
};

/* Adds a device with one active port and GID 0 for IPv4 10.0.0.host. It lives until
 * fake_verbs_clear. */
struct fake_device *fake_verbs_add(const char *name, uint8_t host);
/* Removes all devices. Returns how many objects still existed. */
size_t fake_verbs_clear(void);
size_t fake_verbs_objects(void);
/* Describes misuse that a real provider would not have survived; NULL: none. */
const char *fake_verbs_violation(void);

void fake_verbs_event(struct fake_device *device, enum ibv_event_type type);
void fake_verbs_qp_event(
    struct fake_device *device, enum ibv_event_type type, uint32_t qpn);
/* Sets the state of the link, and reports the event. */
void fake_verbs_link(struct fake_device *device, bool up);
/* Removes the device as the kernel does: its files return -EIO from now on. */
void fake_verbs_remove(struct fake_device *device);

/* Puts the QP into the error state: all posted work completes as flushed, with
 * random values in the other fields. */
void fake_verbs_break(struct fake_device *device, uint32_t qpn);
bool fake_verbs_is_broken(struct fake_device *device, uint32_t qpn);
/* Completes the sends held so far. */
void fake_verbs_release(struct fake_device *device);

/* Delivers these bytes, GRH included, with this completion. False: no such QP, or no
 * buffer. Bytes that do not fit the buffer are left out, whatever byte_len is. */
bool fake_verbs_arrive(struct fake_device *device, uint32_t qpn, const void *bytes,
    size_t len, const struct ibv_wc *wc);
/* Adds this completion, with any wr_id, to the receive queue of this QP. */
void fake_verbs_complete(
    struct fake_device *device, uint32_t qpn, const struct ibv_wc *wc);
/* The wr_id of the next receive. */
uint64_t fake_verbs_next_receive(struct fake_device *device, uint32_t qpn);
size_t fake_verbs_posted(struct fake_device *device, uint32_t qpn);

#endif
