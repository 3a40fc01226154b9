/* Traced links in etcd. */
#include <stdio.h>
#include <string.h>

#include "region-controller/etcd/store_etcd_keys.h"
#include "region-controller/etcd/store_etcd_state.h"
#include "region-controller/store/store_topology.h"
#include "region-controller/topology/traced.h"

static void
key_of(const struct store_etcd *etcd, const struct traced_link *link,
    char key[STORE_KEY_BYTES])
{
	char name[2 * TRACED_NODE_BYTES + 2];

	snprintf(name, sizeof(name), "%s/%s", link->from, link->to);
	store_key(key, etcd->region, STORE_KEY_TRACED, name);
}

int
store_etcd_put_traced(struct store *store, const struct traced_link *link)
{
	struct store_etcd *etcd = (struct store_etcd *)store;
	char key[STORE_KEY_BYTES], *text;
	int r;

	key_of(etcd, link, key);
	r = store_traced_write(link, &text);
	return r < 0 ? r : store_writes_put(etcd->writes, key, text, NULL);
}

int
store_etcd_drop_traced(struct store *store, const struct traced_link *link)
{
	struct store_etcd *etcd = (struct store_etcd *)store;
	char key[STORE_KEY_BYTES];

	key_of(etcd, link, key);
	return store_writes_put(etcd->writes, key, NULL, NULL);
}

void
store_etcd_traced(
    struct store_etcd *etcd, const char *name, const struct rm_etcd_value *value)
{
	struct rm_why why = { 0 };
	struct traced_link link;

	if (store_traced_read(name, value->value, value->value_len, &link, &why) < 0)
		store_etcd_refuse(etcd, value->key, &why);
	else
		etcd->callbacks.on_traced(&link, etcd->callbacks.arg);
}

void
store_etcd_traced_gone(struct store_etcd *etcd, const char *name)
{
	const char *slash = strchr(name, '/');
	char from[TRACED_NODE_BYTES];

	if (slash == NULL || (size_t)(slash - name) >= sizeof(from) || etcd->is_restart)
		return;
	memcpy(from, name, (size_t)(slash - name));
	from[slash - name] = '\0';
	etcd->callbacks.on_traced_gone(from, slash + 1, etcd->callbacks.arg);
}
