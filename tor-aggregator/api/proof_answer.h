/*
 * proof_answer - whether ECN, CNPs and PFC work in each rack: /v1/proof.
 */
#ifndef TOR_AGGREGATOR_API_PROOF_ANSWER_H
#define TOR_AGGREGATOR_API_PROOF_ANSWER_H

#include <stddef.h>

#include <jansson.h>

struct rm_http_request;
struct tor_aggregator;

void proof_answer_get(struct rm_http_request *request, void *aggregator);

/* Returns the part of /v1/proof about one rack; the caller owns the result. */
json_t *proof_show(const struct tor_aggregator *aggregator, size_t rack);

#endif
