#include "rackmesh/etcd/etcd_mirror.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/backoff.h"
#include "rackmesh/core/random.h"
#include "rackmesh/etcd/etcd_call.h"
#include "rackmesh/etcd/etcd_view.h"
#include "rackmesh/loop/loop.h"

#define MIRROR_RELIST_NS (30 * RM_NS_PER_S)
#define MIRROR_SILENCE_NS (3 * RM_NS_PER_S)
#define MIRROR_RETRY_NS (100 * RM_NS_PER_MS)
#define MIRROR_MAX_RETRY_NS (2 * RM_NS_PER_S)
#define MIRROR_ASK_AGAIN_NS (100 * RM_NS_PER_MS)
/* A list that lies behind is believed the third time: by then each member of three has
 * been asked, and it is no longer one that has slept. */
#define MIRROR_BEHIND_TRIES 3
/* After disordered events, so that a stream of them does not make a storm of lists. */
#define MIRROR_SOON_NS (500 * RM_NS_PER_MS)

struct rm_etcd_mirror {
	struct rm_etcd *etcd;
	int64_t relist_ns, silence_ns;
	struct rm_etcd_view view;
	struct rm_etcd_watch *watch;
	struct rm_timer *list_timer, *watch_timer;
	rm_mono_t list_due;
	struct rm_backoff list_backoff, watch_backoff;
	bool listing;    /* the list asked for has not come yet */
	unsigned behind; /* lists in a row that lay behind */
	rm_mono_t heard;
};

static void mirror_list(void *arg);
static void mirror_watch(void *arg);

static void
mirror_list_at(struct rm_etcd_mirror *mirror, rm_mono_t due)
{
	mirror->list_due = due;
	rm_timer_at(mirror->list_timer, due);
}

/* Not later than this; an earlier one stays. */
static void
mirror_list_within(struct rm_etcd_mirror *mirror, int64_t ns)
{
	rm_mono_t due = rm_mono_add(rm_mono_now(), ns);

	if (!mirror->listing && rm_mono_since(mirror->list_due, due) > 0)
		mirror_list_at(mirror, due);
}

static void
mirror_synced(struct rm_etcd_mirror *mirror)
{
	struct rm_etcd_view *view = &mirror->view;

	mirror->heard = rm_mono_now();
	view->callbacks.on_synced(view->known, view->callbacks.arg);
}

static void
mirror_list_again(struct rm_etcd_mirror *mirror)
{
	mirror_list_at(
	    mirror, rm_mono_add(rm_mono_now(),
			rm_backoff_next_ns(&mirror->list_backoff, rm_random_u64())));
}

static void
mirror_on_list(const struct rm_etcd_answer *list, void *arg)
{
	struct rm_etcd_mirror *mirror = arg;
	struct rm_etcd_view *view = &mirror->view;
	enum rm_etcd_view_says says;

	mirror->listing = view->listing = false;
	if (list->r < 0) {
		mirror_list_again(mirror);
		return;
	}
	rm_backoff_reset(&mirror->list_backoff);
	view->counts.lists++;
	says = rm_etcd_view_judge(view, list);
	if (says == RM_ETCD_VIEW_BEHIND && ++mirror->behind < MIRROR_BEHIND_TRIES) {
		view->counts.stale++;
		/* Another member may know more. */
		rm_etcd_rotate(mirror->etcd, mirror->etcd->endpoint);
		mirror_list_at(mirror, rm_mono_add(rm_mono_now(), MIRROR_ASK_AGAIN_NS));
		return;
	}
	mirror->behind = 0;
	if (says != RM_ETCD_VIEW_NEWER) {
		rm_etcd_watch_free(mirror->watch);
		mirror->watch = NULL;
	}
	rm_etcd_view_take_list(view, list, says != RM_ETCD_VIEW_NEWER);
	mirror_synced(mirror);
	if (mirror->watch == NULL)
		rm_timer_after(mirror->watch_timer, 0);
	mirror_list_at(mirror, rm_mono_add(rm_mono_now(), mirror->relist_ns));
}

static void
mirror_list(void *arg)
{
	struct rm_etcd_mirror *mirror = arg;

	if (mirror->listing)
		return;
	if (rm_etcd_range(mirror->etcd, mirror->view.prefix, true, 0, false,
		mirror_on_list, mirror) < 0) {
		mirror_list_again(mirror);
		return;
	}
	mirror->listing = true;
	rm_etcd_view_ask(&mirror->view);
}

/* False: of another cluster than the list. */
static bool
mirror_hears(struct rm_etcd_mirror *mirror, uint64_t cluster_id)
{
	if (cluster_id != mirror->view.cluster_id) {
		mirror_list_within(mirror, MIRROR_SOON_NS);
		return false;
	}
	rm_backoff_reset(&mirror->watch_backoff);
	mirror->heard = rm_mono_now();
	return true;
}

static void
mirror_on_events(const struct rm_etcd_event *events, size_t count, uint64_t cluster_id,
    int64_t revision, void *arg)
{
	struct rm_etcd_mirror *mirror = arg;

	if (!mirror_hears(mirror, cluster_id))
		return;
	if (!rm_etcd_view_take_events(&mirror->view, events, count))
		mirror_list_within(mirror, MIRROR_SOON_NS);
	mirror_synced(mirror);
}

static void
mirror_on_progress(uint64_t cluster_id, int64_t revision, void *arg)
{
	struct rm_etcd_mirror *mirror = arg;

	if (mirror_hears(mirror, cluster_id) && revision > mirror->view.known)
		mirror->view.known = revision;
}

static void
mirror_watch_later(struct rm_etcd_mirror *mirror)
{
	rm_timer_after(mirror->watch_timer,
	    rm_backoff_next_ns(&mirror->watch_backoff, rm_random_u64()));
}

static void
mirror_on_end(int r, const char *error, void *arg)
{
	struct rm_etcd_mirror *mirror = arg;

	mirror->view.counts.breaks++;
	rm_etcd_watch_free(mirror->watch);
	mirror->watch = NULL;
	switch (r) {
	case -ESTALE:
	case -ECANCELED:
	case -ETIMEDOUT:
	case -EPROTO:
	case -ENOBUFS:
		/* What it has not said only a list can; it starts the next watch. */
		if (!mirror->listing)
			mirror_list_within(
			    mirror, rm_backoff_next_ns(
					&mirror->watch_backoff, rm_random_u64()));
		break;
	default:
		mirror_watch_later(mirror);
		break;
	}
}

static void
mirror_watch(void *arg)
{
	static const struct rm_etcd_watch_callbacks callbacks = {
		mirror_on_events,
		mirror_on_progress,
		mirror_on_end,
	};
	struct rm_etcd_mirror *mirror = arg;
	int r;

	if (mirror->watch != NULL)
		return;
	r = rm_etcd_watch_new(mirror->etcd, mirror->view.prefix, mirror->view.known + 1,
	    mirror->silence_ns, &callbacks, mirror, &mirror->watch);
	if (r < 0)
		mirror_watch_later(mirror);
	else
		mirror->view.counts.watches++;
}

/* ---- the rest ------------------------------------------------------------- */

int
rm_etcd_mirror_new(struct rm_loop *loop, struct rm_etcd *etcd,
    const struct rm_etcd_mirror_options *options,
    const struct rm_etcd_mirror_callbacks *callbacks, struct rm_etcd_mirror **ret)
{
	struct rm_etcd_mirror *mirror = calloc(1, sizeof(*mirror));
	int r;

	if (mirror == NULL)
		return -ENOMEM;
	mirror->etcd = etcd;
	mirror->relist_ns =
	    options->relist_ns > 0 ? options->relist_ns : MIRROR_RELIST_NS;
	mirror->silence_ns =
	    options->silence_ns > 0 ? options->silence_ns : MIRROR_SILENCE_NS;
	mirror->list_backoff =
	    (struct rm_backoff){ MIRROR_RETRY_NS, MIRROR_MAX_RETRY_NS, 0 };
	mirror->watch_backoff = mirror->list_backoff;
	r = rm_etcd_view_init(&mirror->view, options->prefix, callbacks);
	if (r == 0)
		r = rm_timer_new(loop, mirror_list, mirror, &mirror->list_timer);
	if (r == 0)
		r = rm_timer_new(loop, mirror_watch, mirror, &mirror->watch_timer);
	if (r < 0)
		goto out;
	mirror_list_at(mirror, rm_mono_now());
	*ret = mirror;
	return 0;
out:
	rm_etcd_mirror_free(mirror);
	return r;
}

void
rm_etcd_mirror_free(struct rm_etcd_mirror *mirror)
{
	if (mirror == NULL)
		return;
	rm_etcd_forget(mirror->etcd, mirror);
	rm_etcd_watch_free(mirror->watch);
	rm_timer_free(mirror->list_timer);
	rm_timer_free(mirror->watch_timer);
	rm_etcd_view_clear(&mirror->view);
	free(mirror);
}

void
rm_etcd_mirror_relist(struct rm_etcd_mirror *mirror)
{
	mirror_list_within(mirror, 0);
}

bool
rm_etcd_mirror_is_fresh(
    const struct rm_etcd_mirror *mirror, rm_mono_t now, int64_t within_ns)
{
	return mirror->view.synced && rm_mono_since(now, mirror->heard) <= within_ns;
}

int64_t
rm_etcd_mirror_revision(const struct rm_etcd_mirror *mirror)
{
	return mirror->view.synced ? mirror->view.known : 0;
}

const struct rm_etcd_mirror_counts *
rm_etcd_mirror_counts(const struct rm_etcd_mirror *mirror)
{
	return &mirror->view.counts;
}
