#include "rackmesh/http/http_host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "rackmesh/config/config.h"
#include "rackmesh/http/own_names.h"

static void
addresses_and_names_of_this_host_are_let_in_and_no_others(void **state)
{
	static char proxy[] = "mesh.example.com";
	static char *items[] = { proxy };
	static const struct rm_list names = { items, 1 };
	static const char *const here[] = { NULL, "", "127.0.0.1", "127.9.9.9", "[::1]",
		"10.1.2.3", "[fd00::1]", "[fe80::1%25eth0]", "localhost", "LocalHost.",
		"localhost.localdomain", "a.localhost.localdomain.", "a.localhost",
		"noc1", "noc1.dc.example", "NOC1.dc.example.", "Mesh.example.com" };
	static const char *const elsewhere[] = { "rebound.example", "localhost.example",
		"notlocalhost", ".localhost", "xlocalhost.localdomain", "localdomain",
		"ip6-localhost", "127.0.0.1.example", "0x7f.1", "127.1", "[", "[]",
		"[::1", "::1]", "[localhost]", ".", "noc1.evil.example", "noc12", "noc",
		"mesh.example.com.evil.example", "xmesh.example.com" };
	const struct own_names own = { .host = "noc1.dc.example" };
	const struct own_names unknown = { .host = "" };
	char longest[300];

	(void)state;
	for (size_t i = 0; i < sizeof(here) / sizeof(here[0]); i++)
		if (!http_host_is_here(here[i], &own, &names))
			fail_msg("'%s' was refused", here[i]);
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (http_host_is_here(elsewhere[i], &own, &names))
			fail_msg("'%s' was let in", elsewhere[i]);
	assert_false(http_host_is_here("mesh.example.com", &own, NULL));
	assert_false(http_host_is_here(".", &unknown, NULL));
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_false(http_host_is_here(longest, &own, &names));
}

/* Lines of a file, each taken; the names that then are this host's. */
static void
know(struct own_names *own, const char *host, const char *hosts, const char *resolver)
{
	char text[512], *rest, *line;

	memset(own, 0, sizeof(*own));
	strcpy(own->host, host);
	strcpy(text, resolver);
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;)
		own_names_resolver_line(own, line);
	strcpy(text, hosts);
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;)
		own_names_hosts_line(own, line);
}

static void
names_that_hosts_gives_to_this_host_or_to_loopback_are_let_in(void **state)
{
	static const char hosts[] =
	    "127.0.0.1 localhost\tlocalhost4 # rebound.example\n"
	    "#127.0.0.1 commented.example\n"
	    "::1 ip6-localhost ip6-loopback\r\n"
	    "\n127.0.1.1\n127.0.1.1\tlab7.example lab7-alias\n"
	    "10.1.2.3 noc1.dc.example NOC1 mesh\n"
	    "10.9.9.9 db1.dc.example db1\n  0.0.0.0 ads.example\n"
	    "here.example 127.0.0.1";
	static const char *const here[] = { "localhost4", "ip6-localhost",
		"IP6-Loopback.", "lab7.example", "lab7-alias", "noc1", "mesh",
		"noc1.dc.example", "NOC1.dc.example." };
	static const char *const elsewhere[] = { "rebound.example", "commented.example",
		"db1.dc.example", "db1", "ads.example", "here.example",
		"noc1.evil.example", "noc1.dc.example.evil.example", "example" };
	struct own_names own;

	(void)state;
	know(&own, "noc1", hosts, "");
	for (size_t i = 0; i < sizeof(here) / sizeof(here[0]); i++)
		if (!http_host_is_here(here[i], &own, NULL))
			fail_msg("'%s' was refused", here[i]);
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (http_host_is_here(elsewhere[i], &own, NULL))
			fail_msg("'%s' was let in", elsewhere[i]);
}

static void
a_short_host_name_has_the_long_ones_of_the_domains_searched(void **state)
{
	static const char resolver[] = "nameserver 10.0.0.1\n# search no.example\n"
				       "search dc.example corp.example. . ..\n"
				       "domain old.example";
	struct own_names own;

	(void)state;
	know(&own, "noc1", "", resolver);
	assert_true(http_host_is_here("noc1.dc.example", &own, NULL));
	assert_true(http_host_is_here("NOC1.corp.example.", &own, NULL));
	assert_true(http_host_is_here("noc1.old.example", &own, NULL));
	assert_false(http_host_is_here("noc1.no.example", &own, NULL));
	assert_false(http_host_is_here("noc2.dc.example", &own, NULL));
	assert_false(http_host_is_here("dc.example", &own, NULL));
	assert_int_equal(own.count, 3);
	know(&own, "noc1.dc.example", "", resolver); /* that is long already */
	assert_int_equal(own.count, 0);
	know(&own, "", "", resolver);
	assert_int_equal(own.count, 0);
}

static void
a_list_of_blocked_names_leaves_room_for_those_of_this_host(void **state)
{
	struct own_names own = { .host = "noc1" };
	char line[64];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(line, sizeof(line), "127.0.0.1 ads%d.example", i);
		own_names_hosts_line(&own, line);
	}
	assert_int_equal(own.count, OWN_NAMES_MAX_LOOPBACK);
	strcpy(line, "10.1.2.3 noc1.dc.example noc1");
	own_names_hosts_line(&own, line);
	assert_true(own_names_have(&own, "noc1.dc.example"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    addresses_and_names_of_this_host_are_let_in_and_no_others),
		cmocka_unit_test(
		    names_that_hosts_gives_to_this_host_or_to_loopback_are_let_in),
		cmocka_unit_test(
		    a_short_host_name_has_the_long_ones_of_the_domains_searched),
		cmocka_unit_test(
		    a_list_of_blocked_names_leaves_room_for_those_of_this_host),
	};

	return cmocka_run_group_tests_name("http_host", tests, NULL, NULL);
}
