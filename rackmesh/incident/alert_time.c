#include "rackmesh/incident/alert_time.h"

#include "rackmesh/incident/incident.h"

static bool
is_near(rm_wall_t a, rm_wall_t b)
{
	const int64_t apart_ns = a.ns - b.ns;

	return apart_ns <= ALERT_TIME_STEP_NS && apart_ns >= -ALERT_TIME_STEP_NS;
}

static rm_wall_t
earlier(rm_wall_t a, rm_wall_t b)
{
	return a.ns < b.ns ? a : b;
}

/* Returns the start of the alert by the receiver's clock: the opening, or the time of
 * sending if that is clearly earlier. If the clocks differ and the notice was sent at
 * once, it is the time of sending. */
static rm_wall_t
mend_start(rm_wall_t opened, const struct alert_time *time)
{
	const rm_wall_t left = { time->sent.ns -
				 rm_mono_since(time->now, time->since) };

	if (time->since.ns == 0)
		return earlier(opened, time->sent);
	if (is_near(opened, left))
		return opened;
	return time->known && is_near(opened, time->since_wall) ? left
								: earlier(opened, left);
}

static rm_wall_t
mend_end(rm_wall_t resolved, const struct alert_time *time)
{
	rm_wall_t now = time->wall;

	if (!is_near(time->sent, time->wall))
		return is_near(resolved, time->wall) ? time->sent
						     : earlier(resolved, time->sent);
	/* Only our own clock is known, and it may have been set forward since the
	 * notice was sent. */
	if (!time->known && time->since.ns != 0)
		now.ns = time->since_wall.ns + rm_mono_since(time->now, time->since);
	return resolved.ns > now.ns + ALERT_TIME_STEP_NS ? now : resolved;
}

void
alert_time_mend(struct rm_incident *incident, const struct alert_time *time)
{
	incident->opened = mend_start(incident->opened, time);
	if (incident->resolved.ns != 0)
		incident->changed = incident->resolved =
		    mend_end(incident->resolved, time);
	else if (!is_near(time->sent, time->wall))
		incident->changed = time->sent; /* the alert is firing now */
}
