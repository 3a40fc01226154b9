/*
 * tor_rack - all that belongs to one ToR's rack: roster, window, judge, incidents,
 * summary, ring. Pure.
 *
 * The caller adds results and receive counts. Each tick closes the bins that are due,
 * judges the last second, and calls the callbacks. RNICs are identified by their index
 * in the roster: after tor_rack_plan or tor_rack_register a stored index must be looked
 * up again.
 */
#ifndef TOR_AGGREGATOR_RACK_TOR_RACK_H
#define TOR_AGGREGATOR_RACK_TOR_RACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/error.h"
#include "rackmesh/incident/incident.h"
#include "schemas/wire.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

struct focus_counts;
struct path_rows;
struct path_table;
struct rack_mesh;
struct rack_uses;
struct ring;
struct roster;
struct roster_rnic;
struct service_rows;
struct service_table;
struct summary;
struct tor_rack;

#define TOR_RACK_BIN_NS (250 * RM_NS_PER_MS)
#define TOR_RACK_JUDGE_BINS 4
/* After the start windows are partial until all agents have reported, but at most for
 * this time. */
#define TOR_RACK_START_NS (3 * RM_NS_PER_S)

/* After a stall shorter than this the open bins can still take all waiting results. */
#define TOR_RACK_MOMENT_NS (2 * RM_NS_PER_S)

struct tor_rack_options {
	const char *tor; /* copied */
	bool active;     /* initial value, see tor_rack_set_active */
	size_t ring_bytes;
	int64_t timeout_ns; /* time-out of the agents' probes, if the plan has none */
	int64_t row_interval_ns, rnic_interval_ns;
	int64_t resolve_after_ns;
	int64_t flap_within_ns; /* as in rm_incident_options */
	uint64_t id_seed;
	/* the table is shared by all racks; borrowed; NULL: none */
	const struct service_table *services;
};

struct tor_rack_callbacks {
	enum host_state (*host_state)(struct tor_rack *rack, const char *host,
	    rm_mono_t now, rm_mono_t start, rm_mono_t end, struct host_silence *silence,
	    void *arg);
	void (*on_incident)(struct tor_rack *rack, enum rm_incident_event event,
	    const struct rm_incident *incident, void *arg);
	/* The message's head is not filled in. */
	void (*on_summary)(
	    struct tor_rack *rack, const struct wire_summary *summary, void *arg);
	void (*on_focus)(struct tor_rack *rack, const char *host,
	    const struct wire_focus *focus, void *arg);
	/* Fills impact, services and counters of a verdict's evidence. May be NULL. */
	void (*impact)(struct tor_rack *rack, struct rm_verdict *verdict, void *arg);
	void *arg;
};

struct raw_counts { /* invariant: taken = windowed + late + invalid + duplicate */
	uint64_t taken, windowed, late, invalid, duplicate;
};

struct tor_rack_counts {
	struct raw_counts raw;    /* counts of results whose source is a member */
	uint64_t agent_dropped;   /* results that agents themselves have dropped */
	uint64_t judged, partial; /* windows */
	uint64_t renumbered;
	uint64_t unexplained_lost; /* lost packets that no part explains */
	uint64_t judge_failed;     /* out of memory */
	/* results about ToRs beyond ROSTER_OTHER_TORS, which are in no row */
	uint64_t without_tor;
};

int tor_rack_new(const struct tor_rack_options *options,
    const struct tor_rack_callbacks *callbacks, rm_mono_t now, rm_wall_t wall,
    struct tor_rack **ret);
void tor_rack_free(struct tor_rack *rack);

/* Applies a newer plan; view is borrowed until the next plan. -ENOMEM. */
int tor_rack_plan(
    struct tor_rack *rack, const struct wire_plan_view *view, rm_mono_t now);
/* Returns the time-out of the agents' probes, from the plan or else from the options.
 */
int64_t tor_rack_timeout_ns(const struct tor_rack *rack);
int tor_rack_register(
    struct tor_rack *rack, const struct wire_rnic *rnic, rm_mono_t now);
/* As roster_rename. */
void tor_rack_rename(struct tor_rack *rack, struct wire_rnic_id id, const char *former,
    const char *host);
/* Call it when all RNICs of the host are registered. It does the same as
 * roster_replace. */
int tor_rack_replace(struct tor_rack *rack, const char *host, rm_mono_t now);

void tor_rack_leave(struct tor_rack *rack, const char *host);
/* As roster_learn, _serve and _unserve. */
int tor_rack_learn(struct tor_rack *rack, const struct wire_rnic *rnic, rm_mono_t now);
bool tor_rack_serve(struct tor_rack *rack, struct wire_rnic_id id);
void tor_rack_unserve(struct tor_rack *rack);

/* Adds a result. Hot path. The caller has checked the ranges of its values. */
enum window_status tor_rack_result(struct tor_rack *rack, rm_mono_t sent,
    const struct wire_result *result, uint32_t src, const struct roster_rnic *dst);
/* Adds a reply to a probe that was reported as lost. */
void tor_rack_overdue(struct tor_rack *rack, rm_mono_t sent,
    const struct wire_result *result, uint32_t src, const struct roster_rnic *dst);
void tor_rack_arrived(struct tor_rack *rack, uint32_t src, uint32_t dst, rm_mono_t from,
    rm_mono_t to, uint64_t received);
void tor_rack_counts_through(struct tor_rack *rack, uint32_t dst, rm_mono_t through);

/* Adds the trace of a member's flow; the caller has checked that the source is an RNIC
 * of the agent. -ENOENT: the destination is not known, or is inside the rack; else as
 * path_table_learn. */
int tor_rack_path(struct tor_rack *rack, const struct wire_path *path, rm_mono_t traced,
    rm_mono_t now);

/* rate_permille: the share of the pinglists' rates at which agents may probe, in
 * 1/1000; initially 1000. */
void tor_rack_brake(struct tor_rack *rack, uint32_t rate_permille);
/* hosts: number of hosts that slow down their own probing. It is only reported: the
 * judge does not need it, because it sees fewer probes. */
void tor_rack_slowed(struct tor_rack *rack, uint32_t hosts);
/* ends_s: when the certificate of host number `host` expires, in seconds since the
 * epoch; 0: not soon. */
void tor_rack_certificate(struct tor_rack *rack, size_t host, int64_t ends_s);

/* everything_through: see window_close. */
void tor_rack_tick(
    struct tor_rack *rack, rm_mono_t now, rm_wall_t wall, rm_mono_t everything_through);
/* This daemon was stopped for for_ns. It closes no bin before `until`, so that the data
 * waiting in sockets are read first. After a stop longer than TOR_RACK_MOMENT_NS the
 * newest data may be too late for all open bins. */
void tor_rack_stalled(struct tor_rack *rack, int64_t for_ns, rm_mono_t until);

const char *tor_rack_tor(const struct tor_rack *rack);
bool tor_rack_is_active(const struct tor_rack *rack);
/* active: from now on this aggregator sends the rack's alerts, and its reports to the
 * analyzer; false: another aggregator does. */
void tor_rack_set_active(struct tor_rack *rack, bool active);
/* For incidents that the other aggregator sends. These functions call
 * rm_incidents_adopt (with held while this aggregator is standby), rm_incidents_end,
 * rm_incidents_doubt and rm_incidents_end_rest for the incidents of the rack. */
int tor_rack_adopt(struct tor_rack *rack, const struct rm_incident *theirs);
bool tor_rack_end(struct tor_rack *rack, uint64_t id, rm_wall_t resolved, bool notified,
    rm_mono_t now);
void tor_rack_doubt(struct tor_rack *rack);
size_t tor_rack_end_rest(struct tor_rack *rack, rm_wall_t resolved, rm_mono_t now);
const struct roster *tor_rack_roster(const struct tor_rack *rack);
const struct ring *tor_rack_ring(const struct tor_rack *rack);
const struct summary *tor_rack_summary(const struct tor_rack *rack);
const struct service_rows *tor_rack_service_rows(const struct tor_rack *rack);
const struct rack_uses *tor_rack_uses(const struct tor_rack *rack);
const struct rack_mesh *tor_rack_pair_mesh(const struct tor_rack *rack);
const struct rm_incidents *tor_rack_incidents(const struct tor_rack *rack);
/* As rm_incidents_notified. */
bool tor_rack_notified(struct tor_rack *rack, uint64_t incident, bool resolved);
/* The state that is needed after a restart: incidents, as rm_incidents_save, and
 * link-downs of ports. Save it again when tor_rack_port_falls has changed. */
json_t *tor_rack_save(const struct tor_rack *rack, rm_mono_t now, rm_wall_t wall);
uint64_t tor_rack_port_falls(const struct tor_rack *rack);
/* Restores that state, as rm_incidents_restore. Call it before the first tick. */
int tor_rack_restore(struct tor_rack *rack, const json_t *saved, rm_mono_t now,
    rm_wall_t wall, struct rm_error *error);
const struct wire_plan_view *tor_rack_plan_view(
    const struct tor_rack *rack); /* NULL: no plan */
const struct focus_counts *tor_rack_focus(const struct tor_rack *rack);
const struct path_table *tor_rack_paths(const struct tor_rack *rack);
const struct path_rows *tor_rack_path_rows(const struct tor_rack *rack);
/* The same as path_discovery_next and path_discovery_again. */
size_t tor_rack_found_paths(
    struct tor_rack *rack, rm_mono_t now, struct wire_path *out, size_t max);
void tor_rack_found_paths_again(struct tor_rack *rack);
struct tor_rack_counts *tor_rack_counts(
    struct tor_rack *rack); /* ingest adds its counts to raw */
rm_mono_t tor_rack_window_end(const struct tor_rack
	*rack); /* Returns the end of the last judged window; ns 0: there was none. */
/* Returns the time of the start, or of the newest plan. */
rm_mono_t tor_rack_changed(const struct tor_rack *rack);

struct tor_rack_member_state { /* State in the last judged window. */
	enum rm_health health;
	uint64_t sent, lost;       /* probes that the member sent */
	uint64_t to_sent, to_lost; /* probes of other members to it */
	/* Sums of both, but only of pairs whose other RNIC is not itself at fault: the
	 * other RNIC is not bad, and its host is not silent or stalled; a remote RNIC
	 * must have answered. */
	uint64_t sound_sent, sound_lost;
	uint64_t sound_large_sent, sound_large_lost; /* the large probes among them */
};
struct tor_rack_member_state tor_rack_member(const struct tor_rack *rack, size_t i);

/* Sums over the judged windows since the members got their present indexes; each second
 * is counted once. */
struct tor_rack_traffic {
	uint64_t sent, lost;       /* probes that the member sent */
	uint64_t to_sent, to_lost; /* probes of other members to it */
	uint64_t sound_sent, sound_lost;
	uint64_t sound_large_sent, sound_large_lost; /* the large probes among them */
	/* send time of the member's last probe in a window; ns 0: there was none */
	rm_mono_t probed;
};
struct tor_rack_traffic tor_rack_traffic(const struct tor_rack *rack, size_t i);
/* The same values as in every summary of the rack. */
struct wire_rack_state tor_rack_state(const struct tor_rack *rack);
enum host_state tor_rack_host(const struct tor_rack *rack, size_t i);

#endif
