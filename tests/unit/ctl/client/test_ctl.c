/* Exit codes and messages of the commands, against a simulated daemon. */
#include "ctl/client/ctl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/loopback.h"

/* stands for the function in main.c */
int
ctl_usage(const char *format, ...)
{
	return CTL_USAGE;
}

static const char *asked; /* expected request; NULL: any */

/* Starts a process that answers one request with this status and body. */
static pid_t
play_daemon(int *port, const char *status, const char *body)
{
	int listener = loopback_listen(port);
	pid_t pid = fork();
	char text[2048];
	int fd;

	assert_true(pid >= 0);
	if (pid > 0) {
		close(listener);
		return pid;
	}
	fd = accept(listener, NULL, NULL);
	if (read(fd, text, sizeof(text)) <= 0)
		_exit(1);
	if (asked != NULL && strncmp(text, asked, strlen(asked)) != 0)
		status = "404 Not Found";
	snprintf(text, sizeof(text),
	    "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s", status,
	    strlen(body), body);
	_exit(write(fd, text, strlen(text)) < 0);
}

struct question {
	const char *through;
	int (*command)(const struct ctl *ctl);
	int argc;
	const char *const *argv;
	const char *status, *body;
};

static int
ask(const struct question *question, bool json)
{
	struct ctl ctl = { .argc = question->argc,
		.argv = (char **)(uintptr_t)question->argv,
		.through = question->through,
		.json = json };
	char address[32];
	int port, code, exited;
	pid_t pid;

	pid = play_daemon(&port, question->status, question->body);
	snprintf(address, sizeof(address), "127.0.0.1:%d", port);
	ctl.aggregator = ctl.controller = ctl.analyzer = ctl.agent = address;
	ctl.controller_changes = address;
	code = question->command(&ctl);
	if (code == CTL_USAGE) /* no request was sent */
		kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &exited, 0), pid);
	return code;
}

/* With --json, standard output is one JSON value and nothing else, even if the answer
 * is not usable. */
static int
ask_json(const struct question *question)
{
	FILE *file = tmpfile();
	int out = dup(STDOUT_FILENO), code;
	json_t *printed;

	assert_non_null(file);
	fflush(stdout);
	assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
	code = ask(question, true);
	fflush(stdout);
	assert_true(dup2(out, STDOUT_FILENO) >= 0);
	close(out);
	rewind(file);
	printed = json_loadf(file, 0, NULL);
	if (code == CTL_GOOD || code == CTL_PROBLEM)
		assert_non_null(printed);
	json_decref(printed);
	fclose(file);
	return code;
}

/* Runs the command with and without --json: the exit code must be the same. */
static int
run_through(const char *through, int (*command)(const struct ctl *ctl), int argc,
    const char *const *argv, const char *status, const char *body)
{
	const struct question question = { through, command, argc, argv, status, body };
	const int code = ask(&question, false);

	assert_int_equal(ask_json(&question), code);
	return code;
}

static int
run(int (*command)(const struct ctl *ctl), int argc, const char *const *argv,
    const char *status, const char *body)
{
	return run_through(NULL, command, argc, argv, status, body);
}

static int
rnics(const char *body)
{
	return run(ctl_rnics, 0, NULL, "200 OK", body);
}

static void
rnics_that_are_not_known_to_be_good_give_exit_status_1(void **state)
{
	assert_int_equal(rnics("{\"rnics\": [{\"health\": \"good\"}]}"), CTL_GOOD);
	assert_int_equal(rnics("{\"rnics\": [{\"health\": \"bad\"}]}"), CTL_PROBLEM);
	/* "unknown" is not healthy. */
	assert_int_equal(rnics("{\"rnics\": [{\"health\": \"good\"}, "
			       "{\"health\": \"unknown\"}]}"),
	    CTL_PROBLEM);
	/* A misspelt name of a ToR gives an empty list. */
	assert_int_equal(rnics("{\"rnics\": []}"), CTL_PROBLEM);
}

static int
hosts(int argc, const char *const *argv, const char *body)
{
	return run(ctl_hosts, argc, argv, "200 OK", body);
}

static void
hosts_that_are_neither_well_nor_paused_give_exit_status_1(void **state)
{
	const char *const tor[] = { "--tor", "t 1" };
	const char *const wrong[] = { "t1" };

	assert_int_equal(hosts(0, NULL,
			     "{\"hosts\": [{\"state\": \"ok\"}, "
			     "{\"state\": \"paused\"}]}"),
	    CTL_GOOD);
	assert_int_equal(hosts(2, tor, "{\"hosts\": [{\"state\": \"ok\"}]}"), CTL_GOOD);
	assert_int_equal(
	    hosts(0, NULL, "{\"hosts\": [{\"state\": \"unknown\"}]}"), CTL_PROBLEM);
	assert_int_equal(hosts(0, NULL, "{\"hosts\": [{}]}"), CTL_PROBLEM);
	assert_int_equal(hosts(0, NULL, "{\"hosts\": []}"), CTL_PROBLEM);
	assert_int_equal(hosts(0, NULL, "{}"), CTL_NO_ANSWER);
	assert_int_equal(hosts(1, wrong, "{}"), CTL_USAGE);
}

static void
services_are_requested_from_an_aggregator_or_an_agent(void **state)
{
	static const char body[] =
	    "{\"flow_count\": 2, \"services\": [{\"service\": \"unit:a\", "
	    "\"src_port\": 50000, \"path\": null}], \"hosts\": [{\"host\": \"h1\", "
	    "\"tracing\": false, \"missing\": \"no BTF\", \"unresolved_qps\": 3}]}";
	const char *const filters[] = { "--host", "h1", "--service", "unit:a b" };
	const char *const wrong[] = { "--tor", "t1" };
	const char *const half[] = { "--host" };

	assert_int_equal(run(ctl_services, 0, NULL, "200 OK", body), CTL_GOOD);
	assert_int_equal(run(ctl_services, 4, filters, "200 OK", body), CTL_GOOD);
	assert_int_equal(
	    run_through("agent", ctl_services, 0, NULL, "200 OK", body), CTL_GOOD);
	assert_int_equal(
	    run_through("analyzer", ctl_services, 0, NULL, "200 OK", body), CTL_USAGE);
	assert_int_equal(
	    run_through("agent", ctl_services, 2, filters, "200 OK", body), CTL_USAGE);
	assert_int_equal(run(ctl_services, 2, wrong, "200 OK", body), CTL_USAGE);
	assert_int_equal(run(ctl_services, 1, half, "200 OK", body), CTL_USAGE);
	assert_int_equal(run(ctl_services, 0, NULL, "200 OK", "{}"), CTL_NO_ANSWER);
}

static void
counters_are_requested_from_the_agent(void **state)
{
	static const char body[] =
	    "{\"enabled\": true, \"ports\": [{\"device\": \"mlx5_0\", \"port\": 1, "
	    "\"error\": null, \"counters\": [{\"name\": \"cnp_tx\", \"unit\": "
	    "\"packets\", \"total\": 5, \"delta\": 1}, {\"name\": \"port_state\", "
	    "\"unit\": \"state\", \"value\": 4}, {\"name\": \"pfc_rx_frames\", "
	    "\"priority\": 3, \"unit\": \"frames\", \"total\": 0, \"delta\": 0}]}]}";
	const char *const one[] = { "mlx5_0", "--all" };
	const char *const wrong[] = { "--tor", "t1" };

	assert_int_equal(run(ctl_counters, 0, NULL, "200 OK", body), CTL_GOOD);
	assert_int_equal(run(ctl_counters, 2, one, "200 OK", body), CTL_GOOD);
	assert_int_equal(run(ctl_counters, 2, wrong, "200 OK", body), CTL_USAGE);
	assert_int_equal(run(ctl_counters, 0, NULL, "200 OK", "{}"), CTL_NO_ANSWER);
}

static void
a_switch_that_could_not_be_read_gives_exit_status_1(void **state)
{
	static const char up[] =
	    "{\"object_count\": 1, \"switches\": [{\"tor\": \"t1\", \"up\": true, "
	    "\"error\": null, \"objects\": [{\"part\": \"queue\", \"port\": "
	    "\"Ethernet0\", \"index\": 3, \"counters\": [{\"name\": "
	    "\"queue_ecn_marked\", \"unit\": \"packets\", \"total\": 5, \"delta\": 1}, "
	    "{\"name\": \"pfcwd_stormed\", \"unit\": \"0 or 1\", \"value\": 1}]}]}]}";
	static const char down[] =
	    "{\"object_count\": 0, \"switches\": [{\"tor\": \"t1\", \"up\": false, "
	    "\"error\": \"Connection refused\", \"objects\": []}]}";
	static const char none[] = "{\"object_count\": 0, \"switches\": []}";
	static const char no_port[] =
	    "{\"object_count\": 0, \"switches\": [{\"tor\": \"t1\", \"up\": true, "
	    "\"error\": null, \"objects\": []}]}";
	const char *const port[] = { "t1", "Ethernet0", "--all" };
	const char *const wrong[] = { "t1", "Ethernet0", "3" };

	assert_int_equal(run(ctl_switch, 0, NULL, "200 OK", up), CTL_GOOD);
	assert_int_equal(run(ctl_switch, 3, port, "200 OK", up), CTL_GOOD);
	assert_int_equal(run(ctl_switch, 3, port, "200 OK", down), CTL_PROBLEM);
	assert_int_equal(run(ctl_switch, 3, wrong, "200 OK", up), CTL_USAGE);
	assert_int_equal(run(ctl_switch, 1, port, "200 OK", none), CTL_PROBLEM);
	assert_int_equal(run(ctl_switch, 2, port, "200 OK", no_port), CTL_PROBLEM);
	assert_int_equal(run(ctl_switch, 0, NULL, "200 OK", "{}"), CTL_NO_ANSWER);
}

static void
an_esxi_host_with_a_finding_or_that_could_not_be_read_gives_exit_status_1(void **state)
{
	static const char well[] =
	    "{\"nic_count\": 1, \"hypervisors\": [{\"host\": \"esx1\", \"up\": true, "
	    "\"error\": null, \"nics\": [{\"nic\": \"vmnic5\", \"findings\": [], "
	    "\"counters\": [{\"name\": \"pfc_rx_frames\", \"priority\": 3, \"unit\": "
	    "\"frames\", \"total\": 5, \"delta\": 1}, {\"name\": \"link_up\", "
	    "\"unit\": \"0 or 1\", \"value\": 1}]}]}]}";
	static const char paused[] =
	    "{\"nic_count\": 1, \"hypervisors\": [{\"host\": \"esx1\", \"up\": true, "
	    "\"error\": null, \"nics\": [{\"nic\": \"vmnic5\", \"findings\": "
	    "[{\"finding\": \"pause-storm\", \"text\": \"vmnic5 pauses\"}], "
	    "\"counters\": []}]}]}";
	static const char down[] =
	    "{\"nic_count\": 0, \"hypervisors\": [{\"host\": \"esx1\", \"up\": "
	    "false, \"error\": \"Connection refused\", \"nics\": []}]}";
	static const char fresh[] =
	    "{\"nic_count\": 0, \"hypervisors\": [{\"host\": \"esx1\", \"up\": "
	    "false, \"error\": null, \"age_ms\": null, \"nics\": []}]}";
	static const char none[] = "{\"nic_count\": 0, \"hypervisors\": []}";
	static const char no_nic[] =
	    "{\"nic_count\": 0, \"hypervisors\": [{\"host\": \"esx1\", \"up\": "
	    "true, \"error\": null, \"nics\": []}]}";
	const char *const one[] = { "esx1", "vmnic5", "--all" };
	const char *const wrong[] = { "esx1", "vmnic5", "3" };

	assert_int_equal(run(ctl_hypervisors, 0, NULL, "200 OK", well), CTL_GOOD);
	assert_int_equal(run(ctl_hypervisors, 3, one, "200 OK", well), CTL_GOOD);
	assert_int_equal(run(ctl_hypervisors, 3, one, "200 OK", paused), CTL_PROBLEM);
	assert_int_equal(run(ctl_hypervisors, 0, NULL, "200 OK", down), CTL_PROBLEM);
	assert_int_equal(run(ctl_hypervisors, 3, wrong, "200 OK", well), CTL_USAGE);
	assert_int_equal(run(ctl_hypervisors, 0, NULL, "200 OK", fresh), CTL_PROBLEM);
	assert_int_equal(run(ctl_hypervisors, 1, one, "200 OK", none), CTL_PROBLEM);
	assert_int_equal(run(ctl_hypervisors, 0, NULL, "200 OK", none), CTL_GOOD);
	assert_int_equal(run(ctl_hypervisors, 2, one, "200 OK", no_nic), CTL_PROBLEM);
	assert_int_equal(run(ctl_hypervisors, 0, NULL, "200 OK", "{}"), CTL_NO_ANSWER);
}

static int
rnics_through(const char *through, const char *body)
{
	return run_through(through, ctl_rnics, 0, NULL, "200 OK", body);
}

static void
an_rnic_of_an_agent_without_a_link_gives_exit_status_1(void **state)
{
	assert_int_equal(
	    rnics_through("agent", "{\"rnics\": [{\"up\": true, \"link\": \"up\"}, "
				   "{\"up\": true, \"link\": \"unknown\"}]}"),
	    CTL_GOOD);
	assert_int_equal(
	    rnics_through("agent", "{\"rnics\": [{\"up\": true, \"link\": \"down\"}]}"),
	    CTL_PROBLEM);
	assert_int_equal(
	    rnics_through("agent", "{\"rnics\": [{\"up\": false}]}"), CTL_PROBLEM);
	assert_int_equal(rnics_through("controller", "{}"), CTL_USAGE);
	assert_int_equal(
	    rnics_through("agent", "{\"rnics\": [{\"up\": true, \"link\": \"up\"}], "
				   "\"slowed\": \"cpu\", \"slowed_permille\": 500}"),
	    CTL_GOOD);
}

static void
diagnoses_are_requested_from_the_aggregator(void **state)
{
	static const char body[] =
	    "{\"rnics_reported\": 1, \"finding_count\": 1, \"findings\": [{\"host\": "
	    "\"h1\", \"device\": \"mlx5_0\", \"diagnosis\": \"cable-errors\", "
	    "\"since\": "
	    "\"2026-01-01T00:00:00Z\", \"evidence\": \"its port counted 812 symbol "
	    "errors in 5 s\"}], \"rnics\": [{\"host\": \"h1\", \"device\": \"mlx5_0\", "
	    "\"not_known\": {\"global-pause\": \"pfc_enabled\"}}]}";
	static const char none[] = "{\"rnics_reported\": 0, \"finding_count\": 0, "
				   "\"findings\": [], \"rnics\": []}";
	const char *one[] = { "h 1", "mlx5_0", "--not-known" };
	const char *wrong[] = { "h1", "--sideways" };
	const char *whose[] = { "--not-known" };

	assert_int_equal(run(ctl_diagnosis, 0, NULL, "200 OK", body), CTL_GOOD);
	assert_int_equal(run(ctl_diagnosis, 0, NULL, "200 OK", none), CTL_GOOD);
	assert_int_equal(run(ctl_diagnosis, 2, one, "200 OK", body), CTL_GOOD);
	assert_int_equal(run(ctl_diagnosis, 3, one, "200 OK", body), CTL_GOOD);
	assert_int_equal(run(ctl_diagnosis, 2, wrong, "200 OK", body), CTL_USAGE);
	assert_int_equal(run(ctl_diagnosis, 1, whose, "200 OK", body), CTL_USAGE);
	assert_int_equal(run(ctl_diagnosis, 0, NULL, "200 OK", "{}"), CTL_NO_ANSWER);
}

static void
a_proof_is_requested_from_the_aggregator_by_rack(void **state)
{
	static const char body[] =
	    "{\"racks\": [{\"tor\": \"tor 1\", \"answers\": [{\"question\": "
	    "\"ecn\", \"state\": \"working\", \"sentence\": \"Packets are "
	    "marked.\"}], \"ratios\": [{\"name\": \"host_ce\", \"pct\": null, "
	    "\"known\": false, \"error\": \"no RNIC counts it\"}], "
	    "\"priorities\": [{\"priority\": 3, \"host\": {\"frames_received\": "
	    "1, \"frames_sent\": 2, \"paused_pct\": 1.5, \"paused\": \"h1/r0\", "
	    "\"pausing_pct\": null}, \"switch\": {}}]}]}";
	const char *one[] = { "--proof", "tor 1" };
	const char *both[] = { "--proof", "--not-known" };
	const char *many[] = { "--proof", "tor1", "tor2" };

	assert_int_equal(run(ctl_diagnosis, 1, one, "200 OK", body), CTL_GOOD);
	assert_int_equal(run(ctl_diagnosis, 2, one, "200 OK", body), CTL_GOOD);
	assert_int_equal(run(ctl_diagnosis, 2, both, "200 OK", body), CTL_USAGE);
	assert_int_equal(run(ctl_diagnosis, 3, many, "200 OK", body), CTL_USAGE);
	assert_int_equal(
	    run(ctl_diagnosis, 1, one, "200 OK", "{\"racks\": []}"), CTL_NO_ANSWER);
	assert_int_equal(run(ctl_diagnosis, 1, one, "200 OK", "{}"), CTL_NO_ANSWER);
}

static void
a_proof_that_fails_gives_exit_status_1(void **state)
{
	static const char body[] =
	    "{\"racks\": [{\"tor\": \"tor1\", \"answers\": [{\"question\": \"ecn\", "
	    "\"state\": \"not-known\", \"sentence\": \"\"}]}, {\"tor\": \"tor2\", "
	    "\"answers\": [{\"question\": \"pfc\", \"state\": \"%s\", "
	    "\"sentence\": \"\"}]}]}";
	static const char *const states[] = { "working", "not-needed", "not-known" };
	const char *all[] = { "--proof" };
	char answer[512];

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		snprintf(answer, sizeof(answer), body, states[i]);
		assert_int_equal(
		    run(ctl_diagnosis, 1, all, "200 OK", answer), CTL_GOOD);
	}
	snprintf(answer, sizeof(answer), body, "failing");
	assert_int_equal(run(ctl_diagnosis, 1, all, "200 OK", answer), CTL_PROBLEM);
}

static void
an_open_incident_gives_exit_status_1_and_a_resolved_one_0(void **state)
{
	assert_int_equal(run(ctl_incidents, 0, NULL, "200 OK",
			     "{\"incidents\": [{\"state\": \"resolved\"}]}"),
	    CTL_GOOD);
	assert_int_equal(run(ctl_incidents, 0, NULL, "200 OK",
			     "{\"incidents\": [{\"state\": \"open\"}]}"),
	    CTL_PROBLEM);
	assert_int_equal(
	    run(ctl_racks, 0, NULL, "200 OK", "{\"racks\": [{\"incidents_open\": 1}]}"),
	    CTL_PROBLEM);
}

static void
mixed_versions_give_exit_status_1(void **state)
{
	static const char row[] = "{\"component\": \"host-agent\", \"name\": \"h1\", "
				  "\"version\": null, \"connected\": true}";
	char body[512];

	snprintf(body, sizeof(body),
	    "{\"mixed\": false, \"counts\": {\"unknown\": 1}, \"versions\": [%s]}",
	    row);
	assert_int_equal(run(ctl_versions, 0, NULL, "200 OK", body), CTL_GOOD);
	snprintf(body, sizeof(body),
	    "{\"mixed\": true, \"counts\": {\"unknown\": 1, \"1.0\": 4}, "
	    "\"versions\": [%s]}",
	    row);
	assert_int_equal(run(ctl_versions, 0, NULL, "200 OK", body), CTL_PROBLEM);
	assert_int_equal(run(ctl_versions, 0, NULL, "200 OK", "{}"), CTL_NO_ANSWER);
	assert_int_equal(
	    run(ctl_versions, 0, NULL, "409 Conflict", "{\"error\": \"standby\"}"),
	    CTL_NO_ANSWER);
}

static void
a_refusal_or_the_answer_of_another_daemon_is_an_error(void **state)
{
	const char *const argv[] = { "h9/r0" };

	assert_int_equal(
	    run(ctl_drill, 1, argv, "404 Not Found", "{\"error\": \"no such RNIC\"}"),
	    CTL_NO_ANSWER);
	assert_int_equal(rnics("{}"), CTL_NO_ANSWER);
	assert_int_equal(rnics("<html>"), CTL_NO_ANSWER);
	assert_int_equal(rnics("{\"incidents\": 3}"), CTL_NO_ANSWER);
	assert_int_equal(run(ctl_incidents, 0, NULL, "200 OK", "{}"), CTL_NO_ANSWER);
	assert_int_equal(run(ctl_pause, 0, NULL, "403 Forbidden", "{}"), CTL_NO_ANSWER);
}

static void
numbers_are_checked_before_a_request_is_sent(void **state)
{
	const char *const empty[] = { "h1/r0", "--seconds", "" };
	const char *const arguments[] = { "h1/r0", "--limit", "1x" };

	assert_int_equal(run(ctl_drill, 3, empty, "200 OK", "{}"), CTL_USAGE);
	assert_int_equal(run(ctl_drill, 3, arguments, "200 OK", "{}"), CTL_USAGE);
}

#define MESH_COLUMNS                                                         \
	"\"columns\": [\"from\", \"to\", \"sent\", \"ok\", \"no_reply\", "   \
	"\"late_reply\", \"not_sent\", \"lost_forward\", \"lost_reverse\", " \
	"\"rtt_p50_ns\", \"rtt_p95_ns\", \"rtt_p99_ns\", \"last_seen_ms\"]"

/* Only incidents judge losses, so losses alone keep exit code 0. Pairs with indexes
 * outside of the list are ignored. */
static void
a_mesh_gives_exit_status_1_only_without_probes(void **state)
{
	static const char *const arguments[][2] = { { "t1" }, { "t1", "--rtt" },
		{ "t1", "--hour" } };
	static const char rnics[] = "{\"tor\": \"t1\", \"rnics\": [{\"host\": \"h1\"}, "
				    "{\"host\": \"h2\"}], \"pairs\": [";
	static const struct {
		const char *pairs;
		int code;
	} cases[] = {
		{ "[0,1,10,0,10,0,0,null,null,null,null,null,5]", CTL_GOOD },
		{ "[0,1,10,10,0,0,0,0,0,2000,3000,4000,5], [9,-1,7], 3, []", CTL_GOOD },
		{ "", CTL_PROBLEM },
	};
	char body[1024];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(body, sizeof(body), "%s%s], " MESH_COLUMNS "}", rnics,
		    cases[i].pairs);
		for (size_t w = 0; w < 3; w++)
			assert_int_equal(
			    run(ctl_mesh, w == 0 ? 1 : 2, arguments[w], "200 OK", body),
			    cases[i].code);
	}
	assert_int_equal(
	    run(ctl_mesh, 1, arguments[0], "200 OK", "{\"rnics\": [], \"pairs\": []}"),
	    CTL_NO_ANSWER);
	assert_int_equal(
	    run(ctl_mesh, 1, arguments[0], "501 Not Implemented", "{}"), CTL_NO_ANSWER);
}

/* An answer without pairs_probed is of an older analyzer, which does not limit the
 * list. */
static void
pairs_of_racks_give_exit_status_1_only_without_probes(void **state)
{
	static const char *const top[] = { "--region", "lab", "--top", "5" };
	static const char *const bad[][2] = { { "--top", "0" }, { "--top", "1001" },
		{ "--top", "5x" }, { "--region", NULL }, { "--top", NULL } };
	static const char tors[] =
	    "{\"tors\": [{\"region\": \"lab\", \"tor\": \"t1\"}], "
	    "\"pairs\": [";
	static const struct {
		const char *pairs, *more;
		int code;
	} cases[] = {
		{ "[0,0,10,0,10,0,0,null,null,null,null,null,5]", "1", CTL_GOOD },
		{ "", "0", CTL_PROBLEM },
		{ "", "null", CTL_NO_ANSWER },
		{ "[0,1,10,0,10,0,0,null,null,null,null,null,5]", "1", CTL_NO_ANSWER },
		{ "[-1,0,10]", "1", CTL_NO_ANSWER },
	};
	char body[1024];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(body, sizeof(body),
		    "%s%s], \"pairs_probed\": %s, " MESH_COLUMNS "}", tors,
		    cases[i].pairs, cases[i].more);
		assert_int_equal(run(ctl_mesh, 4, top, "200 OK", body), cases[i].code);
		assert_int_equal(run(ctl_mesh, 0, NULL, "200 OK", body), cases[i].code);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(
		    run(ctl_mesh, bad[i][1] != NULL ? 2 : 1, bad[i], "200 OK", "{}"),
		    CTL_USAGE);
}

static void
a_region_is_well_only_when_every_rack_is_known_to_be(void **state)
{
	static const struct {
		const char *body;
		int code;
	} cases[] = {
		{ "{\"racks\": [{\"tor\": \"t1\", \"state\": \"ok\"}]}", CTL_GOOD },
		{ "{\"racks\": [{\"tor\": \"t1\", \"state\": \"ok\"}, {\"tor\": "
		  "\"t2\", "
		  "\"state\": \"blind\"}]}",
		    CTL_PROBLEM },
		{ "{\"racks\": [{\"tor\": \"t1\", \"state\": \"a new word\"}]}",
		    CTL_PROBLEM },
		{ "{\"racks\": []}", CTL_PROBLEM },
		{ "{\"racks\": [{\"tor\": \"t1\", \"state\": \"ok\"}], \"trouble\": "
		  "\"no disk\"}",
		    CTL_PROBLEM },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
		    run(ctl_health, 0, NULL, "200 OK", cases[i].body), cases[i].code);
}

static void
an_incident_is_explained_and_gives_exit_status_1_while_it_is_open(void **state)
{
	const char *const argv[] = { "00ff" };

	assert_int_equal(
	    run(ctl_explain, 1, argv, "200 OK", "{\"state\": \"open\"}"), CTL_PROBLEM);
	assert_int_equal(
	    run(ctl_explain, 1, argv, "200 OK",
		"{\"state\": \"resolved\", \"evidence\": {\"to_part\": {\"sent\": 9, "
		"\"arrived\": 0}, \"ruled_out\": [\"spine2\"], \"samples\": "
		"[\"a>b:1\"]}}"),
	    CTL_GOOD);
	assert_int_equal(
	    run(ctl_explain, 1, argv, "404 Not Found", "{}"), CTL_NO_ANSWER);
	assert_int_equal(run(ctl_explain, 0, NULL, "200 OK", "{}"), CTL_USAGE);
}

static void
a_region_without_a_leader_gives_exit_status_1(void **state)
{
	assert_int_equal(run(ctl_leader, 0, NULL, "200 OK",
			     "{\"leader\": \"c1\", \"leading\": true}"),
	    CTL_GOOD);
	assert_int_equal(
	    run(ctl_leader, 0, NULL, "200 OK", "{\"leader\": \"\"}"), CTL_PROBLEM);
}

static void
an_invalid_brake_is_not_sent(void **state)
{
	static const char *const bad[][2] = { { "stop", NULL }, { "rate", "0" },
		{ "rate", "101" }, { "rate", "nan" }, { "rate", "ten" } };
	const char *const on[] = { "on" }, *const half[] = { "rate", "50%" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(
		    run(ctl_brake, bad[i][1] == NULL ? 1 : 2, bad[i], "200 OK", "{}"),
		    CTL_USAGE);
	assert_int_equal(
	    run(ctl_brake, 1, on, "200 OK", "{\"rate_permille\": 0}"), CTL_GOOD);
	assert_int_equal(
	    run(ctl_brake, 2, half, "200 OK", "{\"rate_permille\": 500}"), CTL_GOOD);
	assert_int_equal(
	    run(ctl_brake, 1, on, "409 Conflict", "{\"error\": \"standby: c1 leads\"}"),
	    CTL_NO_ANSWER);
}

/* Ten minutes of queries would show no more. */
static void
a_rack_of_an_aggregator_that_does_not_answer_is_not_watched(void **state)
{
	const char *const arguments[] = { "tor1", "--for", "2s" };

	assert_int_equal(run(ctl_accept, 3, arguments, "503 Service Unavailable", "{}"),
	    CTL_NO_ANSWER);
}

static void
names_are_checked_before_a_request_is_sent(void **state)
{
	const char *const option[] = { "--region" };

	assert_int_equal(run(ctl_explain, 1, option, "200 OK", "{}"), CTL_USAGE);
	assert_int_equal(run(ctl_pinglist, 1, option, "200 OK", "{}"), CTL_USAGE);
	assert_int_equal(run(ctl_resolve, 1, option, "200 OK", "{}"), CTL_USAGE);
}

static void
arguments_of_switch_select_racks_and_ports(void **state)
{
	const char *const arguments[] = { "tor 1", "--all", "Ethernet1/2" };
	static const char *const answer = "{\"switches\": [], \"racks\": []}";

	asked = "GET /v1/switches?limit=2000&all=1&tor=tor%201&port=Ethernet1%2F2 ";
	assert_int_equal(run(ctl_switch, 3, arguments, "200 OK", answer), CTL_PROBLEM);
	asked = "GET /v1/switches?limit=2000 ";
	assert_int_equal(run(ctl_switch, 0, NULL, "200 OK", answer), CTL_GOOD);
	assert_int_equal(
	    run(ctl_switch, 1, arguments, "200 OK", answer), CTL_NO_ANSWER);
	asked = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    rnics_that_are_not_known_to_be_good_give_exit_status_1),
		cmocka_unit_test(
		    hosts_that_are_neither_well_nor_paused_give_exit_status_1),
		cmocka_unit_test(
		    an_rnic_of_an_agent_without_a_link_gives_exit_status_1),
		cmocka_unit_test(services_are_requested_from_an_aggregator_or_an_agent),
		cmocka_unit_test(counters_are_requested_from_the_agent),
		cmocka_unit_test(diagnoses_are_requested_from_the_aggregator),
		cmocka_unit_test(a_proof_is_requested_from_the_aggregator_by_rack),
		cmocka_unit_test(a_proof_that_fails_gives_exit_status_1),
		cmocka_unit_test(a_switch_that_could_not_be_read_gives_exit_status_1),
		cmocka_unit_test(
		    an_esxi_host_with_a_finding_or_that_could_not_be_read_gives_exit_status_1),
		cmocka_unit_test(
		    an_open_incident_gives_exit_status_1_and_a_resolved_one_0),
		cmocka_unit_test(arguments_of_switch_select_racks_and_ports),
		cmocka_unit_test(mixed_versions_give_exit_status_1),
		cmocka_unit_test(a_refusal_or_the_answer_of_another_daemon_is_an_error),
		cmocka_unit_test(numbers_are_checked_before_a_request_is_sent),
		cmocka_unit_test(a_region_is_well_only_when_every_rack_is_known_to_be),
		cmocka_unit_test(a_mesh_gives_exit_status_1_only_without_probes),
		cmocka_unit_test(pairs_of_racks_give_exit_status_1_only_without_probes),
		cmocka_unit_test(
		    an_incident_is_explained_and_gives_exit_status_1_while_it_is_open),
		cmocka_unit_test(a_region_without_a_leader_gives_exit_status_1),
		cmocka_unit_test(an_invalid_brake_is_not_sent),
		cmocka_unit_test(
		    a_rack_of_an_aggregator_that_does_not_answer_is_not_watched),
		cmocka_unit_test(names_are_checked_before_a_request_is_sent),
	};

	return cmocka_run_group_tests_name("ctl", tests, NULL, NULL);
}
