#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/request.h"
#include "ctl/show.h"
#include "ctl/table.h"

#define MAX_TROUBLED 20 /* racks that are told of in full; the grid has them all */
#define WIDTH 92        /* where nobody looks through a terminal */

/* How a rack stands, the worst first, as the analyzer sorts them. */
static const struct look {
	const char *state;
	char mark;
	const char *colour;
} looks[] = {
	{ "bad", '!', "\033[31m" },
	{ "blind", '?', "\033[35m" },
	{ "paused", '=', "\033[33m" },
	{ "unknown", '-', "\033[33m" },
	{ "ok", '.', "\033[32m" },
};

#define LOOKS (sizeof(looks) / sizeof(looks[0]))

static const char *
text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value != NULL ? value : "";
}

static long long
number(const json_t *object, const char *key)
{
	return (long long)json_integer_value(json_object_get(object, key));
}

static const struct look *
look_of(const json_t *rack)
{
	for (size_t i = 0; i < LOOKS; i++)
		if (strcmp(text(rack, "state"), looks[i].state) == 0)
			return &looks[i];
	return &looks[LOOKS - 2]; /* a state that we do not know is unknown */
}

static bool
is_ok(const json_t *rack)
{
	return look_of(rack) == &looks[LOOKS - 1];
}

static int
terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		return size.ws_col;
	return WIDTH;
}

static void
print_regions(const json_t *answer)
{
	const json_t *region;
	size_t i;

	json_array_foreach (json_object_get(answer, "regions"), i, region)
		printf("Region %s: %lld racks, %lld ok, %lld bad, %lld blind; %lld of "
		       "%lld "
		       "RNICs good; %lld incidents open\n",
		    text(region, "region"), number(region, "racks"),
		    number(region, "ok"), number(region, "bad"),
		    number(region, "blind"), number(region, "rnics_good"),
		    number(region, "rnics"), number(region, "incidents_open"));
}

static void
loss_cell(struct table *table, const json_t *rack)
{
	const json_t *loss = json_object_get(rack, "loss_ppm");

	if (json_is_number(loss))
		table_cellf(table, "%.3f %%", json_number_value(loss) / 10000);
	else
		table_cell(table, NULL);
}

static int
print_troubled(const json_t *racks)
{
	static const char *const heads[] = { "RACK", "STATE", ">RNICS GOOD", ">BAD",
		">HOSTS OK", ">INCIDENTS", ">LOSS", "WATCHED BY", ">HEARD ms AGO",
		NULL };
	struct table *table = table_new(heads);
	const json_t *rack;
	size_t i, shown = 0, left = 0;
	int r = 0;

	if (table == NULL)
		return -1;
	json_array_foreach (racks, i, rack) {
		if (is_ok(rack))
			continue;
		if (shown == MAX_TROUBLED) {
			left++;
			continue;
		}
		shown++;
		table_cell(table, text(rack, "tor"));
		table_cell(table, text(rack, "state"));
		table_cellf(table, "%lld/%lld", number(rack, "rnics_good"),
		    number(rack, "rnics"));
		table_cellf(table, "%lld", number(rack, "rnics_bad"));
		table_cellf(table, "%lld/%lld", number(rack, "hosts_ok"),
		    number(rack, "hosts"));
		table_cellf(table, "%lld", number(rack, "incidents_open"));
		loss_cell(table, rack);
		table_cell(table, text(rack, "aggregator"));
		table_cellf(table, "%lld", number(rack, "last_heard_ms"));
	}
	if (shown > 0) {
		printf("\n");
		r = table_print(table);
	}
	if (left > 0)
		printf("and %zu more that are not ok\n", left);
	table_free(table);
	return r;
}

static void
print_grid(const json_t *racks)
{
	const bool colours = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
	size_t widest = 4, columns, i;
	const json_t *rack;

	json_array_foreach (racks, i, rack)
		if (strlen(text(rack, "tor")) > widest)
			widest = strlen(text(rack, "tor"));
	columns = (size_t)terminal_width() / (widest + 3);
	columns = columns == 0 ? 1 : columns;
	json_array_foreach (racks, i, rack) {
		const struct look *look = look_of(rack);

		printf("%s%s%c %-*s%s", i % columns == 0 ? "\n" : " ",
		    colours ? look->colour : "", look->mark, (int)widest,
		    text(rack, "tor"), colours ? "\033[0m" : "");
	}
	printf("\n\n. ok   ! bad   ? blind   = paused   - unknown\n");
}

int
ctl_health(const struct ctl *ctl)
{
	json_t *answer = NULL;
	const json_t *racks, *rack;
	int status = CTL_GOOD;
	size_t i;

	if (ctl->argc > 0)
		return ctl_usage("unexpected argument: %s", ctl->argv[0]);
	if (request_get(ctl->analyzer, "/v1/health", &answer) < 0)
		return CTL_NO_ANSWER;
	racks = json_object_get(answer, "racks");
	json_array_foreach (racks, i, rack)
		if (!is_ok(rack))
			status = CTL_BAD_NEWS;
	/* Nothing heard of anything is no good news either. */
	if (json_array_size(racks) == 0 || text(answer, "trouble")[0] != '\0')
		status = CTL_BAD_NEWS;
	if (ctl->json) {
		show_json(answer);
	} else {
		print_regions(answer);
		if (json_array_size(racks) == 0)
			printf("No rack has been heard of yet.\n");
		if (text(answer, "trouble")[0] != '\0')
			printf("Our own trouble: %s\n", text(answer, "trouble"));
		if (print_troubled(racks) < 0)
			status = CTL_NO_ANSWER;
		if (json_array_size(racks) > 0)
			print_grid(racks);
	}
	json_decref(answer);
	return status;
}
