/*
 * The kernel's BTF file and a module's, joined: the result is as long as both together,
 * and readable if they were.
 *
 * Input: a byte of mode, a byte with the length of the first file; the two files. With
 * bit 0 of mode each file gets a header with the position of its sections.
 */
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/services/qp_btf.h"
#include "tests/fuzz/bytes.h"
#include "tests/support/failing_malloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* A copy of exact length: a sanitizer finds reads beyond it. */
static uint8_t *
make(struct fuzz_bytes *bytes, size_t len, bool with_head, size_t *ret)
{
	struct btf_header head = {
		.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(head)
	};
	size_t head_len = with_head ? sizeof(head) : 0;
	uint8_t *data;

	len = len < bytes->left ? len : bytes->left;
	data = malloc(head_len + len + 1);
	if (data == NULL)
		abort();
	if (with_head) {
		head.type_len = (uint32_t)fuzz_number(bytes);
		head.str_off = (uint32_t)fuzz_number(bytes);
		head.str_len = (uint32_t)fuzz_number(bytes);
		len = len < bytes->left ? len : bytes->left;
		memcpy(data, &head, sizeof(head));
	}
	if (len > 0)
		memcpy(data + head_len, bytes->at, len);
	bytes->at += len;
	bytes->left -= len;
	*ret = head_len + len;
	return realloc(data, *ret > 0 ? *ret : 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_bytes bytes = { data, len };
	uint8_t mode = fuzz_u8(&bytes), cut = fuzz_u8(&bytes);
	size_t kernel_len, module_len, both_len, again_len;
	uint8_t *kernel, *module, *both = NULL, *again = NULL;
	struct btf_header head;
	int r;

	kernel = make(&bytes, cut, mode & 1, &kernel_len);
	module = make(&bytes, bytes.left, mode & 1, &module_len);
	failing_malloc_arm(mode == 0xff);
	r = qp_btf_join(kernel, kernel_len, module, module_len, &both, &both_len);
	(void)failing_malloc_disarm();
	if (r < 0 && both != NULL)
		abort();
	if (r == 0) {
		memcpy(&head, both, sizeof(head));
		if (both_len != sizeof(head) + head.type_len + head.str_len ||
		    both_len > 2 * sizeof(head) + kernel_len + module_len + kernel_len +
				   module_len)
			abort();
		/* The result can be joined again. */
		if (qp_btf_join(
			both, both_len, module, module_len, &again, &again_len) < 0)
			abort();
	}
	free(again);
	free(both);
	free(kernel);
	free(module);
	return 0;
}
