/*
 * Answers of daemons and databases to rackmeshctl: this file replaces libcurl. Every
 * command gets any answers. It ends with one of its exit statuses, and prints no
 * control sequence of a terminal.
 *
 * Input: the command and its options; then the answers in their order, each a status
 * and a text.
 */
#include <curl/curl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/script.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/fake_world.h"

#define MAX_ARGUMENTS 6

/* ---- libcurl ---- */

static struct {
	struct fuzz_bytes answers;
	unsigned asked;
	long status;
	size_t (*write)(char *data, size_t size, size_t count, void *arg);
	void *arg;
} net;

static struct fuzz_bytes
take_text(void)
{
	size_t len = fuzz_two(&net.answers) % 4096;
	struct fuzz_bytes text;

	if (len > net.answers.left)
		len = net.answers.left;
	text = (struct fuzz_bytes){ net.answers.at, len };
	net.answers.at += len;
	net.answers.left -= len;
	return text;
}

CURL *
curl_easy_init(void)
{
	return (CURL *)&net;
}

CURLcode(curl_easy_setopt)(CURL *curl, CURLoption option, ...)
{
	va_list args;

	va_start(args, option);
	if (option == CURLOPT_WRITEFUNCTION)
		net.write = va_arg(args, size_t(*)(char *, size_t, size_t, void *));
	else if (option == CURLOPT_WRITEDATA)
		net.arg = va_arg(args, void *);
	va_end(args);
	return CURLE_OK;
}

CURLcode
curl_easy_perform(CURL *curl)
{
	static const long statuses[] = { 200, 200, 200, 200, 404, 503, 400, 204, 403 };
	const uint8_t what = fuzz_u8(&net.answers);
	struct fuzz_bytes text;
	size_t len;

	net.status = statuses[what % 9];
	if (++net.asked > 8 || what >= 250)
		return CURLE_COULDNT_CONNECT;
	text = take_text();
	/* The answer arrives in two pieces. */
	len = text.left / 2;
	if ((len > 0 && net.write((char *)text.at, 1, len, net.arg) != len) ||
	    (text.left > 0 && net.write((char *)text.at + len, 1, text.left - len,
				  net.arg) != text.left - len))
		return CURLE_WRITE_ERROR;
	return CURLE_OK;
}

CURLcode(curl_easy_getinfo)(CURL *curl, CURLINFO info, ...)
{
	va_list args;

	va_start(args, info);
	if (info == CURLINFO_RESPONSE_CODE)
		*va_arg(args, long *) = net.status;
	else
		*va_arg(args, const char **) =
		    net.status == 403 ? "text/plain" : "application/json";
	va_end(args);
	return CURLE_OK;
}

void
curl_easy_cleanup(CURL *curl)
{
}

/* ---- replaces main's ---- */

int
ctl_usage(const char *format, ...)
{
	return CTL_USAGE;
}

/* ---- commands ---- */

static const struct {
	int (*run)(const struct ctl *ctl);
	const char *arguments[MAX_ARGUMENTS];
} commands[] = {
	{ ctl_health, { NULL } },
	{ ctl_incidents, { NULL } },
	{ ctl_incidents, { "--open" } },
	{ ctl_explain, { "0000000000000001" } },
	{ ctl_explain, { "1" } },
	{ ctl_racks, { NULL } },
	{ ctl_versions, { NULL } },
	{ ctl_rnics, { NULL } },
	{ ctl_rnics, { "--tor", "t1" } },
	{ ctl_hosts, { "--tor", "t1" } },
	{ ctl_drill, { "h1/r0" } },
	{ ctl_drill, { "h1/r0", "--seconds", "5", "--limit", "3" } },
	{ ctl_history, { "h1/r0" } },
	{ ctl_history, { "t1", "--since", "2h" } },
	{ ctl_history, { "init", "--url", "http://d" } },
	{ ctl_history, { "0c42:a103:0065:aabc/1" } },
	{ ctl_history, { "t1", "--since", "90m", "--at", "2024-01-01T00:00Z" } },
	{ ctl_topology, { "check", "FILE" } },
	{ ctl_topology, { "show", "FILE" } },
	{ ctl_topology, { "import", "FILE" } },
	{ ctl_pinglist, { "h1/r0" } },
	{ ctl_services, { NULL } },
	{ ctl_services, { "--host", "h1", "--service", "pod:a" } },
	{ ctl_resolve, { "10.0.0.1" } },
	{ ctl_leader, { NULL } },
	{ ctl_topology, { "show" } },
	{ ctl_topology, { "export" } },
	{ ctl_brake, { NULL } },
	{ ctl_brake, { "rate", "12.5" } },
	{ ctl_brake, { "on" } },
	{ ctl_brake, { "off" } },
	{ ctl_pause, { NULL } },
	{ ctl_resume, { NULL } },
	{ ctl_mesh, { "t1" } },
	{ ctl_mesh, { "t1", "--rtt" } },
	{ ctl_counters, { NULL } },
	{ ctl_counters, { "mlx5_0", "--all" } },
	{ ctl_switch, { "t1", "Ethernet0", "--all" } },
	{ ctl_hypervisors, { "esx1", "vmnic5", "--all" } },
};

/* The output must not contain control characters, except in an export. */
static void
check_printed(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\n') || text[i] == 127)
			abort();
}

/* The text of a file is read like an answer. */
static void
write_argument(char argument[64], const char *wanted, const char *folder)
{
	if (strcmp(wanted, "FILE") == 0) {
		const struct fuzz_bytes text = take_text();

		fuzz_folder_write(folder, "t.yaml", text.at, text.left);
		snprintf(argument, 64, "%s/t.yaml", folder);
	} else {
		strcpy(argument, wanted);
	}
}

static void
run(size_t which, uint8_t how)
{
	static const char *const tiers[] = { NULL, "aggregator", "analyzer",
		"controller" };
	static const char *const agents[] = { NULL, "agent" };
	const struct ctl ctl = { .aggregator = "127.0.0.1:1",
		.controller = "http://c:1",
		.controller_changes = "unix:/c",
		.analyzer = how & 32 ? "https://z:1" : "http://z:1",
		.agent = "unix:/a",
		.through = how & 8 ? agents[how >> 1 & 1] : tiers[how >> 1 & 3],
		.is_rack_asked = how >> 4 & 1,
		.json = how & 1 };
	char arguments[MAX_ARGUMENTS][64], folder[FUZZ_FOLDER_BYTES],
	    *argv[MAX_ARGUMENTS + 1] = { NULL };
	struct ctl asked = ctl;
	int status;

	fuzz_folder_make(folder);
	while (asked.argc < MAX_ARGUMENTS &&
	       commands[which].arguments[asked.argc] != NULL) {
		write_argument(arguments[asked.argc],
		    commands[which].arguments[asked.argc], folder);
		argv[asked.argc] = arguments[asked.argc];
		asked.argc++;
	}
	asked.argv = argv;
	if (how & 128)
		failing_malloc_arm(1 + fuzz_u8(&net.answers) % 64u);
	status = commands[which].run(&asked);
	(void)failing_malloc_disarm();
	fuzz_folder_remove(folder);
	if (status < CTL_GOOD || status > CTL_NO_ANSWER)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	const size_t which = fuzz_u8(&bytes) % (sizeof(commands) / sizeof(commands[0]));
	const uint8_t how = fuzz_u8(&bytes);
	FILE *out = stdout, *err = stderr;
	char *printed = NULL, *reported = NULL;
	size_t printed_len = 0, reported_len = 0;

	stdout = open_memstream(&printed, &printed_len);
	stderr = open_memstream(&reported, &reported_len);
	if (stdout == NULL || stderr == NULL)
		abort();
	memset(&net, 0, sizeof(net));
	net.answers = bytes;
	fake_world_begin(); /* always with the same date */
	run(which, how);
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = err;
	if (strcmp(commands[which].arguments[0] != NULL ? commands[which].arguments[0]
							: "",
		"export") != 0)
		check_printed(printed, printed_len);
	check_printed(reported, reported_len);
	free(printed);
	free(reported);
	return 0;
}
