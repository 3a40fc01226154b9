#include "tests/sim/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/hex.h"
#include "tests/sim/record.h"
#include "tests/sim/replay_centre.h"
#include "tests/sim/run_state.h"

#define MAX_RACKS 256
#define RACK_RNICS 64 /* number of RNICs for which a rack's ring has room */
#define MAX_S 1000000
/* A line whose time is at most this much after a tick is handled before the tick,
 * because lines of different sessions may be out of order by this time. */
#define TICK_AFTER_NS RM_NS_PER_MS

struct replay {
	const char *file;
	struct rm_error *error;
	struct run run;
	struct scenario scenario;     /* only the name is used */
	char (*hosts)[RM_NAME_BYTES]; /* by lane */
	size_t host_room, lane_room;
	struct hex_bytes bytes; /* bytes of the line's frame */
	size_t line;
};

static int
refuse(struct replay *replay, const char *what)
{
	return rm_error_set(
	    replay->error, -EINVAL, "%s:%zu: %s", replay->file, replay->line, what);
}

/* ---- fields of a line ------------------------------------------------------------ */

static bool
read_name(char **rest, char name[RM_NAME_BYTES])
{
	const char *text = strtok_r(NULL, " \n", rest);

	if (text == NULL || !rm_name_valid(text))
		return false;
	snprintf(name, RM_NAME_BYTES, "%s", text);
	return true;
}

static bool
read_number(char **rest, int64_t *ret)
{
	const char *text = strtok_r(NULL, " \n", rest);
	char *end;

	if (text == NULL)
		return false;
	errno = 0;
	*ret = strtoll(text, &end, 10);
	return *end == '\0' && errno == 0 && llabs(*ret) <= MAX_S * RM_NS_PER_S;
}

static int
read_bytes(struct replay *replay, char **rest)
{
	const int r = hex_read(strtok_r(NULL, " \n", rest), &replay->bytes);

	return r == -EINVAL
		   ? refuse(replay, "expected bytes, two hexadecimal digits each")
		   : r;
}

/* ---- racks, hosts ---------------------------------------------------------------- */

static struct sim_rack *
find_rack(struct replay *replay, const char *name)
{
	for (uint32_t i = 0; i < replay->run.racks; i++)
		if (strcmp(replay->run.rack[i].name, name) == 0)
			return &replay->run.rack[i];
	return NULL;
}

static int
take_rack(struct replay *replay, char **rest)
{
	struct run *run = &replay->run;
	struct sim_rack *rack = &run->rack[run->racks];
	char name[RM_NAME_BYTES];
	int64_t clock_ns, wall_ns;

	if (!read_name(rest, name) || !read_number(rest, &clock_ns) ||
	    !read_number(rest, &wall_ns))
		return refuse(replay, "expected rack TOR CLOCK_NS WALL_NS");
	if (find_rack(replay, name) != NULL)
		return refuse(replay, "this rack is there already");
	if (run->racks == MAX_RACKS)
		return refuse(replay, "too many racks");
	*rack = (struct sim_rack){ .run = run,
		.number = run->racks++,
		.clock_ns = clock_ns,
		.wall_ns = wall_ns,
		.up_ns = INT64_MAX };
	snprintf(rack->name, sizeof rack->name, "%s", name);
	snprintf(rack->aggregator, sizeof rack->aggregator, "agg-%.50s", name);
	return 0;
}

/* The room belongs to one rack, because lanes are only added, never removed. */
static int
add_lane(struct replay *replay, struct sim_rack *rack, const char *host,
    struct sim_lane **ret)
{
	struct run *run = &replay->run;
	const size_t number = run->lane_count;
	uint32_t *lanes;
	int r = run_grow(
	    (void **)&run->lanes, number, &replay->lane_room, sizeof *run->lanes);

	if (r == 0)
		r = run_grow((void **)&replay->hosts, number, &replay->host_room,
		    sizeof *replay->hosts);
	lanes = realloc(rack->lanes, (rack->lane_count + 1) * sizeof *lanes);
	if (lanes == NULL)
		return -ENOMEM;
	rack->lanes = lanes;
	if (r < 0)
		return r;
	run->lanes[number] = (struct sim_lane){ .rack = rack->number };
	snprintf(replay->hosts[number], RM_NAME_BYTES, "%s", host);
	rack->lanes[rack->lane_count++] = (uint32_t)run->lane_count++;
	*ret = &run->lanes[number];
	return 0;
}

static int
get_lane(struct replay *replay, struct sim_rack *rack, const char *host,
    struct sim_lane **ret)
{
	for (size_t i = 0; i < rack->lane_count; i++)
		if (strcmp(replay->hosts[rack->lanes[i]], host) == 0) {
			*ret = &replay->run.lanes[rack->lanes[i]];
			return 0;
		}
	return add_lane(replay, rack, host, ret);
}

/* ---- lines ----------------------------------------------------------------------- */

static int
take_plan(struct replay *replay, struct sim_rack *rack, char **rest, int64_t now_ns)
{
	uint8_t *plan, *old = rack->plan;
	int r = read_bytes(replay, rest);
	const size_t len = replay->bytes.len;

	if (r < 0)
		return r;
	plan = malloc(len);
	if (plan == NULL)
		return -ENOMEM;
	memcpy(plan, replay->bytes.bytes, len);
	if (wire_open_plan(&rack->view, plan, len) < 0) {
		free(plan);
		rack->plan = NULL;
		free(old);
		return refuse(replay, "this is no plan");
	}
	rack->plan = plan;
	rack->plan_len = len;
	if (rack->rack != NULL)
		r = sim_rack_replan(rack, now_ns);
	free(old);
	return r;
}

static int
take_life(struct replay *replay, struct sim_rack *rack, bool begins, int64_t now_ns)
{
	if (begins == (rack->rack != NULL) || rack->plan == NULL)
		return refuse(replay, "this rack has no plan yet, or is so already");
	if (begins)
		return sim_rack_start(rack, now_ns);
	sim_rack_stop(rack, now_ns);
	return 0;
}

static int
take_frame(struct replay *replay, struct sim_rack *rack, struct sim_lane *lane,
    char **rest, int64_t now_ns)
{
	const struct hex_bytes *frame = &replay->bytes;
	enum wire_kind kind;
	int r = read_bytes(replay, rest);

	if (r < 0)
		return r;
	kind = wire_kind_of(frame->bytes, frame->len);
	/* Other messages of an agent are not used by the judges. */
	if (rack->rack == NULL ||
	    (kind != WIRE_HELLO && kind != WIRE_REGISTER && kind != WIRE_BATCH &&
		kind != WIRE_COUNTS && kind != WIRE_HEARTBEAT && kind != WIRE_PATHS))
		return 0;
	if (kind == WIRE_HELLO)
		lane->connected = true;
	r = sim_rack_take(rack, lane, kind, frame->bytes, frame->len, now_ns);
	return r == 0 || r == -ENOMEM ? r : refuse(replay, "the aggregator refuses it");
}

static int
take_of_session(struct replay *replay, struct sim_rack *rack, const char *keyword,
    char **rest, int64_t now_ns)
{
	char host[RM_NAME_BYTES];
	struct sim_lane *lane = NULL;
	const char *how;
	int r;

	if (!read_name(rest, host))
		return refuse(replay, "expected the name of a host");
	r = get_lane(replay, rack, host, &lane);
	if (r < 0)
		return r;
	if (strcmp(keyword, "frame") == 0)
		return take_frame(replay, rack, lane, rest, now_ns);
	if (strcmp(keyword, "ended") == 0) {
		sim_rack_ended(rack, lane, true, now_ns);
		return 0;
	}
	how = strtok_r(NULL, " \n", rest);
	if (strcmp(keyword, "kernel") != 0 || how == NULL)
		return refuse(replay, "expected frame, ended, or kernel answers|mute");
	lane->mute = strcmp(how, "mute") == 0;
	return 0;
}

static int
take_line(struct replay *replay, const char *keyword, char **rest, int64_t now_ns)
{
	char name[RM_NAME_BYTES];
	struct sim_rack *rack;

	if (strcmp(keyword, "end") == 0 || strcmp(keyword, "truth") == 0)
		return 0;
	if (strcmp(keyword, "rack") == 0)
		return take_rack(replay, rest);
	if (!read_name(rest, name))
		return refuse(replay, "expected a name");
	if (strcmp(keyword, "name") == 0) {
		snprintf(
		    replay->scenario.name, sizeof replay->scenario.name, "%s", name);
		return 0;
	}
	rack = find_rack(replay, name);
	if (rack == NULL)
		return refuse(replay, "there is no such rack");
	if (strcmp(keyword, "plan") == 0)
		return take_plan(replay, rack, rest, now_ns);
	if (strcmp(keyword, "begins") == 0 || strcmp(keyword, "ends") == 0)
		return take_life(replay, rack, keyword[0] == 'b', now_ns);
	return take_of_session(replay, rack, keyword, rest, now_ns);
}

/* ---- time passes ----------------------------------------------------------------- */

static int
pass_until(struct replay *replay, int64_t t_ns)
{
	struct run *run = &replay->run;
	int r = 0;

	for (; r == 0 && t_ns >= run->now_ns + TICK_AFTER_NS;
	     run->now_ns += RUN_SLICE_NS) {
		for (uint32_t i = 0; i < run->racks && r == 0; i++)
			r = sim_rack_tick(&run->rack[i], run->now_ns);
		if (r == 0)
			r = centre_judge(run->centre, run->now_ns);
	}
	return r;
}

static int
replay_line(struct replay *replay, char *text, int64_t *last_ns)
{
	char *rest = NULL, *end;
	const char *time = strtok_r(text, " \n", &rest), *keyword;
	int64_t t_ns;
	int r;

	if (time == NULL)
		return 0;
	keyword = strtok_r(NULL, " \n", &rest);
	t_ns = strtoll(time, &end, 10);
	if (keyword == NULL || *end != '\0' || t_ns < *last_ns - TICK_AFTER_NS ||
	    t_ns > MAX_S * RM_NS_PER_S)
		return refuse(
		    replay, "expected a time, not before the last, and a keyword");
	if (t_ns > *last_ns)
		*last_ns = t_ns;
	r = pass_until(replay, t_ns);
	return r < 0 ? r : take_line(replay, keyword, &rest, t_ns);
}

static int
replay_lines(struct replay *replay, FILE *in)
{
	char *text = NULL;
	size_t room = 0;
	int64_t last_ns = 0;
	int r = 0;

	while (r == 0 && getline(&text, &room, in) > 0) {
		if (++replay->line > 1)
			r = replay_line(replay, text, &last_ns);
		else if (strcmp(text, RECORD_FIRST_LINE "\n") != 0)
			r = refuse(replay, "expected " RECORD_FIRST_LINE);
	}
	free(text);
	if (r == 0 && replay->line == 0)
		r = refuse(replay, "it is empty");
	return r == 0 ? pass_until(replay, last_ns + TICK_AFTER_NS) : r;
}

static int
replay_begin(struct replay *replay, FILE *verdicts)
{
	struct run *run = &replay->run;

	snprintf(replay->scenario.name, sizeof replay->scenario.name, "recording");
	run->scenario = &replay->scenario;
	run->verdicts = verdicts;
	run->dice = dice_of(1, 0);
	run->now_ns = RUN_SLICE_NS;
	run->draw.fabric.rnics_per_rack = RACK_RNICS;
	run->rack = calloc(MAX_RACKS, sizeof *run->rack);
	run->rack_writer = wire_writer_new();
	if (run->rack == NULL || run->rack_writer == NULL)
		return -ENOMEM;
	return centre_new(run, &run->centre);
}

/* The second line shows what kind of daemon has written the recording. */
static bool
is_of_centre(FILE *in)
{
	char line[64] = "";
	bool is = fgets(line, sizeof line, in) != NULL &&
		  fgets(line, sizeof line, in) != NULL &&
		  strncmp(line, "0 centre ", 9) == 0;

	rewind(in);
	return is;
}

int
replay_whole(FILE *in, const char *file, FILE *verdicts, struct rm_error *error)
{
	struct replay *replay;
	int r;

	if (is_of_centre(in))
		return replay_centre(in, file, verdicts, error);
	replay = calloc(1, sizeof *replay);
	if (replay == NULL)
		return -ENOMEM;
	replay->file = file;
	replay->error = error;
	r = replay_begin(replay, verdicts);
	if (r == 0)
		r = replay_lines(replay, in);
	for (uint32_t i = 0; i < replay->run.racks; i++)
		sim_rack_clear(&replay->run.rack[i]);
	centre_free(replay->run.centre);
	wire_writer_free(replay->run.rack_writer);
	free(replay->run.rack);
	free(replay->run.lanes);
	free(replay->hosts);
	free(replay->bytes.bytes);
	free(replay);
	return r;
}
