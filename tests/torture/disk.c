/*
 * Preloaded into the process under test (LD_PRELOAD): the disk below TORTURE_FOLDER, as bad as one asks for.
 *
 * Power cut. TORTURE_JOURNAL keeps what every file held before each write that has not been synced: whoever pulls the plug (SIGKILL from
 * outside) then puts that back and has the files as the disk would have them. Renames and removals are taken to be durable at once; -shm
 * files and the lock are left alone (nothing in them is kept).
 *
 * Faults. TORTURE_RULES is a file of rules, mapped, so that the test changes it while the process runs: in the n-th such operation on a file
 * with such an end of its name, and so many times from then on, the operation fails, waits first, or ends the process behind it.
 *
 * Journal: records of {u32 kind, u32 path length, i64 offset, i64 old bytes, i64 size before, i64 bytes written} path, old bytes. Kind 1 wrote, 2 synced.
 * The record is written before the write it tells of; a process killed between the two is put back to what it was anyway.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct head { uint32_t kind, path_length; int64_t offset, length, size, written; };
enum { WROTE = 1, SYNCED = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1;
static const char *folder;

/* As disk.ts writes them. A rule without an end of a name is for every file; one that `holds` something is for writes of it. */
enum { WRITE = 1, SYNC = 2, READ = 3, OPEN = 4 };
enum { KILL = 1, FAIL = 2, WAIT = 3 };
struct rule { int32_t operation, does, error, wait_ms; int64_t skip, times, met; char end[88], holds[128]; };
struct rules { volatile int32_t count, reads; char rest[248]; struct rule rule[16]; };
static struct rules *rules;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off64_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off64_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off64_t);
static ssize_t (*real_read)(int, void *, size_t);
static ssize_t (*real_pread)(int, void *, size_t, off64_t);
static int (*real_openat)(int, const char *, int, ...);

__attribute__((constructor)) static void begin(void) {
  if (real_openat != NULL) return; /* whoever opens a file before the constructors have run has done this */
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_writev = dlsym(RTLD_NEXT, "writev");
  real_pwritev = dlsym(RTLD_NEXT, "pwritev64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_read = dlsym(RTLD_NEXT, "read");
  real_pread = dlsym(RTLD_NEXT, "pread64");
  real_openat = dlsym(RTLD_NEXT, "openat64");
  folder = getenv("TORTURE_FOLDER");
  const char *name = getenv("TORTURE_JOURNAL");
  if (name != NULL && folder != NULL) journal = open(name, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  const char *orders = getenv("TORTURE_RULES");
  int file = orders == NULL ? -1 : open(orders, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof(struct rules), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) rules = mapped;
  close(file);
}

/* Path of a descriptor below the folder, or 0. */
static int path_of(int fd, char *path, size_t room) {
  if (folder == NULL || fd < 0) return 0;
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, room - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  if (strncmp(path, folder, strlen(folder)) != 0) return 0;
  const char *end = path + length;
  return !(length > 4 && strcmp(end - 4, "-shm") == 0) && !(length > 5 && strcmp(end - 5, "/lock") == 0);
}

static void note(uint32_t kind, const char *path, off64_t offset, const void *old, int64_t length, int64_t size, int64_t written) {
  struct head head = {kind, (uint32_t)strlen(path), offset, length, size, written};
  struct iovec parts[3] = {{&head, sizeof head}, {(void *)path, head.path_length}, {(void *)old, (size_t)length}};
  if (real_writev(journal, parts, 3) < 0) _exit(99);
}

/* Called with the lock held, before the write. */
static void keep(int fd, const char *path, off64_t offset, int64_t length, int64_t written) {
  struct stat64 file;
  if (journal < 0 || fstat64(fd, &file) != 0 || !S_ISREG(file.st_mode)) return;
  if (length < 0) length = 0;
  int64_t there = offset >= file.st_size ? 0 : (offset + length > file.st_size ? file.st_size - offset : length);
  char *old = malloc(there > 0 ? (size_t)there : 1);
  int reader = there > 0 ? real_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;
  int64_t got = 0;
  while (reader >= 0 && got < there) {
    ssize_t part = real_pread(reader, old + got, (size_t)(there - got), offset + got);
    if (part <= 0) break;
    got += part;
  }
  if (reader >= 0) close(reader);
  note(WROTE, path, offset, old, got, file.st_size, written);
  free(old);
}

static int concerns(const struct rule *rule, const char *path, const void *data, size_t size) {
  if (rule->holds[0] != 0 && (data == NULL || memmem(data, size, rule->holds, strlen(rule->holds)) == NULL)) return 0;
  size_t length = strlen(path), end = strlen(rule->end);
  if (rule->end[0] == '*') return strstr(path, rule->end + 1) != NULL;
  return length >= end && strcmp(path + length - end, rule->end) == 0;
}

/* The rule that is due for the operation, or NULL. Called without the lock: which of two threads is the n-th does not matter. */
static struct rule *due(int operation, int does, const char *path, const void *data, size_t size) {
  if (rules == NULL) return NULL;
  for (int32_t index = 0; index < rules->count; index += 1) {
    struct rule *rule = &rules->rule[index];
    if (rule->operation != operation || rule->does != does || rule->times == 0 || !concerns(rule, path, data, size)) continue;
    if (__atomic_fetch_sub(&rule->skip, 1, __ATOMIC_SEQ_CST) > 0) continue;
    if (rule->times > 0) rule->times -= 1;
    __atomic_fetch_add(&rule->met, 1, __ATOMIC_SEQ_CST);
    return rule;
  }
  return NULL;
}

/* Before the operation: it waits, or is refused with errno set. */
static int refused(int operation, const char *path) {
  struct rule *rule = due(operation, WAIT, path, NULL, 0);
  if (rule != NULL) usleep((useconds_t)rule->wait_ms * 1000);
  rule = due(operation, FAIL, path, NULL, 0);
  if (rule != NULL) errno = rule->error;
  return rule != NULL;
}

static void die_if_due(int operation, const char *path, const void *data, size_t size) {
  if (due(operation, KILL, path, data, size) != NULL) raise(SIGKILL);
}

static int64_t total(const struct iovec *parts, int count) {
  int64_t sum = 0;
  for (int index = 0; index < count; index += 1) sum += (int64_t)parts[index].iov_len;
  return sum;
}

#define WATCHED(fd, data, size, offset, length, call)   \
  char path[1024];                                      \
  if (!path_of(fd, path, sizeof path)) return call;     \
  if (refused(WRITE, path)) return -1;                  \
  pthread_mutex_lock(&lock);                            \
  keep(fd, path, offset, length, length);               \
  ssize_t done = call;                                  \
  die_if_due(WRITE, path, data, size);                  \
  pthread_mutex_unlock(&lock);                          \
  return done

static off64_t where(int fd) {
  int flags = fcntl(fd, F_GETFL);
  struct stat64 file;
  if (flags >= 0 && (flags & O_APPEND) && fstat64(fd, &file) == 0) return file.st_size;
  return lseek64(fd, 0, SEEK_CUR);
}

ssize_t write(int fd, const void *data, size_t length) { WATCHED(fd, data, length, where(fd), (int64_t)length, real_write(fd, data, length)); }
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) { WATCHED(fd, data, length, offset, (int64_t)length, real_pwrite(fd, data, length, offset)); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { WATCHED(fd, data, length, offset, (int64_t)length, real_pwrite(fd, data, length, offset)); }
ssize_t writev(int fd, const struct iovec *parts, int count) { WATCHED(fd, count > 0 ? parts[0].iov_base : NULL, count > 0 ? parts[0].iov_len : 0, where(fd), total(parts, count), real_writev(fd, parts, count)); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) { WATCHED(fd, count > 0 ? parts[0].iov_base : NULL, count > 0 ? parts[0].iov_len : 0, offset, total(parts, count), real_pwritev(fd, parts, count, offset)); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) { WATCHED(fd, count > 0 ? parts[0].iov_base : NULL, count > 0 ? parts[0].iov_len : 0, offset, total(parts, count), real_pwritev(fd, parts, count, offset)); }

static int synced(int fd, int (*call)(int)) {
  char path[1024];
  if (!path_of(fd, path, sizeof path)) return call(fd);
  if (refused(SYNC, path)) return -1;
  pthread_mutex_lock(&lock);
  int result = call(fd);
  if (journal >= 0 && result == 0) note(SYNCED, path, 0, "", 0, 0, 0);
  die_if_due(SYNC, path, NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}
int fsync(int fd) { return synced(fd, real_fsync); }
int fdatasync(int fd) { return synced(fd, real_fdatasync); }

static int truncated(int fd, off64_t size) {
  char path[1024];
  if (!path_of(fd, path, sizeof path)) return real_ftruncate(fd, size);
  if (refused(WRITE, path)) return -1;
  pthread_mutex_lock(&lock);
  struct stat64 file;
  int64_t lost = fstat64(fd, &file) == 0 ? file.st_size - size : 0;
  keep(fd, path, size, lost > 0 ? lost : 0, 0);
  int result = real_ftruncate(fd, size);
  pthread_mutex_unlock(&lock);
  return result;
}
int ftruncate64(int fd, off64_t size) { return truncated(fd, size); }
int ftruncate(int fd, off_t size) { return truncated(fd, size); }

/* Reads are many, and looked at only while there is a rule for them. */
static int unreadable(int fd) {
  char path[1024];
  return rules != NULL && rules->reads != 0 && path_of(fd, path, sizeof path) && refused(READ, path);
}
ssize_t read(int fd, void *data, size_t length) {
  begin();
  return unreadable(fd) ? -1 : real_read(fd, data, length);
}
ssize_t pread64(int fd, void *data, size_t length, off64_t offset) { return unreadable(fd) ? -1 : real_pread(fd, data, length, offset); }
ssize_t pread(int fd, void *data, size_t length, off_t offset) { return pread64(fd, data, length, offset); }

/* Opening to write, or to make: what a file system that is mounted for reading refuses. */
static int opened(int at, const char *path, int flags, mode_t mode) {
  begin();
  int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0;
  if (writes && folder != NULL && strncmp(path, folder, strlen(folder)) == 0 && refused(OPEN, path)) return -1;
  return real_openat(at, path, flags, mode);
}
#define MODE(flags)                       \
  mode_t mode = 0;                        \
  if ((flags & O_CREAT) || (flags & __O_TMPFILE) == __O_TMPFILE) { \
    va_list rest;                         \
    va_start(rest, flags);                \
    mode = va_arg(rest, mode_t);          \
    va_end(rest);                         \
  }
int open(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return opened(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) return opened(at, path, flags, mode); }
