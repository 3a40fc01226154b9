#include "region-controller/controller_store.h"

#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/random.h"
#include "region-controller/controller_config.h"
#include "region-controller/etcd/store_etcd.h"
#include "region-controller/store/store_file.h"

static int
new_etcd(struct rm_loop *loop, const struct controller_config *config,
    struct store **ret, struct rm_why *why)
{
	struct store_etcd_options options = {
		.name = config->name,
		.region = config->region,
		.endpoints = config->etcd.endpoints.items,
		.endpoint_count = config->etcd.endpoints.count,
		.user = config->etcd.user,
		.site = &config->etcd.site,
		.timeout_ns = (int64_t)config->etcd.timeout_ms * RM_NS_PER_MS,
		.relist_ns = (int64_t)config->etcd.relist_s * RM_NS_PER_S,
		.compact_after_ns = (int64_t)config->etcd.compact_after_s * RM_NS_PER_S,
		.lease_ttl_s = (int64_t)config->etcd.lease_ttl_s,
		.random_seed = rm_random_u64(),
	};
	char *password = NULL;
	int r;

	r = controller_config_password(config, &password, why);
	if (r < 0)
		return r;
	options.password = password;
	r = store_etcd_new(loop, &options, ret);
	explicit_bzero(password, strlen(password));
	free(password);
	return r < 0 ? rm_why(why, r, "cannot prepare for etcd: %s", strerror(-r)) : 0;
}

int
controller_store_new(struct rm_loop *loop, const struct controller_config *config,
    struct store **ret, struct rm_why *why)
{
	if (config->etcd.endpoints.count > 0)
		return new_etcd(loop, config, ret, why);
	return store_file_new(config->topology, config->name, config->region, ret, why);
}
