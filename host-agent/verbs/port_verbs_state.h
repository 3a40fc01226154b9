/*
 * port_verbs_state - what the source files of port_verbs share.
 */
#ifndef HOST_AGENT_VERBS_PORT_VERBS_STATE_H
#define HOST_AGENT_VERBS_PORT_VERBS_STATE_H

#include <infiniband/verbs.h>

#include "host-agent/verbs/nic_clock.h"
#include "host-agent/verbs/port_verbs.h"
#include "host-agent/verbs/verbs_cq.h"
#include "host-agent/verbs/verbs_queue.h"
#include "rackmesh/core/clock.h"

struct event;
struct priority_pool;
struct rm_timer;
struct verbs_ah_cache;
struct verbs_ah;

#define PORT_VERBS_MAX_FLOWS 64
#define PORT_VERBS_MAX_WAITING 128 /* replies that wait for an address handle */

/* Indexes of the queues; flows from QUEUE_FLOWS on. */
enum { QUEUE_SMALL, QUEUE_LARGE, QUEUE_FLOWS };
#define PORT_VERBS_MAX_QUEUES (QUEUE_FLOWS + PORT_VERBS_MAX_FLOWS)

struct port_verbs_queue {
	struct verbs_queue *queue;
	uint32_t qpn; /* as it was last reported */
	/* The source port that its QPN gives, where the QPN makes the flow. */
	uint16_t port;
	bool suspect; /* something in it has failed: to be checked */
	bool flushed; /* it flushes what is posted: nothing more is posted until it is
			 reset */
	bool lost;    /* could not be revived yet: not used */
};

/* Taken off the completion queue with its stamp, but not delivered yet. */
struct port_verbs_taken {
	uint64_t wr_id;
	uint8_t *buffer;
	int64_t stamp_ns;
	uint32_t len; /* with the GRH */
	uint32_t src_qp;
	uint16_t slid;
	uint8_t sl;
	bool has_grh, has_stamp;
};

/*
 * The packets received for one role. All completions are taken at once, because of
 * their stamps, and delivered burst by burst: the ring has a place for each buffer.
 */
struct port_verbs_receive {
	struct verbs_cq cq;
	struct port_verbs_taken *ring;
	size_t size, first, count;
};

/*
 * What address handles are made with. Threads may be using it when the port is freed:
 * then it is freed when they have returned.
 */
struct port_verbs_domain {
	const struct verbs_calls *calls;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct verbs_ah_cache *handles;
	struct priority_pool *own_pool; /* NULL: the owner's pool is used */
};

struct port_verbs_waiting { /* a reply without address handle */
	struct port_packet packet;
	struct wire_address to;
	rm_mono_t deadline;
	uint8_t *data; /* ours */
};

struct port_verbs {
	struct port base;
	struct rm_loop *loop;
	const struct verbs_calls *calls;
	struct port_verbs_options options; /* its strings are not kept */
	struct port_verbs_events events;
	struct port_events listeners[PORT_ROLES];
	bool listening[PORT_ROLES];
	struct port_counts counts;
	uint64_t overruns[PORT_ROLES];

	struct port_verbs_domain *domain;
	struct ibv_comp_channel *channel;
	struct verbs_cq sends;
	struct port_verbs_receive receives[PORT_ROLES];
	struct port_verbs_queue queues[PORT_VERBS_MAX_QUEUES];
	size_t queue_count; /* open ones, QUEUE_FLOWS and the flows */
	size_t flow_count;
	enum port_flows flows;
	enum wire_stamp_source stamps;
	struct nic_clock *clock;    /* for all kinds of stamps but WIRE_STAMP_USER */
	unsigned clock_untrusted_s; /* seconds in a row that it was not trusted */
	rm_mono_t settled;          /* until then stamps of two clocks might be mixed */
	uint32_t mtu_bytes;
	uint16_t lid;
	bool infiniband, link_up;
	int gone; /* -errno: the port does not work any more */

	struct event *channel_event, *async_event;
	struct rm_timer *again;    /* more packets wait than one wake-up handles */
	struct rm_timer *watch;    /* each second */
	struct rm_timer *repair;   /* checks the queues that are suspect */
	struct rm_timer *notice;   /* reports to the owner */
	struct rm_timer *patience; /* time-out of the replies that wait */
	rm_mono_t repaired;        /* time of the last attempt */
	unsigned repairs_failed;
	bool report_link, report_renumbered, report_gone;

	struct port_verbs_waiting waiting[PORT_VERBS_MAX_WAITING]; /* ring */
	size_t waiting_first, waiting_count;
};

/* ---- port_verbs.c: the device and what is opened on it ----------------------- */

/* Takes over the attributes that were read from the port. */
void port_verbs_read_port(struct port_verbs *port, const struct ibv_port_attr *attr);
/* Takes over the number of a queue, and the source port that follows from it. */
void port_verbs_number(struct port_verbs *port, struct port_verbs_queue *queue);

/* ---- port_verbs.c: address handles -----------------------------------------
 */

/* -EINPROGRESS: port_verbs_send_waiting follows; else as in the header. *ret: return
 * it with verbs_ah_put. */
int port_verbs_handle(struct port_verbs *port, const struct port_packet *packet,
    uint32_t label, struct verbs_ah **ret);
void port_verbs_forget_handles(struct port_verbs *port);

/* ---- port_verbs_send.c ------------------------------------------------------------
 */

int port_verbs_start_clock(
    struct port_verbs *port, const struct ibv_device_attr_ex *device);
void port_verbs_watch_clock(struct port_verbs *port);
struct nic_clock_reading port_verbs_now(void);
/* The stamp of a completion that is polled now. False: no stamp. */
bool port_verbs_stamp(struct port_verbs *port,
    const struct verbs_completion *completion, const struct nic_clock_reading *now,
    int64_t *ret);

/* ---- port_verbs_send.c ------------------------------------------------------------
 */

void port_verbs_send(
    struct port *base, enum port_role role, struct port_packet *packets, size_t count);
uint32_t port_verbs_label(const struct port_verbs *port, uint16_t src_port);
/* Takes all finished sends off their completion queue. */
void port_verbs_take_sent(struct port_verbs *port);
/* Called for a send that will never complete. */
void port_verbs_drop_sent(const struct verbs_send *send, void *arg);

/* ---- port_verbs_send.c: replies without address handle -------------------------
 */

/* Tries all that wait again; those that have waited too long are dropped. */
void port_verbs_send_waiting(struct port_verbs *port);
void port_verbs_drop_waiting(struct port_verbs *port);

/* Takes all that has completed. */
void port_verbs_take(struct port_verbs *port, enum port_role role);
/* Delivers one burst of the taken packets. Returns their number. */
size_t port_verbs_deliver(struct port_verbs *port, enum port_role role);
/* Posts all buffers that were returned. */
void port_verbs_refill(struct port_verbs *port);

/* ---- port_verbs_events.c: the loop's side ------------------------------------------
 */

int port_verbs_wire(struct port_verbs *port);
void port_verbs_unwire(struct port_verbs *port);
void port_verbs_again(struct port_verbs *port); /* in the loop's next turn */

/* ---- port_verbs_events.c: ports and queues go down and come back
 * ----------------------
 */

/* Checks whether the LID that the owner knows is still right. */
void port_verbs_check_lid(struct port_verbs *port);
void port_verbs_suspect(struct port_verbs *port, struct port_verbs_queue *queue);
void port_verbs_fail(struct port_verbs *port, int reason); /* the device is gone */

#endif
