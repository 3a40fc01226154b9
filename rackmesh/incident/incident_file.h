/*
 * incident_file - keeps open and recently resolved incidents over a restart.
 *
 * The file is JSON. The loop makes the text, and the worker replaces the file
 * atomically; there is one write at a time, always of the newest state. A file that
 * does not parse is renamed to *.corrupt, or *.corrupt.<n> up to 8 if there is such a
 * file already; one that cannot be read now stays until the next write. Both are
 * logged, and neither prevents the start.
 */
#ifndef RACKMESH_INCIDENT_INCIDENT_FILE_H
#define RACKMESH_INCIDENT_INCIDENT_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/error.h"

struct rm_incident;
struct rm_incident_file;
struct rm_incidents;
struct rm_worker;

/* The JSON of all open incidents, of those resolved within the last five minutes, and,
 * for a day, of those whose end was not delivered to all receivers. New reference. */
json_t *rm_incidents_save(const struct rm_incidents *incidents, rm_wall_t now);
/* Restores incidents into an empty set. Open ones are open again under their old ids,
 * and judged further; resolved ones are kept if they would be saved now. saved is not
 * trusted: everything is checked, and the function is fuzzed. An incident that cannot
 * be used is left out and counted as refused; error describes the first of them.
 * Returns the number of open incidents, or -EINVAL (saved has no incidents) and
 * error. */
int rm_incidents_restore(struct rm_incidents *incidents, const json_t *saved,
    rm_mono_t now, rm_wall_t wall, struct rm_error *error);

int rm_incident_file_new(
    struct rm_worker *worker, const char *path, struct rm_incident_file **ret);
void rm_incident_file_free(struct rm_incident_file *file); /* after the worker */
/* New reference. NULL: there is no file, or it cannot be used, which is logged. */
json_t *rm_incident_file_load(const struct rm_incident_file *file);
/* Saves the state; takes the reference. A failure is counted. */
void rm_incident_file_save(struct rm_incident_file *file, json_t *takes);
/* Saves are numbered. These functions return: the number of the next save; whether this
 * save or a newer one was written or has failed; whether it is on the disk. */
uint64_t rm_incident_file_next(const struct rm_incident_file *file);
bool rm_incident_file_tried(const struct rm_incident_file *file, uint64_t save);
bool rm_incident_file_has(const struct rm_incident_file *file, uint64_t save);
/* on_write is called after every attempt to write, also a failed one. It must not
 * save. */
void rm_incident_file_on_write(
    struct rm_incident_file *file, void (*on_write)(void *arg), void *arg);
/* True: the last state could not be written, and no newer one is being written, so save
 * again. */
bool rm_incident_file_behind(const struct rm_incident_file *file);
const uint64_t *rm_incident_file_failures(const struct rm_incident_file *file);

/*
 * The falls of an incident's part as JSON, for the file of incidents, and for the
 * message to the other aggregator of a pair: the class of the fault, and the times of
 * the falls. The object has a version: an unknown one is ignored, as if there were no
 * object. now and wall: the same moment on both clocks. A new reference, JSON null if
 * no fall is known; NULL: out of memory.
 */
json_t *rm_incident_falls_save(
    const struct rm_incident *incident, rm_mono_t now, rm_wall_t wall);
/* Reads such an object, whose bytes are not trusted, and fills fault, is_total,
 * recurrence, flaps_since, returned and returns. If saved is NULL or null, it does
 * nothing. Returns NULL, or the name of the wrong key: then *incident has not changed.
 */
const char *rm_incident_falls_read(
    const json_t *saved, rm_mono_t now, rm_wall_t wall, struct rm_incident *incident);

#endif
