#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/identity/identity.h"

static void
assert_reads_back(const char *uri)
{
	static struct rm_identity identity;
	char again[2048];

	assert_int_equal(rm_identity_parse(uri, &identity), 0);
	assert_int_equal(rm_identity_format(&identity, again, sizeof(again)), 0);
	assert_string_equal(again, uri);
}

static void
every_role_reads_back_as_it_was_written(void **state)
{
	(void)state;
	assert_reads_back("rackmesh://lab/agent/h1.rack-2_a");
	assert_reads_back("rackmesh://lab/aggregator/agg1/tor1");
	assert_reads_back("rackmesh://lab/aggregator/agg1/tor1,pod%2F2%2Ctor2");
	assert_reads_back("rackmesh://lab/controller/c1");
	assert_reads_back("rackmesh://*/analyzer/a1");
	assert_reads_back("rackmesh://eu%2B1/operator/ann%40example.com");
	assert_reads_back("rackmesh://*/viewer/prometheus");
	assert_reads_back("rackmesh://r1,r2%3A1/viewer/prometheus");
}

static void
the_parts_of_an_identity_are_decoded(void **state)
{
	static struct rm_identity identity;

	(void)state;
	assert_int_equal(
	    rm_identity_parse("rackmesh://lab/aggregator/agg%3A1/t1,a%2Fb", &identity),
	    0);
	assert_int_equal(identity.role, RM_ROLE_AGGREGATOR);
	assert_string_equal(identity.region, "lab");
	assert_string_equal(identity.name, "agg:1");
	assert_int_equal(identity.tor_count, 2);
	assert_string_equal(identity.tors[0], "t1");
	assert_string_equal(identity.tors[1], "a/b");
}

static void
assert_is_the_same(const char *spiffe, const char *rackmesh)
{
	static struct rm_identity identity;
	char uri[2048];

	assert_int_equal(rm_identity_parse(spiffe, &identity), 0);
	assert_int_equal(rm_identity_format(&identity, uri, sizeof(uri)), 0);
	assert_string_equal(uri, rackmesh);
}

static void
a_spiffe_id_is_an_identity_of_its_trust_domain(void **state)
{
	(void)state;
	assert_is_the_same(
	    "spiffe://lab.example/agent/h1", "rackmesh://lab.example/agent/h1");
	assert_is_the_same(
	    "spiffe://lab/aggregator/agg1/tor1", "rackmesh://lab/aggregator/agg1/tor1");
	assert_is_the_same("spiffe://lab/aggregator/agg1/tor1/tor2",
	    "rackmesh://lab/aggregator/agg1/tor1,tor2");
	assert_is_the_same(
	    "spiffe://lab/controller/c1", "rackmesh://lab/controller/c1");
	assert_is_the_same("spiffe://lab/viewer/p", "rackmesh://lab/viewer/p");
}

static void
anything_else_is_refused_and_does_not_change_the_result(void **state)
{
	static const char *const bad[] = {
		"",
		"rackmesh:",
		"rackmesh://",
		"rackmesh:///agent/h1",
		"Rackmesh://lab/agent/h1",
		"Spiffe://lab/agent/h1",
		"spiffe://lab/agent",
		"spiffe://lab/agent/h1/",
		"spiffe://lab/agent/h1/tor1",
		"spiffe://lab/agent/a%2Fb",
		"spiffe://*/analyzer/a1",
		"spiffe://lab/aggregator/agg1",
		"spiffe://lab/aggregator/agg1/t1,t2",
		"spiffe://lab/aggregator/agg1/t1//t2",
		"spiffe://lab/ns/default/sa/agent",
		" rackmesh://lab/agent/h1",
		"rackmesh://lab/agent/h1 ",
		"rackmesh://lab/agent/h1/",
		"rackmesh://lab/agent/h1/tor1",
		"rackmesh://lab/agent/",
		"rackmesh://lab/agent",
		"rackmesh://lab//h1",
		"rackmesh://lab/Agent/h1",
		"rackmesh://lab/nobody/h1",
		"rackmesh://lab/root/h1",
		"rackmesh://lab:443/agent/h1",
		"rackmesh://me@lab/agent/h1",
		"rackmesh://lab/agent/h1?x=1",
		"rackmesh://lab/agent/h1#x",
		"rackmesh://lab/agent/h*",
		"rackmesh://*/agent/h1",
		"rackmesh://*/aggregator/a1/t1",
		"rackmesh://*/controller/c1",
		"rackmesh://**/operator/ann",
		"rackmesh://la*/operator/ann",
		"rackmesh://%2A/agent/h1/x",
		"rackmesh://lab/agent/%68ost", /* "h" must not be encoded */
		"rackmesh://lab/agent/a%2fb",  /* one form only: %2F in upper case */
		"rackmesh://lab/agent/a%2",
		"rackmesh://lab/agent/a%",
		"rackmesh://lab/agent/a%zz",
		"rackmesh://lab/agent/a%00b",
		"rackmesh://lab/agent/a%0Ab",
		"rackmesh://lab/agent/a%7F",
		"rackmesh://lab/aggregator/agg1",
		"rackmesh://lab/aggregator/agg1/",
		"rackmesh://lab/aggregator/agg1/t1,",
		"rackmesh://lab/aggregator/agg1/,t1",
		"rackmesh://lab/aggregator/agg1/t1,,t2",
		"rackmesh://lab/aggregator/agg1/t1/t2",
		"rackmesh://r1,r2/analyzer/a1",
		"rackmesh://r1,r2/agent/h1",
		"rackmesh://r1,/viewer/ann",
		"rackmesh://,r1/viewer/ann",
		"rackmesh://r1,*/viewer/ann",
		"rackmesh://r1%2Cr2/viewer/ann",
		"spiffe://r1,r2/viewer/ann",
	};
	static struct rm_identity identity;

	(void)state;
	identity.role = RM_ROLE_VIEWER;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (rm_identity_parse(bad[i], &identity) != -EBADMSG)
			fail_msg("'%s' was accepted", bad[i]);
	assert_int_equal(identity.role, RM_ROLE_VIEWER);
}

static void
names_and_lists_are_limited(void **state)
{
	static struct rm_identity identity;
	char uri[4096], name[RM_IDENTITY_NAME + 1];
	size_t len;

	(void)state;
	memset(name, 'x', sizeof(name));
	name[RM_IDENTITY_NAME - 1] = '\0';
	snprintf(uri, sizeof(uri), "rackmesh://lab/agent/%s", name);
	assert_int_equal(rm_identity_parse(uri, &identity), 0);
	assert_string_equal(identity.name, name);
	strcat(uri, "x");
	assert_int_equal(rm_identity_parse(uri, &identity), -EBADMSG);

	snprintf(uri, sizeof(uri), "rackmesh://lab/aggregator/a/t0");
	for (int i = 1; i < RM_IDENTITY_TORS; i++) {
		len = strlen(uri);
		snprintf(uri + len, sizeof(uri) - len, ",t%d", i);
	}
	assert_int_equal(rm_identity_parse(uri, &identity), 0);
	assert_int_equal(identity.tor_count, RM_IDENTITY_TORS);
	strcat(uri, ",t64");
	assert_int_equal(rm_identity_parse(uri, &identity), -EBADMSG);
}

static void
an_invalid_identity_is_not_written(void **state)
{
	static struct rm_identity identity;
	char out[64];

	(void)state;
	identity.role = RM_ROLE_AGENT;
	strcpy(identity.region, "lab");
	assert_int_equal(rm_identity_format(&identity, out, sizeof(out)), -EINVAL);
	strcpy(identity.name, "a\nb");
	assert_int_equal(rm_identity_format(&identity, out, sizeof(out)), -EINVAL);
	strcpy(identity.name, "h1");
	assert_int_equal(rm_identity_format(&identity, out, 0), -EMSGSIZE);
	assert_int_equal(rm_identity_format(&identity, out, 23), -EMSGSIZE);
	assert_int_equal(rm_identity_format(&identity, out, 24), 0);
	assert_string_equal(out, "rackmesh://lab/agent/h1");
	strcpy(identity.region, "*");
	assert_int_equal(rm_identity_format(&identity, out, sizeof(out)), -EINVAL);
	strcpy(identity.region, "lab");
	identity.tor_count = 1;
	strcpy(identity.tors[0], "t1");
	assert_int_equal(rm_identity_format(&identity, out, sizeof(out)), -EINVAL);
	identity.role = RM_ROLES;
	assert_int_equal(rm_identity_format(&identity, out, sizeof(out)), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_role_reads_back_as_it_was_written),
		cmocka_unit_test(the_parts_of_an_identity_are_decoded),
		cmocka_unit_test(a_spiffe_id_is_an_identity_of_its_trust_domain),
		cmocka_unit_test(
		    anything_else_is_refused_and_does_not_change_the_result),
		cmocka_unit_test(names_and_lists_are_limited),
		cmocka_unit_test(an_invalid_identity_is_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
