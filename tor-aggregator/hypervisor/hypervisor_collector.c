#include "tor-aggregator/hypervisor/hypervisor_collector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "tor-aggregator/hypervisor/esxi.h"
#include "tor-aggregator/hypervisor/hypervisor_config.h"
#include "tor-aggregator/hypervisor/ssh_client.h"

#define LIMIT_NS (30 * RM_NS_PER_S)
#define BACKOFF_NS (600 * RM_NS_PER_S)
#define REFUSED_NS (1800 * RM_NS_PER_S)

struct hypervisor_collector {
	struct hypervisor_collector_options options;
	struct rm_endpoint endpoint;
	struct collector *collector;

	/* For the running reading. */
	struct ssh_client *client;
	struct esxi *esxi;

	struct hypervisor_nics *nics;
	struct hypervisor_nics_counts counts;
	struct hypervisor_on_metrics on_metrics;
};

static int begin(int64_t limit_ns, struct rm_error *error, void *arg);
static int dial(const struct rm_address *address, struct rm_error *error, void *arg);
static bool is_connected(const void *arg);
static void hang_up(void *arg);
static const char *stage(const void *arg);

int
hypervisor_collector_new(const struct hypervisor_collector_options *options,
    struct hypervisor_collector **ret)
{
	struct hypervisor_collector *host = calloc(1, sizeof(*host));
	const struct hypervisor_config *config = options->config;
	const struct collector_options reading = {
		.loop = options->loop,
		.kind = "hypervisor",
		.name = config->name,
		.address = config->address,
		.endpoint = host == NULL ? NULL : &host->endpoint,
		.values = "NICs",
		.interval_ns = options->interval_ns > 0
				   ? options->interval_ns
				   : (int64_t)config->interval_s * RM_NS_PER_S,
		.limit_ns = LIMIT_NS,
		.backoff_ns = BACKOFF_NS,
		.refused_ns = REFUSED_NS,
		.callbacks = { begin, dial, is_connected, hang_up, stage, host },
	};
	int r;

	if (host == NULL)
		return -ENOMEM;
	host->options = *options;
	host->nics = hypervisor_nics_new();
	r = host->nics == NULL ? -ENOMEM : hypervisor_endpoint(config, &host->endpoint);
	if (r == 0)
		r = collector_new(&reading, &host->collector);
	if (r < 0)
		hypervisor_collector_free(host);
	else
		*ret = host;
	return r;
}

void
hypervisor_collector_free(struct hypervisor_collector *host)
{
	if (host == NULL)
		return;
	collector_free(host->collector);
	hypervisor_nics_free(host->nics);
	free(host);
}

static void
hang_up(void *arg)
{
	struct hypervisor_collector *host = arg;

	ssh_client_free(host->client);
	host->client = NULL;
	esxi_free(host->esxi);
	host->esxi = NULL;
}

static bool
is_connected(const void *arg)
{
	const struct hypervisor_collector *host = arg;

	return ssh_client_is_connected(host->client);
}

static const char *
stage(const void *arg)
{
	const struct hypervisor_collector *host = arg;

	return ssh_client_stage(host->client);
}

static void
succeed(struct hypervisor_collector *host)
{
	hypervisor_nics_choose(host->nics, HYPERVISOR_METRICS_MAX, &host->on_metrics);
	collector_succeed(host->collector, hypervisor_nics_seen(host->nics));
}

/* ---- the dialogue ---- */

static int
on_output(const void *data, size_t len, bool error, void *arg)
{
	struct hypervisor_collector *host = arg;

	return error ? esxi_feed_error(host->esxi, data, len)
		     : esxi_feed(host->esxi, data, len);
}

static void
on_end(int r, const char *reason, void *arg)
{
	struct hypervisor_collector *host = arg;
	struct rm_error reported = { .text = "" };

	if (!ssh_client_is_connected(host->client)) {
		collector_dial_next(host->collector, r);
		return;
	}
	if (r == -EMSGSIZE)
		rm_error_set(
		    &reported, r, "it prints more than %u bytes", ESXI_MAX_BYTES);
	else if (r == -EKEYREJECTED)
		rm_error_set(&reported, r,
		    "%s; the next attempt is in %lld minutes, or at once after a "
		    "reload (SIGHUP), because ESXi locks a user after 5 failed logins",
		    reason, (long long)(REFUSED_NS / (60 * RM_NS_PER_S)));
	else if (r < 0)
		rm_error_set(&reported, r, "%s", reason);
	else
		r = esxi_end(host->esxi, &reported);
	if (r < 0)
		collector_fail(host->collector, r, reported.text);
	else
		succeed(host);
}

static int
dial(const struct rm_address *address, struct rm_error *error, void *arg)
{
	struct hypervisor_collector *host = arg;
	const struct hypervisor_config *config = host->options.config;
	const struct ssh_client_callbacks callbacks = { on_output, on_end, host };
	struct ssh_client_options options = {
		.loop = host->options.loop,
		.address = *address,
		.host = config->address,
		.port = (unsigned)config->port,
		.user = config->user,
		.known_hosts = config->known_hosts,
		.command = esxi_command,
	};
	uint8_t *key;
	size_t len;
	int r = hypervisor_check_files(config, error);

	ssh_client_free(host->client);
	host->client = NULL;
	if (r == 0)
		r = rm_file_read_secret(
		    config->key, HYPERVISOR_KEY_BYTES, &key, &len, error);
	if (r < 0)
		return r;
	options.key = (const char *)key;
	r = ssh_client_new(&options, &callbacks, error, &host->client);
	explicit_bzero(key, len);
	free(key);
	return r;
}

static int
begin(int64_t limit_ns, struct rm_error *error, void *arg)
{
	struct hypervisor_collector *host = arg;

	host->esxi = esxi_new(host->nics, &host->counts);
	return host->esxi == NULL ? -ENOMEM : collector_dial(host->collector);
}

struct collector *
hypervisor_collector_reading(const struct hypervisor_collector *host)
{
	return host->collector;
}

struct hypervisor_shown
hypervisor_collector_shown(const struct hypervisor_collector *host)
{
	return (struct hypervisor_shown){
		.name = host->options.config->name,
		.reading = collector_shown(host->collector),
		.nics = host->nics,
		.on_metrics = host->on_metrics,
	};
}

const struct hypervisor_nics_counts *
hypervisor_collector_counts(const struct hypervisor_collector *host)
{
	return &host->counts;
}
