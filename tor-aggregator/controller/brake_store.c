#include "tor-aggregator/controller/brake_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/loop/file_save.h"

#define MAX_PATH 4096
#define MAX_FILE_BYTES 4096

struct brake_store {
	struct rm_worker *worker;
	char *path; /* NULL: the brake is not saved */
	struct wire_brake brake;
	bool unsaved, saving;
	struct brake_store_counts counts;
};

int
brake_store_new(struct rm_worker *worker, const char *folder, struct brake_store **ret)
{
	struct brake_store *store = calloc(1, sizeof(*store));
	char path[MAX_PATH];

	if (store == NULL)
		return -ENOMEM;
	store->worker = worker;
	store->brake.rate_permille = BRAKE_FREE_PERMILLE;
	if (folder != NULL) {
		int len = snprintf(path, sizeof(path), "%s/brake.json", folder);

		if (len >= 0 && len < (int)sizeof(path))
			store->path = strdup(path);
		if (store->path == NULL) {
			free(store);
			return -ENOMEM;
		}
	}
	*ret = store;
	return 0;
}

void
brake_store_free(struct brake_store *store)
{
	if (store == NULL)
		return;
	free(store->path);
	free(store);
}

static bool
read_brake(const json_t *object, struct wire_brake *ret)
{
	const json_t *version = json_object_get(object, "version");
	const json_t *rate = json_object_get(object, "rate_permille");

	if (!json_is_integer(version) || !json_is_integer(rate) ||
	    json_integer_value(version) < 1 || json_integer_value(rate) < 0 ||
	    json_integer_value(rate) > BRAKE_FREE_PERMILLE)
		return false;
	ret->version = (uint64_t)json_integer_value(version);
	ret->rate_permille = (uint32_t)json_integer_value(rate);
	return true;
}

int
brake_store_load(struct brake_store *store, struct rm_error *error)
{
	json_t *object;
	uint8_t *data;
	size_t len;
	bool good;
	int r;

	if (store->path == NULL)
		return 0;
	r = rm_file_read(store->path, MAX_FILE_BYTES, &data, &len);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return rm_error_set(
		    error, r, "cannot read %s: %s", store->path, strerror(-r));
	object = json_loadb((const char *)data, len, 0, NULL);
	good = read_brake(object, &store->brake);
	json_decref(object);
	free(data);
	return good ? 0
		    : rm_error_set(
			  error, -EBADMSG, "%s is not a saved brake", store->path);
}

int
brake_store_take(struct brake_store *store, const struct wire_brake *brake)
{
	if (brake->rate_permille > BRAKE_FREE_PERMILLE || brake->version > INT64_MAX) {
		store->counts.refused++;
		return -EBADMSG;
	}
	if (brake->version <= store->brake.version) {
		store->counts.stale++;
		return 0;
	}
	store->brake = *brake;
	store->unsaved = true;
	store->counts.taken++;
	return 1;
}

static void
save_done(void *arg, int r)
{
	struct brake_store *store = arg;

	store->saving = false;
	if (r < 0) {
		store->counts.write_failed++;
		store->unsaved = true; /* the next brake_store_save tries again */
	} else {
		store->counts.written++;
	}
}

void
brake_store_save(struct brake_store *store)
{
	char text[128];

	if (store->path == NULL || !store->unsaved || store->saving)
		return;
	snprintf(text, sizeof(text),
	    "{\"version\": %" PRIu64 ", \"rate_permille\": %" PRIu32 "}\n",
	    store->brake.version, store->brake.rate_permille);
	if (rm_file_save(
		store->worker, store->path, text, strlen(text), save_done, store) < 0)
		return;
	store->saving = true;
	store->unsaved = false;
}

const struct wire_brake *
brake_store_get(const struct brake_store *store)
{
	return &store->brake;
}

const struct brake_store_counts *
brake_store_counts(const struct brake_store *store)
{
	return &store->counts;
}
