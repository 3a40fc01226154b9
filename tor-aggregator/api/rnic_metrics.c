#include "tor-aggregator/api/rnic_metrics.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/incident/incident.h"
#include "rackmesh/judge/part.h"
#include "rackmesh/judge/verdict.h"
#include "rackmesh/metrics/metrics.h"
#include "schemas/wire.h"
#include "tor-aggregator/otlp/otlp_body.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/summary/summary.h"
#include "tor-aggregator/window/roster.h"

#define LABEL_BYTES (3 * RM_NAME_BYTES + 32)

/* ---- for each RNIC ---- */

struct member { /* one RNIC, while its series are written */
	struct rm_metrics_out *out;
	char label[LABEL_BYTES];
	struct tor_rack_member_state state;
	struct tor_rack_traffic traffic;
	/* values of the last interval; NULL: there was none yet */
	const struct wire_rnic_row *last;
	rm_mono_t now;
};

/* Names need no quotes: see rm_name_valid. */
static void
member_fill(struct member *member, const struct tor_rack *rack, size_t i)
{
	const struct roster_rnic *rnic = roster_member(tor_rack_roster(rack), i);

	snprintf(member->label, sizeof(member->label),
	    "tor=\"%s\",host=\"%s\",device=\"%s\"", tor_rack_tor(rack), rnic->host,
	    rnic->device);
	member->state = tor_rack_member(rack, i);
	member->traffic = tor_rack_traffic(rack, i);
	member->last = summary_rnic_last(tor_rack_summary(rack), (uint32_t)i);
}

static void
each_member(struct rm_metrics_out *out, const struct rnic_metrics *shown,
    void (*report)(const struct member *member))
{
	struct member member = { .out = out, .now = shown->now() };
	size_t left = RNIC_METRICS_MAX;

	for (size_t r = 0; r < shown->rack_count; r++) {
		const size_t members = roster_members(tor_rack_roster(shown->racks[r]));

		for (size_t i = 0; i < members && left > 0; i++, left--) {
			member_fill(&member, shown->racks[r], i);
			report(&member);
		}
	}
}

/* Writes nothing for an interval without split replies: it has no quantiles, and 0
 * would be wrong. */
static void
report_quantiles(const struct member *member, const uint32_t values_ns[WIRE_QUANTILES])
{
	const double s = (double)RM_NS_PER_S;

	if (values_ns[WIRE_MAX] == 0)
		return;
	rm_metrics_series(member->out, member->label, "quantile=\"0.5\"",
	    (double)values_ns[WIRE_P50] / s);
	rm_metrics_series(member->out, member->label, "quantile=\"0.99\"",
	    (double)values_ns[WIRE_P99] / s);
}

static void
report_rtt(const struct member *member)
{
	if (member->last != NULL)
		report_quantiles(member, member->last->rtt_ns);
}

static void
report_prober_delay(const struct member *member)
{
	if (member->last != NULL)
		report_quantiles(member, member->last->prober_delay_ns);
}

static void
report_responder_delay(const struct member *member)
{
	if (member->last != NULL)
		report_quantiles(member, member->last->responder_delay_ns);
}

#define FROM "direction=\"from\""
#define TO "direction=\"to\""

static void
report_ratio(const struct member *member)
{
	const struct tor_rack_member_state *state = &member->state;

	if (state->sent > 0)
		rm_metrics_series(member->out, member->label, FROM,
		    (double)state->lost / (double)state->sent);
	if (state->to_sent > 0)
		rm_metrics_series(member->out, member->label, TO,
		    (double)state->to_lost / (double)state->to_sent);
}

static void
report_probes(const struct member *member)
{
	rm_metrics_series(
	    member->out, member->label, FROM, (double)member->traffic.sent);
	rm_metrics_series(
	    member->out, member->label, TO, (double)member->traffic.to_sent);
}

static void
report_lost(const struct member *member)
{
	rm_metrics_series(
	    member->out, member->label, FROM, (double)member->traffic.lost);
	rm_metrics_series(
	    member->out, member->label, TO, (double)member->traffic.to_lost);
}

static void
report_health(const struct member *member)
{
	static const char *const labels[] = {
		[RM_HEALTH_UNKNOWN] = "health=\"unknown\"",
		[RM_HEALTH_GOOD] = "health=\"good\"",
		[RM_HEALTH_BAD] = "health=\"bad\"",
	};

	rm_metrics_series(member->out, member->label, labels[member->state.health], 1);
}

static void
report_age(const struct member *member)
{
	const rm_mono_t probed = member->traffic.probed;

	if (probed.ns != 0)
		rm_metrics_series(member->out, member->label, "",
		    (double)rm_mono_since(member->now, probed) / (double)RM_NS_PER_S);
}

/* Defines one read function for each value: a read function has no argument that
 * selects the value. */
#define EACH_MEMBER(name)                                                      \
	static void family_##name(struct rm_metrics_out *out, const void *arg) \
	{                                                                      \
		each_member(out, arg, report_##name);                          \
	}

EACH_MEMBER(rtt)
EACH_MEMBER(prober_delay)
EACH_MEMBER(responder_delay)
EACH_MEMBER(ratio)
EACH_MEMBER(probes)
EACH_MEMBER(lost)
EACH_MEMBER(health)
EACH_MEMBER(age)

static double
read_left_out(const void *arg)
{
	const struct rnic_metrics *shown = arg;
	size_t members = 0;

	for (size_t r = 0; r < shown->rack_count; r++)
		members += roster_members(tor_rack_roster(shown->racks[r]));
	return members > RNIC_METRICS_MAX ? (double)(members - RNIC_METRICS_MAX) : 0;
}

/* ---- for each rack ---- */

static void
each_rack(struct rm_metrics_out *out, const struct rnic_metrics *shown,
    double (*read)(const struct wire_rack_state *state))
{
	char label[LABEL_BYTES];

	for (size_t r = 0; r < shown->rack_count; r++) {
		const struct wire_rack_state state = tor_rack_state(shown->racks[r]);

		snprintf(
		    label, sizeof(label), "tor=\"%s\"", tor_rack_tor(shown->racks[r]));
		rm_metrics_series(out, label, "", read(&state));
	}
}

static double
read_hosts(const struct wire_rack_state *state)
{
	return state->hosts;
}

static double
read_hosts_ok(const struct wire_rack_state *state)
{
	return state->hosts_ok;
}

static double
read_hosts_paused(const struct wire_rack_state *state)
{
	return state->hosts_paused;
}

static double
read_hosts_slowed(const struct wire_rack_state *state)
{
	return state->hosts_slowed;
}

static double
read_blind(const struct wire_rack_state *state)
{
	return wire_rack_state_is_empty(state);
}

#define EACH_RACK(name)                                                        \
	static void family_##name(struct rm_metrics_out *out, const void *arg) \
	{                                                                      \
		each_rack(out, arg, read_##name);                              \
	}

EACH_RACK(hosts)
EACH_RACK(hosts_ok)
EACH_RACK(hosts_paused)
EACH_RACK(hosts_slowed)
EACH_RACK(blind)

static void
report_kinds(struct rm_metrics_out *out, const struct tor_rack *rack)
{
	const struct rm_incidents *incidents = tor_rack_incidents(rack);
	const size_t count = rm_incidents_open(incidents);
	unsigned open[RM_KINDS] = { 0 };
	char label[LABEL_BYTES], kind[64];

	for (size_t i = 0; i < count; i++)
		open[rm_incidents_get(incidents, i)->verdict.kind]++;
	snprintf(label, sizeof(label), "tor=\"%s\"", tor_rack_tor(rack));
	for (int k = 1; k < RM_KINDS; k++) {
		snprintf(
		    kind, sizeof(kind), "kind=\"%s\"", rm_kind_str((enum rm_kind)k));
		rm_metrics_series(out, label, kind, open[k]);
	}
}

static void
family_kinds(struct rm_metrics_out *out, const void *arg)
{
	const struct rnic_metrics *shown = arg;

	for (size_t r = 0; r < shown->rack_count; r++)
		report_kinds(out, shown->racks[r]);
}

/* clang-format off */
static const struct measure {
	struct rm_metrics_family family;
	const char *otlp, *unit; /* names as in OpenTelemetry: without units */
} measures[] = {
	{ { "rackmesh_rnic_network_rtt_seconds", "summary", "Network round-trip time of the probes that this RNIC sent, from its last summary row; a row closes every 60 s, and at once when the RNIC becomes faulty.", family_rtt }, "rackmesh.rnic.network_rtt", "s" },
	{ { "rackmesh_rnic_prober_delay_seconds", "summary", "Time that probes of this RNIC spent in its own host, from its last summary row.", family_prober_delay }, "rackmesh.rnic.prober_delay", "s" },
	{ { "rackmesh_rnic_responder_delay_seconds", "summary", "Time that probes of this RNIC spent in the hosts that answered them, from its last summary row.", family_responder_delay }, "rackmesh.rnic.responder_delay", "s" },
	{ { "rackmesh_rnic_loss_ratio", "gauge", "Share of probes without a reply in the last judged second: sent by this RNIC (from), or sent to it by its rack (to).", family_ratio }, "rackmesh.rnic.loss", "1" },
	{ { "rackmesh_rnic_probes_total", "counter", "Probes that this RNIC sent (from), or that its rack sent to it (to), in the seconds that were judged.", family_probes }, "rackmesh.rnic.probes", "{probe}" },
	{ { "rackmesh_rnic_probes_lost_total", "counter", "Probes without a reply that this RNIC sent (from), or that its rack sent to it (to), in the seconds that were judged.", family_lost }, "rackmesh.rnic.probes_lost", "{probe}" },
	{ { "rackmesh_rnic_health", "gauge", "Always 1. The label health is the state in the last judged second: good, bad or unknown.", family_health }, "rackmesh.rnic.health", "{rnic}" },
	{ { "rackmesh_rnic_last_probe_age_seconds", "gauge", "Seconds since the end of the last window in which this RNIC sent a probe.", family_age }, "rackmesh.rnic.last_probe_age", "s" },
	{ { "rackmesh_rack_incidents_open", "gauge", "Incidents open now, by kind.", family_kinds }, "rackmesh.rack.incidents_open", "{incident}" },
	{ { "rackmesh_rack_blind", "gauge", "1: no host of the rack reports, none is paused, and no RNIC is known to work.", family_blind }, "rackmesh.rack.blind", "{rack}" },
	{ { "rackmesh_rack_hosts", "gauge", "Hosts of the rack that the plan names.", family_hosts }, "rackmesh.rack.hosts", "{host}" },
	{ { "rackmesh_rack_hosts_ok", "gauge", "Hosts of the rack whose agents report.", family_hosts_ok }, "rackmesh.rack.hosts_ok", "{host}" },
	{ { "rackmesh_rack_hosts_paused", "gauge", "Hosts of the rack on which probing is paused.", family_hosts_paused }, "rackmesh.rack.hosts_paused", "{host}" },
	{ { "rackmesh_rack_hosts_slowed", "gauge", "Hosts of the rack whose agents have reduced their own probing.", family_hosts_slowed }, "rackmesh.rack.hosts_slowed", "{host}" },
};
/* clang-format on */

#define MEASURES (sizeof(measures) / sizeof(measures[0]))

int
rnic_metrics_register(const struct rnic_metrics *shown, struct rm_metrics *metrics)
{
	int r = rm_metrics_gauge(metrics, shown, "rackmesh_rnics_left_out", "",
	    "RNICs of the racks that are not shown because the limit of series is "
	    "reached.",
	    read_left_out, shown);

	for (size_t i = 0; r == 0 && i < MEASURES; i++)
		r = rm_metrics_family(metrics, shown, &measures[i].family, shown);
	return r;
}

/* ---- the same values for OpenTelemetry ---- */

/* A sum that restarts at 0 needs a new start time, which must not be before the last
 * export. */
static void
note_renumbered(struct rnic_metrics *shown, rm_wall_t now)
{
	uint64_t renumbered = 0;

	for (size_t r = 0; r < shown->rack_count; r++)
		renumbered += tor_rack_counts(shown->racks[r])->renumbered;
	if (renumbered != shown->renumbered)
		shown->since = shown->exported;
	if (shown->since.ns > now.ns) /* the clock was set back */
		shown->since = now;
	shown->renumbered = renumbered;
	shown->exported = now;
}

static void
take_value(const char *labels, const char *more, double value, void *to)
{
	otlp_body_value(to, labels, more, value);
}

int
rnic_metrics_export(struct rnic_metrics *shown, const struct otlp_resource *resource,
    rm_wall_t now, struct evbuffer *out)
{
	struct otlp_body body;

	note_renumbered(shown, now);
	otlp_body_begin(&body, out, resource, now, shown->since);
	for (size_t i = 0; i < MEASURES; i++) {
		const struct measure *measure = &measures[i];
		const struct otlp_metric metric = { measure->otlp, measure->unit,
			measure->family.help,
			strcmp(measure->family.type, "counter") == 0 };

		otlp_body_metric(&body, &metric);
		rm_metrics_take(&measure->family, shown, take_value, &body);
	}
	return otlp_body_end(&body);
}
