/*
 * recorder - writes the input of the judgement over a region's racks to a file. Two
 * inputs are missing: changes to another analyzer, and ends of incidents that no
 * aggregator has reported.
 *
 * `sim --replay` feeds such a file to the same judgement, to examine its verdicts, also
 * after a change of the code (tests/sim/README.md has the format). For labs: it writes
 * on the loop, tens of kilobytes a second for each rack.
 */
#ifndef ANALYZER_INCIDENTS_RECORDER_H
#define ANALYZER_INCIDENTS_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/localise/localise.h"
#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct recorder;

/* States of an incident in a recording, besides those of the wire: an update of a
 * flapping part, which is good now, or has fallen again. */
enum { RECORDER_GOOD = WIRE_RESOLVED + 1, RECORDER_FELL };

struct recorder_options {
	const char *folder;
	const char *region;
	uint64_t max_bytes; /* then it ends */
	int64_t row_interval_ns;
	rm_mono_t now;
	rm_wall_t wall;
};

/* Creates the file folder/REGION-WALLNS.recording. -errno of open; -ENOMEM. */
int recorder_new(const struct recorder_options *options, struct recorder **ret);
void recorder_free(struct recorder *recorder);

/* All of these functions do nothing with NULL, and nothing after the recording has
 * stopped: after a write error, or at max_bytes. That is logged. */
void recorder_summary(
    struct recorder *recorder, const struct wire_summary_view *view, rm_mono_t now);
void recorder_incident(
    struct recorder *recorder, const struct wire_incident *incident, rm_mono_t now);
void recorder_tor(struct recorder *recorder, const char *tor,
    enum localise_tor_report report, rm_mono_t now);
void recorder_rack_is_seen(
    struct recorder *recorder, const char *tor, bool seen, rm_mono_t now);
void recorder_row_interval(
    struct recorder *recorder, int64_t row_interval_ns, rm_mono_t now);
void recorder_judged(struct recorder *recorder, rm_mono_t now, rm_wall_t wall);

#endif
