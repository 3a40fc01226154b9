/*
 * qp_joins - matches requests for the other end of QPs that are older than their
 * agents. Pure.
 *
 * Two RNICs match when each asks for the other's QP numbers, and no third RNIC asks for
 * the same: QPs on other hosts may have the same numbers, and then there is no answer.
 * An RNIC is never matched with itself. A request is kept for a minute, so agents
 * repeat it.
 */
#ifndef REGION_CONTROLLER_REGISTRY_QP_JOINS_H
#define REGION_CONTROLLER_REGISTRY_QP_JOINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define QP_JOINS_MAX 65536 /* most QPs that are kept */
/* most QPs with the same two numbers: more are not needed, as there is no answer for
 * them */
#define QP_JOINS_ALIKE 16
#define QP_JOINS_KEPT_NS (60 * RM_NS_PER_S)

struct qp_joins;

struct qp_joins_counts {
	uint64_t asked;
	uint64_t joined;
	/* requests without an answer, because several RNICs fit, or because several ask
	 * for the same QP */
	uint64_t several;
	uint64_t refused; /* requests that were not kept, because there were too many */
};

int qp_joins_new(size_t max, struct qp_joins **ret);
void qp_joins_free(struct qp_joins *joins); /* NULL is fine */

/* Keeps the request. True: *ret is the RNIC at the other end. False: the RNIC at the
 * other end has not asked yet, or several fit. */
bool qp_joins_ask(struct qp_joins *joins, const struct wire_join *join, rm_mono_t now,
    struct wire_rnic_id *ret);

size_t qp_joins_count(const struct qp_joins *joins); /* number of QPs that are kept */
const struct qp_joins_counts *qp_joins_counts(const struct qp_joins *joins);

#endif
