/*
 * port_verbs_state - the state of a port_verbs, shared by its source files. No other
 * file includes this header.
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

/* Indexes of the queues; the flow QPs follow from QUEUE_FLOWS on. */
enum { QUEUE_SMALL, QUEUE_LARGE, QUEUE_FLOWS };
#define PORT_VERBS_MAX_QUEUES (QUEUE_FLOWS + PORT_VERBS_MAX_FLOWS)

struct port_verbs_queue {
	struct verbs_queue *queue;
	uint32_t qpn; /* number of the QP, as it was last reported */
	/* The source port of the QP, if the QPN decides it. */
	uint16_t port;
	/* something in the queue has failed, so the queue has to be checked */
	bool suspect;
	/* the queue returns all buffers unused, so no buffer is posted until the queue
	 * is reset */
	bool flushed;
	bool lost; /* the QP could not be reset or created, so it is not used */
};

/* A packet that was taken off its completion queue and stamped, but not delivered
 * yet. */
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
 * What address handles are made with. Threads may still use this struct when the port
 * is freed; then it is freed after their calls have returned.
 */
struct port_verbs_domain {
	const struct verbs_calls *calls;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct verbs_ah_cache *handles;
	struct priority_pool *own_pool; /* NULL: the owner's pool is used */
};

struct port_verbs_waiting { /* a reply that waits for its address handle */
	struct port_packet packet;
	struct wire_address to;
	rm_mono_t deadline;
	uint8_t *data; /* owned by the entry */
};

struct port_verbs {
	struct port base;
	struct rm_loop *loop;
	const struct verbs_calls *calls;
	struct port_verbs_options options; /* copied; its strings are not kept */
	char device[IBV_SYSFS_NAME_MAX];   /* name of the device, for the log */
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
	size_t queue_count; /* number of open queues: QUEUE_FLOWS, and the flow QPs */
	size_t flow_count;
	enum port_flows flows;
	enum wire_stamp_source stamps;
	/* the clock of every kind of stamp except WIRE_STAMP_USER */
	struct nic_clock *clock;
	/* number of seconds in a row in which the clock was not trusted */
	unsigned clock_untrusted_s;
	/* before this time packets have no stamp, as stamps of two clocks might be
	 * mixed */
	rm_mono_t settled;
	uint32_t mtu_bytes;
	uint16_t lid;
	bool infiniband, link_up;
	int gone; /* -errno: the port has ended for this reason; 0: it works */

	struct event *channel_event, *async_event;
	/* fires at once: one turn could not handle all packets */
	struct rm_timer *again;
	struct rm_timer *watch;    /* fires each second */
	struct rm_timer *repair;   /* checks the queues that are suspect */
	struct rm_timer *notice;   /* reports to the owner */
	struct rm_timer *patience; /* fires when a waiting reply times out */
	rm_mono_t repaired;        /* time of the last attempt to repair a queue */
	unsigned repairs_failed;
	bool report_link, report_renumbered, report_gone;

	struct port_verbs_waiting waiting[PORT_VERBS_MAX_WAITING]; /* ring */
	size_t waiting_first, waiting_count;
};

/* ---- port_verbs.c: the device, and the objects that are opened on it --------- */

/* Copies the attributes of the port. */
void port_verbs_read_port(struct port_verbs *port, const struct ibv_port_attr *attr);
/* Copies the QPN of a queue, and the source port that results from it. */
void port_verbs_number(struct port_verbs *port, struct port_verbs_queue *queue);

/* ---- port_verbs.c: address handles ---- */

/* Gets the address handle of a packet; put *ret with verbs_ah_put. -EINPROGRESS:
 * port_verbs_send_waiting is called when the handle is there; else as verbs_ah_get. */
int port_verbs_handle(struct port_verbs *port, const struct port_packet *packet,
    uint32_t label, struct verbs_ah **ret);
void port_verbs_forget_handles(struct port_verbs *port);

/* ---- port_verbs_send.c ---- */

int port_verbs_start_clock(
    struct port_verbs *port, const struct ibv_device_attr_ex *device);
void port_verbs_watch_clock(struct port_verbs *port);
struct nic_clock_reading port_verbs_now(void);
/* Converts the stamp of a completion that is polled now. False: the packet has no
 * stamp. */
bool port_verbs_stamp(struct port_verbs *port,
    const struct verbs_completion *completion, const struct nic_clock_reading *now,
    int64_t *ret);

/* ---- port_verbs_send.c ---- */

void port_verbs_send(
    struct port *base, enum port_role role, struct port_packet *packets, size_t count);
uint32_t port_verbs_label(const struct port_verbs *port, uint16_t src_port);
/* Takes all finished sends off their completion queue. */
void port_verbs_take_sent(struct port_verbs *port);
/* Counts a send that will never complete, and puts its address handle. */
void port_verbs_drop_sent(const struct verbs_send *send, void *arg);

/* ---- port_verbs_send.c: replies without address handle ---- */

/* Tries to send all waiting replies; replies that have waited too long are dropped. */
void port_verbs_send_waiting(struct port_verbs *port);
void port_verbs_drop_waiting(struct port_verbs *port);

/* Takes all completed receives off their completion queue. */
void port_verbs_take(struct port_verbs *port, enum port_role role);
/* Delivers one burst of the taken packets. Returns their number. */
size_t port_verbs_deliver(struct port_verbs *port, enum port_role role);
/* Posts all receive buffers that were returned. */
void port_verbs_refill(struct port_verbs *port);

/* ---- port_verbs_events.c: events of the loop and of the device ---- */

int port_verbs_wire(struct port_verbs *port);
void port_verbs_unwire(struct port_verbs *port);
/* continues in the next turn of the loop */
void port_verbs_again(struct port_verbs *port);

/* ---- port_verbs_events.c: failures of the port, and repair of its queues ---- */

/* Compares the LID of the port with the one that the owner knows. */
void port_verbs_check_lid(struct port_verbs *port);
void port_verbs_suspect(struct port_verbs *port, struct port_verbs_queue *queue);
/* reason: the -errno with which the port has ended */
void port_verbs_fail(struct port_verbs *port, int reason);

#endif
