/* Any bytes as a value in etcd: they are read, and equal after being written again,
 * or refused with a message. The first byte selects the key. */
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/error.h"
#include "region-controller/etcd/store_etcd_keys.h"
#include "region-controller/store/hash.h"
#include "region-controller/store/store_plan.h"
#include "region-controller/store/store_topology.h"
#include "region-controller/topology/traced.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
refused(const struct rm_error *error)
{
	if (error->text[0] == '\0')
		abort();
}

static void
try_plan(const char *text, size_t len, struct wire_writer *writer)
{
	struct store_plan_read read;
	struct rm_error error = { 0 };
	struct wire_bytes bytes;
	struct wire_plan_view view;
	char *again = NULL;
	size_t again_len;

	if (store_plan_read(text, len, 3, writer, &read, &bytes, &error) < 0) {
		refused(&error);
		return;
	}
	if (wire_open_plan(&view, bytes.data, bytes.len) < 0 ||
	    view.plan.digest != read.digest || view.plan.version != read.version ||
	    store_plan_write(&bytes, read.digest, 0, &again, &again_len) < 0)
		abort();
	if (store_plan_read(again, again_len, 3, writer, &read, &bytes, NULL) < 0)
		abort();
	free(again);
}

static void
try_rnic(const char *text, size_t len)
{
	const struct rm_rnic_id id = { 1, 0 };
	struct store_rnic rnic, again;
	struct rm_error error = { 0 };
	json_t *object = NULL, *other = NULL;
	char *written = NULL;
	uint64_t before, after;

	if (store_rnic_read(text, len, id, &object, &rnic, &error) < 0) {
		refused(&error);
		return;
	}
	if (store_rnic_write(&rnic, &written) < 0 ||
	    store_rnic_read(written, strlen(written), id, &other, &again, NULL) < 0 ||
	    store_rnic_hash(&rnic, &before) < 0 ||
	    store_rnic_hash(&again, &after) < 0 || before != after)
		abort();
	free(written);
	json_decref(object);
	json_decref(other);
}

static void
try_brake(const char *text, size_t len)
{
	struct store_brake brake;
	struct rm_error error = { 0 };
	json_t *object = NULL;

	if (store_brake_read(text, len, 3, &object, &brake, &error) < 0) {
		refused(&error);
		return;
	}
	if (brake.rate_permille > 1000 || brake.version < 3)
		abort();
	json_decref(object);
}

static void
try_traced(const char *text, size_t len)
{
	struct rm_error error = { 0 };
	struct traced *traced;
	struct traced_link link;

	if (store_traced_read("tor1/?10.0.0.1", text, len, &link, &error) < 0) {
		refused(&error);
		return;
	}
	if (strcmp(link.from, "tor1") != 0 || traced_new(1, &traced) < 0)
		abort();
	(void)traced_restore(traced, &link);
	traced_free(traced);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct wire_writer *writer = wire_writer_new();
	struct store_leader leader;
	char software[RM_VERSION_BYTES], *text;

	if (writer == NULL || len == 0) {
		wire_writer_free(writer);
		return 0;
	}
	text = malloc(len);
	memcpy(text, data + 1, len - 1);
	text[len - 1] = '\0';
	switch (data[0]) {
	case 'p':
		try_plan(text, len - 1, writer);
		break;
	case 'r':
		try_rnic(text, len - 1);
		break;
	case 'b':
		try_brake(text, len - 1);
		break;
	case 't':
		try_traced(text, len - 1);
		break;
	case 'c':
		store_controller_read(text, len - 1, software);
		if (software[0] != '\0' && !rm_version_valid(software))
			abort();
		break;
	default:
		store_leader_read(text, len - 1, &leader);
		if (leader.name[0] != '\0' && !rm_name_valid(leader.name))
			abort();
		break;
	}
	free(text);
	wire_writer_free(writer);
	return 0;
}
