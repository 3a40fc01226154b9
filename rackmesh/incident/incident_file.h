/*
 * incident_file - keeps open and recently resolved incidents over a restart.
 *
 * JSON, replaced atomically, rendered on the loop and written on the worker, one write
 * at a time and always the newest state. A file that does not parse is renamed to
 * *.corrupt; one that cannot be read now stays until the next write. Both are logged,
 * and neither prevents the start.
 */
#ifndef RACKMESH_INCIDENT_INCIDENT_FILE_H
#define RACKMESH_INCIDENT_INCIDENT_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/error.h"

struct rm_incident_file;
struct rm_incidents;
struct rm_worker;

/* All open incidents, those resolved within the last five minutes, and, for a day,
 * those whose end was not delivered to all receivers. New reference. */
json_t *rm_incidents_save(const struct rm_incidents *incidents, rm_wall_t now);
/* Into an empty set: open ones are open again under their old id, and judged on from
 * there; resolved ones that would be saved now are remembered. Foreign bytes:
 * everything is checked; fuzzed. An incident that is not usable is left out and counted
 * as refused; the first of them is in error. Returns how many are open, or -EINVAL
 * (these are no incidents) and error. */
int rm_incidents_restore(struct rm_incidents *incidents, const json_t *saved,
    rm_mono_t now, rm_wall_t wall, struct rm_error *error);

int rm_incident_file_new(
    struct rm_worker *worker, const char *path, struct rm_incident_file **ret);
void rm_incident_file_free(struct rm_incident_file *file); /* after the worker */
/* NULL: there is no file, or it cannot be used, which is logged. New reference. */
json_t *rm_incident_file_load(const struct rm_incident_file *file);
/* Takes the reference. Failures are counted. */
void rm_incident_file_save(struct rm_incident_file *file, json_t *takes);
/* Saves are numbered: the next one's number; whether one, or a newer one, has been
 * written or could not be; whether one is on the disk. */
uint64_t rm_incident_file_next(const struct rm_incident_file *file);
bool rm_incident_file_tried(const struct rm_incident_file *file, uint64_t save);
bool rm_incident_file_has(const struct rm_incident_file *file, uint64_t save);
/* Called after every attempt to write, also a failed one. It must not save. */
void rm_incident_file_on_write(
    struct rm_incident_file *file, void (*on_write)(void *arg), void *arg);
/* True: the last state could not be written, and no newer one is being written: save
 * again. */
bool rm_incident_file_behind(const struct rm_incident_file *file);
const uint64_t *rm_incident_file_failures(const struct rm_incident_file *file);

#endif
