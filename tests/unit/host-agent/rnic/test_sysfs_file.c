#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host-agent/rnic/sysfs_file.h"

static char folder[] = "/tmp/sysfs-file-XXXXXX";

static void
put(const char *text)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/value", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void
a_value_is_its_first_line_without_the_space_behind_it(void **state)
{
	char text[16];

	put("4: ACTIVE \nmore\n");
	assert_int_equal(sysfs_text(text, sizeof(text), "%s/value", folder), 0);
	assert_string_equal(text, "4: ACTIVE");
	put("");
	assert_int_equal(sysfs_text(text, sizeof(text), "%s/value", folder), 0);
	assert_string_equal(text, "");
}

static void
a_value_that_does_not_fit_is_an_error(void **state)
{
	char text[8];

	put("1234567\n");
	assert_int_equal(sysfs_text(text, sizeof(text), "%s/value", folder), 0);
	put("12345678\n");
	assert_int_equal(sysfs_text(text, sizeof(text), "%s/value", folder), -EMSGSIZE);
	assert_string_equal(text, "");
}

static void
a_failed_read_returns_its_error(void **state)
{
	char text[8] = "old";

	assert_int_equal(sysfs_text(text, sizeof(text), "%s/nothing", folder), -ENOENT);
	assert_string_equal(text, "");
	assert_int_equal(sysfs_text(text, sizeof(text), "%s", folder), -EISDIR);
	assert_int_equal(sysfs_text(text, sizeof(text), "%0600d", 1), -EMSGSIZE);
	assert_false(sysfs_exists("%0600d", 1));
	assert_false(sysfs_exists("%s/nothing", folder));
	assert_true(sysfs_exists("%s", folder));
}

static void
a_link_is_read_as_the_last_part_of_its_target(void **state)
{
	char path[64], text[16];

	snprintf(path, sizeof(path), "%s/driver", folder);
	assert_int_equal(symlink("../../bus/pci/drivers/mlx5_core", path), 0);
	assert_int_equal(sysfs_link(text, sizeof(text), "%s/driver", folder), 0);
	assert_string_equal(text, "mlx5_core");
	assert_int_equal(sysfs_link(text, 9, "%s/driver", folder), -EMSGSIZE);
	assert_int_equal(sysfs_link(text, sizeof(text), "%s/none", folder), -ENOENT);
}

static int
setup(void **state)
{
	return mkdtemp(folder) == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_its_first_line_without_the_space_behind_it),
		cmocka_unit_test(a_value_that_does_not_fit_is_an_error),
		cmocka_unit_test(a_failed_read_returns_its_error),
		cmocka_unit_test(a_link_is_read_as_the_last_part_of_its_target),
	};

	return cmocka_run_group_tests_name("sysfs_file", tests, setup, teardown);
}
