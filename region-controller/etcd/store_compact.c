#include "region-controller/etcd/store_compact.h"

#include <errno.h>
#include <stdlib.h>

#include "rackmesh/etcd/etcd.h"
#include "rackmesh/loop/loop.h"

struct store_compact {
	struct store_compact_options options;
	struct rm_timer *timer;
	int64_t revision; /* revision at the last interval; 0: not known */
	bool is_asking;
	struct store_compact_counts counts;
};

static void
on_answer(const struct rm_etcd_answer *answer, void *arg)
{
	struct store_compact *compact = arg;

	compact->is_asking = false;
	if (answer->r == 0)
		compact->counts.done++;
	else
		compact->counts.failed++;
}

static void
ask(struct store_compact *compact)
{
	if (rm_etcd_compact(
		compact->options.etcd, compact->revision, on_answer, compact) < 0)
		compact->counts.failed++;
	else
		compact->is_asking = true;
}

static void
on_timer(void *arg)
{
	struct store_compact *compact = arg;
	int64_t now = compact->options.revision(compact->options.arg);

	/* If the revision is lower than before, this is another etcd. */
	if (compact->revision > 0 && compact->revision < now && !compact->is_asking &&
	    compact->options.leads(compact->options.arg))
		ask(compact);
	compact->revision = now;
	rm_timer_after(compact->timer, compact->options.after_ns);
}

int
store_compact_new(struct rm_loop *loop, const struct store_compact_options *options,
    struct store_compact **ret)
{
	struct store_compact *compact = calloc(1, sizeof(*compact));
	int r;

	if (compact == NULL)
		return -ENOMEM;
	compact->options = *options;
	r = rm_timer_new(loop, on_timer, compact, &compact->timer);
	if (r < 0) {
		store_compact_free(compact);
		return r;
	}
	if (options->after_ns > 0)
		rm_timer_after(compact->timer, options->after_ns);
	*ret = compact;
	return 0;
}

void
store_compact_free(struct store_compact *compact)
{
	if (compact == NULL)
		return;
	rm_etcd_forget(compact->options.etcd, compact);
	rm_timer_free(compact->timer);
	free(compact);
}

const struct store_compact_counts *
store_compact_counts(const struct store_compact *compact)
{
	return &compact->counts;
}
