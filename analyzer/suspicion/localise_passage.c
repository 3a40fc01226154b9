#include "analyzer/suspicion/localise_passage.h"

#include <math.h>

/* largest difference between the racks' clocks */
#define SLACK_NS (50 * RM_NS_PER_MS)
/* A flow that passed the part counts for this long, because some flows send a probe
 * only every few seconds. */
#define PASSED_NS (5 * RM_NS_PER_S)
/* If more than this share of the sent probes has a reply, the part passes probes. */
#define PASSING_SHARE 0.1
/* If lost replies are more than this share of the losses, the part passes probes. */
#define ARRIVED_SHARE 0.3
/* least number of dead flows over a closed part, when all racks have reported */
#define MIN_DEAD 4
/* least number of dead flows over a closed part, before all racks have reported */
#define MIN_DEAD_SOON 8
/* a rack without rows counts if it must have sent at least so many probes */
#define MIN_IMPLIED 2
/* Share of flows that may take another path than their trace shows. */
#define STRAY_SHARE 0.05

/* The second that ends at `end` began after the first losses. */
static bool
is_after(rm_wall_t end, rm_wall_t since)
{
	return end.ns - RM_NS_PER_S >= since.ns - SLACK_NS;
}

/* Adds the rows of one second. Whether a probe or its reply was lost is known only for
 * pairs of RNICs, not for each flow: only a reply proves that a flow passes. */
static void
add_row(const struct localise_counts_seen *seen, struct localise_passed *ret,
    double *dead, double *passed)
{
	const double lost = (double)seen->forward + seen->unknown;
	const double flows = fmin(seen->flows, (double)seen->sent);

	ret->sent += (double)seen->sent;
	ret->lost += lost;
	ret->lost_replies += seen->reverse;
	if (lost >= 1)
		*dead = fmax(*dead, (double)seen->silent);
	*passed = fmax(*passed, flows - (double)seen->partial - (double)seen->silent);
}

/* Adds the probes since `since` of a rack without losses, which sends rows only once in
 * a row interval: probes at the rate of its last rows, all of which passed. */
static void
add_quiet(
    const struct localise_path *path, rm_wall_t since, struct localise_passed *ret)
{
	const struct localise_rack *rack = path->rack;
	const struct localise_counts_seen *seen = &path->seen[rack->frame & 1];
	const double quiet_s =
	    (double)(rack->last_end.ns - since.ns) / (double)RM_NS_PER_S;
	const double sent = path->rate * quiet_s;

	if (seen->frame != rack->frame)
		return;
	if (sent < MIN_IMPLIED) {
		ret->is_awaited = true;
		return;
	}
	ret->sent += sent;
	ret->passed += fmin(seen->flows, floor(sent));
}

static void
add_path(const struct localise_path *path, rm_mono_t now, rm_wall_t since,
    struct localise_passed *ret)
{
	const struct localise_rack *rack = path->rack;
	double dead = 0, passed = 0;
	bool is_reported = false;

	if (!rack->seen || rack->doubted)
		return;
	for (uint32_t age = 0; age < 2; age++) {
		const struct localise_counts_seen *seen =
		    localise_path_row(path, age, now);

		/* if all > sent, the rows cover more than a second, and began before
		 * `since` */
		if (seen == NULL ||
		    !is_after(rack->frame_end[seen->frame & 1], since) ||
		    (double)seen->all > (double)seen->sent + 0.5)
			continue;
		is_reported = true;
		add_row(seen, ret, &dead, &passed);
		if (ret->window_ns < (age + 1) * RM_NS_PER_S)
			ret->window_ns = (age + 1) * RM_NS_PER_S;
	}
	ret->dead += dead;
	ret->passed += fmax(passed, 0);
	if (is_reported)
		return;
	if (!is_after(rack->last_end, since))
		ret->is_awaited = true;
	else if (rack->lossy != rack->frame)
		add_quiet(path, since, ret);
}

static enum localise_passage
passage_of(
    struct localise_element *element, rm_mono_t now, const struct localise_passed *seen)
{
	const double answered = seen->sent - seen->lost - seen->lost_replies;

	if (seen->dead + seen->lost > 0 &&
	    seen->passed > STRAY_SHARE * (seen->dead + seen->passed))
		element->passed = now;
	if (element->passed.ns != 0 && rm_mono_since(now, element->passed) < PASSED_NS)
		return LOCALISE_PASSES;
	if (answered > PASSING_SHARE * seen->sent ||
	    seen->lost_replies > ARRIVED_SHARE * (seen->lost + seen->lost_replies))
		return LOCALISE_PASSES;
	return seen->dead >= (seen->is_awaited ? MIN_DEAD_SOON : MIN_DEAD)
		   ? LOCALISE_CLOSED
		   : LOCALISE_UNDECIDED;
}

void
localise_passage_see(struct localise_element *element, rm_mono_t now, rm_wall_t since,
    struct localise_passed *ret)
{
	*ret = (struct localise_passed){ 0 };
	for (size_t i = 0; i < element->path_count; i++)
		add_path(element->paths[i], now, since, ret);
	ret->passage = passage_of(element, now, ret);
}
