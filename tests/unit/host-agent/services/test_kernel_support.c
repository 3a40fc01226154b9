#include "host-agent/services/kernel_support.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define ALL_RIGHTS "Name:\tx\nCapEff:\t000001ffffffffff\n"
#define BPF_RIGHTS "Name:\tx\nCapEff:\t000000c000000000\n"
#define NO_RIGHTS "Name:\tx\nCapEff:\t0000000000000000\n"

static char root[64];

static void
make(const char *path, const char *text)
{
	char whole[256];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(whole, 0700);
		*slash = '/';
	}
	file = fopen(whole, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void
make_all(void)
{
	make("/proc/sys/kernel/osrelease", "6.1.0-30-amd64\n");
	make("/proc/self/status", ALL_RIGHTS);
	make("/sys/kernel/btf/vmlinux", "x");
	make("/sys/kernel/btf/ib_core", "x");
	make("/sys/module/ib_core/initstate", "live\n");
	make("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
}

static int
drop(const char *path, const struct stat *what, int flag, struct FTW *walk)
{
	return remove(path);
}

static void
lose(const char *path)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	nftw(whole, drop, 8, FTW_DEPTH | FTW_PHYS);
}

static int
setup(void **state)
{
	strcpy(root, "/tmp/test_qp_needs.XXXXXX");
	return mkdtemp(root) == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	lose("");
	return 0;
}

static void
expect(enum kernel_support needs, const char *expected)
{
	char missing[KERNEL_SUPPORT_TEXT];

	assert_int_equal(kernel_support_look(root, missing), needs);
	if (expected == NULL)
		assert_string_equal(missing, "");
	else if (strstr(missing, expected) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", missing, expected);
}

static void
a_complete_kernel_with_all_rights_lacks_nothing(void **state)
{
	make_all();
	expect(KERNEL_SUPPORT_FULL, NULL);
}

static void
each_thing_that_is_missing_is_named(void **state)
{
	make_all();
	lose("/sys/kernel/btf/vmlinux");
	expect(KERNEL_SUPPORT_NONE, "CONFIG_DEBUG_INFO_BTF)");

	make_all();
	lose("/sys/kernel/btf/ib_core");
	expect(KERNEL_SUPPORT_NONE, "no BTF of the module ib_core");

	make_all();
	make("/proc/sys/kernel/osrelease", "5.7.19\n");
	expect(KERNEL_SUPPORT_NONE, "kernel 5.7 has no BPF ring buffer");
	make("/proc/sys/kernel/osrelease", "5.8.0\n");
	expect(KERNEL_SUPPORT_FULL, NULL);

	make("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	expect(KERNEL_SUPPORT_NONE, "lockdown");
}

static void
a_module_that_is_not_loaded_may_come_later(void **state)
{
	make_all();
	lose("/sys/module/ib_core");
	expect(KERNEL_SUPPORT_NO_MODULE, "ib_core is not loaded");
}

static void
either_all_rights_or_two_of_them_are_enough(void **state)
{
	make_all();
	make("/proc/self/status", NO_RIGHTS);
	expect(KERNEL_SUPPORT_NO_PRIVILEGES,
	    "no CAP_BPF and CAP_PERFMON, nor CAP_SYS_ADMIN");
	make("/proc/self/status", BPF_RIGHTS);
	expect(KERNEL_SUPPORT_FULL, NULL);
	make("/proc/sys/kernel/perf_event_paranoid", "3\n");
	make("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
	expect(KERNEL_SUPPORT_NO_PRIVILEGES, "perf_event_paranoid above 2");
	/* Fprobes do not open a perf event. */
	make("/proc/sys/kernel/osrelease", "6.2.0\n");
	expect(KERNEL_SUPPORT_FULL, NULL);
	make("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
	make("/proc/sys/kernel/perf_event_paranoid", "2\n");
	/* ib_core is built in: no BTF of a module is needed. */
	lose("/sys/module/ib_core/initstate");
	lose("/sys/kernel/btf/ib_core");
	expect(KERNEL_SUPPORT_FULL, NULL);
}

static void
everything_that_is_missing_is_reported_at_once(void **state)
{
	char missing[KERNEL_SUPPORT_TEXT];

	make_all();
	make("/proc/sys/kernel/osrelease", "4.19.0\n");
	make("/proc/self/status", NO_RIGHTS);
	lose("/sys/kernel/btf/vmlinux");
	lose("/sys/kernel/btf/ib_core");
	assert_int_equal(kernel_support_look(root, missing), KERNEL_SUPPORT_NONE);
	assert_non_null(strstr(missing, "kernel 4.19"));
	assert_non_null(strstr(missing, "; no BTF of this kernel"));
	assert_true(strlen(missing) < KERNEL_SUPPORT_TEXT);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_complete_kernel_with_all_rights_lacks_nothing),
		TEST(each_thing_that_is_missing_is_named),
		TEST(a_module_that_is_not_loaded_may_come_later),
		TEST(either_all_rights_or_two_of_them_are_enough),
		TEST(everything_that_is_missing_is_reported_at_once),
	};

	return cmocka_run_group_tests_name("qp_needs", tests, NULL, NULL);
}
