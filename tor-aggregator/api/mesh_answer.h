/*
 * mesh_answer - the results between each pair of a rack's RNICs, for HTTP and for the
 * analyzer.
 */
#ifndef TOR_AGGREGATOR_API_MESH_ANSWER_H
#define TOR_AGGREGATOR_API_MESH_ANSWER_H

#include <stddef.h>

#include "tor-aggregator/mesh/rack_mesh.h"

struct rm_http_request;
struct tor_aggregator;

/*
 * Returns JSON, up to 4 MB for a rack of 256 RNICs; the caller frees it. *status is an
 * HTTP status: 404 and an error as JSON when the ToR is not of this aggregator. NULL:
 * out of memory.
 */
char *mesh_answer(const struct tor_aggregator *aggregator, const char *tor,
    enum mesh_period period, int *status, size_t *len);

/* The rm_http_handler of "/v1/mesh/". */
void mesh_answer_get(struct rm_http_request *request, void *aggregator);

#endif
