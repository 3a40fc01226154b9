#include "tor-aggregator/suspect/port_flaps.h"

#define QUIET_GAPS 3

/* For how long the port has been observed as up since its last link-down. */
static int64_t
up_ns(const struct port_flaps *flaps, rm_mono_t now)
{
	const int64_t ns = rm_mono_since(now, flaps->at[0]);

	if (flaps->observed_since.ns == 0 ||
	    rm_mono_since(flaps->observed_since, flaps->at[0]) < 0)
		return ns;
	return rm_mono_since(now, flaps->observed_since);
}

static void
note_fall(struct port_flaps *flaps, rm_mono_t now)
{
	const rm_mono_t last = flaps->at[0], before = flaps->at[1];
	const int64_t gap_ns = up_ns(flaps, now);

	flaps->at[1] = last;
	flaps->at[0] = now;
	if (flaps->flaps) {
		flaps->falls++;
		if (gap_ns > flaps->longest_ns)
			flaps->longest_ns = gap_ns;
	} else if (before.ns != 0 &&
		   rm_mono_since(now, before) <= PORT_FLAPS_WITHIN_NS) {
		flaps->flaps = true;
		flaps->falls = PORT_FLAPS_FALLS;
		flaps->since = before;
		flaps->longest_ns = rm_mono_since(last, before);
		if (gap_ns > flaps->longest_ns)
			flaps->longest_ns = gap_ns;
	}
}

static int64_t
quiet_ns(const struct port_flaps *flaps)
{
	const int64_t ns = QUIET_GAPS * flaps->longest_ns;

	if (ns < PORT_FLAPS_QUIET_MIN_NS)
		return PORT_FLAPS_QUIET_MIN_NS;
	return ns < PORT_FLAPS_QUIET_MAX_NS ? ns : PORT_FLAPS_QUIET_MAX_NS;
}

bool
port_flaps_is_old(const struct port_flaps *flaps, rm_mono_t now)
{
	const int64_t quiet = quiet_ns(flaps);

	return rm_mono_since(now, flaps->at[0]) >=
	       (quiet > PORT_FLAPS_WITHIN_NS ? quiet : PORT_FLAPS_WITHIN_NS);
}

bool
port_flaps_note(struct port_flaps *flaps, rm_mono_t now, uint32_t falls, bool down)
{
	for (uint32_t i = 0; i < falls && i < PORT_FLAPS_FALLS; i++)
		note_fall(flaps, now);
	if (falls > PORT_FLAPS_FALLS)
		flaps->falls += falls - PORT_FLAPS_FALLS;
	if (flaps->flaps && !down && falls == 0 && up_ns(flaps, now) >= quiet_ns(flaps))
		*flaps = (struct port_flaps){ 0 };
	return flaps->flaps;
}
