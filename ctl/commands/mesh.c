#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"

#define WORST 10
#define WORST_OF_REGION 20
#define MAX_WORST 1000 /* pairs that the analyzer lists at once */
#define CELL 5         /* columns of the terminal for one cell with a number */
#define WIDTH 92       /* columns if the output is not a terminal */
#define MAX_RNICS 1024

/* The columns of a row, as in docs/api.md; they are found by their names. */
enum column_at {
	FROM,
	TO,
	SENT,
	NO_REPLY,
	LOST_FORWARD,
	LOST_REVERSE,
	RTT_P50,
	RTT_P99,
	LAST_SEEN,
	COLUMNS
};

static const char *const names[COLUMNS] = { "from", "to", "sent", "no_reply",
	"lost_forward", "lost_reverse", "rtt_p50_ns", "rtt_p99_ns", "last_seen_ms" };

struct mesh {
	const json_t *answer, *rnics, *pairs;
	bool of_racks;   /* the rows are of pairs of ToRs, and there is no grid */
	bool of_regions; /* the names begin with the name of the region */
	size_t count;    /* number of rnics */
	size_t at[COLUMNS];
	bool rtt;            /* show RTT instead of loss */
	const json_t **grid; /* count * count rows; NULL: there were no probes */
};

/* ---- reading the answer ---- */

static const char *
text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value != NULL ? value : "-";
}

/* -1: unknown. */
static double
figure(const struct mesh *mesh, const json_t *row, enum column_at column)
{
	const json_t *value = json_array_get(row, mesh->at[column]);

	return json_is_number(value) ? json_number_value(value) : -1;
}

static double
loss_percent(const struct mesh *mesh, const json_t *row)
{
	const double sent = figure(mesh, row, SENT);

	return sent > 0 ? 100 * figure(mesh, row, NO_REPLY) / sent : 0;
}

/* The value of a cell in the grid, by which the list is sorted, too. */
static double
badness(const struct mesh *mesh, const json_t *row)
{
	return mesh->rtt ? figure(mesh, row, RTT_P99) : loss_percent(mesh, row);
}

/* False: the answer has no such column. */
static bool
find_columns(struct mesh *mesh)
{
	const json_t *columns = json_object_get(mesh->answer, "columns");

	for (size_t c = 0; c < COLUMNS; c++) {
		const json_t *name;
		size_t i;

		mesh->at[c] = SIZE_MAX;
		json_array_foreach (columns, i, name)
			if (json_is_string(name) &&
			    strcmp(json_string_value(name), names[c]) == 0)
				mesh->at[c] = i;
		if (mesh->at[c] == SIZE_MAX)
			return false;
	}
	return true;
}

/* False: the answer is not a mesh, or memory has run out. */
static bool
read_mesh(struct mesh *mesh, const json_t *answer, bool rtt)
{
	const json_t *row;
	size_t i;

	*mesh = (struct mesh){ .answer = answer,
		.rnics = json_object_get(answer, "rnics"),
		.pairs = json_object_get(answer, "pairs"),
		.rtt = rtt };
	mesh->count = json_array_size(mesh->rnics);
	if (!json_is_array(mesh->rnics) || !json_is_array(mesh->pairs) ||
	    mesh->count > MAX_RNICS || !find_columns(mesh))
		return false;
	mesh->grid = calloc(mesh->count * mesh->count + 1, sizeof(*mesh->grid));
	if (mesh->grid == NULL)
		return false;
	json_array_foreach (mesh->pairs, i, row) {
		const double from = figure(mesh, row, FROM), to = figure(mesh, row, TO);

		if (from >= 0 && to >= 0 && from < (double)mesh->count &&
		    to < (double)mesh->count)
			mesh->grid[(size_t)from * mesh->count + (size_t)to] = row;
	}
	return true;
}

static void
name_of(const struct mesh *mesh, size_t i, char *name, size_t len)
{
	const json_t *rnic = json_array_get(mesh->rnics, i);

	if (mesh->of_racks)
		snprintf(name, len, "%s%s%s",
		    mesh->of_regions ? text(rnic, "region") : "",
		    mesh->of_regions ? "/" : "", text(rnic, "tor"));
	else
		snprintf(name, len, "%s/%s", text(rnic, "host"), text(rnic, "device"));
}

/* ---- the grid ---- */

static int
terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		return size.ws_col;
	return WIDTH;
}

/* Writes at most three characters: "0", "0.4", "12", "100". */
static void
print_figure(const struct mesh *mesh, const json_t *row)
{
	const double value =
	    mesh->rtt ? figure(mesh, row, RTT_P99) / 1000 : loss_percent(mesh, row);

	if (value < 0 || (mesh->rtt && value == 0))
		printf("%*s", CELL, "?");
	else if (value > 0 && value < 9.95)
		printf("%*.1f", CELL, value < 0.1 ? 0.1 : value);
	else
		printf("%*.0f", CELL, value);
}

/* Returns the character of one cell: tenths of the sent probes that were lost, rounded
 * up; '.': none was lost; 'X': more than nine tenths. */
static char
mark_of(const struct mesh *mesh, const json_t *row)
{
	const double percent = loss_percent(mesh, row);
	int tenths = (int)(percent / 10);

	if (percent <= 0)
		return '.';
	tenths += tenths * 10 < percent;
	return tenths > 9 ? 'X' : (char)('0' + tenths);
}

static void
print_row(const struct mesh *mesh, size_t from, bool wide)
{
	for (size_t to = 0; to < mesh->count; to++) {
		const json_t *row = mesh->grid[from * mesh->count + to];

		if (row != NULL && wide)
			print_figure(mesh, row);
		else if (row != NULL)
			putchar(mark_of(mesh, row));
		else
			printf("%*s", wide ? CELL : 1, from == to ? " " : "-");
	}
}

static void
print_grid(const struct mesh *mesh)
{
	char name[256];
	int label = 4;
	bool wide;

	for (size_t i = 0; i < mesh->count; i++) {
		name_of(mesh, i, name, sizeof(name));
		if ((int)strlen(name) > label)
			label = (int)strlen(name);
	}
	wide =
	    mesh->rtt || (int)mesh->count * CELL + label + CELL + 1 <= terminal_width();
	printf("\n%*s", CELL + label, "");
	for (size_t i = 0; wide && i < mesh->count; i++)
		printf("%*zu", CELL, i + 1);
	putchar('\n');
	for (size_t i = 0; i < mesh->count; i++) {
		name_of(mesh, i, name, sizeof(name));
		printf("%*zu %-*s", CELL - 1, i + 1, label, name);
		if (!wide)
			putchar(' ');
		print_row(mesh, i, wide);
		putchar('\n');
	}
	if (wide)
		printf("\n- not probed in that time%s\n",
		    mesh->rtt ? "   ? no RTT is known" : "");
	else
		printf("\n. nothing lost   1-9 up to 10-90 %% lost   X more   - not "
		       "probed "
		       "in that time\n");
}

/* ---- the worst pairs ---- */

/* For qsort_r. */
static int
compare_rows(const void *a, const void *b, void *arg)
{
	const double left = badness(arg, *(const json_t *const *)a);
	const double right = badness(arg, *(const json_t *const *)b);

	return (left < right) - (left > right);
}

static void
cell(struct table *table, const char *format, double value)
{
	if (value < 0)
		table_cell(table, NULL);
	else
		table_cellf(table, format, value);
}

static void
add_pair(struct table *table, const struct mesh *mesh, const json_t *row)
{
	const double p50_us = figure(mesh, row, RTT_P50) / 1000;
	const double p99_us = figure(mesh, row, RTT_P99) / 1000;
	char name[256];

	name_of(mesh, (size_t)figure(mesh, row, FROM), name, sizeof(name));
	table_cell(table, name);
	name_of(mesh, (size_t)figure(mesh, row, TO), name, sizeof(name));
	table_cell(table, name);
	cell(table, "%.0f", figure(mesh, row, SENT));
	cell(table, "%.0f", figure(mesh, row, NO_REPLY));
	table_cellf(table, "%.2f", loss_percent(mesh, row));
	cell(table, "%.0f", figure(mesh, row, LOST_FORWARD));
	cell(table, "%.0f", figure(mesh, row, LOST_REVERSE));
	cell(table, "%.1f", p50_us);
	cell(table, "%.1f", p99_us);
	cell(table, "%.1f", figure(mesh, row, LAST_SEEN) / 1000);
}

static const char *const heads[] = { "FROM", "TO", ">SENT", ">LOST", ">LOSS %",
	">FORWARD", ">REVERSE", ">RTT P50 us", ">P99 us", ">LAST SEEN s", NULL };

/* -1: out of memory. */
static int
print_worst(const struct mesh *mesh)
{
	const size_t cells = mesh->count * mesh->count;
	const json_t **rows = calloc(cells + 1, sizeof(*rows));
	struct table *table = table_new(heads);
	size_t count = 0, shown = 0;
	int r = -1;

	if (rows == NULL || table == NULL)
		goto out;
	for (size_t i = 0; i < cells; i++)
		if (mesh->grid[i] != NULL && badness(mesh, mesh->grid[i]) > 0)
			rows[count++] = mesh->grid[i];
	qsort_r(rows, count, sizeof(*rows), compare_rows, (void *)mesh);
	for (; shown < count && shown < WORST; shown++)
		add_pair(table, mesh, rows[shown]);
	r = 0;
	if (count == 0)
		printf("\n%s\n", mesh->rtt ? "No RTT is known." : "Nothing was lost.");
	else
		printf("\nThe worst %zu of %zu pairs%s:\n", shown, count,
		    mesh->rtt ? "" : " that lost something");
	if (count > 0)
		r = table_print(table);
out:
	table_free(table);
	free(rows);
	return r;
}

/* ---- pairs of racks ---- */

/* False: the answer does not belong to a request with ?worst=. */
static bool
read_racks(struct mesh *mesh, const json_t *answer)
{
	const char *first;
	const json_t *tor, *row;
	size_t i;

	*mesh = (struct mesh){ .answer = answer,
		.rnics = json_object_get(answer, "tors"),
		.pairs = json_object_get(answer, "pairs"),
		.of_racks = true };
	mesh->count = json_array_size(mesh->rnics);
	if (!json_is_array(mesh->rnics) || !json_is_array(mesh->pairs) ||
	    json_array_size(mesh->pairs) > MAX_WORST ||
	    !json_is_integer(json_object_get(answer, "pairs_probed")) ||
	    !find_columns(mesh))
		return false;
	json_array_foreach (mesh->pairs, i, row)
		if (figure(mesh, row, FROM) < 0 || figure(mesh, row, TO) < 0 ||
		    figure(mesh, row, FROM) >= (double)mesh->count ||
		    figure(mesh, row, TO) >= (double)mesh->count)
			return false;
	first = text(json_array_get(mesh->rnics, 0), "region");
	json_array_foreach (mesh->rnics, i, tor)
		mesh->of_regions |= strcmp(text(tor, "region"), first) != 0;
	return true;
}

/* -1: out of memory. */
static int
print_racks(const struct mesh *mesh, const char *region, bool rtt)
{
	const json_t *answer = mesh->answer, *row;
	struct table *table;
	size_t i;
	int r;

	printf("%s%s, last %s (%lld s): %lld pairs of racks are probed, %lld of them "
	       "lost probes\n",
	    region != NULL ? "Region " : "All regions", region != NULL ? region : "",
	    text(answer, "period"),
	    (long long)json_integer_value(json_object_get(answer, "seconds")),
	    (long long)json_integer_value(json_object_get(answer, "pairs_probed")),
	    (long long)json_integer_value(json_object_get(answer, "pairs_losing")));
	if (json_array_size(mesh->pairs) == 0) {
		printf("No pair was probed in that time.\n");
		return 0;
	}
	table = table_new(heads);
	if (table == NULL)
		return -1;
	printf("\nThe %zu with the %s, the worst first (a rack with itself: inside "
	       "it):\n",
	    json_array_size(mesh->pairs), rtt ? "longest P99" : "most loss");
	json_array_foreach (mesh->pairs, i, row)
		add_pair(table, mesh, row);
	r = table_print(table);
	table_free(table);
	return r < 0 ? -1 : 0;
}

/* ---- the command ---- */

/* -1: out of memory. */
static int
print_mesh(const struct mesh *mesh)
{
	const json_t *answer = mesh->answer;

	printf("%s, last %s (%lld s): %s, from the RNIC of the row to that of the "
	       "column\n",
	    text(answer, "tor"), text(answer, "period"),
	    (long long)json_integer_value(json_object_get(answer, "seconds")),
	    mesh->rtt ? "network RTT P99 in us" : "probes lost in %");
	if (json_array_size(mesh->pairs) == 0) {
		printf("%s\n",
		    mesh->count == 1
			? "The rack has only one RNIC: there is no pair to probe."
			: "No pair was probed in that time.");
		return 0;
	}
	print_grid(mesh);
	return print_worst(mesh);
}

/* json: print the answer as it is. Returns an exit code. */
static int
show_mesh(const json_t *answer, bool rtt, bool json)
{
	struct mesh mesh;
	int status = CTL_GOOD;

	if (json)
		show_json(answer);

	if (!read_mesh(&mesh, answer, rtt)) {
		fprintf(stderr,
		    "rackmeshctl: the answer is not a mesh that this "
		    "rackmeshctl knows: is the daemon of another release?\n");
		return CTL_NO_ANSWER;
	}
	if (json_array_size(mesh.pairs) == 0)
		status = CTL_PROBLEM;
	if (!json && print_mesh(&mesh) < 0)
		status = CTL_NO_ANSWER;
	free(mesh.grid);
	return status;
}

struct question {
	/* tor NULL: pairs of racks; region NULL: all regions */
	const char *tor, *region;
	const char *period;
	unsigned long top; /* 0: the default */
	bool rtt;
};

/* Returns 0, or an exit code. */
static int
parse(const struct ctl *ctl, struct question *question)
{
	for (int i = 0; i < ctl->argc; i++) {
		const char *argument = ctl->argv[i];
		char *end;

		if (strcmp(argument, "--rtt") == 0) {
			question->rtt = true;
		} else if (strcmp(argument, "--hour") == 0) {
			question->period = "hour";
		} else if (strcmp(argument, "--region") == 0 ||
			   strcmp(argument, "--top") == 0) {
			if (++i == ctl->argc)
				return ctl_usage("%s needs a value", argument);
			if (strcmp(argument, "--region") == 0) {
				question->region = ctl->argv[i];
				continue;
			}
			question->top = strtoul(ctl->argv[i], &end, 10);
			if (*end != '\0' || question->top < 1 ||
			    question->top > MAX_WORST)
				return ctl_usage(
				    "--top: expected a number from 1 to %d", MAX_WORST);
		} else if (question->tor == NULL && argument[0] != '-') {
			question->tor = argument;
		} else {
			return ctl_usage("unexpected argument: %s", argument);
		}
	}
	if (question->tor != NULL && question->top > 0)
		return ctl_usage("--top is for pairs of racks: give no TOR with it");
	return 0;
}

/* False: out of memory. */
static bool
write_path(const struct question *question, char *path, size_t len)
{
	char *tor = question->tor != NULL ? request_escape(question->tor) : NULL;
	char *region =
	    question->region != NULL ? request_escape(question->region) : NULL;
	bool whole = (tor != NULL || question->tor == NULL) &&
		     (region != NULL || question->region == NULL);
	char worst[64] = "";

	if (tor == NULL)
		snprintf(worst, sizeof(worst), "&worst=%lu&by=%s",
		    question->top > 0 ? question->top : WORST_OF_REGION,
		    question->rtt ? "rtt" : "loss");
	if (whole)
		snprintf(path, len, "/v1/mesh%s%s?period=%s%s%s%s",
		    tor != NULL ? "/" : "", tor != NULL ? tor : "", question->period,
		    worst, region != NULL ? "&region=" : "",
		    region != NULL ? region : "");
	free(tor);
	free(region);
	return whole;
}

/* Like show_mesh, for pairs of racks. */
static int
show_racks(const json_t *answer, const struct question *question, bool json)
{
	struct mesh mesh;

	if (json)
		show_json(answer);
	if (!read_racks(&mesh, answer)) {
		fprintf(stderr,
		    "rackmeshctl: the answer is not a list of the worst pairs "
		    "of racks: is the analyzer of another release?\n");
		return CTL_NO_ANSWER;
	}
	if (!json && print_racks(&mesh, question->region, question->rtt) < 0)
		return CTL_NO_ANSWER;
	return json_array_size(mesh.pairs) == 0 ? CTL_PROBLEM : CTL_GOOD;
}

int
ctl_mesh(const struct ctl *ctl)
{
	const char *tier = ctl->through != NULL ? ctl->through : "analyzer";
	struct question question = { .period = "minute" };
	json_t *answer = NULL;
	char path[1024];
	int status = parse(ctl, &question);

	if (status != 0)
		return status;
	if (strcmp(tier, "analyzer") != 0 && strcmp(tier, "aggregator") != 0)
		return ctl_usage("--through: expected analyzer or aggregator");
	if (strcmp(tier, "aggregator") == 0 && question.tor == NULL)
		return ctl_usage("--through aggregator: only the analyzer has pairs of "
				 "racks; name a TOR");
	if (!write_path(&question, path, sizeof(path)) ||
	    request_get(ctl_tier(ctl, tier), path, &answer) < 0)
		return CTL_NO_ANSWER;
	if (question.tor != NULL)
		status = show_mesh(answer, question.rtt, ctl->json);
	else
		status = show_racks(answer, &question, ctl->json);
	json_decref(answer);
	return status;
}
