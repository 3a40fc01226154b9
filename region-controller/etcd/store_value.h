/*
 * store_value - what one write puts under its key: a text, or a plan that becomes one
 * when its turn comes. Pure; of store_writes only.
 */
#ifndef REGION_CONTROLLER_ETCD_STORE_VALUE_H
#define REGION_CONTROLLER_ETCD_STORE_VALUE_H

#include "region-controller/store/store.h"

struct store_value {
	char *text; /* NULL: not made yet, or a deletion */
	size_t len;
	uint8_t *plan; /* the message that text is to be made of */
	size_t plan_len;
	uint64_t digest, above;
	struct store_reply reply;
};

/* Copies the plan. -ENOMEM. */
int store_value_of_plan(struct store_value *ret, const struct store_draft *draft);
/* Makes the text, if it is still to be made. revision: of the store, a lower bound. */
int store_value_make(struct store_value *value, uint64_t revision);
/* Frees it, and replies. */
void store_value_end(struct store_value *value, int r, const char *sentence);

#endif
