/*
 * session - messages that begin and keep a session: hello, welcome, acknowledgement,
 * ping; and messages on the state of a ToR's two aggregators.
 */
#ifndef SCHEMAS_WIRE_SESSION_H
#define SCHEMAS_WIRE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire/identity.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- hello, welcome ---- */

enum wire_role {
	WIRE_ROLE_AGENT = 1,
	WIRE_ROLE_AGGREGATOR,
	WIRE_ROLE_CONTROLLER,
	/* `--check --connect`: the peer answers with a welcome or a refusal, and then
	 * the link is closed. An older peer, which does not know this role, closes the
	 * link. */
	WIRE_ROLE_CHECK,
};

struct wire_tor_state { /* the versions that an aggregator has for one of its ToRs */
	const char *tor;
	uint64_t plan_version; /* 0: none */
	uint64_t plan_digest;
	uint64_t keys_version; /* 0: none, or the peer is too old to report it */
	uint32_t keys_epoch;
};

/* interval of an aggregator that does not report one */
#define WIRE_SUMMARY_INTERVAL_S 10
#define WIRE_MAX_SUMMARY_INTERVAL_S 3600

struct wire_hello {
	enum wire_role role;
	uint16_t version_min, version_max;
	const char *region;
	const char *id; /* host name of an agent, or name of another daemon */
	uint64_t incarnation;
	uint64_t now_ns; /* sender's CLOCK_MONOTONIC */
	const struct wire_tor_state *tors;
	size_t tor_count;
	/* release of the sender, such as "1.4.0"; "": not reported */
	const char *software;
	/* From an aggregator to an analyzer: time between two summaries of healthy
	 * rows; 0: not reported. */
	uint16_t summary_interval_s;
};

/* Peers whose versions differ by at most one work together. */
static inline bool
wire_hello_meets_us(const struct wire_hello *hello)
{
	return hello->version_min <= WIRE_VERSION + 1 &&
	       hello->version_max + 1 >= WIRE_VERSION &&
	       hello->version_max >= hello->version_min;
}

struct wire_hello_view {
	struct wire_hello hello; /* hello.tors is NULL: use wire_hello_tor */
	const void *opaque;
};

int wire_write_hello(
    struct wire_writer *writer, const struct wire_hello *hello, struct wire_bytes *out);
int wire_open_hello(struct wire_hello_view *view, const uint8_t *data, size_t len);
void wire_hello_tor(
    const struct wire_hello_view *view, size_t i, struct wire_tor_state *out);

struct wire_welcome {
	uint16_t version; /* the version that both sides use in this session */
	const char *id;
	uint64_t incarnation;
	/* number of the last batch of this agent's incarnation that was counted */
	uint64_t counted_seq;
	/* the reason why the peer is refused, and the link is closed; "": the peer is
	 * accepted */
	const char *refused;
	const char *software; /* release of the sender, as in the hello */
	/* From an aggregator to an agent: it accepts WIRE_OVERDUE. Older aggregators do
	 * not accept it, and send false. */
	bool knows_overdue;
};

int wire_write_welcome(struct wire_writer *writer, const struct wire_welcome *welcome,
    struct wire_bytes *out);
int wire_open_welcome(struct wire_welcome *view, const uint8_t *data, size_t len);

/* ---- releases of the peers ---- */

enum wire_component {
	WIRE_COMPONENT_AGENT = 1,
	WIRE_COMPONENT_AGGREGATOR,
	WIRE_COMPONENT_CONTROLLER,
	WIRE_COMPONENT_ANALYZER,
};

struct wire_version { /* one peer of an aggregator, by its last hello or welcome */
	enum wire_component component;
	const char *name;     /* host of an agent, name of another daemon */
	const char *software; /* release of the peer, as in the hello */
	/* when the aggregator first received this release, in seconds since the
	 * epoch */
	uint64_t since_s;
	bool connected;
};

struct wire_versions {
	const struct wire_version *peers; /* NULL in an opened message */
	size_t peer_count;                /* at most WIRE_MAX_VERSIONS */
	const void *opaque;               /* private; set in an opened message */
};

/* Each message has all peers. */
int wire_write_versions(struct wire_writer *writer,
    const struct wire_versions *versions, struct wire_bytes *out);
int wire_open_versions(struct wire_versions *view, const uint8_t *data, size_t len);
void wire_versions_peer(
    const struct wire_versions *view, size_t i, struct wire_version *out);

/* ---- acknowledgement ---- */

enum wire_lane { WIRE_LANE_BATCH = 1, WIRE_LANE_SUMMARY, WIRE_LANE_INCIDENT };

struct wire_ack {
	enum wire_lane lane;
	/* number of the run of the sender that numbered the messages */
	uint64_t incarnation;
	uint64_t seq; /* the messages up to this number are acknowledged */
};

int wire_write_ack(
    struct wire_writer *writer, const struct wire_ack *ack, struct wire_bytes *out);
int wire_open_ack(struct wire_ack *view, const uint8_t *data, size_t len);

/* ---- ping ---- */

int wire_write_ping(
    struct wire_writer *writer, uint64_t now_ns, struct wire_bytes *out);

struct wire_ping {
	uint64_t now_ns; /* sender's CLOCK_MONOTONIC */
	/* ending: name of a controller whose certificate expires soon; ends_s: when it
	 * expires, by the wall clock. "" and 0: there is none. A controller sends its
	 * aggregators only the time; the aggregator sends the analyzer both. */
	const char *ending;
	uint64_t ends_s;
	/* from an aggregator to its agents: the aggregator cannot deliver alerts */
	bool mute;
};

int wire_write_ping_ending(
    struct wire_writer *writer, const struct wire_ping *ping, struct wire_bytes *out);
int wire_open_ping_ending(struct wire_ping *view, const uint8_t *data, size_t len);

/* ---- two aggregators of a ToR ---- */

struct wire_tor_standing {
	const char *tor;
	/* the sender sends the ToR's alerts, and its reports to the analyzer */
	bool active;
	bool delivers; /* the receivers of alerts accept the alerts of the sender */
	/* number of agents of this ToR that are connected to the sender */
	uint32_t agents;
};

struct wire_tor_role {
	const char *tor;
	bool primary; /* by its config */
};

/* The message is sent every 250 ms, and at once after a change. */
struct wire_standing {
	uint64_t now_ns;                      /* sender's CLOCK_MONOTONIC */
	const struct wire_tor_standing *tors; /* NULL in an opened message */
	size_t tor_count;                     /* at most WIRE_MAX_TORS */
	const void *opaque;                   /* private; set in an opened message */
	/* All ToRs that both aggregators have, also those about which nothing is sent
	 * yet. No entry: the sender is too old to report them. NULL in an opened
	 * message. */
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

/* ---- the brake ---- */

struct wire_brake {
	uint64_t version; /* a message with an older version is ignored */
	/* share of the pinglists' rates, in 1/1000; 0: no probes; 1000: all */
	uint32_t rate_permille;
};

int wire_write_brake(
    struct wire_writer *writer, const struct wire_brake *brake, struct wire_bytes *out);
int wire_open_brake(struct wire_brake *view, const uint8_t *data, size_t len);

#ifdef __cplusplus
}
#endif

#endif
