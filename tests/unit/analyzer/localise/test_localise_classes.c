#include "analyzer/paths/localise_classes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* 26 is the class of most probes, 0 that of every fourth one. */
static struct localise_classes
counts(float sent26, float lost26, float sent0, float lost0)
{
	struct localise_classes classes = { 0 };

	classes.of[26] = (struct localise_class_counts){ sent26, lost26 };
	classes.of[0] = (struct localise_class_counts){ sent0, lost0 };
	return classes;
}

static int
alone(float sent26, float lost26, float sent0, float lost0, bool was)
{
	const struct localise_classes classes = counts(sent26, lost26, sent0, lost0);
	uint8_t dscp;

	return localise_classes_one_alone(&classes, was, &dscp) ? dscp : -1;
}

static void
few_losses_show_that_only_the_rarer_class_is_lost(void **state)
{
	assert_int_equal(alone(45, 45, 15, 0, false), 26);
	assert_int_equal(alone(45, 0, 15, 15, false), 0);
	assert_int_equal(alone(300, 40, 100, 1, false), 26); /* with some noise */
	assert_int_equal(alone(45, 15, 15, 0, false), -1);   /* may be by chance */
	assert_int_equal(alone(45, 0, 15, 4, false), -1);
}

static void
losses_of_both_classes_name_no_class(void **state)
{
	assert_int_equal(alone(45, 45, 15, 15, false), -1); /* dead */
	assert_int_equal(alone(450, 100, 150, 30, false), -1);
	assert_int_equal(alone(450, 40, 150, 4, false), -1);
	assert_int_equal(alone(60, 60, 0, 0, false), -1); /* nothing to compare with */
	assert_int_equal(alone(60, 0, 20, 0, false), -1);
}

static void
fewer_losses_keep_a_class_that_was_found(void **state)
{
	assert_int_equal(alone(45, 15, 15, 0, true), 26);
	assert_int_equal(alone(450, 30, 150, 2, true), 26);
	assert_int_equal(alone(450, 30, 150, 8, true), -1);
}

static void
the_counts_of_the_class_are_in_the_sentence(void **state)
{
	const struct localise_classes classes = counts(45, 44, 15, 1);
	char observed[RM_EVIDENCE_TEXT] = "both ways";

	localise_classes_report(&classes, 26, observed);
	assert_string_equal(observed,
	    "both ways; 44 of 45 probes with DSCP 26 were lost, 1 of 15 with others");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_losses_show_that_only_the_rarer_class_is_lost),
		cmocka_unit_test(losses_of_both_classes_name_no_class),
		cmocka_unit_test(fewer_losses_keep_a_class_that_was_found),
		cmocka_unit_test(the_counts_of_the_class_are_in_the_sentence),
	};

	return cmocka_run_group_tests_name("localise_classes", tests, NULL, NULL);
}
