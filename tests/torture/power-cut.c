/*
 * Preloaded into the process under test (LD_PRELOAD). It keeps, in TORTURE_JOURNAL, what every file below TORTURE_FOLDER held before
 * each write that has not been synced: whoever pulls the plug (SIGKILL from outside) then puts that back and has the files as the disk
 * would have them. Renames and removals are taken to be durable at once; -shm files and the lock are left alone (nothing in them is kept).
 *
 * TORTURE_KILL=<operation>:<end of the file's name>:<n> ends the process itself in its n-th such operation, after the operation: write, sync.
 *
 * Journal: records of {u32 kind, u32 path length, i64 offset, i64 old bytes, i64 size before, i64 bytes written} path, old bytes. Kind 1 wrote, 2 synced.
 * The record is written before the write it tells of; a process killed between the two is put back to what it was anyway.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct head { uint32_t kind, path_length; int64_t offset, length, size, written; };
enum { WROTE = 1, SYNCED = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1;
static const char *folder, *kill_operation, *kill_end;
static long kill_after = -1;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off64_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off64_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off64_t);

__attribute__((constructor)) static void begin(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_writev = dlsym(RTLD_NEXT, "writev");
  real_pwritev = dlsym(RTLD_NEXT, "pwritev64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  folder = getenv("TORTURE_FOLDER");
  const char *name = getenv("TORTURE_JOURNAL");
  if (name != NULL && folder != NULL) journal = open(name, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  char *what = getenv("TORTURE_KILL");
  if (what == NULL) return;
  what = strdup(what);
  kill_operation = strtok(what, ":");
  kill_end = strtok(NULL, ":");
  const char *count = strtok(NULL, ":");
  if (count != NULL) kill_after = atol(count);
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
  int reader = there > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  int64_t got = 0;
  while (reader >= 0 && got < there) {
    ssize_t part = pread64(reader, old + got, (size_t)(there - got), offset + got);
    if (part <= 0) break;
    got += part;
  }
  if (reader >= 0) close(reader);
  note(WROTE, path, offset, old, got, file.st_size, written);
  free(old);
}

static void die_if_due(const char *operation, const char *path) {
  if (kill_after < 0 || strcmp(operation, kill_operation) != 0) return;
  size_t length = strlen(path), end = strlen(kill_end);
  if (length < end || strcmp(path + length - end, kill_end) != 0) return;
  if (kill_after-- == 0) raise(SIGKILL);
}

static int64_t total(const struct iovec *parts, int count) {
  int64_t sum = 0;
  for (int index = 0; index < count; index += 1) sum += (int64_t)parts[index].iov_len;
  return sum;
}

#define WATCHED(fd, offset, length, call)               \
  char path[1024];                                      \
  if (!path_of(fd, path, sizeof path)) return call;     \
  pthread_mutex_lock(&lock);                            \
  keep(fd, path, offset, length, length);               \
  ssize_t done = call;                                  \
  die_if_due("write", path);                            \
  pthread_mutex_unlock(&lock);                          \
  return done

static off64_t where(int fd) {
  int flags = fcntl(fd, F_GETFL);
  struct stat64 file;
  if (flags >= 0 && (flags & O_APPEND) && fstat64(fd, &file) == 0) return file.st_size;
  return lseek64(fd, 0, SEEK_CUR);
}

ssize_t write(int fd, const void *data, size_t length) { WATCHED(fd, where(fd), (int64_t)length, real_write(fd, data, length)); }
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) { WATCHED(fd, offset, (int64_t)length, real_pwrite(fd, data, length, offset)); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { WATCHED(fd, offset, (int64_t)length, real_pwrite(fd, data, length, offset)); }
ssize_t writev(int fd, const struct iovec *parts, int count) { WATCHED(fd, where(fd), total(parts, count), real_writev(fd, parts, count)); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) { WATCHED(fd, offset, total(parts, count), real_pwritev(fd, parts, count, offset)); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) { WATCHED(fd, offset, total(parts, count), real_pwritev(fd, parts, count, offset)); }

static int synced(int fd, int (*call)(int)) {
  char path[1024];
  if (!path_of(fd, path, sizeof path)) return call(fd);
  pthread_mutex_lock(&lock);
  int result = call(fd);
  if (journal >= 0 && result == 0) note(SYNCED, path, 0, "", 0, 0, 0);
  die_if_due("sync", path);
  pthread_mutex_unlock(&lock);
  return result;
}
int fsync(int fd) { return synced(fd, real_fsync); }
int fdatasync(int fd) { return synced(fd, real_fdatasync); }

static int truncated(int fd, off64_t size) {
  char path[1024];
  if (!path_of(fd, path, sizeof path)) return real_ftruncate(fd, size);
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
