/*
 * rnic_state - what rnic.c (life, looks, plans) and rnic_open.c (the port, whichever
 * kind it is) share. For those two only.
 */
#ifndef HOST_AGENT_RNIC_RNIC_STATE_H
#define HOST_AGENT_RNIC_RNIC_STATE_H

#include "host-agent/rnic/rnic.h"

struct rm_timer;

#define RNIC_NAME_BYTES 64 /* as everywhere; a long device's is cut before ":254" */

struct rnic {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rnic_options options;
	struct rnic_callbacks callbacks;
	void *arg;
	char name[RNIC_NAME_BYTES];

	bool looking;     /* a look is on the worker */
	bool look_again;  /* it may have been too early: once more after it */
	bool seen;        /* facts hold */
	bool told_up;     /* RoCE: the last that was said of it is not that it waits */
	int waits_reason; /* of the last RNIC_WAITS; 0: none is on */
	bool paused;
	uint32_t brake_permille;
	struct rnic_facts facts; /* as last seen */
	uint64_t past_self_loss; /* of sockets since closed */

	/* As registered: also of an RDMA port that is gone since. */
	struct rnic_facts opened; /* guid 0: nothing yet */
	struct wire_address addresses[RNIC_FAMILIES];
	struct port_verbs_facts verbs;

	struct port *port; /* all three, or none */
	struct prober *prober;
	struct reflector *reflector;

	/* What the port has said, until the loop comes to it. */
	struct rm_timer *news;
	bool renumbered, gone;
	int gone_reason;
	bool told_link_up;   /* as it was last told of */
	rm_mono_t fall_told; /* when that was last false for the first time */
};

/* rnic_open.c */
int rnic_open(struct rnic *rnic);
void rnic_close(struct rnic *rnic);
uint64_t rnic_overruns(const struct rnic *rnic);
int rnic_start_prober(struct rnic *rnic);
void rnic_set_pace(struct rnic *rnic);
/* What the port says now is in force. False: nothing is to be told, or not yet. */
bool rnic_read_news(struct rnic *rnic, enum rnic_event *ret);

/* rnic.c: what the port has said, dealt with outside of its callbacks. */
void rnic_take_news(void *arg);

#endif
