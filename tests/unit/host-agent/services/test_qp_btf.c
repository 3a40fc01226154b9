#include "host-agent/services/qp_btf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <linux/btf.h>

#include <bpf/btf.h>

/* Two types: an int, and in the module's BTF a struct that contains it. */
static void
make(struct btf **kernel, struct btf **module)
{
	*kernel = btf__new_empty();
	assert_non_null(*kernel);
	assert_int_equal(btf__add_int(*kernel, "u32", 4, 0), 1);
	*module = btf__new_empty_split(*kernel);
	assert_non_null(*module);
	assert_int_equal(btf__add_struct(*module, "ib_qp", 8), 2);
	assert_int_equal(btf__add_field(*module, "qp_num", 1, 32, 0), 0);
}

static void
the_module_s_types_follow_the_kernel_s(void **state)
{
	struct btf *kernel, *module, *both;
	const void *base, *more;
	uint32_t base_len, more_len;
	const struct btf_type *type;
	uint8_t *data;
	size_t len;

	make(&kernel, &module);
	base = btf__raw_data(kernel, &base_len);
	more = btf__raw_data(module, &more_len);
	assert_int_equal(qp_btf_join(base, base_len, more, more_len, &data, &len), 0);
	both = btf__new(data, (uint32_t)len);
	assert_non_null(both);
	assert_int_equal(btf__find_by_name_kind(both, "u32", BTF_KIND_INT), 1);
	assert_int_equal(btf__find_by_name_kind(both, "ib_qp", BTF_KIND_STRUCT), 2);
	type = btf__type_by_id(both, 2);
	assert_int_equal(btf_members(type)[0].type, 1);
	assert_string_equal(
	    btf__name_by_offset(both, btf_members(type)[0].name_off), "qp_num");
	btf__free(both);
	btf__free(module);
	btf__free(kernel);
	free(data);
}

static void
data_that_is_not_btf_is_refused(void **state)
{
	struct btf *kernel, *module;
	const void *base, *more;
	uint32_t base_len, more_len;
	uint8_t *data = NULL, damaged[256];
	size_t len;

	make(&kernel, &module);
	base = btf__raw_data(kernel, &base_len);
	more = btf__raw_data(module, &more_len);
	assert_true(more_len <= sizeof(damaged));
	for (uint32_t cut = 0; cut < more_len; cut++)
		assert_int_equal(
		    qp_btf_join(base, base_len, more, cut, &data, &len), -EBADMSG);
	assert_int_equal(qp_btf_join(base, 3, more, more_len, &data, &len), -EBADMSG);
	for (size_t at = 0; at < sizeof(struct btf_header); at++) {
		memcpy(damaged, more, more_len);
		damaged[at] ^= 0xff;
		if (at == 3) /* the flags: any value is accepted */
			continue;
		if (qp_btf_join(base, base_len, damaged, more_len, &data, &len) == 0)
			free(data); /* shortens a section without leaving the data */
	}
	btf__free(module);
	btf__free(kernel);
}

static void
a_missing_module_has_no_btf(void **state)
{
	assert_int_equal(qp_btf_open("no_such_module"), -ENOENT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_module_s_types_follow_the_kernel_s),
		cmocka_unit_test(data_that_is_not_btf_is_refused),
		cmocka_unit_test(a_missing_module_has_no_btf),
	};

	return cmocka_run_group_tests_name("qp_btf", tests, NULL, NULL);
}
