/* The kernel's answers by RDMA netlink. Each datagram is preceded by one byte for
 * its request and two for its length. */
#include <stdlib.h>
#include <string.h>

#include "host-agent/services/qp_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define SEQ 1 /* small numbers, which a fuzzer finds quickly */

static void
check(const struct qp_list *list)
{
	if (list->device_count > QP_LIST_MAX_DEVICES ||
	    list->row_count > QP_LIST_MAX_ROWS)
		abort();
	for (size_t i = 0; i < list->row_count; i++) {
		const struct qp_list_row *row = &list->rows[i];

		if (row->device >= list->device_count ||
		    memchr(row->kernel, 0, sizeof(row->kernel)) == NULL)
			abort();
	}
	for (size_t i = 0; i < list->device_count; i++)
		if (memchr(list->devices[i].name, 0, QP_LIST_DEVICE) == NULL)
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct qp_list list = { 0 };
	int r = 0;

	while (r >= 0 && len > 3) {
		enum qp_list_ask ask = data[0] % 3;
		size_t part = (size_t)data[1] | (size_t)data[2] << 8;
		uint8_t *copy;

		data += 3;
		len -= 3;
		if (part > len)
			part = len;
		/* Aligned; a sanitizer finds reads beyond its end. */
		copy = malloc(part);
		if (copy == NULL)
			break;
		memcpy(copy, data, part);
		r = qp_list_take(&list, ask, SEQ, copy, part);
		free(copy);
		data += part;
		len -= part;
	}
	check(&list);
	qp_list_clear(&list);
	return 0;
}
