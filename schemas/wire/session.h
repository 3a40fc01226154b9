/*
 * session - who dials, who answers, who is active, and that both are alive.
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
	/* --check --connect: would we be welcome? The welcome is all that follows; who
	 * does not know this role closes. */
	WIRE_ROLE_CHECK,
};

struct wire_tor_state { /* what an aggregator holds for a ToR it serves */
	const char *tor;
	uint64_t plan_version; /* 0: none */
	uint64_t plan_digest;
	uint64_t keys_version; /* 0: none, or an older peer that does not say */
	uint32_t keys_epoch;
};

#define WIRE_SUMMARY_INTERVAL_S 10 /* of an aggregator that does not say it */
#define WIRE_MAX_SUMMARY_INTERVAL_S 3600

struct wire_hello {
	enum wire_role role;
	uint16_t version_min, version_max;
	const char *region;
	const char *id; /* host name of an agent, name of an aggregator */
	uint64_t incarnation;
	uint64_t now_ns; /* sender's CLOCK_MONOTONIC */
	const struct wire_tor_state *tors;
	size_t tor_count;
	const char *software; /* release of the sender, "1.4.0"; "": it does not say */
	/* An aggregator, to an analyzer: between two summaries of healthy rows; 0: it
	 * does not say. */
	uint16_t summary_interval_s;
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
	const char *software; /* as in the hello */
	/* An aggregator, to an agent: it takes WIRE_OVERDUE. Older ones do not say it.
	 */
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
	const char *software; /* as in the hello */
	uint64_t since_s;     /* wall clock: when the aggregator first heard of it */
	bool connected;
};

struct wire_versions {
	const struct wire_version *peers; /* of an opened one NULL */
	size_t peer_count;                /* at most WIRE_MAX_VERSIONS */
	const void *opaque;               /* of an opened one */
};

/* All peers, each time. */
int wire_write_versions(struct wire_writer *writer,
    const struct wire_versions *versions, struct wire_bytes *out);
int wire_open_versions(struct wire_versions *view, const uint8_t *data, size_t len);
void wire_versions_peer(
    const struct wire_versions *view, size_t i, struct wire_version *out);

/* ---- acknowledgement ---- */

enum wire_lane { WIRE_LANE_BATCH = 1, WIRE_LANE_SUMMARY, WIRE_LANE_INCIDENT };

struct wire_ack {
	enum wire_lane lane;
	uint64_t incarnation; /* the sender's whose numbers these are */
	uint64_t seq;         /* this one and all before it */
};

int wire_write_ack(
    struct wire_writer *writer, const struct wire_ack *ack, struct wire_bytes *out);
int wire_open_ack(struct wire_ack *view, const uint8_t *data, size_t len);

/* ---- a sign of life ---- */

int wire_write_ping(
    struct wire_writer *writer, uint64_t now_ns, struct wire_bytes *out);

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

/* ---- two aggregators of a ToR ---- */

struct wire_tor_standing {
	const char *tor;
	bool active;     /* alerts and upstream are, now, ours */
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

/* ---- the brake ---- */

struct wire_brake {
	uint64_t version;       /* only grows; an older one changes nothing */
	uint32_t rate_permille; /* of what pinglists ask for; 0: no probe at all, 1000:
				   all */
};

int wire_write_brake(
    struct wire_writer *writer, const struct wire_brake *brake, struct wire_bytes *out);
int wire_open_brake(struct wire_brake *view, const uint8_t *data, size_t len);

#ifdef __cplusplus
}
#endif

#endif
