#include "analyzer/suspicion/localise_sizes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/paths/localise_bins.h"

#define LARGE_MIN_LOST 5
/* not more, because the first second may begin before the fault */
#define LARGE_SHARE 0.5
#define SMALL_MIN_SENT 5
#define SMALL_SHARE 0.05

static void
add(const struct localise_path *path, rm_mono_t now, struct localise_sizes *sizes)
{
	for (uint32_t age = 0; age < 2; age++) {
		const struct localise_counts_seen *seen =
		    localise_path_row(path, age, now);
		double lost;

		if (seen == NULL)
			continue;
		lost = (double)seen->forward + seen->reverse + seen->unknown;
		sizes->large_sent += (double)seen->large_sent;
		sizes->large_lost += (double)seen->large_lost;
		sizes->small_sent += fmax(seen->all - (double)seen->large_sent, 0);
		sizes->small_lost += fmax(lost - (double)seen->large_lost, 0);
		if (seen->large_bytes > 0 &&
		    (sizes->least_bytes == 0 || seen->large_bytes < sizes->least_bytes))
			sizes->least_bytes = seen->large_bytes;
	}
}

static bool
loses_large(const struct localise_sizes *sizes)
{
	return sizes->large_lost > 0 &&
	       sizes->large_lost >= LARGE_SHARE * sizes->large_sent;
}

/* Adds one direction of a link, or another element, if it loses large packets. The
 * other direction may pass all of them, and lose only their replies. */
static void
add_element(rm_mono_t now, const struct localise_suspect *suspect,
    const struct localise_element *element, struct localise_sizes *ret)
{
	struct localise_sizes one = { 0 };

	for (size_t i = 0; i < element->path_count; i++)
		if (suspect == NULL || localise_suspect_on(suspect, element->paths[i]))
			add(element->paths[i], now, &one);
	if (!loses_large(&one))
		return;
	ret->large_sent += one.large_sent;
	ret->large_lost += one.large_lost;
	ret->small_sent += one.small_sent;
	ret->small_lost += one.small_lost;
	if (ret->least_bytes == 0 || one.least_bytes < ret->least_bytes)
		ret->least_bytes = one.least_bytes;
}

void
localise_sizes_see(rm_mono_t now, const struct localise_suspect *suspect,
    const struct localise_element *back, struct localise_sizes *ret)
{
	const size_t ends = suspect->type == RM_PART_PATH ? 1 : suspect->element_count;

	*ret = (struct localise_sizes){ 0 };
	for (size_t i = 0; i < ends; i++) {
		add_element(now, suspect, suspect->elements[i], ret);
		if (suspect->elements[i] == back)
			back = NULL;
	}
	if (back != NULL)
		add_element(now, NULL, back, ret);
}

bool
localise_sizes_large_alone(const struct localise_sizes *sizes, bool was)
{
	return sizes->large_lost >= (was ? 1 : LARGE_MIN_LOST) && loses_large(sizes) &&
	       sizes->small_sent >= (was ? 1 : SMALL_MIN_SENT) &&
	       sizes->small_lost <= SMALL_SHARE * sizes->small_sent;
}

void
localise_sizes_report(
    const struct localise_sizes *sizes, char observed[RM_EVIDENCE_TEXT])
{
	const size_t len = strlen(observed);

	snprintf(observed + len, RM_EVIDENCE_TEXT - len,
	    "%sonly large packets are lost, as with an MTU that is too small: %.0f of "
	    "%.0f of %u bytes or more, %.0f of %.0f smaller ones",
	    len > 0 ? "; " : "", round(sizes->large_lost), round(sizes->large_sent),
	    sizes->least_bytes, round(sizes->small_lost), round(sizes->small_sent));
}
