/*
 * wrapped - the spool's calls that the recorder and life replace, by the linker's
 * --wrap (tests/crash/CMakeLists.txt).
 */
#ifndef TESTS_CRASH_WRAPPED_H
#define TESTS_CRASH_WRAPPED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rm_timer;
struct rm_worker;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len);
ssize_t __real_pwrite(int fd, const void *data, size_t len, off_t at);
ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t at);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __real_ftruncate(int fd, off_t len);
int __wrap_ftruncate(int fd, off_t len);
int __real_close(int fd);
int __wrap_close(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __real_unlinkat(int fd, const char *path, int flags);
int __wrap_unlinkat(int fd, const char *path, int flags);
int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);

uint32_t __real_rm_crc32c(uint32_t crc, const uint8_t *data, size_t len);
uint32_t __wrap_rm_crc32c(uint32_t crc, const uint8_t *data, size_t len);
void __real_rm_timer_after(struct rm_timer *timer, int64_t ns);
void __wrap_rm_timer_after(struct rm_timer *timer, int64_t ns);
int __wrap_rm_worker_submit(struct rm_worker *worker, int (*run)(void *job),
    void (*done)(void *job, int r), void *job);

#endif
