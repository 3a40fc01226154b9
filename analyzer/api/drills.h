/*
 * drills - HTTP requests that an aggregator must answer: for raw results, for the pairs
 * of a rack, and for the diagnosis of its counters. They wait here for the aggregator's
 * answer.
 */
#ifndef ANALYZER_API_DRILLS_H
#define ANALYZER_API_DRILLS_H

#include <stdint.h>

#include "schemas/wire.h"

#define DRILLS_MAX 32

struct drills;
struct intake;
struct racks;
struct rm_http_request;
struct rm_http_server;

struct drills_counts {
	uint64_t asked, answered, refused;
};

/* All borrowed. */
int drills_new(struct rm_http_server *server, struct intake *intake,
    const struct racks *racks, struct drills **ret);
void drills_free(struct drills *drills);

/* rm_http_handler of "/v1/drill/". */
void drills_ask(struct rm_http_request *request, void *drills);
/* rm_http_handler of "/v1/mesh/". The answer is 501 if the aggregator is too old for
 * this request. */
void drills_ask_mesh(struct rm_http_request *request, void *drills);
/* rm_http_handler of "/v1/counters/". It answers 501 in the same case as the handler
 * above. */
void drills_ask_counted(struct rm_http_request *request, void *drills);
/* rm_http_handler of "/v1/hosts/": only the hosts in the answer of "/v1/counters/". */
void drills_ask_hosts(struct rm_http_request *request, void *drills);
void drills_answer(
    struct drills *drills, uint64_t session, const struct wire_drill_answer *answer);
/* Call it when a session has ended: answers its waiting requests with an error. */
void drills_gone(struct drills *drills, uint64_t session);

const struct drills_counts *drills_counts(const struct drills *drills);

#endif
