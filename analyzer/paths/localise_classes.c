#include "analyzer/paths/localise_classes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/paths/localise_map.h"

#define KEPT_EACH_S 0.97 /* share of the counts that is kept after each second */
#define MIN_LOST 5
/* ln of the probability that all losses are of one class if the part loses packets of
 * all classes equally often */
#define BY_CHANCE_LN (-8.0)
#define STILL_BY_CHANCE_LN (-4.0)
/* Share of the losses that may be in other classes, and at least OTHERS_LEAST losses.
 * If other classes lose more, there is a second fault, which must not be judged by this
 * class alone. */
#define OTHERS_OF_LOST 0.004
#define OTHERS_LEAST 1.0
#define OTHERS_STILL_OF_LOST 0.1

void
localise_classes_add(
    struct localise_classes *classes, const struct localise_path *path, rm_mono_t now)
{
	for (uint32_t age = 0; age < 2; age++) {
		const struct localise_counts_seen *seen =
		    localise_path_row(path, age, now);

		if (seen == NULL || seen->came.ns <= classes->counted.ns)
			continue;
		for (size_t i = 0; i < LOCALISE_PATH_CLASSES; i++) {
			const struct localise_class_seen *of = &seen->by_class[i];
			struct localise_class_counts *to =
			    &classes->of[of->dscp % LOCALISE_CLASSES];

			to->sent += (float)of->sent;
			to->lost += (float)of->lost;
		}
	}
}

void
localise_classes_end(struct localise_classes *classes, rm_mono_t now)
{
	const float kept =
	    classes->counted.ns == 0
		? 1
		: (float)pow(KEPT_EACH_S, (double)rm_mono_since(now, classes->counted) /
					      (double)RM_NS_PER_S);

	for (size_t i = 0; i < LOCALISE_CLASSES; i++) {
		classes->of[i].sent *= kept;
		classes->of[i].lost *= kept;
	}
	classes->counted = now;
}

static struct localise_class_counts
all_of(const struct localise_classes *classes)
{
	struct localise_class_counts all = { 0 };

	for (size_t i = 0; i < LOCALISE_CLASSES; i++) {
		all.sent += classes->of[i].sent;
		all.lost += classes->of[i].lost;
	}
	return all;
}

bool
localise_classes_one_alone(
    const struct localise_classes *classes, bool was, uint8_t *dscp)
{
	const struct localise_class_counts all = all_of(classes);
	size_t worst = 0;
	double lost;

	for (size_t i = 1; i < LOCALISE_CLASSES; i++)
		if (classes->of[i].lost > classes->of[worst].lost)
			worst = i;
	lost = (double)classes->of[worst].lost;
	if (lost < (was ? 1 : MIN_LOST) || all.sent <= classes->of[worst].sent ||
	    (double)all.lost - lost >
		(was ? OTHERS_STILL_OF_LOST * (double)all.lost
		     : fmax(OTHERS_LEAST, OTHERS_OF_LOST * (double)all.lost)) ||
	    lost * log((double)classes->of[worst].sent / (double)all.sent) >
		(was ? STILL_BY_CHANCE_LN : BY_CHANCE_LN))
		return false;
	*dscp = (uint8_t)worst;
	return true;
}

void
localise_classes_report(const struct localise_classes *classes, uint8_t dscp,
    char observed[RM_EVIDENCE_TEXT])
{
	const struct localise_class_counts *of = &classes->of[dscp];
	const struct localise_class_counts all = all_of(classes);
	const size_t len = strlen(observed);

	snprintf(observed + len, RM_EVIDENCE_TEXT - len,
	    "%s%.0f of %.0f probes with DSCP %u were lost, %.0f of %.0f with others",
	    len > 0 ? "; " : "", round((double)of->lost), round((double)of->sent), dscp,
	    round((double)all.lost - (double)of->lost),
	    round((double)all.sent - (double)of->sent));
}
