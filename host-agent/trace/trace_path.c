#include "host-agent/trace/trace_path.h"

#include <string.h>

static bool
silent(const uint8_t hop[16])
{
	static const uint8_t zeros[16];

	return memcmp(hop, zeros, sizeof(zeros)) == 0;
}

/* Returns the TTL of the last hop that answered. */
static unsigned
reach(const struct trace_hops *hops)
{
	unsigned last = 0;

	for (unsigned i = 0; i < hops->count; i++) {
		if (!silent(hops->at[i]))
			last = i + 1;
	}
	return last;
}

bool
trace_hops_agree(const struct trace_hops *a, const struct trace_hops *b)
{
	const struct trace_hops *shorter = a->count < b->count ? a : b;
	const struct trace_hops *longer = shorter == a ? b : a;

	if (shorter->complete && reach(longer) > shorter->count)
		return false;
	if (a->complete && b->complete && a->count != b->count)
		return false;
	for (unsigned i = 0; i < shorter->count; i++) {
		if (!silent(a->at[i]) && !silent(b->at[i]) &&
		    memcmp(a->at[i], b->at[i], 16) != 0)
			return false;
	}
	return true;
}

/* Copies to hops the hops that only `more` has; the two must agree. True: a hop was
 * added. */
static bool
merge(struct trace_hops *hops, const struct trace_hops *more)
{
	bool news = false;

	for (unsigned i = 0; i < more->count; i++) {
		if (silent(more->at[i]) || !silent(hops->at[i]))
			continue;
		memcpy(hops->at[i], more->at[i], 16);
		news = true;
	}
	if (more->complete && !hops->complete) {
		hops->complete = news = true;
		hops->count = more->count;
	} else if (more->count > hops->count && news) {
		hops->count = more->count;
	}
	return news;
}

static void
note_move(struct trace_path *path, rm_mono_t now)
{
	path->moves[path->move_count++ % (TRACE_PATH_MOVES + 1)] = now;
}

/* True: the flag has changed. */
static bool
judge_moves(struct trace_path *path, rm_mono_t now)
{
	bool was = path->multipath;
	unsigned recent = 0;

	for (unsigned i = 0; i <= TRACE_PATH_MOVES && i < path->move_count; i++)
		recent += rm_mono_since(now, path->moves[i]) <= TRACE_PATH_MOVES_NS;
	path->multipath = recent > TRACE_PATH_MOVES;
	return path->multipath != was;
}

static bool
gets_far_enough(const struct trace_path *path, const struct trace_hops *found)
{
	if (found->complete)
		return reach(found) == found->count;
	return reach(found) >= reach(&path->good);
}

/* Handles a trace that contradicts the known path. */
static enum trace_status
take_other(struct trace_path *path, const struct trace_hops *found, rm_mono_t now)
{
	bool flag;

	if (path->other.count > 0 && trace_hops_agree(&path->other, found)) {
		path->good = *found;
		merge(&path->good, &path->other);
		path->other.count = 0;
		path->traced = now;
		judge_moves(path, now);
		return TRACE_NEWS;
	}
	note_move(path, now);
	path->other = *found;
	flag = judge_moves(path, now);
	return flag ? TRACE_NEWS : TRACE_ODD;
}

enum trace_status
trace_path_take(struct trace_path *path, const struct trace_hops *found, rm_mono_t now)
{
	bool far, news;

	if (path->good.count == 0) {
		if (reach(found) == 0)
			return TRACE_LESS;
		path->good = *found;
		path->traced = now;
		return TRACE_NEWS;
	}
	far = gets_far_enough(path, found);
	if (!trace_hops_agree(&path->good, found))
		return far ? take_other(path, found, now) : TRACE_LESS_ODD;
	if (path->other.count > 0 && trace_hops_agree(&path->other, found))
		/* There are fewer hops: the trace may belong to the known path or to
		 * the other one. */
		return TRACE_LESS;
	news = merge(&path->good, found);
	if (far) {
		if (path->other.count > 0)
			/* the path had changed, and has changed back */
			note_move(path, now);
		path->other.count = 0;
		path->traced = now;
	}
	news |= judge_moves(path, now);
	return news ? TRACE_NEWS : far ? TRACE_SAME : TRACE_LESS;
}

bool
trace_path_has_gaps(const struct trace_path *path)
{
	if (!path->good.complete)
		return true;
	for (unsigned i = 0; i < path->good.count; i++) {
		if (silent(path->good.at[i]))
			return true;
	}
	return false;
}
