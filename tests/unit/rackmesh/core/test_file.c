#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"

static char folder[] = "/tmp/test_file.XXXXXX";

static const char *
in_folder(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static unsigned
names_in_folder(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	unsigned names = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		names += entry->d_name[0] != '.';
	closedir(dir);
	return names;
}

static void
a_written_file_is_read_back(void **state)
{
	static uint8_t big[100000];
	const char *path = in_folder("state");
	uint8_t *data;
	size_t len;

	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (uint8_t)(i * 7);
	assert_int_equal(rm_file_replace(path, big, sizeof(big)), 0);
	assert_int_equal(rm_file_read(path, sizeof(big), &data, &len), 0);
	assert_int_equal(len, sizeof(big));
	assert_memory_equal(data, big, len);
	assert_int_equal(data[len], 0);
	free(data);

	assert_int_equal(rm_file_replace(path, (const uint8_t *)"short", 5), 0);
	assert_int_equal(rm_file_read(path, sizeof(big), &data, &len), 0);
	assert_int_equal(len, 5);
	assert_string_equal((char *)data, "short");
	free(data);
	assert_int_equal(names_in_folder(), 1);
	unlink(path);
}

static void
an_empty_file_is_a_file(void **state)
{
	const char *path = in_folder("empty");
	uint8_t *data;
	size_t len = 1;

	assert_int_equal(rm_file_replace(path, NULL, 0), 0);
	assert_int_equal(rm_file_read(path, 0, &data, &len), 0);
	assert_int_equal(len, 0);
	assert_int_equal(data[0], 0);
	free(data);
	unlink(path);
}

static void
a_file_past_its_bound_is_refused(void **state)
{
	const char *path = in_folder("large");
	uint8_t *data = NULL;
	size_t len = 7;

	assert_int_equal(rm_file_replace(path, (const uint8_t *)"12345", 5), 0);
	assert_int_equal(rm_file_read(path, 4, &data, &len), -EFBIG);
	assert_null(data);
	assert_int_equal(len, 7);
	assert_int_equal(rm_file_read(path, 0, &data, &len), -EFBIG);
	assert_int_equal(rm_file_read(path, 5, &data, &len), 0);
	free(data);
	unlink(path);
}

static void
a_file_that_hides_its_size_is_read_whole(void **state)
{
	uint8_t *data;
	size_t len;

	assert_int_equal(rm_file_read("/proc/self/status", 1 << 20, &data, &len), 0);
	assert_true(len > 100);
	assert_non_null(strstr((char *)data, "VmRSS"));
	free(data);
}

static void
a_failed_replacement_leaves_the_old_and_no_litter(void **state)
{
	const char *path = in_folder("taken");

	/* A folder has that name: the temporary file can be written, but not
	 * renamed. */
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(rm_file_replace(path, (const uint8_t *)"x", 1), -EISDIR);
	assert_int_equal(names_in_folder(), 1);
	rmdir(path);
	assert_int_equal(
	    rm_file_replace(in_folder("no/such"), (const uint8_t *)"x", 1), -ENOENT);
	assert_int_equal(names_in_folder(), 0);
}

static void
a_temporary_file_left_by_a_crash_is_no_obstacle(void **state)
{
	const char *path;
	uint8_t *data;
	size_t len;
	FILE *f = fopen(in_folder("state.new"), "w");

	assert_non_null(f);
	fputs("half of something much longer", f);
	fclose(f);
	path = in_folder("state");
	assert_int_equal(rm_file_replace(path, (const uint8_t *)"whole", 5), 0);
	assert_int_equal(rm_file_read(path, 100, &data, &len), 0);
	assert_string_equal((char *)data, "whole");
	free(data);
	assert_int_equal(names_in_folder(), 1);
	unlink(path);
}

static void
a_secret_has_mode_0600_after_any_crash(void **state)
{
	char left[256];
	const char *path;
	struct stat st;
	FILE *file;

	snprintf(left, sizeof(left), "%s/secret.new", folder);
	file = fopen(left, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(chmod(left, 0644), 0);
	path = in_folder("secret");
	assert_int_equal(rm_file_replace_secret(path, (const uint8_t *)"s", 1), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	unlink(path);
}

static void
on_line(enum rm_log_level level, const char *line, void *arg)
{
	(void)level;
	snprintf(arg, 512, "%s", line);
}

static void
files_that_are_aside_are_not_overwritten(void **state)
{
	char path[256], aside[300], log[512];
	uint8_t *data;
	size_t len;

	snprintf(path, sizeof(path), "%s/state", folder);
	/* A link whose file is gone is a file, too. */
	snprintf(aside, sizeof(aside), "%s.bad.2", path);
	assert_int_equal(symlink("gone", aside), 0);
	rm_log_set_sink(on_line, log);
	for (int i = 1;; i++) {
		assert_int_equal(rm_file_replace(path, (uint8_t *)&i, sizeof(i)), 0);
		rm_file_set_aside(path, ".bad", "it is damaged");
		if (i == 8)
			break; /* seven and the link are aside */
		assert_non_null(strstr(log, ": it is damaged"));
		snprintf(
		    aside, sizeof(aside), i == 1 ? "%s.bad" : "%s.bad.%d", path, i + 1);
		assert_non_null(strstr(log, "state: set aside as"));
		assert_non_null(strstr(log, aside));
		assert_int_equal(access(path, F_OK), -1);
	}
	rm_log_set_sink(NULL, NULL);
	assert_non_null(strstr(log, "state: cannot set it aside"));
	assert_non_null(strstr(log, ": it is damaged: File exists"));
	assert_int_equal(unlink(path), 0);
	for (int i = 1; i <= 8; i++) {
		const int was = i == 1 ? 1 : i - 1;

		snprintf(
		    aside, sizeof(aside), i == 1 ? "%s.bad" : "%s.bad.%d", path, i);
		if (i != 2) {
			assert_int_equal(rm_file_read(aside, 100, &data, &len), 0);
			assert_memory_equal(data, &was, sizeof(was));
			free(data);
		}
		assert_int_equal(unlink(aside), 0);
	}
	assert_int_equal(names_in_folder(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_written_file_is_read_back),
		cmocka_unit_test(an_empty_file_is_a_file),
		cmocka_unit_test(a_file_past_its_bound_is_refused),
		cmocka_unit_test(a_file_that_hides_its_size_is_read_whole),
		cmocka_unit_test(a_failed_replacement_leaves_the_old_and_no_litter),
		cmocka_unit_test(a_temporary_file_left_by_a_crash_is_no_obstacle),
		cmocka_unit_test(a_secret_has_mode_0600_after_any_crash),
		cmocka_unit_test(files_that_are_aside_are_not_overwritten),
	};

	int failed;

	if (mkdtemp(folder) == NULL)
		return 1;
	failed = cmocka_run_group_tests_name("file", tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
