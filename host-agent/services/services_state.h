/*
 * services_state - what services.c (RNICs, flows, what the kernel tells of QPs),
 * services_peers.c (the other ends: asked for, and answered), services_turn.c (what to
 * probe) and services_users.c (whose QPs they are) share. For them only.
 */
#ifndef HOST_AGENT_SERVICES_SERVICES_STATE_H
#define HOST_AGENT_SERVICES_SERVICES_STATE_H

#include "host-agent/services/process_name.h"
#include "host-agent/services/qp_list.h"
#include "host-agent/services/services.h"
#include "rackmesh/core/backoff.h"

#define HASH_NONFATAL_OOM 1 /* no exit(): what was not added has no hh.tbl */
#include <uthash.h>

/* Keys are compared as bytes: make them with memset, and without padding that is not
 * zero. */

struct owner { /* one of our RNICs */
	bool present;
	struct wire_rnic_id id;
	char device[QP_LIST_DEVICE];
	uint32_t port;
	bool verbs;
	uint64_t tors[WIRE_MAX_ATTACHMENTS]; /* hashes of their names */
	struct wire_address addresses[WIRE_MAX_ADDRESSES];
	size_t address_count;
	uint16_t ports[SERVICES_MAX_PORTS];
	size_t port_count;
	uint32_t large_bytes;
	uint64_t unjoinable; /* QPs in the last list that nobody can tell about */
	uint64_t no_record;  /* QPs that found no room: of the last list, and since */
	uint64_t digest;     /* of its probes and traces */
	uint64_t service_peers_digest;
};

struct process_key {
	uint32_t pid;   /* 0: the kernel's own, which has a name */
	bool elsewhere; /* pid is of another pid namespace than ours */
	char kernel[QP_LIST_KERNEL];
};

struct process {
	struct process_key key;
	uint64_t cgroup_id;
	struct process_name name;
	bool asked;
	size_t qps;                      /* with and without a flow */
	uint32_t on[SERVICES_MAX_RNICS]; /* of these, by owner */
	UT_hash_handle hh;
};

struct peer_key {
	uint8_t family;    /* 0: by numbers */
	uint8_t bytes[16]; /* of the address */
	uint8_t owner;     /* by numbers: these three */
	uint8_t zero[2];
	uint32_t qpn, dst_qpn;
};

enum peer_state { PEER_UNKNOWN = 0, PEER_FOUND, PEER_NOT_FOUND };

struct peer {
	struct peer_key key;
	uint8_t owner; /* asks */
	uint8_t qp_type;
	enum peer_state state;
	uint64_t token; /* of the last ask; 0: not asked */
	rm_mono_t asked, ask_at;
	struct rm_backoff backoff;
	size_t flows;
	unsigned misses; /* answers in a row that nobody knows it (any more) */
	/* once found */
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
	uint32_t qpn, dst_qpn; /* of the one seen last */
	size_t qps;
	bool older;
	struct slot *slot; /* as of the last turn; NULL: nothing to probe */
	bool exact;        /* the slot's probes take the flow's own way */
	uint64_t path;     /* as of the last turn */
	UT_hash_handle hh;
};

struct qp_key {
	uint32_t owner;
	uint32_t qpn;
};

struct qp {
	struct qp_key key;
	struct process *process;
	struct flow *flow; /* NULL: no room for one, no known peer, or none beyond us */
	rm_mono_t since;
	uint32_t dst_qpn;
	uint32_t listing; /* the last one that had it */
	UT_hash_handle hh;
};

/* Two ends and a class: what one target of the prober is. */
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

struct slot_key { /* one way, as far as we know */
	struct pair_key pair;
	uint16_t probe_port;
	uint8_t zero[6];
};

struct slot {
	struct slot_key key;
	bool on;
	rm_mono_t since; /* on or off */
	uint64_t turns;  /* it has had */
	uint64_t turn;   /* the last one that wanted it */
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
	size_t unnamed;  /* processes */
	size_t flowless; /* QPs without a flow */
	uint64_t found;  /* QPs in lists that we did not know */
	uint32_t listing;
	rm_mono_t ended; /* the last time that one was destroyed */
	rm_mono_t doubted;
	uint64_t turn;
	uint64_t token;
	uint64_t random;
	bool news;
};

uint64_t services_random(struct services *services);
uint64_t services_hash_text(const char *text); /* never 0 */

bool services_same_address(const struct wire_address *a, const struct wire_address *b);
/* The peer of a new QP; NULL: no room. */
struct peer *services_peer(struct services *services, const struct peer_key *key,
    size_t owner, uint8_t qp_type, rm_mono_t now);
void services_peer_release(struct services *services, struct peer *peer);
/* Where the probes of a flow go; false: there are none to send. */
bool services_peer_address(
    const struct owner *owner, const struct peer *peer, struct wire_address *ret);

/* After flows and peers have changed. A bit per RNIC with other guests. */
uint64_t services_peers_turn(struct services *services, rm_mono_t now);
void services_peers_clear(struct services *services);
size_t services_peers_count(const struct services *services);

/* All that the turns have chosen. */
void services_turn_clear(struct services *services);

#endif
