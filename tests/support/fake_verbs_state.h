/*
 * fake_verbs_state - shared by the files of fake_verbs.
 */
#ifndef TESTS_FAKE_VERBS_STATE_H
#define TESTS_FAKE_VERBS_STATE_H

#include <pthread.h>

#include "tests/support/fake_verbs.h"

struct fake_context {
	struct ibv_context base; /* the first members are those of libibverbs */
	struct fake_device *device;
	struct fake_context *next;
	struct fake_qp *qps;
	struct ibv_async_event *events;
	size_t event_count;
	bool removed;
};

struct fake_channel {
	struct ibv_comp_channel base;
	struct ibv_cq **events;
	size_t event_count;
};

struct fake_completion {
	struct ibv_wc wc;
	uint64_t stamp;
};

struct fake_cq {
	union {
		struct ibv_cq base;
		struct ibv_cq_ex ex;
	};
	struct fake_context *context;
	struct fake_completion *queue, current;
	size_t count, room;
	bool armed, wall;
	unsigned unacknowledged, users;
};

struct fake_mr {
	struct ibv_mr base;
	unsigned posted;
	struct fake_mr *next;
};

struct fake_receive {
	uint64_t wr_id;
	struct ibv_sge sge;
	struct fake_mr *mr;
};

struct fake_qp {
	struct ibv_qp base;
	struct fake_context *context;
	struct fake_qp *next;
	struct ibv_qp_cap cap;
	uint32_t qkey;
	struct fake_receive *receives; /* a ring of cap.max_recv_wr */
	size_t first, count;
	uint64_t *held; /* the wr_ids of sends that have not completed */
	size_t held_count;
};

struct fake_ah {
	struct ibv_ah base;
	struct ibv_ah_attr attr;
};

extern struct fake_device *fake_devices;
extern struct fake_mr *fake_mrs;

void fake_object(int change); /* adds change to the number of objects */
void fake_violate(const char *what);
struct fake_qp *fake_find_qp(const struct fake_device *device, uint32_t qpn);
struct fake_mr *fake_find_mr(const struct ibv_sge *sge);

/* fake_verbs_wire.c */
int fake_create_qp(
    struct ibv_pd *pd, struct ibv_qp_init_attr *options, struct ibv_qp **ret);
int fake_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int fake_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *ret, int mask);
int fake_destroy_qp(struct ibv_qp *qp);
int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr);
int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* fake_verbs_events.c */
void fake_cq_push(struct fake_cq *cq, const struct ibv_wc *wc);
uint64_t fake_clock(const struct fake_device *device);
int fake_create_channel(struct ibv_context *context, struct ibv_comp_channel **ret);
int fake_destroy_channel(struct ibv_comp_channel *channel);
int fake_create_cq(struct ibv_context *context, int depth,
    struct ibv_comp_channel *channel, struct ibv_cq **ret);
int fake_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *options,
    struct ibv_cq_ex **ret);
int fake_destroy_cq(struct ibv_cq *cq);
int fake_req_notify(struct ibv_cq *cq);
int fake_get_event(struct ibv_comp_channel *channel, struct ibv_cq **ret);
void fake_ack_events(struct ibv_cq *cq, unsigned count);
int fake_poll(struct ibv_cq *cq, int max, struct ibv_wc *wcs);
int fake_get_async(struct ibv_context *context, struct ibv_async_event *ret);
void fake_ack_async(struct ibv_async_event *event);

#endif
