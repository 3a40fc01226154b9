#include "tor-aggregator/aggregator_config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tor-aggregator/aggregator_check.h"

/* Reads this text. Returns the error; "" if it is valid. */
static const char *
read_text(const char *text, struct aggregator_config *config)
{
	static struct rm_error error;
	static char path[32]; /* the config borrows it */
	int fd;

	strcpy(path, "/tmp/rm-config-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	error.text[0] = 0;
	if (aggregator_config_read(config, path, &error) < 0)
		assert_true(error.text[0] != 0);
	unlink(path);
	return error.text;
}

static void
little_is_needed(void **state)
{
	struct aggregator_config config;
	const struct aggregator_tor_config *tors;

	assert_string_equal(
	    read_text("tors: [{name: t1}, {name: t2, primary: false}]", &config), "");
	tors = config.tors.items;
	assert_int_equal(config.tors.count, 2);
	assert_string_equal(tors[1].name, "t2");
	assert_true(tors[0].primary);
	assert_false(tors[1].primary);
	assert_non_null(config.name);
	assert_string_equal(config.listen, "0.0.0.0:7471");
	assert_string_equal(config.http_listen, "127.0.0.1:9472");
	assert_int_equal(config.controllers.count, 0);
	aggregator_config_clear(&config);
}

/* Controllers and analyzers know an aggregator by its name, which is usually that of
 * its host. */
static void
an_aggregator_is_not_called_localhost(void **state)
{
	static const char *const names[] = { "localhost", "LocalHost.localdomain.",
		"localhost6.localdomain6", "localhost-live.lan" };
	struct aggregator_config config;
	struct rm_error error = { 0 };
	char text[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(
		    text, sizeof(text), "name: %s\ntors: [{name: t1}]\n", names[i]);
		assert_string_equal(read_text(text, &config), "");
		assert_int_equal(
		    aggregator_config_type.check_start(&config, &error), -EINVAL);
		if (strstr(error.text,
			"not localhost; name the system, or give name") == NULL)
			fail_msg("%s: %s", names[i], error.text);
		aggregator_config_clear(&config);
	}
	assert_string_equal(read_text("name: agg1\ntors: [{name: t1}]\n", &config), "");
	assert_int_equal(aggregator_config_type.check_start(&config, &error), 0);
	aggregator_config_clear(&config);
}

static void
mistakes_name_line_and_option(void **state)
{
	static const struct {
		const char *text, *line, *part;
	} all[] = {
		{ "region: lab\n", "", "tors" },
		{ "tors: []\n", ":1:", "tors" },
		{ "tors:\n  - name: t1\n  - name: t1\n", ":3:", "twice" },
		{ "tors:\n  - name: \"a b\"\n", ":2:", "name" },
		{ "name: a\ntors:\n  - name: t1\n    peer: {name: b}\n",
		    ":3:", "both" },
		{ "name: a\ntors:\n  - name: t1\n"
		  "    peer: {name: a, address: \"10.0.0.1:1\"}\n",
		    ":4:", "another" },
		{ "name: a\ntors:\n  - name: t1\n    peer: {name: b, address: x}\n",
		    ":4:", "address" },
		{ "name: a\ntors:\n"
		  "  - {name: t1, peer: {name: b, address: \"10.0.0.1:1\"}}\n"
		  "  - {name: t2, peer: {name: b, address: \"10.0.0.2:1\"}}\n",
		    ":4:", "another address" },
		{ "name: agg\ntors: [{name: t1}]\nlisten: nowhere\n", ":3:", "listen" },
		{ "tors: [{name: t1}]\ncontrollers:\n  - \"c1 :7481\"\n",
		    ":3:", "controllers" },
		{ "tors: [{name: t1}]\nanalyzers:\n  - \"a1:0\"\n",
		    ":3:", "analyzers" },
		{ "tors: [{name: t1}]\nhistory:\n  folder: /x\n", ":2:", "history" },
		{ "tors: [{name: t1}]\nhypervisors:\n  - name: e\n",
		    ":3:", "hypervisors[0].address" },
		{ "tors: [{name: t1}]\nhypervisors:\n"
		  "  - {name: e, address: \"e:22\"}\n",
		    ":3:", "hypervisors[0].address" },
		{ "tors: [{name: t1}]\nhypervisors:\n"
		  "  - {name: e, address: e, known_hosts: \"/%d/hosts\"}\n",
		    ":3:", "without a %" },
		{ "tors: [{name: t1}]\nhypervisors:\n"
		  "  - {name: e, address: e, tor: t2}\n",
		    ":3:", "one of tors" },
		{ "tors: [{name: t1}]\nalerts:\n  webhooks: [\"ftp://x\"]\n",
		    ":3:", "http://" },
		{ "tors: [{name: t1}]\nring: {max_bytes: 5}\n",
		    ":2:", "ring.max_bytes" },
		{ "tors: [{name: t1}]\nregion: a\nregion: b\n", ":3:", "region" },
		{ "tors:\n  - name: t1\n    switch: {kind: nexus, address: "
		  "\"s1:443\"}\n",
		    ":3:", "user" },
		{ "tors:\n  - name: t1\n    switch: {kind: nexus, address: \"s1:443\", "
		  "user: \"a:b\", password_file: /x}\n",
		    ":3:", "switch.user" },
		{ "tors:\n  - name: t1\n    switch: {kind: sonic, address: "
		  "\"s1:6379\", "
		  "user: a}\n",
		    ":3:", "nexus" },
		{ "tors:\n  - name: t1\n    switch: {kind: nexus, address: \"s1:443\", "
		  "user: a, password_file: /x, asics: [\"s1:444\"]}\n",
		    ":3:", "kind: sonic" },
		{ "tors:\n  - name: t1\n    switch: {kind: sonic, address: "
		  "\"s1:6379\", asics: [s1]}\n",
		    ":3:", "switch.asics[0]" },
		{ "tors:\n  - name: t1\n    switch: {kind: sonic, address: "
		  "\"s1:6379\", asics: [\"s1:6380\", \"s1:6379\"]}\n",
		    ":3:", "twice" },
		{ "tors:\n  - name: t1\n    switch: {address: \"s1:443\"}\n",
		    ":3:", "sonic or nexus" },
		{ "tors: [{name: t1}]\nswitches:\n  - {name: s1}\n",
		    ":3:", "sonic or nexus" },
		{ "tors: [{name: t1}]\nswitches:\n"
		  "  - {name: s1, kind: sonic, address: x}\n",
		    ":3:", "switches[0].address" },
		{ "tors: [{name: t1}]\nswitches:\n"
		  "  - {name: s1, kind: sonic, address: \"s:1\", role: leaf}\n",
		    ":3:", "role" },
		{ "tors: [{name: t1}]\nswitches:\n"
		  "  - {name: s1, kind: sonic, address: \"s:1\"}\n"
		  "  - {name: s1, kind: sonic, address: \"s:2\"}\n",
		    ":4:", "twice" },
		{ "tors: [{name: t1}]\nswitches:\n"
		  "  - {name: t1, kind: sonic, address: \"s:1\"}\n",
		    ":3:", "one of tors" },
		{ "tors: [{name: t1}]\nlisten_to: x\n", ":2:", "listen" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct aggregator_config config;
		const char *reason = read_text(all[i].text, &config);

		if (strstr(reason, all[i].line) == NULL ||
		    strstr(reason, all[i].part) == NULL)
			fail_msg("%s said: %s", all[i].text, reason);
	}
}

/* The daemon starts and monitors its rack nevertheless; --check and the collectors
 * report the missing file. */
static void
files_of_collectors_may_be_missing(void **state)
{
	static const char *const all[] = {
		"plaintext: true\ntors: [{name: t1}]\nhypervisors:\n"
		"  - {name: e, address: e, key: /none, known_hosts: /none}\n",
		"plaintext: true\ntors:\n  - name: t1\n"
		"    switch: {kind: nexus, address: \"s1:443\", user: a, "
		"password_file: /none}\n",
		"plaintext: true\ntors: [{name: t1}]\nswitches:\n"
		"  - {name: s1, kind: sonic, address: \"s1:6379\", "
		"password_file: /none}\n",
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct aggregator_config config;

		assert_string_equal(read_text(all[i], &config), "");
		config.path = NULL; /* the config file is missing */
		assert_int_equal(aggregator_check(&config, false), 1);
		aggregator_config_clear(&config);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(little_is_needed),
		cmocka_unit_test(an_aggregator_is_not_called_localhost),
		cmocka_unit_test(mistakes_name_line_and_option),
		cmocka_unit_test(files_of_collectors_may_be_missing),
	};

	return cmocka_run_group_tests_name("aggregator_config", tests, NULL, NULL);
}
