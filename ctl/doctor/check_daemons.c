/* Checks each daemon on this host: its config, its unit, and its peers. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/doctor/checks.h"
#include "ctl/doctor/daemons.h"
#include "ctl/doctor/host.h"
#include "ctl/output/findings.h"
#include "rackmesh/config/yaml.h"

#define UNIT_USER "rackmesh"

/* ---- config ---- */

static const char *
last_line(char *text)
{
	size_t len = strlen(text);
	char *line;

	while (len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	line = strrchr(text, '\n');
	line = line == NULL ? text : line + 1;
	/* Skips the priority for journald, "<3>". */
	return line[0] == '<' && line[1] != '\0' && line[2] == '>' ? line + 3 : line;
}

/* The output of a daemon's --check. */
struct verdict {
	const char *name, *path;
	bool good;
	size_t wrong; /* number of lines that were reported as errors */
};

static bool
is_sum(const char *text)
{
	const char *end = strrchr(text, ' ');

	return end != NULL &&
	       (strcmp(end, " error") == 0 || strcmp(end, " errors") == 0);
}

/* "<3>" is journald's priority of errors, "<4>" that of warnings. A line without a
 * priority at the end is the result, for example "2 errors", which is not repeated if
 * both errors were reported. */
static void
take_line(struct verdict *verdict, char *line, bool last, struct findings *findings)
{
	bool marked = line[0] == '<' && line[1] != '\0' && line[2] == '>';
	const char *text = marked ? line + 3 : line;
	size_t len = strlen(verdict->name);
	enum finding_level level = marked && line[1] == '4' ? FINDING_WARNING
				   : verdict->good && !(marked && line[1] < '4')
				       ? FINDING_GOOD
				       : FINDING_WRONG;

	if (level == FINDING_GOOD && !last)
		return;
	/* The finding has the name of the daemon already. */
	if (strncmp(text, verdict->name, len) == 0 && strncmp(text + len, ": ", 2) == 0)
		text += len + 2;
	if (level == FINDING_GOOD) {
		findings_add(findings, level, "%s", text);
		return;
	}
	if (last && verdict->wrong > 0 && is_sum(text))
		return;
	verdict->wrong += level == FINDING_WRONG;
	findings_add(findings, level, "%s: %s", verdict->name, text);
	findings_remedy(findings,
	    "edit %s; runuser -u " UNIT_USER " -- %s --check --config %s",
	    verdict->path, verdict->name, verdict->path);
}

static void
take_verdict(struct verdict *verdict, char *text, struct findings *findings)
{
	size_t len = strlen(text);

	while (len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	for (char *line = text, *next; line != NULL; line = next) {
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		take_line(verdict, line, next == NULL, findings);
	}
}

static void
check_config_of(const struct host *host, const char *name, struct findings *findings)
{
	char path[PATH_MAX];
	const char *argv[] = { name, "--check", "--config", path, NULL };
	struct host_output *output = malloc(sizeof(*output));
	int r = -ENOMEM;

	snprintf(path, sizeof(path), "%s/%s.yaml", host->configs, name);
	if (output != NULL)
		r = host->calls->run(host->arg, argv, UNIT_USER, output);
	if (r < 0) {
		findings_add(findings, FINDING_WARNING,
		    "%s --check could not be run: %s", name, strerror(-r));
		findings_remedy(findings,
		    "runuser -u " UNIT_USER " -- %s --check --config %s", name, path);
	} else if (output->status != 0 && output->text[0] == '\0') {
		findings_add(
		    findings, FINDING_WRONG, "%s: --check failed without output", name);
		findings_remedy(findings,
		    "runuser -u " UNIT_USER " -- %s --check --config %s", name, path);
	} else {
		struct verdict verdict = {
			.name = name, .path = path, .good = output->status == 0
		};

		take_verdict(&verdict, output->text, findings);
	}
	free(output);
}

void
check_config(const struct host *host, struct findings *findings)
{
	size_t installed = 0;

	for (const char *const *name = daemon_names; *name != NULL; name++) {
		bool has_file = host_exists(host, "%s/%s.yaml", host->configs, *name);

		if (daemon_installed(host, *name)) {
			installed++;
			if (has_file) {
				check_config_of(host, *name, findings);
				continue;
			}
			findings_add(findings, FINDING_WARNING,
			    "%s is installed and has no %s/%s.yaml", *name,
			    host->configs, *name);
			findings_remedy(findings,
			    "copy /usr/share/doc/rackmesh/examples/%s.yaml and edit "
			    "it, or remove the package",
			    *name);
		} else if (has_file) {
			findings_add(findings, FINDING_WARNING,
			    "%s/%s.yaml is here, and %s is not installed",
			    host->configs, *name, *name);
			findings_remedy(
			    findings, "install rackmesh-%s, or delete the file", *name);
		}
	}
	if (installed > 0)
		return;
	findings_add(
	    findings, FINDING_WRONG, "no daemon of Rackmesh is installed here");
	findings_remedy(findings,
	    "install rackmesh-host-agent, or run doctor on a host that has it");
}

/* ---- unit ---- */

/* Copies the value of "Key=value" in the output of systemctl show; "" if the key is
 * missing. */
static void
property(const char *text, const char *key, char ret[HOST_TEXT])
{
	size_t len = strlen(key);

	ret[0] = '\0';
	for (; text != NULL && *text != '\0'; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (strncmp(text, key, len) != 0 || text[len] != '=')
			continue;
		snprintf(ret, HOST_TEXT, "%.*s", (int)strcspn(text + len + 1, "\n"),
		    text + len + 1);
		return;
	}
}

static void
judge_unit(const char *name, const char *text, struct findings *findings)
{
	char load[HOST_TEXT], active[HOST_TEXT], sub[HOST_TEXT], file[HOST_TEXT],
	    restarts[HOST_TEXT], result[HOST_TEXT];

	property(text, "LoadState", load);
	property(text, "ActiveState", active);
	property(text, "SubState", sub);
	property(text, "UnitFileState", file);
	property(text, "NRestarts", restarts);
	property(text, "Result", result);
	if (strcmp(load, "loaded") != 0) {
		findings_add(findings, FINDING_WARNING,
		    "systemd knows no unit %s.service (%s)", name,
		    load[0] == '\0' ? "no answer" : load);
		findings_remedy(
		    findings, "systemctl daemon-reload, or install the package");
	} else if (strcmp(active, "active") != 0) {
		findings_add(findings, FINDING_WRONG,
		    "%s.service is %s (%s), result %s, restarted %s times", name,
		    active, sub, result, restarts);
		findings_remedy(findings,
		    "systemctl enable --now %s; journalctl -u %s -n 50 shows why it "
		    "ended",
		    name, name);
	} else if (strcmp(restarts, "0") != 0) {
		findings_add(findings, FINDING_WARNING,
		    "%s.service is active, and was restarted %s times by systemd", name,
		    restarts);
		findings_remedy(findings, "journalctl -u %s says why", name);
	} else if (strncmp(file, "enabled", 7) != 0) {
		findings_add(findings, FINDING_WARNING,
		    "%s.service is active, and %s: it does not start after a reboot",
		    name, file[0] == '\0' ? "not enabled" : file);
		findings_remedy(findings, "systemctl enable %s", name);
	} else {
		findings_add(findings, FINDING_GOOD,
		    "%s.service is active and enabled, no restarts", name);
	}
}

static void
check_unit_of(const struct host *host, const char *name, struct findings *findings)
{
	const char *argv[] = { "systemctl", "show", "--property",
		"LoadState,ActiveState,SubState,UnitFileState,NRestarts,Result", name,
		NULL };
	struct host_output *output = malloc(sizeof(*output));
	int r = -ENOMEM;

	if (output != NULL)
		r = host->calls->run(host->arg, argv, NULL, output);
	if (r == 0 && output->status == 0) {
		judge_unit(name, output->text, findings);
	} else {
		findings_add(findings, FINDING_WARNING,
		    "systemctl show %s gave no answer: %s", name,
		    r < 0 ? strerror(-r) : last_line(output->text));
		findings_remedy(findings, "run doctor as root");
	}
	free(output);
}

void
check_unit(const struct host *host, struct findings *findings)
{
	if (!host_exists(host, "/run/systemd/system")) {
		findings_add(findings, FINDING_WARNING,
		    "systemd does not run here: nothing restarts a daemon that ends");
		findings_remedy(findings, "make sure that another program restarts it");
		return;
	}
	for (const char *const *name = daemon_names; *name != NULL; name++)
		if (daemon_installed(host, *name))
			check_unit_of(host, *name, findings);
}

/* ---- peers ---- */

#define MAX_PEERS 16 /* peers of a daemon; each may take a second or two */

static const struct {
	const char *daemon, *option, *what;
} peers[] = {
	{ "host-agent", "aggregators", "aggregator" },
	{ "tor-aggregator", "controllers", "controller" },
	{ "tor-aggregator", "analyzers", "analyzer" },
	{ "tor-aggregator", "alerts.alertmanagers", "Alertmanager" },
	{ "region-controller", "etcd.endpoints", "etcd" },
	{ "analyzer", "influx.url", "InfluxDB" },
	{ "analyzer", "alerts.alertmanagers", "Alertmanager" },
};

static void
try_peer(const struct host *host, const char *daemon, const char *what,
    const char *address, struct findings *findings)
{
	int r = host->calls->connect(host->arg, address);

	if (r == 0) {
		findings_add(findings, FINDING_GOOD, "%s: %s %s takes connections",
		    daemon, what, address);
		return;
	}
	findings_add(findings, FINDING_WRONG, "%s: %s %s cannot be reached: %s", daemon,
	    what, address, r == -ENOENT ? "its name is not known" : strerror(-r));
	if (r == -ECONNREFUSED)
		findings_remedy(findings,
		    "no daemon listens there: start it, or correct %s/%s.yaml",
		    host->configs, daemon);
	else
		findings_remedy(findings,
		    "look at the address in %s/%s.yaml, at routes and firewalls",
		    host->configs, daemon);
}

/* An item is an address, or a map that contains one. */
static const char *
address_of(const struct rm_yaml_node *item)
{
	const struct rm_yaml_node *address =
	    rm_yaml_kind(item) == RM_YAML_MAP ? rm_yaml_get(item, "address") : item;

	if (address == NULL || rm_yaml_kind(address) != RM_YAML_SCALAR ||
	    rm_yaml_text(address)[0] == '\0')
		return NULL;
	return rm_yaml_text(address);
}

static void
try_peers(const struct host *host, const struct rm_yaml_node *node, size_t i,
    struct findings *findings)
{
	size_t count = rm_yaml_kind(node) == RM_YAML_LIST ? rm_yaml_count(node) : 1;

	for (size_t k = 0; k < count && k < MAX_PEERS; k++) {
		const struct rm_yaml_node *item =
		    rm_yaml_kind(node) == RM_YAML_LIST ? rm_yaml_item(node, k) : node;
		const char *address = address_of(item);

		if (address != NULL && strcmp(address, "auto") != 0)
			try_peer(
			    host, peers[i].daemon, peers[i].what, address, findings);
	}
	if (count > MAX_PEERS)
		findings_add(findings, FINDING_WARNING,
		    "%s: %zu more of %s were not tried", peers[i].daemon,
		    count - MAX_PEERS, peers[i].option);
}

void
check_peers(const struct host *host, struct findings *findings)
{
	for (size_t i = 0; i < sizeof(peers) / sizeof(*peers); i++) {
		struct rm_yaml *config;
		const struct rm_yaml_node *node;

		if (!daemon_installed(host, peers[i].daemon))
			continue;
		config = daemon_config(host, peers[i].daemon);
		node = daemon_config_at(config, peers[i].option);
		if (node != NULL)
			try_peers(host, node, i, findings);
		rm_yaml_free(config);
	}
}
