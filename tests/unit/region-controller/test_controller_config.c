#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/core/file.h"
#include "region-controller/controller_config.h"

static char path[64];

static void
write_config(const char *text)
{
	snprintf(path, sizeof(path), "/tmp/rackmesh-config-%d.yaml", (int)getpid());
	assert_int_equal(rm_file_replace(path, (const uint8_t *)text, strlen(text)), 0);
}

static void
refused(const char *text, const char *rest)
{
	struct controller_config config;
	struct rm_error error = { 0 };
	char sentence[512];

	write_config(text);
	assert_true(controller_config_read(&config, path, &error) < 0);
	assert_null(config.name);
	snprintf(sentence, sizeof(sentence), "%s:%s", path, rest);
	assert_string_equal(error.text, sentence);
	unlink(path);
}

static void
the_defaults_are_those_of_planning(void **state)
{
	struct controller_config config;
	struct rm_error error = { 0 };
	struct plan_options options;

	write_config("plaintext: true\n");
	assert_int_equal(controller_config_read(&config, path, &error), 0);
	unlink(path);
	options = controller_plan_options(&config);
	/* Compare the fields, without the padding at the end. */
	assert_memory_equal(
	    &options, &plan_defaults, offsetof(struct plan_options, sl) + 1);
	assert_string_equal(config.listen, "0.0.0.0:7481");
	assert_string_equal(config.http_listen, "127.0.0.1:9473");
	assert_int_equal(config.settle_ms, 3000);
	assert_non_null(config.name);
	controller_config_clear(&config);
}

static void
errors_name_file_line_and_option(void **state)
{
	refused("name: c1\nregion: a b\n",
	    "2:9: region: expected a name: 1 to 63 of A-Z a-z 0-9 . _ : -, a letter or "
	    "digit first");
	refused("name: -c\n",
	    "1:7: name: \"-c\" cannot name this host: expected a name: 1 to 63 of A-Z "
	    "a-z 0-9 . _ : -, a letter or digit first; give the system a valid name, "
	    "or "
	    "give name here, as in name: gpu17");
	refused("listen: here\n",
	    "1:9: listen: expected a numeric address with a port, as 127.0.0.1:7471 or "
	    "[::1]:7471, found \"here\"");
	refused("http:\n  listen: localhost:1\n",
	    "2:11: http.listen: expected a numeric address with a port, as "
	    "127.0.0.1:7471 or "
	    "[::1]:7471, found \"localhost:1\"");
}

static void
values_that_the_table_refuses_are_refused(void **state)
{
	struct controller_config config;
	struct rm_error error = { 0 };

	write_config("plan:\n  dscp: 64\n");
	assert_true(controller_config_read(&config, path, &error) < 0);
	assert_non_null(strstr(error.text, ":2:9: plan.dscp: "));
	write_config("plan:\n  tor_mesh_sizes: 5\n");
	assert_true(controller_config_read(&config, path, &error) < 0);
	assert_non_null(strstr(error.text, "did you mean \"plan.tor_mesh_size\""));
	unlink(path);
}

static void
a_probe_takes_ten_milliseconds_at_least(void **state)
{
	refused("plan:\n  probe_timeout_ms: 9\n",
	    "2:21: plan.probe_timeout_ms: expected 0, or 10 and more (ms)");
}

static void
etcd_takes_urls_without_a_path(void **state)
{
	refused("etcd:\n  endpoints: [\"127.0.0.1:2379\"]\n",
	    "2:15: etcd.endpoints[0]: expected a URL without a path, "
	    "http://address:port");
	refused("etcd:\n  endpoints: [\"http://a:1\", \"http://b:1/v3\"]\n",
	    "2:29: etcd.endpoints[1]: expected a URL without a path, "
	    "http://address:port");
	refused("etcd:\n  user: me\n", "2:9: etcd.user: give etcd.password_file, too");
}

static void
a_password_that_others_can_read_is_refused(void **state)
{
	struct controller_config config;
	struct rm_error error = { 0 };
	char text[256], secret[96], *password = NULL;

	snprintf(secret, sizeof(secret), "/tmp/rackmesh-password-%d", (int)getpid());
	assert_int_equal(rm_file_replace(secret, (const uint8_t *)"geheim\n", 7), 0);
	snprintf(text, sizeof(text),
	    "plaintext: true\n"
	    "etcd:\n  endpoints: [\"http://a:1\"]\n  user: me\n  password_file: %s\n",
	    secret);
	write_config(text);
	if (controller_config_read(&config, path, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(chmod(secret, 0640), 0);
	assert_true(controller_config_password(&config, &password, &error) < 0);
	assert_non_null(strstr(error.text, "expected 0600 or 0400"));
	assert_int_equal(chmod(secret, 0600), 0);
	assert_int_equal(controller_config_password(&config, &password, &error), 0);
	assert_string_equal(password, "geheim");
	free(password);
	controller_config_clear(&config);
	unlink(secret);
	unlink(path);
}

static void
accepted(const char *text)
{
	struct controller_config config;
	struct rm_error error = { 0 };

	write_config(text);
	if (controller_config_read(&config, path, &error) < 0)
		fail_msg("%s", error.text);
	controller_config_clear(&config);
	unlink(path);
}

/* A config without keys is refused with an error that says what to set, unless it has
 * "plaintext: true". */
static void
probes_are_authenticated_by_default(void **state)
{
	struct controller_config config;
	struct rm_error error = { 0 };

	refused("name: c1\n",
	    "1:1: probe_keys.secret_file: expected a file with a secret, the same at "
	    "all "
	    "controllers of the region, made by (umask 077; openssl rand -base64 32 > "
	    "/etc/rackmesh/probe-secret); or say 'probe_keys: {unauthenticated: "
	    "true}'");
	refused("probe_keys: {secret_file: /a, unauthenticated: true}\n",
	    "1:48: probe_keys.unauthenticated: probe_keys.secret_file is set, too; "
	    "remove one of the two");
	accepted("probe_keys: {secret_file: /etc/rackmesh/probe-secret}\n");
	accepted("probe_keys: {unauthenticated: true}\n");
	accepted("plaintext: true\n");
	/* Nor is a controller without a config file accepted. */
	assert_true(controller_config_read(&config, NULL, &error) < 0);
	assert_non_null(strstr(error.text, "probe_keys.secret_file"));
}

static void
the_example_is_good(void **state)
{
	struct controller_config config;
	struct rm_error error = { 0 };

	if (controller_config_read(&config, EXAMPLE, &error) < 0)
		fail_msg("%s", error.text);
	controller_config_clear(&config);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_defaults_are_those_of_planning),
		cmocka_unit_test(errors_name_file_line_and_option),
		cmocka_unit_test(values_that_the_table_refuses_are_refused),
		cmocka_unit_test(a_probe_takes_ten_milliseconds_at_least),
		cmocka_unit_test(etcd_takes_urls_without_a_path),
		cmocka_unit_test(a_password_that_others_can_read_is_refused),
		cmocka_unit_test(probes_are_authenticated_by_default),
		cmocka_unit_test(the_example_is_good),
	};

	return cmocka_run_group_tests_name("controller_config", tests, NULL, NULL);
}
