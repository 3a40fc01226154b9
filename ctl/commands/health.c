#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"
#include "rackmesh/judge/part.h"

/* maximum number of racks that are listed in full; the grid has all */
#define MAX_TROUBLED 20
#define WIDTH 92 /* columns if the output is not a terminal */

/* The states of a rack, the worst first, in the order that the analyzer uses. */
static const struct look {
	const char *state;
	char mark;
	const char *colour;
} looks[] = {
	{ "bad", '!', "\033[31m" },
	{ "blind", '?', "\033[35m" },
	{ "paused", '=', "\033[33m" },
	{ "slowed", '~', "\033[33m" },
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
	/* an unknown state of a later release counts as unknown */
	return &looks[LOOKS - 2];
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

/* Prints the number of racks in each state, in the order of the states: "2 bad, 1
 * paused". */
static void
print_states(const json_t *region)
{
	bool first = true;

	for (size_t i = 0; i < LOOKS; i++) {
		long long count = number(region, looks[i].state);

		if (count == 0)
			continue;
		printf("%s%lld %s", first ? ": " : ", ", count, looks[i].state);
		first = false;
	}
}

/* Prints CNPs only if some are lost. An older analyzer does not report them. */
static void
print_cnps(const json_t *cnps)
{
	if (strcmp(text(cnps, "state"), "failing") == 0)
		printf("%s Since %s.\n", text(cnps, "sentence"), text(cnps, "since"));
}

static void
print_regions(const json_t *answer)
{
	const json_t *region;
	size_t i;

	json_array_foreach (json_object_get(answer, "regions"), i, region) {
		long long racks = number(region, "racks");
		long long incidents = number(region, "incidents_open");

		printf("Region %s: %lld rack%s", text(region, "region"), racks,
		    racks == 1 ? "" : "s");
		print_states(region);
		printf("\n%lld of %lld RNICs good, %lld incident%s open\n",
		    number(region, "rnics_good"), number(region, "rnics"), incidents,
		    incidents == 1 ? "" : "s");
		print_cnps(json_object_get(region, "cnps"));
	}
}

/* Warns that figures are unreliable while the brake allows only few probes. */
static void
print_brake(const json_t *racks)
{
	const json_t *rack;
	size_t braked = 0, i;
	long long least = 1000;

	json_array_foreach (racks, i, rack) {
		const json_t *permille = json_object_get(rack, "brake_permille");

		if (!json_is_integer(permille) || json_integer_value(permille) >= 1000)
			continue;
		braked++;
		if (json_integer_value(permille) < least)
			least = (long long)json_integer_value(permille);
	}
	if (braked > 0 && least == 0)
		printf("The brake is on: no probes in %zu of %zu racks.\n", braked,
		    json_array_size(racks));
	else if (braked > 0)
		printf("The brake allows %.1f %% of the probes in %zu of %zu racks.\n",
		    (double)least / 10, braked, json_array_size(racks));
}

static void
print_slowed(const json_t *racks)
{
	const json_t *rack;
	long long hosts = 0, slowed = 0;
	size_t i;

	json_array_foreach (racks, i, rack) {
		hosts += number(rack, "hosts");
		slowed += number(rack, "hosts_slowed");
	}
	if (slowed > 0)
		printf("%lld of %lld hosts probe less than planned because of their "
		       "own limits; /v1/hosts of their aggregators has the reason.\n",
		    slowed, hosts);
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

/* True: the racks are of several regions, which may use the same names. */
static bool
are_of_several_regions(const json_t *racks)
{
	const char *first = text(json_array_get(racks, 0), "region");
	const json_t *rack;
	size_t i;

	json_array_foreach (racks, i, rack)
		if (strcmp(text(rack, "region"), first) != 0)
			return true;
	return false;
}

struct rack_name {
	char text[2 * RM_NAME_BYTES];
};

static struct rack_name
name_of(const json_t *rack, bool with_region)
{
	struct rack_name ret;

	snprintf(ret.text, sizeof(ret.text), "%s%s%s",
	    with_region ? text(rack, "region") : "", with_region ? "/" : "",
	    text(rack, "tor"));
	return ret;
}

static int
print_troubled(const json_t *racks)
{
	const bool with_region = are_of_several_regions(racks);
	static const char *const heads[] = { "RACK", "STATE", ">GOOD", ">BAD", ">RNICS",
		">HOSTS OK", ">OPEN", ">LOSS", ">LAST SEEN s", "AGGREGATOR", NULL };
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
		table_cell(table, name_of(rack, with_region).text);
		table_cell(table, text(rack, "state"));
		table_cellf(table, "%lld", number(rack, "rnics_good"));
		table_cellf(table, "%lld", number(rack, "rnics_bad"));
		table_cellf(table, "%lld", number(rack, "rnics"));
		table_cellf(table, "%lld/%lld", number(rack, "hosts_ok"),
		    number(rack, "hosts"));
		table_cellf(table, "%lld", number(rack, "incidents_open"));
		loss_cell(table, rack);
		table_cellf(
		    table, "%.1f", (double)number(rack, "last_heard_ms") / 1000);
		table_cell(table, text(rack, "aggregator"));
	}
	if (shown > 0) {
		printf("\nRacks that are not ok, their RNICs and incidents:\n");
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
	const bool colours = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL,
		   with_region = are_of_several_regions(racks);
	size_t widest = 4, columns, i;
	const json_t *rack;

	json_array_foreach (racks, i, rack)
		if (strlen(name_of(rack, with_region).text) > widest)
			widest = strlen(name_of(rack, with_region).text);
	columns = (size_t)terminal_width() / (widest + 3);
	columns = columns == 0 ? 1 : columns;
	json_array_foreach (racks, i, rack) {
		const struct look *look = look_of(rack);

		printf("%s%s%c %-*s%s", i % columns == 0 ? "\n" : " ",
		    colours ? look->colour : "", look->mark, (int)widest,
		    name_of(rack, with_region).text, colours ? "\033[0m" : "");
	}
	printf("\n\n. ok   ! bad   ? blind   = paused   ~ slowed   - unknown\n");
}

int
ctl_health(const struct ctl *ctl)
{
	json_t *answer = NULL;
	const json_t *racks, *rack;
	char path[RM_NAME_BYTES + 32] = "/v1/health";
	int status = CTL_GOOD;
	size_t i;

	if (ctl->argc == 2 && strcmp(ctl->argv[0], "--region") == 0) {
		if (!rm_name_valid(ctl->argv[1]))
			return ctl_usage("--region: " RM_NAME_EXPECTED);
		snprintf(path, sizeof(path), "/v1/health?region=%s", ctl->argv[1]);
	} else if (ctl->argc > 0) {
		return ctl_usage("expected: health [--region REGION]");
	}
	if (request_get(ctl->analyzer, path, &answer) < 0)
		return CTL_NO_ANSWER;
	racks = json_object_get(answer, "racks");
	json_array_foreach (racks, i, rack)
		if (!is_ok(rack))
			status = CTL_PROBLEM;
	/* If no rack is reported at all, the region is not healthy. */
	if (json_array_size(racks) == 0 || text(answer, "trouble")[0] != '\0')
		status = CTL_PROBLEM;
	if (ctl->json) {
		show_json(answer);
	} else {
		print_regions(answer);
		print_brake(racks);
		print_slowed(racks);
		if (json_array_size(racks) == 0)
			printf("No rack has been reported yet.\n");
		if (json_is_true(json_object_get(answer, "limited")))
			printf(
			    "You may see these regions only; there may be others.\n");
		if (text(answer, "trouble")[0] != '\0')
			printf("Problem of Rackmesh itself: %s\n",
			    text(answer, "trouble"));
		if (print_troubled(racks) < 0)
			status = CTL_NO_ANSWER;
		if (json_array_size(racks) > 0)
			print_grid(racks);
	}
	json_decref(answer);
	return status;
}
