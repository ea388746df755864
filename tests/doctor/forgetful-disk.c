/*
 * Preloaded into the process under test (LD_PRELOAD): a disk that acknowledges and forgets. What is synchronised returns at once and
 * nothing is passed on; with FORGET_DSYNC set the same holds for files that are opened with O_DSYNC or O_SYNC.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>

int fsync(int fd) { (void)fd; return 0; }
int fdatasync(int fd) { (void)fd; return 0; }

static int opened(const char *name, const char *path, int flags, mode_t mode) {
  int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
  if (getenv("FORGET_DSYNC") != NULL) flags &= ~(O_DSYNC | O_SYNC);
  return real(path, flags, mode);
}

static mode_t mode_of(int flags, va_list rest) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; }

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return opened("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return opened("open64", path, flags, mode);
}
