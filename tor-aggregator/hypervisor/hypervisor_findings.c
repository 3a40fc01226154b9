#include "tor-aggregator/hypervisor/hypervisor_findings.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "tor-aggregator/hypervisor/hypervisor_nics.h"

static const struct finding {
	const char *name, *help;
} findings[HYPERVISOR_FINDINGS] = {
	[FINDING_GLOBAL_PAUSE_ON] = { "global-pause-on",
	    "Global pause (802.3x) is set and PFC is off: a pause stops all "
	    "priorities." },
	[FINDING_GLOBAL_PAUSE_USED] = { "global-pause-used",
	    "Global pause frames (802.3x) were counted in the last interval." },
	[FINDING_PAUSE_STORM] = { "pause-storm",
	    "The vmnic pauses its switch nearly all the time: traffic to it stops, and "
	    "other traffic behind it." },
	[FINDING_PAUSED] = { "paused",
	    "The switch pauses the vmnic for most of the time." },
	[FINDING_PFC_STEADY] = { "pfc-steady",
	    "PFC limits the traffic where ECN should do so." },
};

const char *
hypervisor_finding_str(enum hypervisor_finding finding)
{
	return findings[finding].name;
}

const char *
hypervisor_finding_help(enum hypervisor_finding finding)
{
	return findings[finding].help;
}

struct look {
	const struct hypervisor_nic *nic;
	double seconds; /* 0: the time between the readings is not known */
};

/* Returns the increase in the last interval; 0 if it is not known, as after a reset. */
static uint64_t
counted(const struct look *look, const char *name, unsigned priority)
{
	const struct counter_state *state =
	    &look->nic->states[hypervisor_value_of(name) + priority];

	return look->seconds > 0 && state->there && !state->back &&
		       state->change != COUNTER_RESET
		   ? state->delta
		   : 0;
}

static bool
is_known(const struct look *look, const char *name, unsigned priority)
{
	return look->nic->states[hypervisor_value_of(name) + priority].there;
}

/* True: the gauge exists and is not 0. */
static bool
is_set(const struct look *look, const char *name)
{
	const struct counter_state *state =
	    &look->nic->states[hypervisor_value_of(name)];

	return state->there && state->total != 0;
}

static double
share_pct(const struct look *look, const char *microseconds, unsigned priority)
{
	const double us = (double)counted(look, microseconds, priority);

	/* At most 100: the two readings of a NIC may be further apart than the readings
	 * of the host. */
	return look->seconds > 0 ? fmin(us / (look->seconds * 1e4), 100) : 0;
}

/* True: PFC is certainly off. */
static bool
pfc_is_off(const struct look *look)
{
	if (is_known(look, "pfc_on", 0))
		return !is_set(look, "pfc_on");
	for (unsigned i = 0; i < HYPERVISOR_PRIORITIES; i++)
		if (look->nic->states[hypervisor_value_of("pfc_enabled") + i].total !=
		    0)
			return false;
	return is_known(look, "pfc_enabled", 0);
}

static void
report_global_pause_on(const struct look *look, char out[FINDING_BYTES])
{
	const bool rx = is_set(look, "gpause_rx_on"), tx = is_set(look, "gpause_tx_on");

	if ((rx || tx) && pfc_is_off(look))
		snprintf(out, FINDING_BYTES,
		    "%s has global pause (802.3x) set (%s) and PFC off: a pause stops "
		    "all its priorities, CNPs and control traffic too",
		    look->nic->name,
		    rx && tx ? "receive and send"
		    : rx     ? "receive"
			     : "send");
}

static void
report_global_pause_used(const struct look *look, char out[FINDING_BYTES])
{
	const unsigned long long rx = counted(look, "gpause_rx_frames", 0),
				 tx = counted(look, "gpause_tx_frames", 0);

	char times[40] = "", stopped[120] = "";

	if (rx == 0 && tx == 0)
		return;
	if (rx > 0 && is_known(look, "gpause_rx_transitions", 0))
		snprintf(times, sizeof(times), " %llu times,",
		    (unsigned long long)counted(look, "gpause_rx_transitions", 0));
	if (rx > 0 && is_known(look, "gpause_rx_us", 0))
		snprintf(stopped, sizeof(stopped),
		    ": the switch stopped it%s for %.1f %% of the time, all priorities "
		    "at once",
		    times, share_pct(look, "gpause_rx_us", 0));
	snprintf(out, FINDING_BYTES,
	    "%s received %llu and sent %llu global pause frames (802.3x, not PFC) in "
	    "%.0f s%s%s",
	    look->nic->name, rx, tx, look->seconds, stopped,
	    pfc_is_off(look) ? "; PFC is off" : "");
}

/* The priority with the largest share; HYPERVISOR_PRIORITIES: no pause was counted. */
static unsigned
worst(const struct look *look, const char *microseconds, double *pct)
{
	unsigned at = HYPERVISOR_PRIORITIES;

	*pct = 0;
	for (unsigned i = 0; i < HYPERVISOR_PRIORITIES; i++) {
		const double share = share_pct(look, microseconds, i);

		if (share > *pct) {
			*pct = share;
			at = i;
		}
	}
	return at;
}

static void
report_pause_storm(const struct look *look, char out[FINDING_BYTES])
{
	const unsigned long long warnings = counted(look, "pause_storm_warn", 0),
				 errors = counted(look, "pause_storm_err", 0);
	const double global = share_pct(look, "gpause_tx_us", 0);
	double pfc;
	const unsigned priority = worst(look, "pfc_tx_pause_us", &pfc);

	if (warnings > 0 || errors > 0)
		snprintf(out, FINDING_BYTES,
		    "%s has sent pauses for too long: %llu storm warnings of its NIC "
		    "in %.0f s, and %llu times it was stopped; this host is the source",
		    look->nic->name, warnings, look->seconds, errors);
	else if (global >= STORM_SHARE_PCT)
		snprintf(out, FINDING_BYTES,
		    "%s stops its switch by global pause (802.3x) for %.0f %% of the "
		    "time: this host is the source",
		    look->nic->name, global);
	else if (pfc >= STORM_SHARE_PCT)
		snprintf(out, FINDING_BYTES,
		    "%s pauses its switch for %.0f %% of the time (PFC, priority %u): "
		    "this host is the source",
		    look->nic->name, pfc, priority);
}

/* Returns how often per second the NIC goes from running to paused, from drivers that
 * count these changes instead of the paused time; 0 if the time is counted. */
static double
changes(const struct look *look, const char *transitions, const char *microseconds,
    unsigned priority)
{
	if (look->seconds <= 0 || is_known(look, microseconds, priority))
		return 0;
	return (double)counted(look, transitions, priority) / look->seconds;
}

static void
report_paused(const struct look *look, char out[FINDING_BYTES])
{
	const double global = share_pct(look, "gpause_rx_us", 0);
	const double global_changes =
	    changes(look, "gpause_rx_transitions", "gpause_rx_us", 0);
	double pfc;
	const unsigned priority = worst(look, "pfc_rx_pause_us", &pfc);

	if (global >= STORM_SHARE_PCT)
		snprintf(out, FINDING_BYTES,
		    "the switch stops %s by global pause (802.3x) for %.0f %% of the "
		    "time: look for the source behind the switch",
		    look->nic->name, global);
	else if (pfc >= STORM_SHARE_PCT)
		snprintf(out, FINDING_BYTES,
		    "the switch pauses %s for %.0f %% of the time (PFC, priority %u): "
		    "look for the source behind the switch",
		    look->nic->name, pfc, priority);
	else if (global_changes >= STORM_CHANGES_PER_S)
		snprintf(out, FINDING_BYTES,
		    "the switch stops %s by global pause (802.3x) %.0f times a second: "
		    "look for the source behind the switch",
		    look->nic->name, global_changes);
	for (unsigned i = 0; out[0] == '\0' && i < HYPERVISOR_PRIORITIES; i++) {
		const double each =
		    changes(look, "pfc_rx_transitions", "pfc_rx_pause_us", i);

		if (each >= STORM_CHANGES_PER_S)
			snprintf(out, FINDING_BYTES,
			    "the switch pauses %s %.0f times a second (PFC, priority "
			    "%u): look for the source behind the switch",
			    look->nic->name, each, i);
	}
}

static void
report_pfc_steady(const struct look *look, char out[FINDING_BYTES])
{
	double pct;
	const unsigned priority = worst(look, "pfc_rx_pause_us", &pct);

	if (pct >= STEADY_SHARE_PCT && pct < STORM_SHARE_PCT)
		snprintf(out, FINDING_BYTES,
		    "the switch pauses %s for %.1f %% of the time (PFC, priority %u): "
		    "PFC limits the traffic where ECN should do so",
		    look->nic->name, pct, priority);
}

size_t
hypervisor_findings_report(const struct hypervisor_nic *nic, int64_t interval_ns,
    char out[HYPERVISOR_FINDINGS][FINDING_BYTES])
{
	static void (*const reports[HYPERVISOR_FINDINGS])(
	    const struct look *, char[FINDING_BYTES]) = {
		[FINDING_GLOBAL_PAUSE_ON] = report_global_pause_on,
		[FINDING_GLOBAL_PAUSE_USED] = report_global_pause_used,
		[FINDING_PAUSE_STORM] = report_pause_storm,
		[FINDING_PAUSED] = report_paused,
		[FINDING_PFC_STEADY] = report_pfc_steady,
	};
	const struct look look = { nic, (double)interval_ns / 1e9 };
	size_t count = 0;

	for (int i = 0; i < HYPERVISOR_FINDINGS; i++) {
		out[i][0] = '\0';
		if (nic->there)
			reports[i](&look, out[i]);
		count += out[i][0] != '\0';
	}
	return count;
}
