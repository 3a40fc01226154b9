#include "region-controller/etcd/store_value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "region-controller/store/store_plan.h"

int
store_value_of_plan(struct store_value *ret, const struct store_draft *draft)
{
	uint8_t *copy = malloc(draft->bytes.len);

	if (copy == NULL)
		return -ENOMEM;
	memcpy(copy, draft->bytes.data, draft->bytes.len);
	*ret = (struct store_value){
		.plan = copy,
		.plan_len = draft->bytes.len,
		.digest = draft->digest,
		.above = draft->above,
	};
	return 0;
}

int
store_value_make(struct store_value *value, uint64_t revision)
{
	const struct wire_bytes bytes = { value->plan, value->plan_len };
	uint64_t base;
	int r;

	if (value->plan == NULL || value->text != NULL)
		return 0;
	/* The write's own revision will be one more, at least. */
	base = value->above > revision ? value->above - revision : 0;
	r = store_plan_write(&bytes, value->digest, base, &value->text, &value->len);
	if (r == 0) {
		free(value->plan);
		value->plan = NULL;
	}
	return r;
}

void
store_value_end(struct store_value *value, int r, const char *sentence)
{
	struct store_value ended = *value;

	*value = (struct store_value){ 0 };
	free(ended.text);
	free(ended.plan);
	if (ended.reply.done != NULL)
		ended.reply.done(r, sentence, ended.reply.token, ended.reply.arg);
}
