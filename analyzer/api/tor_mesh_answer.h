/*
 * tor_mesh_answer - the results of each pair of ToRs, as an answer of the HTTP API.
 */
#ifndef ANALYZER_API_TOR_MESH_ANSWER_H
#define ANALYZER_API_TOR_MESH_ANSWER_H

struct rm_http_request;

/* rm_http_handler of "/v1/mesh". */
void tor_mesh_answer_get(struct rm_http_request *request, void *tor_mesh);

#endif
