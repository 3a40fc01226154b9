/*
 * services_state - shared by services.c (RNICs, flows, QPs from the kernel),
 * services_peers.c (the other ends: asked for, and answered), services_turn.c (what to
 * probe) and services_users.c (the users of QPs). Only they include it.
 */
#ifndef HOST_AGENT_SERVICES_SERVICES_STATE_H
#define HOST_AGENT_SERVICES_SERVICES_STATE_H

#include "host-agent/services/process_name.h"
#include "host-agent/services/qp_list.h"
#include "host-agent/services/services.h"
#include "rackmesh/core/backoff.h"

/* Without memory, uthash does not call exit(): hh.tbl of the entry is then NULL. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Keys are compared as bytes: clear them with memset before setting their members,
 * so that padding is zero. */

struct owner { /* one RNIC of this agent */
	bool present;
	struct wire_rnic_id id;
	char device[QP_LIST_DEVICE];
	uint32_t port;
	bool verbs;
	/* hashes of the names of the ToRs; 0: none */
	uint64_t tors[WIRE_MAX_ATTACHMENTS];
	struct wire_address addresses[WIRE_MAX_ADDRESSES];
	size_t address_count;
	uint16_t ports[SERVICES_MAX_PORTS];
	size_t port_count;
	uint32_t large_bytes;
	uint64_t unjoinable; /* QPs of the last list whose peers cannot be found */
	/* QPs for which there was no room, in the last list and since then */
	uint64_t no_record;
	uint64_t digest; /* hash of the probes and traces of this RNIC */
	uint64_t service_peers_digest;
};

struct process_key {
	/* number of the process; 0: a user in the kernel, whose name is in `kernel` */
	uint32_t pid;
	bool elsewhere; /* pid belongs to another pid namespace */
	char kernel[QP_LIST_KERNEL];
};

struct process {
	struct process_key key;
	uint64_t cgroup_id;
	struct process_name name;
	bool asked;
	size_t qps;                      /* number of QPs, with and without a flow */
	uint32_t on[SERVICES_MAX_RNICS]; /* number of these QPs on each RNIC */
	UT_hash_handle hh;
};

struct peer_key {
	uint8_t family;    /* 0: the peer is known by QP numbers only */
	uint8_t bytes[16]; /* of the address */
	uint8_t owner;     /* with family 0, the following three are the key */
	uint8_t zero[2];
	uint32_t qpn, dst_qpn;
};

enum peer_state { PEER_UNKNOWN = 0, PEER_FOUND, PEER_NOT_FOUND };

struct peer {
	struct peer_key key;
	uint8_t owner; /* RNIC that requests the peer */
	uint8_t qp_type;
	enum peer_state state;
	uint64_t token; /* token of the last request; 0: no request was sent */
	rm_mono_t asked, ask_at;
	struct rm_backoff backoff;
	size_t flows;
	unsigned misses; /* answers in a row that did not find the peer */
	/* The following members are from the last answer that found the peer. */
	struct wire_rnic_id id;
	struct wire_address addresses[WIRE_MAX_ADDRESSES];
	size_t address_count;
	uint32_t qpn, large_qpn, mtu_bytes;
	uint16_t lid;
	uint64_t tors[WIRE_MAX_ATTACHMENTS];
	UT_hash_handle hh;
};

struct flow_key {
	struct peer *peer;
	struct process *process;
	uint16_t src_port; /* 0: not known */
	uint8_t owner;
	uint8_t dscp;
	uint8_t qp_type; /* enum wire_qp_type */
	uint8_t sl;
	uint8_t zero[2];
};

struct service_peer;
struct pair;
struct slot;

struct flow {
	struct flow_key key;
	uint32_t qpn, dst_qpn; /* numbers of the QP that was seen last */
	size_t qps;
	bool older;
	struct slot *slot; /* slot of the last turn; NULL: the flow cannot be probed */
	bool exact;        /* the slot's probes take exactly the flow's own path */
	uint64_t path;     /* path in the last turn; 0: not known */
	UT_hash_handle hh;
};

struct qp_key {
	uint32_t owner;
	uint32_t qpn;
};

struct qp {
	struct qp_key key;
	struct process *process;
	/* NULL: there is no room for a flow, the peer is not known, or it is this RNIC
	 * itself. */
	struct flow *flow;
	rm_mono_t since;
	uint32_t dst_qpn;
	uint32_t listing; /* number of the last list that had the QP */
	UT_hash_handle hh;
};

/* Source, destination and class of flows: one target of the prober. */
struct pair_key {
	uint64_t guid;
	uint8_t port_num;
	uint8_t family;
	uint8_t bytes[16];
	uint8_t owner;
	uint8_t dscp;
	uint8_t sl;
	uint8_t zero[3];
};

struct slot_key { /* one path, as far as the paths are known */
	struct pair_key pair;
	uint16_t probe_port;
	uint8_t zero[6];
};

struct slot {
	struct slot_key key;
	bool on;
	rm_mono_t since; /* time at which `on` last changed */
	uint64_t turns;  /* number of turns it has had */
	uint64_t turn;   /* number of the last turn in which a flow needed the slot */
	UT_hash_handle hh;
};

struct services {
	struct services_options options;
	struct owner owners[SERVICES_MAX_RNICS];
	struct process *processes;
	struct peer *peers;
	struct flow *flows;
	struct qp *qps;
	struct slot *slots;
	struct pair *pairs;
	struct service_peer *service_peers;
	struct services_counts counts;
	size_t unnamed;  /* processes without a name */
	size_t flowless; /* QPs without a flow */
	uint64_t found;  /* QPs that were first seen in a list */
	uint32_t listing;
	rm_mono_t ended; /* when a QP was last destroyed */
	rm_mono_t doubted;
	uint64_t turn;
	uint64_t token;
	uint64_t random;
	bool news;
};

uint64_t services_random(struct services *services);
uint64_t services_hash_text(const char *text); /* never 0 */

bool services_same_address(const struct wire_address *a, const struct wire_address *b);
/* Finds or creates the peer of a new QP. NULL: no room. */
struct peer *services_peer(struct services *services, const struct peer_key *key,
    size_t owner, uint8_t qp_type, rm_mono_t now);
void services_peer_release(struct services *services, struct peer *peer);
/* Chooses the address to which probes of a flow are sent. False: the flow cannot be
 * probed. */
bool services_peer_address(
    const struct owner *owner, const struct peer *peer, struct wire_address *ret);

/* Call it after flows or peers have changed. Returns a bit for each RNIC whose service
 * peers have changed. */
uint64_t services_peers_turn(struct services *services, rm_mono_t now);
void services_peers_clear(struct services *services);
size_t services_peers_count(const struct services *services);

/* Forgets all choices of the last turn. */
void services_turn_clear(struct services *services);

#endif
