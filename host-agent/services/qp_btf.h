/*
 * qp_btf - joins the types of the kernel and of one of its modules, without asking the
 * kernel for the module's types.
 *
 * libbpf gets the types of a module by a call that needs CAP_SYS_ADMIN; the same bytes
 * are in sysfs, readable by all, as an addition to those of the kernel.
 */
#ifndef HOST_AGENT_SERVICES_QP_BTF_H
#define HOST_AGENT_SERVICES_QP_BTF_H

#include <stddef.h>
#include <stdint.h>

#define QP_BTF_MAX_BYTES (64u << 20) /* of either part */

/* Pure. *ret is malloc'd; the caller frees it. -EBADMSG: one of them is not BTF. */
int qp_btf_join(const uint8_t *kernel, size_t kernel_len, const uint8_t *module,
    size_t module_len, uint8_t **ret, size_t *len);

/* Returns the fd of a file in memory with both parts, which the caller closes, or
 * -errno. -ENOENT: the module is built in, or has no BTF. It reads megabytes: call it
 * on the worker. */
int qp_btf_open(const char *module);

#endif
