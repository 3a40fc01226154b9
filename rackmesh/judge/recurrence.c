#include "rackmesh/judge/recurrence.h"

#define QUIET_GAPS 3

/* For how long the part has been observed as up since its last fall. */
static int64_t
up_ns(const struct rm_recurrence *recurrence, rm_mono_t now)
{
	const int64_t ns = rm_mono_since(now, recurrence->at[0]);

	if (recurrence->up_since.ns == 0 ||
	    rm_mono_since(recurrence->up_since, recurrence->at[0]) < 0)
		return ns;
	return rm_mono_since(now, recurrence->up_since);
}

static int64_t
longer_ns(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The part may have been down for a part of the gap, so this has a limit of its own. */
static int64_t
limited_ns(int64_t gap_ns)
{
	return gap_ns < RM_RECURRENCE_QUIET_MAX_NS ? gap_ns
						   : RM_RECURRENCE_QUIET_MAX_NS;
}

void
rm_recurrence_fall(struct rm_recurrence *recurrence, rm_mono_t now, int64_t within_ns)
{
	const rm_mono_t before = recurrence->at[1];
	const int64_t last_gap_ns = recurrence->gap_ns;

	recurrence->gap_ns =
	    recurrence->at[0].ns == 0 ? 0 : limited_ns(up_ns(recurrence, now));
	recurrence->at[1] = recurrence->at[0];
	recurrence->at[0] = now;
	if (!recurrence->flaps) {
		if (before.ns == 0 || rm_mono_since(now, before) > within_ns) {
			recurrence->falls = 0;
			return;
		}
		recurrence->flaps = true;
	}
	recurrence->falls++;
	if (recurrence->falls < RM_RECURRENCE_FALLS) {
		recurrence->falls = RM_RECURRENCE_FALLS;
		recurrence->since = before;
		recurrence->longest_ns = last_gap_ns;
	}
	recurrence->longest_ns = longer_ns(recurrence->longest_ns, recurrence->gap_ns);
}

int64_t
rm_recurrence_quiet_ns(const struct rm_recurrence *recurrence)
{
	const int64_t ns = QUIET_GAPS * recurrence->longest_ns;

	if (ns < RM_RECURRENCE_QUIET_MIN_NS)
		return RM_RECURRENCE_QUIET_MIN_NS;
	return ns < RM_RECURRENCE_QUIET_MAX_NS ? ns : RM_RECURRENCE_QUIET_MAX_NS;
}

bool
rm_recurrence_is_old(const struct rm_recurrence *recurrence, rm_mono_t now)
{
	const int64_t quiet = rm_recurrence_quiet_ns(recurrence);

	return rm_mono_since(now, recurrence->at[0]) >=
	       (quiet > RM_RECURRENCE_WITHIN_NS ? quiet : RM_RECURRENCE_WITHIN_NS);
}

bool
rm_recurrence_note(
    struct rm_recurrence *recurrence, rm_mono_t now, uint32_t falls, bool down)
{
	for (uint32_t i = 0; i < falls && i < RM_RECURRENCE_FALLS; i++)
		rm_recurrence_fall(recurrence, now, RM_RECURRENCE_WITHIN_NS);
	if (falls > RM_RECURRENCE_FALLS)
		recurrence->falls += falls - RM_RECURRENCE_FALLS;
	if (recurrence->flaps && !down && falls == 0 &&
	    up_ns(recurrence, now) >= rm_recurrence_quiet_ns(recurrence))
		*recurrence = (struct rm_recurrence){ 0 };
	return recurrence->flaps;
}

/* ---- saved ---- */

static json_int_t
at_wall(rm_mono_t at, rm_mono_t now, rm_wall_t wall)
{
	const int64_t ns = wall.ns - rm_mono_since(now, at);

	if (at.ns == 0)
		return 0;
	return ns > 0 ? (json_int_t)ns : 1; /* the wall clock may be wrong */
}

json_t *
rm_recurrence_save(
    const struct rm_recurrence *recurrence, rm_mono_t now, rm_wall_t wall)
{
	return json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:I}", "flapping",
	    recurrence->flaps, "falls", (json_int_t)recurrence->falls, "since_ns",
	    at_wall(recurrence->since, now, wall), "last_ns",
	    at_wall(recurrence->at[0], now, wall), "before_ns",
	    at_wall(recurrence->at[1], now, wall), "gap_ns",
	    (json_int_t)recurrence->gap_ns, "longest_ns",
	    (json_int_t)recurrence->longest_ns);
}

static bool
take_number(const json_t *object, const char *key, int64_t max, int64_t *ret)
{
	const json_t *number = json_object_get(object, key);

	*ret = json_integer_value(number);
	return json_is_integer(number) && *ret >= 0 && *ret <= max;
}

/* Converts a wall-clock time to this monotonic clock; 0 stays 0. A time in the future
 * becomes now. */
static bool
take_time(const json_t *object, const char *key, rm_mono_t now, rm_wall_t wall,
    rm_mono_t *ret)
{
	int64_t at, ago;

	if (!take_number(object, key, INT64_MAX, &at))
		return false;
	ago = wall.ns - at;
	*ret = (rm_mono_t){ 0 };
	if (at == 0)
		return true;
	*ret = rm_mono_add(now, ago > 0 ? -ago : 0);
	if (ret->ns == 0)
		ret->ns = 1;
	return true;
}

const char *
rm_recurrence_restore(
    const json_t *saved, rm_mono_t now, rm_wall_t wall, struct rm_recurrence *ret)
{
	const int64_t last_ns = json_integer_value(json_object_get(saved, "last_ns"));
	int64_t falls;

	/* The wall clock was set back: the last fall was not before now, and the times
	 * between the falls are known. */
	if (last_ns > wall.ns)
		wall.ns = last_ns;
	*ret = (struct rm_recurrence){ 0 };
	if (!json_is_boolean(json_object_get(saved, "flapping")))
		return "flapping";
	ret->flaps = json_is_true(json_object_get(saved, "flapping"));
	if (!take_number(saved, "falls", UINT32_MAX, &falls) ||
	    (ret->flaps && falls < RM_RECURRENCE_FALLS))
		return "falls";
	ret->falls = (uint32_t)falls;
	if (!take_time(saved, "last_ns", now, wall, &ret->at[0]) || ret->at[0].ns == 0)
		return "last_ns";
	if (!take_time(saved, "before_ns", now, wall, &ret->at[1]) ||
	    (ret->at[1].ns != 0 && rm_mono_since(ret->at[0], ret->at[1]) < 0))
		return "before_ns";
	if (!take_time(saved, "since_ns", now, wall, &ret->since) ||
	    (ret->flaps &&
		(ret->since.ns == 0 || rm_mono_since(ret->at[0], ret->since) < 0)))
		return "since_ns";
	/* Earlier releases saved gaps that were longer than the limit. */
	if (!take_number(saved, "longest_ns", INT64_MAX, &ret->longest_ns))
		return "longest_ns";
	if (ret->longest_ns > RM_RECURRENCE_QUIET_MAX_NS)
		ret->longest_ns = RM_RECURRENCE_QUIET_MAX_NS;
	/* An older version did not save it. */
	if (json_object_get(saved, "gap_ns") == NULL)
		ret->gap_ns = ret->at[1].ns == 0
				  ? 0
				  : limited_ns(rm_mono_since(ret->at[0], ret->at[1]));
	else if (!take_number(
		     saved, "gap_ns", RM_RECURRENCE_QUIET_MAX_NS, &ret->gap_ns))
		return "gap_ns";
	ret->up_since = now;
	return NULL;
}
