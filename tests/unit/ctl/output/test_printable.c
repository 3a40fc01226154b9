/* Text from other hosts must not reach the terminal as control sequences. */
#include "ctl/output/printable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ctl/commands/incident.h"

static void
control_characters_become_question_marks(void **state)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
		{ "h1/r0 is well", "h1/r0 is well" },
		{ "\033[2J\033]0;owned\007", "?[2J?]0;owned?" },
		{ "one\r\ntwo\tthree", "one  two three" },
		{ "\x7f", "?" },
		{ "caf\xc3\xa9 \xe2\x86\x92 spine1",
		    "caf\xc3\xa9 \xe2\x86\x92 spine1" },
		{ "\xc2\x9b"
		  "31m\xc2\x85",
		    "?31m?" },
		{ "\xc2", "\xc2" },
		{ "", "" },
	};
	char text[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "%s", cases[i].text);
		printable_text(text);
		assert_string_equal(text, cases[i].shown);
	}
}

static void
every_string_of_an_answer_is_made_printable(void **state)
{
	json_t *json = json_loads("{\"a\": [\"\\u001b[m\", 3, {\"b\": \"\\u009bA\"}], "
				  "\"c\": null, \"d\": \"fine\"}",
	    0, NULL);
	char *text;

	assert_non_null(json);
	assert_int_equal(printable_json(json), 0);
	text = json_dumps(json, JSON_COMPACT);
	assert_string_equal(
	    text, "{\"a\":[\"?[m\",3,{\"b\":\"?A\"}],\"c\":null,\"d\":\"fine\"}");
	free(text);
	json_decref(json);
}

static void
every_key_of_an_answer_is_made_printable(void **state)
{
	json_t *json =
	    json_loads("{\"a\": {\"\\u009bA\": 1}, \"\\u007f\": 2, \"b\": 3}", 0, NULL);

	assert_non_null(json);
	assert_int_equal(printable_json(json), 0);
	assert_int_equal(json_object_size(json), 3);
	assert_int_equal(json_integer_value(json_object_get(json, "?")), 2);
	assert_int_equal(
	    json_integer_value(json_object_get(json_object_get(json, "a"), "?A")), 1);
	assert_int_equal(json_integer_value(json_object_get(json, "b")), 3);
	json_decref(json);
}

/* Returns what incident_print prints; the caller frees it. */
static char *
printed(const char *incident)
{
	json_t *json = json_loads(incident, 0, NULL);
	FILE *real = stdout;
	char *text = NULL;
	size_t len;

	assert_non_null(json);
	stdout = open_memstream(&text, &len);
	assert_non_null(stdout);
	incident_print(json, 10);
	fclose(stdout);
	stdout = real;
	json_decref(json);
	return text;
}

static void
values_that_were_not_measured_are_left_out_of_a_sample(void **state)
{
	char *text = printed(
	    "{\"state\": \"open\", \"evidence\": {\"samples\": [{\"from\": "
	    "\"h1/r0\", \"to\": \"h2/r0\", \"src_port\": 49152, \"dscp\": 0, "
	    "\"size_bytes\": 0, \"outcome\": \"no_reply\"}, {\"from\": \"h1/r0\", "
	    "\"to\": \"h3/r0\", \"src_port\": 49153, \"dscp\": 0, \"size_bytes\": "
	    "64, \"outcome\": \"no_reply\"}, \"a flow, in words\"]}}");

	assert_non_null(
	    strstr(text, "e.g. h1/r0 -> h2/r0, source port 49152: no_reply\n"));
	assert_non_null(strstr(text,
	    "e.g. h1/r0 -> h3/r0, source port 49153, DSCP 0, 64 bytes: no_reply\n"));
	assert_non_null(strstr(text, "e.g. a flow, in words\n"));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_become_question_marks),
		cmocka_unit_test(every_string_of_an_answer_is_made_printable),
		cmocka_unit_test(every_key_of_an_answer_is_made_printable),
		cmocka_unit_test(
		    values_that_were_not_measured_are_left_out_of_a_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
