#include "host-agent/services/qp_btf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/btf.h>

struct parts {
	struct btf_header head;
	const uint8_t *types, *strings;
};

static int
take_apart(const uint8_t *data, size_t len, struct parts *ret)
{
	const struct btf_header *head = &ret->head;
	size_t rest;

	if (len < sizeof(*head))
		return -EBADMSG;
	memcpy(&ret->head, data, sizeof(ret->head));
	if (head->magic != BTF_MAGIC || head->version != BTF_VERSION ||
	    head->hdr_len < sizeof(*head) || head->hdr_len > len)
		return -EBADMSG;
	rest = len - head->hdr_len;
	if (head->type_off > rest || head->type_len > rest - head->type_off ||
	    head->str_off > rest || head->str_len > rest - head->str_off)
		return -EBADMSG;
	ret->types = data + head->hdr_len + head->type_off;
	ret->strings = data + head->hdr_len + head->str_off;
	return 0;
}

/* The module's numbers of types and places of strings go on where the kernel's end. */
int
qp_btf_join(const uint8_t *kernel, size_t kernel_len, const uint8_t *module,
    size_t module_len, uint8_t **ret, size_t *len)
{
	struct btf_header head = {
		.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(head)
	};
	struct parts base, more;
	uint8_t *data, *at;
	size_t whole;
	int r;

	r = take_apart(kernel, kernel_len, &base);
	if (r == 0)
		r = take_apart(module, module_len, &more);
	if (r < 0)
		return r;
	whole = sizeof(head) + (size_t)base.head.type_len + more.head.type_len +
		base.head.str_len + more.head.str_len;
	if (whole > 2 * (size_t)QP_BTF_MAX_BYTES)
		return -EBADMSG;
	head.type_len = base.head.type_len + more.head.type_len;
	head.str_off = head.type_len;
	head.str_len = base.head.str_len + more.head.str_len;
	data = malloc(whole);
	if (data == NULL)
		return -ENOMEM;
	at = mempcpy(data, &head, sizeof(head));
	at = mempcpy(at, base.types, base.head.type_len);
	at = mempcpy(at, more.types, more.head.type_len);
	at = mempcpy(at, base.strings, base.head.str_len);
	memcpy(at, more.strings, more.head.str_len);
	*ret = data;
	*len = whole;
	return 0;
}
