/* Compares the counter table with what each driver shows. The files in drivers/ were
 * written from the drivers' sources, not from the table. */
#include "host-agent/counters/counter_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/host-agent/counters/counters_fixture.h"

#define MAX_LINES 512
#define UNCHECKED UINT64_MAX

static struct counters_fixture device;
static struct counter_sample *samples;
static uint64_t *expected; /* the description of the device that is being read */

/* Names that at least one device has shown, as "driver place:name". */
static char shown[4096][96];
static size_t shown_count;

static void
shown_name(const char *driver, const char *source, char ret[96])
{
	int length = snprintf(ret, sizeof(shown[0]), "%s %s", driver, source);

	assert_in_range(length, 1, sizeof(shown[0]) - 1);
}

static void
note_shown(const char *driver, const char *source)
{
	assert_true(shown_count < sizeof(shown) / sizeof(shown[0]));
	shown_name(driver, source, shown[shown_count++]);
}

static bool
was_shown(const char *driver, const char *source)
{
	char text[96];

	shown_name(driver, source, text);
	for (size_t i = 0; i < shown_count; i++)
		if (strcmp(shown[i], text) == 0)
			return true;
	return false;
}

/* Writes the text of a file and returns the value that it stands for. */
static uint64_t
text_of(const char *name, uint64_t number, char text[64])
{
	if (strcmp(name, "state") == 0 || strcmp(name, "phys_state") == 0) {
		snprintf(text, 64, "%u: WORD", (unsigned)(number % 7 + 1));
		return number % 7 + 1;
	}
	if (strcmp(name, "rate") == 0) {
		snprintf(text, 64, "2.5 Gb/sec (1X SDR)");
		return 2500;
	}
	if (strstr(name, "_link_speed") != NULL) {
		snprintf(text, 64, "%u.5 GT/s PCIe", (unsigned)(number % 64));
		return number % 64 * 1000 + 500;
	}
	if (strstr(name, "_link_width") != NULL)
		number = number % 32 + 1;
	if (strstr(name, "aer_dev_") != NULL) {
		snprintf(text, 64, "RxErr 7\nBadTLP 0\nTOTAL_ERR_COR %llu\n",
		    (unsigned long long)number);
		return number;
	}
	if (strncmp(name, "pfc_enabled_", 12) == 0)
		number = 1;
	snprintf(text, 64, "%llu", (unsigned long long)number);
	return number;
}

/* Returns the same number for the same name, because two rows may share a name. */
static uint64_t
number_of(const char *name)
{
	uint64_t number = 14695981039346656037U;

	for (; *name != '\0'; name++)
		number = (number ^ (uint8_t)*name) * 1099511628211U;
	return 1000 + number % 100000000;
}

static void
put_line(const char *driver, const char *counter, const char *source)
{
	const char *hash = strchr(source, '#'), *star = strchr(source, '*');
	char name[96], text[64];

	for (unsigned i = 0; i < (hash == NULL ? 1u : COUNTER_INDEXES); i++) {
		size_t at = counters_fixture_value(counter, i);
		uint64_t value;

		snprintf(name, sizeof(name), "%.*s", (int)(star ? star - source : 90),
		    source);
		if (hash != NULL)
			name[hash - source] = (char)('0' + i);
		note_shown(driver, name);
		device.rdma_netlink |= name[0] == 'r';
		value = text_of(name + 2, number_of(name), text);
		counters_fixture_put(&device, name[0], name + 2, text);
		if (expected[at] != UNCHECKED)
			expected[at] += value * (star == NULL ? 1 : 4);
	}
}

/* Reads the device from files alone or over netlink too; the values must be equal. */
static void
read_by(const char *driver, const char *about, bool netlink)
{
	struct counter_reading reading;
	struct counter_port *port;
	size_t at = 0;

	device.rdma_netlink |= netlink;
	assert_int_equal(counter_port_new(&device.kernel, &port), 0);
	assert_int_equal(counter_port_read(port, &device.place, true, rm_mono_now(),
			     samples, &reading),
	    0);
	for (const struct counter_row *row = counter_rows; row->name != NULL; row++)
		for (size_t i = 0; i < counter_row_values(row); i++, at++) {
			if (expected[at] == UNCHECKED)
				continue;
			if (samples[at].there != (expected[at] != 0) ||
			    samples[at].value != expected[at])
				fail_msg("%s, %s: %s %zu is %s %llu, not %llu", driver,
				    about, row->name, i,
				    samples[at].there ? "there," : "missing,",
				    (unsigned long long)samples[at].value,
				    (unsigned long long)expected[at]);
		}
	counter_port_free(port);
}

static void
read_device(const char *driver, const char *about)
{
	read_by(driver, about, false);
	read_by(driver, about, true);
	counters_fixture_free(&device);
}

static void
begin_device(const char *driver, const char *about)
{
	counters_fixture_make(&device, driver);
	memset(expected, 0, counter_values() * sizeof(*expected));
	if (strstr(about, "without a network device") != NULL)
		device.place.netdev[0] = '\0';
}

static void
each_driver_is_read_by_its_own_names(void **unused)
{
	char path[256], line[160], about[160];

	for (enum counter_driver d = 0; d < COUNTER_DRIVERS; d++) {
		const char *driver = counter_driver_str(d);
		bool any = false;
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", DRIVERS, driver);
		file = fopen(path, "r");
		assert_non_null(file);
		while (fgets(line, sizeof(line), file) != NULL) {
			char *tab = strchr(line, '\t');

			line[strcspn(line, "\n")] = '\0';
			if (strncmp(line, "== ", 3) == 0) {
				if (any)
					read_device(driver, about);
				snprintf(about, sizeof(about), "%s", line + 3);
				begin_device(driver, about);
				any = true;
			} else if (line[0] != '#') {
				assert_non_null(tab);
				*tab = '\0';
				if (strcmp(tab + 1, "=") != 0)
					put_line(driver, line, tab + 1);
				else
					for (unsigned i = 0; i < COUNTER_INDEXES; i++)
						expected[counters_fixture_value(
							     line, 0) +
							 i] = UNCHECKED;
			}
		}
		fclose(file);
		read_device(driver, about);
	}
}

/* Uses the names that the test above has collected. */
static void
every_name_of_the_table_was_read(void **unused)
{
	size_t names = 0;

	for (const struct counter_row *row = counter_rows; row->name != NULL; row++)
		for (enum counter_driver d = 0; d < COUNTER_DRIVERS; d++)
			for (unsigned i = 0; i < counter_row_values(row); i++) {
				static const char places[] = "hHcpnedrsm";
				const char *text = row->source[d];
				struct counter_name name;
				char source[96];

				while (text != NULL &&
				       counter_next_name(&text, i, &name) >= 0) {
					if (name.place == COUNTER_MODULE)
						continue; /* test_module_optics */
					snprintf(source, sizeof(source), "%c:%s",
					    places[name.place], name.name);
					if (!was_shown(counter_driver_str(d), source))
						fail_msg("no device of %s shows %s",
						    counter_driver_str(d), source);
					names++;
				}
			}
	print_message(
	    "%zu names of drivers read, of %zu values\n", names, counter_values());
}

static void
print_the_table(void **unused)
{
	size_t read[COUNTER_DRIVERS] = { 0 }, rows = 0;

	print_message("%-22s", "counter");
	for (enum counter_driver d = 0; d < COUNTER_DRIVERS; d++)
		print_message(" %-8s", counter_driver_str(d));
	for (const struct counter_row *row = counter_rows; row->name != NULL; row++) {
		print_message("\n%-22s", row->name);
		for (enum counter_driver d = 0; d < COUNTER_DRIVERS; d++) {
			const bool own = row->source[d] != NULL;
			const bool any = row->source[COUNTER_ANY] != NULL;

			print_message(" %-8s", own ? "read" : any ? "any" : "-");
			read[d] += own || any;
		}
		rows++;
	}
	print_message("\n%-22s", "of all");
	for (enum counter_driver d = 0; d < COUNTER_DRIVERS; d++)
		print_message(" %zu/%-5zu", read[d], rows);
	print_message("\n");
}

/* Writes the row as a line of docs/counters.md. */
static void
document(const struct counter_row *row, char line[512])
{
	static const char *const each[] = { "", " per priority", " per lane" };
	char drivers[128] = "";

	for (enum counter_driver d = 0; d < COUNTER_ANY; d++)
		if (row->source[d] != NULL)
			snprintf(drivers + strlen(drivers),
			    sizeof(drivers) - strlen(drivers), "%s%s",
			    drivers[0] == '\0' ? "" : ", ", counter_driver_str(d));
	if (row->source[COUNTER_ANY] != NULL)
		strcpy(drivers, "all");
	snprintf(line, 512, "| `%s` | `%s` | %s%s | %s | %s |\n", row->name,
	    row->metric, row->unit, each[row->index], drivers, row->help);
}

static void
the_documentation_has_every_row(void **unused)
{
	char *text = calloc(1, 1 << 20), line[512];
	FILE *file = fopen(DOCUMENTATION, "r");
	size_t missing = 0;

	assert_non_null(text);
	assert_non_null(file);
	assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
	fclose(file);
	for (const struct counter_row *row = counter_rows; row->name != NULL; row++) {
		document(row, line);
		if (strstr(text, line) == NULL) {
			print_message("%s", line);
			missing++;
		}
	}
	free(text);
	if (missing > 0)
		fail_msg("docs/counters.md lacks these %zu lines", missing);
}

static void
names_are_unique_and_of_the_right_type(void **unused)
{
	for (const struct counter_row *row = counter_rows; row->name != NULL; row++) {
		const size_t len = strlen(row->metric);
		const bool total =
		    len > 6 && strcmp(row->metric + len - 6, "_total") == 0;

		assert_int_equal(total, row->width != 0);
		assert_true(strncmp(row->metric, "rdma_", 5) == 0);
		assert_true(row->width == 0 || row->width == 32 || row->width == 64);
		for (const struct counter_row *other = counter_rows; other != row;
		     other++) {
			assert_string_not_equal(other->name, row->name);
			assert_string_not_equal(other->metric, row->metric);
		}
	}
}

static int
read_text(const char *text, uint64_t *ret)
{
	return counter_text_read(text, strlen(text), ret);
}

static void
texts_of_sysfs_are_read(void **unused)
{
	uint64_t value = 0;

	assert_int_equal(read_text("18446744073709551615\n", &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(read_text("4: ACTIVE\n", &value), 0);
	assert_int_equal(value, 4);
	assert_int_equal(read_text("100 Gb/sec (4X EDR)\n", &value), 0);
	assert_int_equal(value, 100000);
	assert_int_equal(read_text("2.5 Gb/sec (1X SDR)\n", &value), 0);
	assert_int_equal(value, 2500);
	assert_int_equal(read_text("N/A (no PMA)\n", &value), -ENODATA);
	assert_int_equal(read_text("-1\n", &value), -ENODATA);
	assert_int_equal(read_text("", &value), -ENODATA);
	assert_int_equal(read_text("18446744073709551616\n", &value), -EBADMSG);
	assert_int_equal(read_text("12 apples\n", &value), -EBADMSG);
	assert_int_equal(read_text("x\n", &value), -EBADMSG);
	assert_int_equal(value, 2500);
	assert_int_equal(read_text("16.0 GT/s PCIe\n", &value), 0);
	assert_int_equal(value, 16000);
	assert_int_equal(read_text("Unknown\n", &value), -ENODATA); /* of a VF */
	assert_int_equal(
	    read_text("RxErr 1\nTOTAL_ERRORS 7\nTOTAL_ERR_FATAL 33\n", &value), 0);
	assert_int_equal(value, 33);
	assert_int_equal(read_text("TOTAL_ERR_COR 0\n", &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(read_text("RxErr 1\nBadTLP 2\n", &value), -EBADMSG);
	assert_int_equal(read_text("RxErr 1\nTOTAL_ERR_COR\n", &value), -EBADMSG);
	assert_int_equal(read_text("RxErr 1\nTOTAL_ERR_COR 3x\n", &value), -EBADMSG);
	assert_int_equal(read_text("RxErr 1\nTOTAL_ERR_C", &value), -EBADMSG);
}

static void
only_32_bit_counters_of_mlx5_wrap(void **unused)
{
	const struct counter_row *row = counter_rows;

	while (strcmp(row->name, "rx_write_req") != 0)
		row++;
	assert_int_equal(counter_width(row, COUNTER_MLX5), 32);
	assert_int_equal(counter_width(row, COUNTER_BNXT), 64);
}

static int
setup(void **unused)
{
	samples = calloc(counter_values(), sizeof(*samples));
	expected = calloc(counter_values() + COUNTER_INDEXES, sizeof(*expected));
	return samples == NULL || expected == NULL ? -1 : 0;
}

static int
teardown(void **unused)
{
	free(samples);
	free(expected);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_unique_and_of_the_right_type),
		cmocka_unit_test(texts_of_sysfs_are_read),
		cmocka_unit_test(only_32_bit_counters_of_mlx5_wrap),
		cmocka_unit_test(each_driver_is_read_by_its_own_names),
		cmocka_unit_test(every_name_of_the_table_was_read),
		cmocka_unit_test(print_the_table),
		cmocka_unit_test(the_documentation_has_every_row),
	};

	return cmocka_run_group_tests_name("counter_table", tests, setup, teardown);
}
