#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/analyzer_config.h"
#include "rackmesh/core/file.h"

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
	struct analyzer_config config;
	struct rm_error error = { 0 };
	char sentence[512];

	write_config(text);
	assert_true(analyzer_config_read(&config, path, &error) < 0);
	assert_null(config.name);
	snprintf(sentence, sizeof(sentence), "%s:%s", path, rest);
	assert_string_equal(error.text, sentence);
	unlink(path);
}

static void
the_defaults_are_good(void **state)
{
	struct analyzer_config config;
	struct rm_error error = { 0 };

	assert_int_equal(analyzer_config_read(&config, NULL, &error), 0);
	assert_non_null(config.name);
	assert_string_equal(config.listen, "0.0.0.0:7491");
	assert_string_equal(config.http_listen, "127.0.0.1:9474");
	assert_int_equal(config.blind_grace_ms, 3000);
	assert_string_equal(config.influx.url, "");
	assert_string_equal(config.influx.database, "rackmesh");
	assert_string_equal(
	    config.history_folder, "/var/lib/rackmesh/analyzer/history");
	analyzer_config_clear(&config);
}

static void
a_pasted_url_of_the_database_is_cut_to_its_base(void **state)
{
	static const char *const urls[] = { "http://[::1]:8086", "http://[::1]:8086//",
		"http://[::1]:8086/write", "http://[::1]:8086/api/v2/write/" };
	struct analyzer_config config;
	struct rm_error error = { 0 };
	char text[128];

	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		snprintf(text, sizeof(text), "influx:\n  url: \"%s\"\n", urls[i]);
		write_config(text);
		assert_int_equal(analyzer_config_read(&config, path, &error), 0);
		assert_string_equal(config.influx.url, "http://[::1]:8086");
		analyzer_config_clear(&config);
	}
	unlink(path);
}

static void
the_history_is_in_the_state_folder_by_default(void **state)
{
	struct analyzer_config config;
	struct rm_error error = { 0 };

	write_config("state_folder: /x\n");
	assert_int_equal(analyzer_config_read(&config, path, &error), 0);
	assert_string_equal(config.history_folder, "/x/history");
	analyzer_config_clear(&config);
	write_config("state_folder: \"\"\n");
	assert_int_equal(analyzer_config_read(&config, path, &error), 0);
	assert_string_equal(config.history_folder, "");
	analyzer_config_clear(&config);
	write_config("history:\n  folder: /y\n");
	assert_int_equal(analyzer_config_read(&config, path, &error), 0);
	assert_string_equal(config.history_folder, "/y");
	analyzer_config_clear(&config);
	unlink(path);
}

static void
errors_name_file_line_and_option(void **state)
{
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
	refused("influx:\n  url: localhost:8086\n",
	    "2:8: influx.url: expected http://... or https://...");
	refused("influx:\n  url: http://db:8086/write?db=x\n",
	    "2:8: influx.url: expected a base URL: nothing with \"?\" or \"#\"");
	refused("alerts:\n  webhooks: [\"http://a\", b]\n",
	    "2:26: alerts.webhooks[1]: expected http://... or https://...");
	refused("alerts:\n  alertmanagers: [\"http:///x\"]\n",
	    "2:19: alerts.alertmanagers[0]: expected http://... or https://...");
	refused("alerts:\n  alertmanagers: [\"http://am/?x=1\"]\n",
	    "2:19: alerts.alertmanagers[0]: expected a base URL: nothing with \"?\"");
	refused("alerts:\n  page_url: rackmesh.example\n",
	    "2:13: alerts.page_url: expected http://... or https://...");
	refused("alerts:\n  runbook_url: verdicts.md\n",
	    "2:16: alerts.runbook_url: expected http://... or https://...");
	refused("alerts:\n  labels: [team=a, place=b]\n",
	    "2:20: alerts.labels[1]: Rackmesh sets this label itself; choose another "
	    "name");
	refused("alerts:\n  labels: [team=a, team=b]\n",
	    "2:20: alerts.labels[1]: listed twice; remove one");
	refused("influx:\n  password_file: /p\n",
	    "2:18: influx.password_file: influx.user "
	    "is missing; a password needs a user");
	refused("influx:\n  user: u\n  token_file: /t\n",
	    "3:15: influx.token_file: give a token, or a user with a password, not "
	    "both");
}

static void
values_that_the_table_refuses_are_refused(void **state)
{
	struct analyzer_config config;
	struct rm_error error = { 0 };

	write_config("influx:\n  version: 3\n");
	assert_true(analyzer_config_read(&config, path, &error) < 0);
	assert_non_null(strstr(error.text, ":2:12: influx.version: "));
	write_config("max_agregators: 5\n");
	assert_true(analyzer_config_read(&config, path, &error) < 0);
	assert_non_null(strstr(error.text, "did you mean \"max_aggregators\""));
	unlink(path);
}

static void
the_example_is_good(void **state)
{
	struct analyzer_config config;
	struct rm_error error = { 0 };

	if (analyzer_config_read(&config, EXAMPLE, &error) < 0)
		fail_msg("%s", error.text);
	analyzer_config_clear(&config);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_defaults_are_good),
		cmocka_unit_test(a_pasted_url_of_the_database_is_cut_to_its_base),
		cmocka_unit_test(the_history_is_in_the_state_folder_by_default),
		cmocka_unit_test(errors_name_file_line_and_option),
		cmocka_unit_test(values_that_the_table_refuses_are_refused),
		cmocka_unit_test(the_example_is_good),
	};

	return cmocka_run_group_tests_name("analyzer_config", tests, NULL, NULL);
}
