/*
 * wire - every message the daemons exchange, as plain C.
 *
 * FlatBuffers stays behind this header: callers see C structs and bytes, never a
 * generated type. Nothing here does I/O, logs or throws. Functions return 0 or
 * a negative errno.
 *
 * Strings and arrays in a struct are borrowed. Bytes from a writer live until
 * its next message. A view lives as long as the bytes it was opened on. Strings
 * in a view are never NULL.
 *
 * wire_open_X checks the whole message once (identifier, structure, exact
 * length, every string shorter than WIRE_MAX_STRING, every vector within the
 * WIRE_MAX_* below, data aligned to 8, enums of our own in range) and copies
 * nothing. -EINVAL: misaligned. -EBADMSG: malformed. -EMSGSIZE: well formed, but
 * a string or vector beyond its limit (far beyond may be -EBADMSG). On failure
 * *view is untouched. Well formed is not yet sensible: ranges of times and counts
 * are the receiver's to check.
 *
 * wire_write_X makes nothing that wire_open_X refuses. -EMSGSIZE: a string, a vector
 * or the whole message beyond its limit. -EINVAL: an enum, index or address family out
 * of range, or NULL with a count. -ENOMEM. A NULL string is "". On failure *out is
 * untouched.
 */
#ifndef SCHEMAS_WIRE_H
#define SCHEMAS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WIRE_VERSION 1 /* peers one apart, in either direction, work together */

#define WIRE_MAX_BYTES (16u << 20) /* a whole message, as a frame may carry it */
#define WIRE_MAX_STRING 4096       /* with the 0 byte */
#define WIRE_MAX_SKETCH 8192       /* bytes of one encoded sketch */
#define WIRE_MAX_RESULTS 8192      /* in a batch */
#define WIRE_MAX_HOST_RNICS 64     /* of one agent */
#define WIRE_MAX_MEMBERS 1024      /* RNICs of one ToR */
#define WIRE_MAX_FOREIGNERS 65536  /* RNICs outside that a plan names */
#define WIRE_MAX_ENTRIES 65536     /* planned pairs besides the ToR-mesh */
#define WIRE_MAX_TARGETS 16384     /* of one agent */
#define WIRE_MAX_ROSTER 65536      /* addresses that a reflector answers */
#define WIRE_MAX_FLOWS 64          /* of one target */
#define WIRE_MAX_CLASSES 8         /* DSCPs of one target */
#define WIRE_MAX_SIZES 8           /* of one target */
#define WIRE_MAX_COUNTS 65536      /* rows of one receive-count report */
#define WIRE_MAX_STALLS 64         /* of one heartbeat */
#define WIRE_MAX_LIVE 64           /* aggregators that one agent hears */
#define WIRE_KEY_BYTES 16
#define WIRE_KEY_EPOCHS 3        /* that a responder takes at a time */
#define WIRE_MAX_TORS 64         /* of one aggregator */
#define WIRE_MAX_ROWS 65536      /* of one summary */
#define WIRE_MAX_ALIASES 16384   /* interface addresses that a plan knows */
#define WIRE_MAX_PATHS 4096      /* of one report */
#define WIRE_MAX_HOPS 8          /* of one path */
#define WIRE_MAX_JSON (8u << 20) /* bytes of one drill's answer */
#define WIRE_MAX_SERVICES 4096   /* service flows of one agent */
#define WIRE_MAX_QPN 0xffffffu   /* a QP's number has 24 bits, */
#define WIRE_MAX_SL 15           /* a service level 4 */

enum wire_kind {
	WIRE_UNKNOWN = 0,
	WIRE_HELLO,     /* RMH1 both directions up: who is dialling */
	WIRE_WELCOME,   /* RMW1 the answer to a hello */
	WIRE_REGISTER,  /* RMG1 agent -> aggregator -> controller: a host's RNICs */
	WIRE_BATCH,     /* RMB1 agent -> aggregator: probe results */
	WIRE_ACK,       /* RMK1 the receiver is responsible up to seq */
	WIRE_HEARTBEAT, /* RMT1 agent -> aggregator, every 250 ms */
	WIRE_COUNTS,    /* RMC1 agent -> aggregator: what its reflectors received */
	WIRE_PINGLIST,  /* RML1 aggregator -> agent */
	WIRE_FOCUS, /* RMF1 aggregator -> agent: probe this pair faster for a while */
	/* RMQ1 aggregator -> agent, controller -> aggregator, aggregator <-> analyzer:
	 * nothing but bytes for TCP to acknowledge, and a sign of life. */
	WIRE_PING,
	WIRE_PLAN,     /* RMP1 controller -> aggregator: one ToR's whole plan */
	WIRE_SUMMARY,  /* RMS1 aggregator -> analyzer */
	WIRE_INCIDENT, /* RMI1 aggregator -> analyzer */
	WIRE_PATHS,    /* RMX1 agent -> aggregator: what its traces have found */
	WIRE_BRAKE,    /* RMJ1 controller -> aggregator -> agent: how fast, at most */
	WIRE_RESOLVE,  /* RMV1 agent -> aggregator -> controller: whose address is this?
			*/
	WIRE_RESOLVE_ANSWER, /* RMA1 the answer, down again */
	WIRE_DRILL, /* RMD1 analyzer, controller -> aggregator: raw results of an RNIC
		     */
	WIRE_DRILL_ANSWER, /* RMN1 the answer */
	WIRE_SERVICES,     /* RMU1 agent -> aggregator: whose flows use its RNICs */
	WIRE_JOIN,   /* RMO1 agent -> aggregator -> controller: who is the other end of
			this QP? Answered as a resolve is */
	WIRE_TRACED, /* RMY1 aggregator -> controller: ways that its rack's traces found
		      */
	WIRE_KEYS, /* RMZ1 controller -> aggregator -> agent: what authenticates probes
		    */
	WIRE_STANDING, /* RME1 aggregator <-> the other one of its ToRs: who speaks */
};

/* What the bytes claim to be. Reads only the identifier: trust nothing yet. */
enum wire_kind wire_kind_of(const uint8_t *data, size_t len);
/* It claims to be of this family, but of no kind that we know: a newer peer's. To be
 * passed over and counted; the link stays. */
bool wire_is_newer(const uint8_t *data, size_t len);

struct wire_writer;                        /* reusable scratch memory; one per sender */
struct wire_writer *wire_writer_new(void); /* NULL when out of memory */
void wire_writer_free(struct wire_writer *writer);

struct wire_bytes {
	const uint8_t *data;
	size_t len;
};

/* ---- identity ---------------------------------------------------------- */

/* Node GUID and port (from 1); port 0: guid holds a MAC; port 255: the reflector of
 * a switch, guid a hash of its name. */
struct wire_rnic_id {
	uint64_t guid;
	uint8_t port;
};

struct wire_address {
	uint8_t family;    /* 4 or 6 */
	uint8_t bytes[16]; /* network order; IPv4 in the first 4 */
	uint16_t port;     /* UDP port of the reflector; 0 in a roster */
};

#define WIRE_MAX_ADDRESSES 4
#define WIRE_MAX_ATTACHMENTS 2

struct wire_rnic {
	struct wire_rnic_id id;
	const char *host;
	const char *device; /* netdev or RDMA device, an attribute that may change */
	const char *driver;
	const char *tors[WIRE_MAX_ATTACHMENTS];
	size_t tor_count;
	const char *plane; /* "" until the controller has looked it up */
	struct wire_address addresses[WIRE_MAX_ADDRESSES];
	size_t address_count;
	uint32_t qpn;         /* of the UD QP that answers probes; 0: UDP */
	uint32_t mtu_bytes;   /* of UDP the netdev's; of RoCE the active path MTU, which
				 is the most that a UD message may carry */
	uint64_t incarnation; /* of the agent that speaks for it: new at every start */
	uint32_t large_qpn;   /* for probes above WIRE_ROCE_SMALL_BYTES; 0: none */
	uint16_t lid;         /* InfiniBand only; 0: RoCE or UDP */
	uint8_t link;         /* enum wire_link, of its port */
	bool authenticates;   /* its agent can, once it has keys */
};

/* A probe of at most this many bytes goes to qpn, a larger one to large_qpn: the many
 * buffers of the one are small, the few of the other large. */
#define WIRE_ROCE_SMALL_BYTES 256
#define WIRE_ROCE_PORT 4791

enum wire_link { WIRE_LINK_UNKNOWN = 0, WIRE_LINK_UP, WIRE_LINK_DOWN };

/* ---- hello, welcome ----------------------------------------------------- */

enum wire_role { WIRE_ROLE_AGENT = 1, WIRE_ROLE_AGGREGATOR, WIRE_ROLE_CONTROLLER };

struct wire_tor_state { /* what an aggregator holds for a ToR it serves */
	const char *tor;
	uint64_t plan_version; /* 0: none */
	uint64_t plan_digest;
	uint64_t keys_version; /* 0: none, or an older peer that does not say */
	uint32_t keys_epoch;
};

struct wire_hello {
	enum wire_role role;
	uint16_t version_min, version_max;
	const char *region;
	const char *id; /* host name of an agent, name of an aggregator */
	uint64_t incarnation;
	uint64_t now_ns; /* sender's CLOCK_MONOTONIC */
	const struct wire_tor_state *tors;
	size_t tor_count;
};

/* Peers one version apart, in either direction, work together. */
static inline bool
wire_hello_meets_us(const struct wire_hello *hello)
{
	return hello->version_min <= WIRE_VERSION + 1 &&
	       hello->version_max + 1 >= WIRE_VERSION &&
	       hello->version_max >= hello->version_min;
}

struct wire_hello_view {
	struct wire_hello hello; /* .tors is NULL: use wire_hello_tor */
	const void *opaque;
};

int wire_write_hello(
    struct wire_writer *writer, const struct wire_hello *hello, struct wire_bytes *out);
int wire_open_hello(struct wire_hello_view *view, const uint8_t *data, size_t len);
void wire_hello_tor(
    const struct wire_hello_view *view, size_t i, struct wire_tor_state *out);

struct wire_welcome {
	uint16_t version; /* the one to speak */
	const char *id;
	uint64_t incarnation;
	uint64_t counted_seq; /* last batch of this agent incarnation already counted */
	const char *refused;  /* "" or why; the link is closed after it */
};

int wire_write_welcome(struct wire_writer *writer, const struct wire_welcome *welcome,
    struct wire_bytes *out);
int wire_open_welcome(struct wire_welcome *view, const uint8_t *data, size_t len);

/* ---- registration ------------------------------------------------------- */

struct wire_register {
	const char *host;
	uint64_t incarnation;
	const struct wire_rnic *rnics;
	size_t rnic_count;
};

struct wire_register_view {
	struct wire_register reg; /* .rnics is NULL */
	const void *opaque;
};

int wire_write_register(struct wire_writer *writer, const struct wire_register *reg,
    struct wire_bytes *out);
int wire_open_register(
    struct wire_register_view *view, const uint8_t *data, size_t len);
void wire_register_rnic(
    const struct wire_register_view *view, size_t i, struct wire_rnic *out);

/* ---- results ------------------------------------------------------------ */

/* What became of a probe. Only NO_REPLY can ever speak against the network. */
enum wire_outcome {
	WIRE_OK = 0,
	WIRE_NO_REPLY,    /* sent in time, nothing came back before the deadline */
	WIRE_LATE_REPLY,  /* a reply came after the deadline, by the NIC's stamp */
	WIRE_SEND_FAILED, /* never left: sent_age is of the attempt */
	WIRE_SENT_LATE,   /* lost, and it left late: our own host stalled */
	WIRE_STALE_QPN,   /* lost, to a QPN that has changed (set by the aggregator) */
	WIRE_SELF_LOSS,   /* lost, while our own receive queue overran or we stalled */
	WIRE_INVALID,     /* answered, but a time stamp is impossible: see reason */
	WIRE_OUTCOMES
};

enum wire_invalid_reason {
	WIRE_VALID = 0,
	WIRE_T4_BEFORE_T3,
	WIRE_T5_BEFORE_T2,
	WIRE_RTT_NEGATIVE,
	WIRE_DELAY_NEGATIVE,
	WIRE_ABSURD, /* a term beyond 10 s */
	WIRE_INVALID_REASONS
};

enum wire_probe_kind {
	WIRE_TOR_MESH = 0,
	WIRE_INTER_TOR,
	WIRE_WITNESS,       /* outward from a small rack */
	WIRE_TOR_REFLECTOR, /* to the own ToR's STAMP reflector */
	WIRE_SERVICE,
	WIRE_PROBE_KINDS
};

enum wire_stamp_source {
	WIRE_STAMP_NIC = 1,   /* raw cycles, converted */
	WIRE_STAMP_WALLCLOCK, /* NIC wall-clock completions */
	WIRE_STAMP_KERNEL,    /* SO_TIMESTAMPING software stamps */
	WIRE_STAMP_USER,      /* clock_gettime near the event */
};

enum wire_result_flags {
	WIRE_SPLIT = 1,     /* the three terms are there (T4 came in a follow-up) */
	WIRE_COUNTED = 2,   /* responder_count is there */
	WIRE_ARRIVAL = 4,   /* arrived_dscp, arrived_ecn, arrived_ttl are there */
	WIRE_LATE_SEND = 8, /* it left later than its pace allowed */
};

/* Fixed size, zero copy; a change of any kind means a new identifier. */
struct wire_result {
	uint64_t src_guid, dst_guid;
	uint64_t sent_age_ns;        /* batch.now_ns - T1 */
	uint32_t rtt_ns;             /* network RTT (T5-T2)-(T4-T3), with WIRE_SPLIT */
	uint32_t prober_delay_ns;    /* (T6-T1)-(T5-T2), with WIRE_SPLIT */
	uint32_t responder_delay_ns; /* T4-T3, with WIRE_SPLIT */
	uint32_t round_trip_ns;      /* T5-T2, whenever a reply came */
	uint32_t seq;
	uint32_t dst_qpn;
	uint32_t flow_label;
	uint32_t responder_count; /* probes of this prober and class it has received */
	uint16_t src_port;        /* the flow, on UDP and RoCEv2 */
	uint16_t size_bytes;      /* UDP payload */
	uint8_t src_port_num, dst_port_num;
	uint8_t outcome; /* enum wire_outcome; newer peers may send more */
	uint8_t invalid_reason;
	uint8_t kind;
	uint8_t dscp;
	uint8_t arrived_dscp, arrived_ecn, arrived_ttl;
	uint8_t stamp_source; /* 0: no stamp at all */
	uint8_t flags;
	uint8_t reserved;
};

#define WIRE_RESULT_BYTES 72

struct wire_batch_head {
	const char *host;
	uint64_t incarnation; /* new at every agent start */
	uint64_t seq;    /* +1 per batch to this aggregator, from 1: a gap is a loss */
	uint64_t now_ns; /* agent's CLOCK_MONOTONIC when the batch was made */
	uint64_t dropped_batches,
	    dropped_results; /* thrown away so far, this incarnation */
};

struct wire_batch_view {
	struct wire_batch_head head;
	size_t count;
	const struct wire_result
	    *results; /* borrowed from the bytes; little endian hosts */
};

int wire_write_batch(struct wire_writer *writer, const struct wire_batch_head *head,
    const struct wire_result *results, size_t count, struct wire_bytes *out);
int wire_open_batch(struct wire_batch_view *view, const uint8_t *data, size_t len);

/* ---- acknowledgement ------------------------------------------------------ */

enum wire_lane { WIRE_LANE_BATCH = 1, WIRE_LANE_SUMMARY, WIRE_LANE_INCIDENT };

struct wire_ack {
	enum wire_lane lane;
	uint64_t incarnation; /* the sender's whose numbers these are */
	uint64_t seq;         /* this one and all before it */
};

int wire_write_ack(
    struct wire_writer *writer, const struct wire_ack *ack, struct wire_bytes *out);
int wire_open_ack(struct wire_ack *view, const uint8_t *data, size_t len);

/* ---- heartbeat, receive counts ------------------------------------------- */

struct wire_stall { /* the agent's loop did not turn, in its CLOCK_MONOTONIC */
	uint64_t start_ns, end_ns;
};

enum wire_slow { /* why an agent holds its own probing back */
	WIRE_SLOW_NOT,
	WIRE_SLOW_CPU,    /* it uses as much of a core as it may */
	WIRE_SLOW_MEMORY, /* as much memory */
	WIRE_SLOW_PLAN,   /* its pinglist has expired: nobody renews it */
	WIRE_SLOW_REASONS,
};

struct wire_heartbeat {
	uint64_t incarnation, seq;
	uint64_t now_ns;
	uint64_t loop_lag_max_ns;        /* since the previous heartbeat */
	bool paused;                     /* a person paused probing on this host */
	const struct wire_stall *stalls; /* since the previous heartbeat */
	size_t stall_count;
	uint64_t self_loss; /* packets our own receive queues dropped so far */
	/* All results that were known by then went out before this; 0: by now_ns. */
	uint64_t results_through_ns;
	/* The ids of all aggregators that this agent has a session with and has heard
	 * from lately, whichever it is told to. wire_open_heartbeat leaves live NULL:
	 * use wire_heartbeat_live. */
	const char *const *live;
	size_t live_count;
	uint64_t live_mute; /* bit i: live i says that it cannot deliver alerts */
	const void *opaque; /* of an opened one */
	/* Of what its pinglists ask for, what it lets itself probe; 0: all of it. */
	uint16_t slowed_permille;
	uint8_t slowed_why; /* enum wire_slow; a newer peer may know more */
};

int wire_write_heartbeat(struct wire_writer *writer, const struct wire_heartbeat *beat,
    struct wire_bytes *out);
/* .stalls is borrowed from the bytes. */
int wire_open_heartbeat(struct wire_heartbeat *view, const uint8_t *data, size_t len);
const char *wire_heartbeat_live(const struct wire_heartbeat *view, size_t i);

struct wire_count { /* fixed size */
	uint64_t own_guid, prober_guid;
	uint64_t received; /* probes since the agent's start, this prober and class */
	uint8_t own_port_num, prober_port_num;
	uint8_t dscp;
	uint8_t reserved[5];
};

#define WIRE_COUNT_BYTES 32

struct wire_counts {
	uint64_t incarnation;
	uint64_t now_ns;
	const struct wire_count
	    *rows; /* only those that changed since the last report */
	size_t row_count;
};

int wire_write_counts(struct wire_writer *writer, const struct wire_counts *counts,
    struct wire_bytes *out);
int wire_open_counts(struct wire_counts *view, const uint8_t *data, size_t len);

/* ---- plans (controller -> aggregator) ------------------------------------ */

/* One planned pair besides the ToR-mesh. src indexes members, dst foreigners. */
struct wire_plan_entry {
	uint32_t src, dst;
	enum wire_probe_kind kind;
	uint32_t
	    interval_us; /* between two probes (or pairs) to this target, all flows */
	bool paired;     /* two in quick succession, so that T4 comes soon */
	uint8_t sl;      /* service level, of verbs probes */
	const uint16_t *flows; /* UDP source ports, taking turns */
	size_t flow_count;
	const uint8_t *dscps; /* taking turns; repeat one to weight it */
	size_t dscp_count;
	const uint16_t *sizes; /* UDP payload bytes, taking turns */
	size_t size_count;
};

/* How the aggregator expands the mesh: see rackmesh/judge/mesh.h. */
struct wire_mesh {
	uint32_t peers;       /* at most this many targets per RNIC at a time */
	uint32_t interval_us; /* between two probes to one target */
	uint32_t rotation_s;  /* the peers change this often */
	uint8_t sl;           /* service level, of verbs probes */
	const uint16_t *flows;
	size_t flow_count;
	const uint8_t *dscps;
	size_t dscp_count;
	const uint16_t *sizes;
	size_t size_count;
};

/* An interface address of a switch, so that what a trace finds has a name. */
struct wire_alias {
	const char *switch_name;
	struct wire_address address; /* port 0 */
};

struct wire_plan {
	const char *region;
	const char *tor;
	const char *plane;
	uint64_t version; /* only grows */
	uint64_t digest;  /* of everything but version: equal digests, equal plans */
	struct wire_mesh mesh;
	const struct wire_rnic *members; /* the rack, in a fixed order */
	size_t member_count;
	const struct wire_rnic *foreigners; /* targets and probers outside the rack */
	size_t foreigner_count;
	const struct wire_plan_entry *entries;
	size_t entry_count;
	const struct wire_alias *aliases; /* of switches that its paths may cross */
	size_t alias_count;
};

struct wire_plan_view {
	struct wire_plan plan; /* .members, .foreigners, .entries, .aliases are NULL */
	const void *opaque;
};

int wire_write_plan(
    struct wire_writer *writer, const struct wire_plan *plan, struct wire_bytes *out);
int wire_open_plan(struct wire_plan_view *view, const uint8_t *data, size_t len);
void wire_plan_member(
    const struct wire_plan_view *view, size_t i, struct wire_rnic *out);
void wire_plan_foreigner(
    const struct wire_plan_view *view, size_t i, struct wire_rnic *out);
/* open has checked that src and dst are within bounds. */
void wire_plan_entry(
    const struct wire_plan_view *view, size_t i, struct wire_plan_entry *out);
void wire_plan_alias(
    const struct wire_plan_view *view, size_t i, struct wire_alias *out);

/* ---- pinglists (aggregator -> agent) -------------------------------------- */

struct wire_target {
	struct wire_rnic_id src, dst;
	enum wire_probe_kind kind;
	struct wire_address address;
	uint32_t dst_qpn;
	uint32_t dst_large_qpn;
	uint16_t dst_lid;
	uint8_t sl;
	uint32_t interval_us;
	bool paired;
	const uint16_t *flows;
	size_t flow_count;
	const uint8_t *dscps;
	size_t dscp_count;
	const uint16_t *sizes;
	size_t size_count;
};

struct wire_peer { /* whom the reflectors answer */
	struct wire_rnic_id id;
	struct wire_address address;
};

struct wire_pinglist {
	const char *tor;
	uint64_t version;  /* of the plan it was expanded from */
	uint32_t rotation; /* within that version */
	const struct wire_target *targets;
	size_t target_count;
	const struct wire_peer *roster;
	size_t roster_count;
};

struct wire_pinglist_view {
	struct wire_pinglist pinglist; /* .targets, .roster are NULL */
	const void *opaque;
};

int wire_write_pinglist(struct wire_writer *writer,
    const struct wire_pinglist *pinglist, struct wire_bytes *out);
int wire_open_pinglist(
    struct wire_pinglist_view *view, const uint8_t *data, size_t len);
void wire_pinglist_target(
    const struct wire_pinglist_view *view, size_t i, struct wire_target *out);
void wire_pinglist_peer(
    const struct wire_pinglist_view *view, size_t i, struct wire_peer *out);

struct wire_focus {
	struct wire_rnic_id src, dst;
	uint32_t interval_us;
	uint32_t duration_ms;
};

int wire_write_focus(
    struct wire_writer *writer, const struct wire_focus *focus, struct wire_bytes *out);
int wire_open_focus(struct wire_focus *view, const uint8_t *data, size_t len);

int wire_write_ping(
    struct wire_writer *writer, uint64_t now_ns, struct wire_bytes *out);
int wire_open_ping(uint64_t *now_ns, const uint8_t *data, size_t len);

struct wire_ping {
	uint64_t now_ns; /* sender's CLOCK_MONOTONIC */
	/* A controller whose certificate ends soon by its own word, and when, by the
	 * wall clock; "" and 0: none. To an aggregator it needs no name, to the
	 * analyzer the aggregator says both. */
	const char *ending;
	uint64_t ends_s;
	bool mute; /* an aggregator, to its agents: it cannot deliver alerts */
};

int wire_write_ping_ending(
    struct wire_writer *writer, const struct wire_ping *ping, struct wire_bytes *out);
int wire_open_ping_ending(struct wire_ping *view, const uint8_t *data, size_t len);

/* ---- keys of probes (controller -> aggregator -> agent) --------------------- */

/*
 * Every responder has a key per epoch, and so every pair of RNICs one: derived from the
 * responder's and the prober's id (rackmesh/identity/probe_key.h). Probes are made with
 * the key of .epoch; responders also take those of the epochs beside it. Fixed size,
 * zero copy.
 */
struct wire_responder_key {
	uint64_t guid;
	uint8_t port;
	uint8_t reserved[3];
	uint32_t epoch;
	uint8_t key[WIRE_KEY_BYTES];
};

#define WIRE_RESPONDER_KEY_BYTES 32

struct wire_pair_key { /* src probes, dst answers */
	uint64_t src_guid, dst_guid;
	uint8_t src_port, dst_port;
	uint8_t reserved[2];
	uint32_t epoch;
	uint8_t key[WIRE_KEY_BYTES];
};

#define WIRE_PAIR_KEY_BYTES 40

/*
 * To an aggregator: its members' responder keys, and the pair keys of its plan's
 * entries. To an agent: the responder keys of its RNICs on this ToR, and the pair keys
 * of all its targets on it. plain: RNICs of the roster whose agents cannot authenticate
 * (yet): those are answered, and probed, without.
 *
 * Versions are of one ToR each. Who leads numbers above all that its aggregators say in
 * their hellos they hold, whatever its clock says, so that a new leader, one that has
 * restarted, or one with another store is heard, and a late word of an older one is
 * not. Older controllers number by their clocks in ms.
 */
struct wire_keys {
	const char *tor;
	uint32_t epoch;   /* from 1 */
	uint64_t version; /* only grows, see below; an older one changes nothing */
	const struct wire_responder_key *responders;
	size_t responder_count; /* at most WIRE_KEY_EPOCHS * WIRE_MAX_MEMBERS */
	const struct wire_pair_key *pairs;
	size_t pair_count;                /* at most WIRE_MAX_ENTRIES */
	const struct wire_rnic_id *plain; /* of an opened one NULL: wire_keys_plain */
	size_t plain_count;               /* at most WIRE_MAX_ROSTER */
	const void *opaque;               /* of an opened one */
};

int wire_write_keys(
    struct wire_writer *writer, const struct wire_keys *keys, struct wire_bytes *out);
/* .responders and .pairs are borrowed from the bytes. */
int wire_open_keys(struct wire_keys *view, const uint8_t *data, size_t len);
struct wire_rnic_id wire_keys_plain(const struct wire_keys *view, size_t i);

/* ---- two aggregators of a ToR ------------------------------------------------- */

struct wire_tor_standing {
	const char *tor;
	bool speaks;     /* alerts and upstream are, now, ours */
	bool delivers;   /* what we say of it arrives: alerts are taken */
	uint32_t agents; /* of this ToR that we hear */
};

struct wire_tor_role {
	const char *tor;
	bool primary; /* by its config */
};

/* Every 250 ms, and at once when something of it changes. */
struct wire_standing {
	uint64_t now_ns;                      /* sender's CLOCK_MONOTONIC */
	const struct wire_tor_standing *tors; /* of an opened one NULL */
	size_t tor_count;                     /* at most WIRE_MAX_TORS */
	const void *opaque;                   /* of an opened one */
	/* Of all ToRs that they share, also of those that nothing is said of yet; none:
	 * it is too old to say. As tors. */
	const struct wire_tor_role *roles;
	size_t role_count;
};

int wire_write_standing(struct wire_writer *writer,
    const struct wire_standing *standing, struct wire_bytes *out);
int wire_open_standing(struct wire_standing *view, const uint8_t *data, size_t len);
void wire_standing_tor(
    const struct wire_standing *view, size_t i, struct wire_tor_standing *out);
void wire_standing_role(
    const struct wire_standing *view, size_t i, struct wire_tor_role *out);

/* ---- traced paths (agent -> aggregator) ------------------------------------ */

enum wire_path_flags {
	WIRE_PATH_COMPLETE = 1,  /* the hop behind the last one is the destination */
	WIRE_PATH_MULTIPATH = 2, /* repeated traces of this flow disagree */
};

/* One flow's way, by trace. Fixed size, zero copy. */
struct wire_path {
	uint64_t src_guid, dst_guid;
	uint64_t age_ns;   /* paths.now_ns - when it was traced */
	uint16_t src_port; /* the flow */
	uint8_t src_port_num, dst_port_num;
	uint8_t dscp;   /* of the trace */
	uint8_t family; /* 4 or 6 */
	uint8_t flags;  /* enum wire_path_flags */
	uint8_t hop_count;
	/* hops[i] answered for TTL i + 1, network order, IPv4 in the first 4; all 0:
	 * nobody did. */
	uint8_t hops[WIRE_MAX_HOPS][16];
};

#define WIRE_PATH_BYTES 160

struct wire_paths {
	const char *host;
	uint64_t incarnation;
	uint64_t now_ns;               /* agent's CLOCK_MONOTONIC */
	const struct wire_path *paths; /* new ones, and those that have changed */
	size_t path_count;
};

int wire_write_paths(
    struct wire_writer *writer, const struct wire_paths *paths, struct wire_bytes *out);
/* .paths is borrowed from the bytes. hop_count is within bounds, family 4 or 6. */
int wire_open_paths(struct wire_paths *view, const uint8_t *data, size_t len);

/*
 * Ways between racks, as they were found: for the topology. Each distinct sequence of
 * hops once, and again every some minutes while it is still seen.
 */
struct wire_traced {
	const char *tor;
	uint64_t now_ns; /* aggregator's CLOCK_MONOTONIC */
	const struct wire_path *paths;
	size_t path_count; /* at most WIRE_MAX_PATHS */
};

int wire_write_traced(struct wire_writer *writer, const struct wire_traced *traced,
    struct wire_bytes *out);
/* As wire_open_paths. */
int wire_open_traced(struct wire_traced *view, const uint8_t *data, size_t len);

/* ---- services (agent -> aggregator) ---------------------------------------- */

enum wire_service_state {
	WIRE_SERVICE_RESOLVING = 1, /* both ends are known, the peer's RNIC not yet */
	WIRE_SERVICE_PROBED,        /* its way is being probed */
	WIRE_SERVICE_WAITING,       /* known, but over the cap: has its turn later */
	WIRE_SERVICE_UNRESOLVED,    /* nobody knows the peer */
};

enum wire_qp_type {
	WIRE_QP_RC = 1,
	WIRE_QP_UC,
	WIRE_QP_XRC,
};

/* QPs of one process between the same ends, with the same source port and class. */
struct wire_service_flow {
	struct wire_rnic_id src;
	struct wire_rnic_id dst;  /* guid 0: not resolved */
	struct wire_address peer; /* as the QP has it */
	const char *service;      /* "pod:...", "unit:...", "comm:..." */
	const char *comm;
	uint32_t pid;
	uint8_t qp_type; /* enum wire_qp_type */
	uint8_t state;   /* enum wire_service_state */
	uint8_t dscp;
	bool older;          /* than the agent: found by listing, joined at both ends */
	uint16_t src_port;   /* of the flow itself */
	uint16_t probe_port; /* of the probes that take its way; 0: none do */
	uint32_t src_qpn, dst_qpn; /* of one of its QPs */
	uint32_t qps;
};

struct wire_services {
	const char *host;
	uint64_t incarnation;
	uint64_t now_ns;
	bool tracing;        /* false: this kernel or config does not give it */
	const char *missing; /* "" or what there is not, in words */
	uint64_t unresolved; /* QPs whose peer nobody knows, now */
	uint64_t over_cap;   /* flows that wait for their turn, now */
	uint64_t events_dropped;
	const struct wire_service_flow *flows; /* all of them, every time */
	size_t flow_count;
};

struct wire_services_view {
	struct wire_services services; /* .flows is NULL */
	const void *opaque;
};

int wire_write_services(struct wire_writer *writer,
    const struct wire_services *services, struct wire_bytes *out);
int wire_open_services(
    struct wire_services_view *view, const uint8_t *data, size_t len);
void wire_services_flow(
    const struct wire_services_view *view, size_t i, struct wire_service_flow *out);

/* ---- the brake --------------------------------------------------------------- */

struct wire_brake {
	uint64_t version;       /* only grows; an older one changes nothing */
	uint32_t rate_permille; /* of what pinglists ask for; 0: no probe at all, 1000:
				   all */
};

int wire_write_brake(
    struct wire_writer *writer, const struct wire_brake *brake, struct wire_bytes *out);
int wire_open_brake(struct wire_brake *view, const uint8_t *data, size_t len);

/* ---- whose address is this? -------------------------------------------------- */

struct wire_resolve {
	uint64_t token;              /* the asker's; comes back */
	struct wire_address address; /* a GID or address; the port does not matter */
	struct wire_rnic_id prober; /* who wants to probe it; guid 0: no key is asked */
};

int wire_write_resolve(struct wire_writer *writer, const struct wire_resolve *resolve,
    struct wire_bytes *out);
int wire_open_resolve(struct wire_resolve *view, const uint8_t *data, size_t len);

struct wire_resolve_answer {
	uint64_t token;
	bool found;               /* else rnic is all zero */
	struct wire_rnic rnic;    /* with host, ToRs, plane, addresses, QPN */
	struct wire_pair_key key; /* from the prober to it; epoch 0: none */
};

int wire_write_resolved(struct wire_writer *writer,
    const struct wire_resolve_answer *answer, struct wire_bytes *out);
int wire_open_resolved(
    struct wire_resolve_answer *view, const uint8_t *data, size_t len);

/*
 * A QP that is older than its agent: the kernel tells both numbers, but no address. Its
 * peer's agent sees the same numbers the other way round. The controller remembers whom
 * has asked for a minute, and answers with the RNIC of the one asker that fits; asked
 * again every half minute while it is not found. Several fit: not found.
 */
struct wire_join {
	uint64_t token;
	struct wire_rnic_id rnic;
	uint32_t qpn, dst_qpn;
	uint8_t qp_type; /* enum wire_qp_type */
};

int wire_write_join(
    struct wire_writer *writer, const struct wire_join *join, struct wire_bytes *out);
int wire_open_join(struct wire_join *view, const uint8_t *data, size_t len);

/* ---- drill-down through a link ------------------------------------------------ */

struct wire_drill {
	uint64_t token;
	const char *rnic; /* its id, or "host/device" */
	uint32_t seconds, limit;
};

int wire_write_drill(
    struct wire_writer *writer, const struct wire_drill *drill, struct wire_bytes *out);
int wire_open_drill(struct wire_drill *view, const uint8_t *data, size_t len);

struct wire_drill_answer {
	uint64_t token;
	uint16_t status;        /* HTTP's */
	struct wire_bytes json; /* what /v1/drill answers, at most WIRE_MAX_JSON */
};

int wire_write_drilled(struct wire_writer *writer,
    const struct wire_drill_answer *answer, struct wire_bytes *out);
int wire_open_drilled(struct wire_drill_answer *view, const uint8_t *data, size_t len);

/* ---- summaries and incidents (aggregator -> analyzer) ---------------------- */

struct wire_lane_head {
	const char *aggregator;
	const char *region;
	uint64_t incarnation;
	uint64_t seq; /* +1 per message of this lane */
};

/* Per (source ToR, destination ToR, class, flow set). Wall-clock window. */
struct wire_row {
	const char *src_tor, *dst_tor;
	uint8_t dscp;
	const char *flow_set; /* "all", or the flows of a row that turned bad */
	bool bad;
	uint64_t sent;
	uint64_t outcomes[WIRE_OUTCOMES];
	uint64_t lost_forward, lost_reverse,
	    lost_unknown; /* of NO_REPLY, by direction */
	struct wire_bytes rtt, prober_delay, responder_delay; /* rm_sketch_encode */
};

enum { WIRE_P50, WIRE_P95, WIRE_P99, WIRE_MAX, WIRE_QUANTILES };

struct wire_rnic_row {
	struct wire_rnic_id id;
	const char *host, *device;
	bool bad;
	uint64_t sent;
	uint64_t outcomes[WIRE_OUTCOMES];
	uint32_t rtt_ns[WIRE_QUANTILES];
	uint32_t prober_delay_ns[WIRE_QUANTILES];
	uint32_t responder_delay_ns[WIRE_QUANTILES];
};

/*
 * What left this rack for another along one path. path: hops from the source's ToR to
 * the destination's, separated by one blank, each "switch@address" (the interface that
 * answered the trace, the side on which the probe came in), or "?@address" for an
 * address that no alias names, or "?" for a hop that is silent. "": not traced (yet);
 * "*": multipath.
 */
struct wire_path_row {
	const char *dst_tor;
	const char *path;
	uint8_t dscp;
	uint64_t sent;
	uint64_t lost_forward, lost_reverse, lost_unknown; /* NO_REPLY, by direction */
	uint32_t flows, flows_dead; /* dead: sent two or more, and nothing came back */
	/* To some of what they sent came a reply and to some none; to none, however few
	 * they sent. Both 0 although something was lost: an older aggregator. */
	uint32_t flows_partial, flows_silent;
	/* Up to 8 lost flows: "h1/r0>h9/r0:49153", separated by one blank. */
	const char *samples;
};

struct wire_rack_state {                       /* at the summary's end */
	uint32_t rnics, rnics_good, rnics_bad; /* the rest is unknown */
	uint32_t hosts, hosts_ok;
	uint32_t incidents_open;
	uint64_t plan_version;
	uint32_t brake_permille; /* 1000: none */
	uint32_t hosts_paused;   /* heard, and somebody told them not to probe */
	uint32_t hosts_slowed;   /* heard, and they hold themselves back: limits */
};

struct wire_summary {
	struct wire_lane_head head;
	const char *tor;
	uint64_t start_wall_ns, end_wall_ns;
	bool partial; /* the window was cut by a restart or a stall of the aggregator */
	uint64_t taken, windowed, late, invalid, duplicate; /* raw results, so far */
	uint64_t agent_dropped; /* results agents threw away, so far */
	const struct wire_row *rows;
	size_t row_count;
	const struct wire_rnic_row *rnics;
	size_t rnic_count;
	/* All of the rack's paths, every row interval, and every second while anything
	 * that left the rack is lost: they cover paths_start .. end_wall_ns. */
	uint64_t paths_start_wall_ns;
	const struct wire_path_row *paths;
	size_t path_count;
	bool has_state;
	struct wire_rack_state state;
};

struct wire_summary_view {
	struct wire_summary summary; /* .rows, .rnics, .paths are NULL */
	const void *opaque;
	const uint8_t *data; /* what it was opened from */
	size_t len;
};

int wire_write_summary(struct wire_writer *writer, const struct wire_summary *summary,
    struct wire_bytes *out);
int wire_open_summary(struct wire_summary_view *view, const uint8_t *data, size_t len);
void wire_summary_row(
    const struct wire_summary_view *view, size_t i, struct wire_row *out);
void wire_summary_rnic(
    const struct wire_summary_view *view, size_t i, struct wire_rnic_row *out);
void wire_summary_path(
    const struct wire_summary_view *view, size_t i, struct wire_path_row *out);

enum wire_incident_state { WIRE_OPENED = 1, WIRE_UPDATED, WIRE_RESOLVED };

struct wire_incident {
	struct wire_lane_head head;
	uint64_t incident_id; /* of this opening */
	enum wire_incident_state state;
	const char *tor;       /* whose rack found it */
	const char *part_type; /* words of rackmesh/fabric */
	const char *part;
	const char *place;
	const char *kind;
	double confidence;
	uint64_t began_wall_ns; /* start of the first window that showed it */
	uint64_t opened_wall_ns;
	uint64_t changed_wall_ns;
	const char *sentence;      /* the evidence in one sentence */
	const char *evidence_json; /* counts, samples, what was ruled out */
};

int wire_write_incident(struct wire_writer *writer,
    const struct wire_incident *incident, struct wire_bytes *out);
int wire_open_incident(struct wire_incident *view, const uint8_t *data, size_t len);

#ifdef __cplusplus
}
#endif

#endif
