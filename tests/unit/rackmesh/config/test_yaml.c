#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/config/yaml.h"

static struct rm_yaml *
parse(const char *text)
{
	struct rm_yaml *yaml = NULL;
	struct rm_error error = { 0 };

	if (rm_yaml_parse("t.yaml", text, strlen(text), &yaml, &error) < 0)
		fail_msg("%s", error.text);
	return yaml;
}

/* The text must be refused with exactly this message. */
static void
refused(const char *text, const char *sentence)
{
	struct rm_yaml *yaml = NULL;
	struct rm_error error = { 0 };

	assert_true(rm_yaml_parse("t.yaml", text, strlen(text), &yaml, &error) < 0);
	assert_null(yaml);
	assert_string_equal(error.text, sentence);
}

static void
a_tree_is_read_as_written(void **state)
{
	struct rm_yaml *yaml = parse("a: 1\nb:\n  - x\n  - 'y z'\nc: {d: e}\n");
	const struct rm_yaml_node *root = rm_yaml_root(yaml),
				  *b = rm_yaml_get(root, "b");

	assert_int_equal(rm_yaml_kind(root), RM_YAML_MAP);
	assert_int_equal(rm_yaml_count(root), 3);
	assert_string_equal(rm_yaml_text(rm_yaml_key(root, 2)), "c");
	assert_int_equal(rm_yaml_kind(rm_yaml_value(root, 2)), RM_YAML_MAP);
	assert_string_equal(rm_yaml_text(rm_yaml_get(root, "a")), "1");
	assert_int_equal(rm_yaml_kind(b), RM_YAML_LIST);
	assert_int_equal(rm_yaml_count(b), 2);
	assert_false(rm_yaml_quoted(rm_yaml_item(b, 0)));
	assert_true(rm_yaml_quoted(rm_yaml_item(b, 1)));
	assert_int_equal(rm_yaml_line(rm_yaml_item(b, 1)), 4);
	assert_null(rm_yaml_get(root, "z"));
	assert_null(rm_yaml_get(b, "z"));
	assert_string_equal(rm_yaml_text(b), "");
	rm_yaml_free(yaml);
}

static void
an_empty_document_has_no_root(void **state)
{
	static const char *const texts[] = { "", "# only words\n", "---\n", "\n\n" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct rm_yaml *yaml = parse(texts[i]);

		assert_null(rm_yaml_root(yaml));
		rm_yaml_free(yaml);
	}
	rm_yaml_free(NULL);
}

static void
duplicate_keys_are_refused_at_any_depth(void **state)
{
	refused("a: 1\nb: 2\na: 3\n",
	    "t.yaml:3:1: \"a\" occurs twice, first in line 1; remove one of them");
	refused("x:\n  - {q: 1, r: 2, \"q\": 1}\n",
	    "t.yaml:2:18: \"q\" occurs twice, first in line 2; remove one of them");
}

static void
the_same_key_in_two_maps_is_fine(void **state)
{
	struct rm_yaml *yaml = parse("- {a: 1}\n- {a: 1}\n");

	assert_int_equal(rm_yaml_count(rm_yaml_root(yaml)), 2);
	rm_yaml_free(yaml);
}

static void
anchors_aliases_and_tags_are_refused(void **state)
{
	refused("a: &x 1\nb: *x\n",
	    "t.yaml:1:4: anchors (&name) are not supported; remove it, or put text "
	    "that begins with & in quotes");
	refused("a: *x\n",
	    "t.yaml:1:4: aliases (*name) are not supported; write the value out, or "
	    "put text that begins with * in quotes");
	refused("a: &x [*x]\n",
	    "t.yaml:1:4: anchors (&name) are not supported; remove it, or put text "
	    "that begins with & in quotes");
	refused("a: !!int \"3\"\n",
	    "t.yaml:1:4: tags (!name) are not supported; remove it, or put text that "
	    "begins with ! in quotes");
}

static void
a_second_document_is_refused(void **state)
{
	refused("a: 1\n---\nb: 2\n",
	    "t.yaml:2:1: a second document begins; keep one per file");
}

static void
nesting_is_bounded(void **state)
{
	char text[2 * RM_YAML_MAX_DEPTH + 3] = { 0 };

	memset(text, '[', RM_YAML_MAX_DEPTH);
	memset(text + RM_YAML_MAX_DEPTH, ']', RM_YAML_MAX_DEPTH);
	rm_yaml_free(parse(text));
	memset(text, '[', RM_YAML_MAX_DEPTH + 1);
	memset(text + RM_YAML_MAX_DEPTH + 1, ']', RM_YAML_MAX_DEPTH + 1);
	refused(text, "t.yaml:1:33: nested deeper than 32 levels; flatten it");
}

static void
a_file_beyond_the_bound_is_refused_unread(void **state)
{
	struct rm_yaml *yaml = NULL;
	struct rm_error error = { 0 };

	assert_int_equal(
	    rm_yaml_parse("big.yaml", "a", RM_YAML_MAX_BYTES + 1, &yaml, &error),
	    -EFBIG);
	assert_string_equal(
	    error.text, "big.yaml:1:1: larger than 16 MiB; split the file");
}

static void
a_key_must_be_a_scalar(void **state)
{
	refused("? [a, b]\n: 1\n",
	    "t.yaml:1:3: a list or map in place of a key; write a name");
}

static void
a_zero_byte_cannot_hide_the_rest_of_a_text(void **state)
{
	refused("a: \"x\\0y\"\n",
	    "t.yaml:1:4: text with a zero byte in it; remove the \\0");
}

static void
syntax_errors_name_the_place_and_the_remedy(void **state)
{
	refused("a:\n\tb: 1\n",
	    "t.yaml:2:1: found character that cannot start any token; indent with "
	    "spaces, not tabs, and put text that begins with a special character in "
	    "quotes");
	refused("a: [1, 2\nb: 3\n",
	    "t.yaml:2:2: did not find expected ',' or ']', while parsing a flow "
	    "sequence that begins in line 1; check indentation and quotes");
	refused("ok: 1\nx: \xff\n",
	    "t.yaml:2:4: invalid leading UTF-8 octet; save the file as plain UTF-8 "
	    "text");
}

static void
numbers_are_decimal_whole_and_in_range(void **state)
{
	static const char *const bad[] = { "-1", "+1", "0x10", "010", "1.5", "1e3", "",
		"18446744073709551616", "1_000", " 1", "1 " };
	uint64_t value = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(rm_yaml_number(bad[i], &value));
	assert_int_equal(value, 7);
	assert_true(rm_yaml_number("0", &value));
	assert_int_equal(value, 0);
	assert_true(rm_yaml_number("18446744073709551615", &value));
	assert_true(value == UINT64_MAX);
}

static void
scalars_are_read_or_their_place_is_named(void **state)
{
	struct rm_yaml *yaml = parse("n: 42\nq: \"42\"\nb: true\nw: yes\nl: [1]\n");
	const struct rm_yaml_node *root = rm_yaml_root(yaml);
	struct rm_error error = { 0 };
	uint64_t n = 0;
	bool b = false;

	assert_int_equal(rm_yaml_uint(rm_yaml_get(root, "n"), 1, 42, &n, &error), 0);
	assert_int_equal(n, 42);
	assert_int_equal(
	    rm_yaml_uint(rm_yaml_get(root, "n"), 1, 41, &n, &error), -EINVAL);
	assert_string_equal(error.text,
	    "t.yaml:1:4: expected a whole number between 1 and 41, found \"42\"");
	assert_int_equal(
	    rm_yaml_uint(rm_yaml_get(root, "q"), 1, 99, &n, &error), -EINVAL);
	assert_string_equal(error.text,
	    "t.yaml:2:4: expected a whole number between 1 and 99 without quotes, "
	    "found \"42\"");
	assert_int_equal(rm_yaml_bool(rm_yaml_get(root, "b"), &b, &error), 0);
	assert_true(b);
	assert_int_equal(rm_yaml_bool(rm_yaml_get(root, "w"), &b, &error), -EINVAL);
	assert_string_equal(
	    error.text, "t.yaml:4:4: expected true or false, found \"yes\"");
	assert_int_equal(rm_yaml_bool(rm_yaml_get(root, "l"), &b, NULL), -EINVAL);
	rm_yaml_free(yaml);
}

static void
a_file_is_loaded_and_a_missing_one_named(void **state)
{
	char path[] = "/tmp/test_yaml_XXXXXX";
	struct rm_yaml *yaml = NULL;
	struct rm_error error = { 0 };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "a: 1\n", 5), 5);
	close(fd);
	assert_int_equal(rm_yaml_load(path, &yaml, &error), 0);
	assert_string_equal(rm_yaml_text(rm_yaml_get(rm_yaml_root(yaml), "a")), "1");
	rm_yaml_free(yaml);
	unlink(path);
	assert_int_equal(rm_yaml_load("/nowhere/x.yaml", &yaml, &error), -ENOENT);
	assert_string_equal(
	    error.text, "/nowhere/x.yaml: cannot read: No such file or directory");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_is_read_as_written),
		cmocka_unit_test(an_empty_document_has_no_root),
		cmocka_unit_test(duplicate_keys_are_refused_at_any_depth),
		cmocka_unit_test(the_same_key_in_two_maps_is_fine),
		cmocka_unit_test(anchors_aliases_and_tags_are_refused),
		cmocka_unit_test(a_second_document_is_refused),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(a_file_beyond_the_bound_is_refused_unread),
		cmocka_unit_test(a_key_must_be_a_scalar),
		cmocka_unit_test(a_zero_byte_cannot_hide_the_rest_of_a_text),
		cmocka_unit_test(syntax_errors_name_the_place_and_the_remedy),
		cmocka_unit_test(numbers_are_decimal_whole_and_in_range),
		cmocka_unit_test(scalars_are_read_or_their_place_is_named),
		cmocka_unit_test(a_file_is_loaded_and_a_missing_one_named),
	};

	return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
