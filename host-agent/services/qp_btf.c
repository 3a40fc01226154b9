#include "host-agent/services/qp_btf.h"

#include <errno.h>
#include <limits.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rackmesh/core/file.h"

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

/* In a module's BTF, numbers of types and offsets of strings continue those of the
 * kernel's BTF. */
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

/* ---- Copies the kernel's file into a file in memory, which libbpf can open ---- */

#define BTF_FOLDER "/sys/kernel/btf"

static int
file_of(const uint8_t *data, size_t len)
{
	int fd = memfd_create("btf", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int r = -errno;

			close(fd);
			return r;
		}
		data += n;
		len -= (size_t)n;
	}
	return fd;
}

int
qp_btf_open(const char *module)
{
	uint8_t *kernel = NULL, *more = NULL, *both = NULL;
	size_t kernel_len, more_len, len;
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%s/%s", BTF_FOLDER, module);
	r = rm_file_read(path, QP_BTF_MAX_BYTES, &more, &more_len);
	if (r == 0)
		r = rm_file_read(
		    BTF_FOLDER "/vmlinux", QP_BTF_MAX_BYTES, &kernel, &kernel_len);
	if (r == 0)
		r = qp_btf_join(kernel, kernel_len, more, more_len, &both, &len);
	if (r == 0)
		r = file_of(both, len);
	free(kernel);
	free(more);
	free(both);
	return r;
}
