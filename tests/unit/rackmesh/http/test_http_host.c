#include "rackmesh/http/http_host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
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
			fail_msg("'%s' was accepted", elsewhere[i]);
	assert_false(http_host_is_here("mesh.example.com", &own, NULL));
	assert_false(http_host_is_here(".", &unknown, NULL));
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_false(http_host_is_here(longest, &own, &names));
}

/* 10.1.2.3 and fd00::3 are this host's; one of its interfaces has no address. */
static void
take(struct own_names *own, char *line)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct ifaddrs third = { .ifa_addr = (struct sockaddr *)&in6 },
		       second = { &third, .ifa_addr = NULL },
		       first = { &second, .ifa_addr = (struct sockaddr *)&in };

	assert_int_equal(inet_pton(AF_INET, "10.1.2.3", &in.sin_addr), 1);
	assert_int_equal(inet_pton(AF_INET6, "fd00::3", &in6.sin6_addr), 1);
	own_names_hosts_line(own, &first, line);
}

/* Collects the names of a host with this name and this /etc/hosts. */
static void
know(struct own_names *own, const char *host, const char *hosts)
{
	char text[512], *rest = text, *line;

	memset(own, 0, sizeof(*own));
	strcpy(own->host, host);
	strcpy(text, hosts);
	while ((line = strsep(&rest, "\n")) != NULL)
		take(own, line);
}

static void
names_that_hosts_gives_to_this_host_are_let_in(void **state)
{
	static const char hosts[] =
	    "127.0.0.1 localhost\tlocalhost4 # rebound.example\n"
	    "#127.0.0.1 commented.example\n"
	    "::1 ip6-localhost ip6-loopback localhost6.localdomain6\r\n"
	    "\n127.0.1.1\n127.0.1.1\tnoc1.lab.example lab7-alias . \n"
	    "10.1.2.3 noc1.dc.example NOC1 mesh board.dc.example\n"
	    "fd00:0::3 six.dc.example\n"
	    "10.9.9.9 db1.dc.example db1\nfd00::4 db2\n  0.0.0.0 ads.example\n"
	    "here.example 127.0.0.1";
	static const char *const here[] = { "localhost4", "ip6-localhost",
		"IP6-Loopback.", "localhost6.localdomain6", "noc1.lab.example",
		"lab7-alias", "noc1", "mesh", "noc1.dc.example", "NOC1.dc.example.",
		"board.dc.example", "six.dc.example" };
	static const char *const elsewhere[] = { "rebound.example", "commented.example",
		"db1.dc.example", "db1", "db2", "ads.example", "here.example",
		"noc1.evil.example", "noc1.dc.example.evil.example", "example" };
	struct own_names own;

	(void)state;
	know(&own, "noc1", hosts);
	for (size_t i = 0; i < sizeof(here) / sizeof(here[0]); i++)
		if (!http_host_is_here(here[i], &own, NULL))
			fail_msg("'%s' was refused", here[i]);
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (http_host_is_here(elsewhere[i], &own, NULL))
			fail_msg("'%s' was accepted", elsewhere[i]);
	know(&own, "", "127.0.0.1 .example");
	assert_int_equal(own.count, 0);
}

static void
a_name_that_hosts_only_blocks_is_refused(void **state)
{
	struct own_names own;

	(void)state;
	know(&own, "noc1",
	    "127.0.0.1 localhost\n127.0.0.1 tracker.evil.example\n"
	    "127.0.0.1 localhost6.evil.example noc12.evil.example\n");
	assert_false(http_host_is_here("tracker.evil.example", &own, NULL));
	assert_false(http_host_is_here("localhost6.evil.example", &own, NULL));
	assert_false(http_host_is_here("noc12.evil.example", &own, NULL));
}

static void
another_host_of_the_same_short_name_is_not_this_one(void **state)
{
	struct own_names own;

	(void)state;
	know(&own, "noc1.dc.example",
	    "198.51.100.7 noc1.partner.example noc1 www.partner.example\n");
	assert_false(http_host_is_here("www.partner.example", &own, NULL));
	assert_false(http_host_is_here("noc1.partner.example", &own, NULL));
}

static void
a_final_dot_in_hosts_does_not_matter(void **state)
{
	struct own_names own;

	(void)state;
	know(&own, "noc1", "127.0.1.1 noc1.dc.example. mesh.\n10.1.2.3 www.example.\n");
	assert_true(http_host_is_here("noc1.dc.example", &own, NULL));
	assert_true(http_host_is_here("mesh.", &own, NULL));
	assert_true(http_host_is_here("www.example", &own, NULL));
}

static void
many_other_names_leave_room_for_those_of_this_host(void **state)
{
	static const char *const addresses[] = { "127.0.0.1", "10.1.2.3" };
	struct own_names own = { .host = "noc1" };
	char line[4096];
	size_t len;

	(void)state;
	for (size_t a = 0; a < 2; a++) {
		len = (size_t)sprintf(line, "%s", addresses[a]);
		for (int i = 0; i < 100; i++)
			len += (size_t)sprintf(line + len, " ads%zu-%d", a, i);
		sprintf(line + len, " noc1.dc%zu.example", a);
		take(&own, line);
	}
	assert_int_equal(own.count, OWN_NAMES_MAX_OTHERS + 2);
	assert_true(own_names_have(&own, "noc1.dc0.example"));
	assert_true(own_names_have(&own, "noc1.dc1.example"));
	for (int i = 0; i < 100; i++) {
		sprintf(line, "127.0.0.1 noc1.dc%d.example", i);
		take(&own, line);
	}
	assert_int_equal(own.count, OWN_NAMES_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    addresses_and_names_of_this_host_are_let_in_and_no_others),
		cmocka_unit_test(names_that_hosts_gives_to_this_host_are_let_in),
		cmocka_unit_test(a_name_that_hosts_only_blocks_is_refused),
		cmocka_unit_test(another_host_of_the_same_short_name_is_not_this_one),
		cmocka_unit_test(a_final_dot_in_hosts_does_not_matter),
		cmocka_unit_test(many_other_names_leave_room_for_those_of_this_host),
	};

	return cmocka_run_group_tests_name("http_host", tests, NULL, NULL);
}
