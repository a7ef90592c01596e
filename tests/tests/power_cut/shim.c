/* Preloaded into the process whose disk is going to lose power: writes down, in order, every write and every sync of files
 * below STEADFAST_TRACED, to the file STEADFAST_TRACE. Writes are made and noted under one lock, so the order of the trace
 * is the order in the page cache; a sync is noted where it begins and where it has succeeded.
 *
 * An entry is: kind (1 byte), lengths of two paths (2 and 2), number (8), length of the data (4), paths, data; native order.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES 1024

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *names[FILES];
static const char *folder;
static int trace = -1;
static uint64_t syncs;

#define REAL(result, name, ...)                                      \
    static result (*real)(__VA_ARGS__);                              \
    if (!real) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

static void give_up(const char *why) {
    fprintf(stderr, "power-cut shim: %s\n", why);
    _exit(97);
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("STEADFAST_TRACE");
    folder = getenv("STEADFAST_TRACED");
    if (!path || !folder) give_up("STEADFAST_TRACE and STEADFAST_TRACED must be set");
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
    trace = real(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (trace < 0) give_up("the trace cannot be opened");
}

static int ours(const char *path) {
    return folder && trace >= 0 && path && strncmp(path, folder, strlen(folder)) == 0;
}

static const char *name(int file) {
    return file >= 0 && file < FILES ? names[file] : NULL;
}

static void put(void *to, size_t *at, const void *from, size_t length) {
    memcpy((char *)to + *at, from, length);
    *at += length;
}

static void note(char kind, const char *path, const char *second, uint64_t number, const void *data, uint32_t length) {
    static ssize_t (*real)(int, const struct iovec *, int);
    if (!real) real = (ssize_t(*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
    char head[17];
    size_t at = 0;
    uint16_t first_length = (uint16_t)strlen(path), second_length = (uint16_t)strlen(second);
    put(head, &at, &kind, 1);
    put(head, &at, &first_length, 2);
    put(head, &at, &second_length, 2);
    put(head, &at, &number, 8);
    put(head, &at, &length, 4);
    struct iovec parts[4] = {{head, at}, {(void *)path, first_length}, {(void *)second, second_length}, {(void *)data, length}};
    if (real(trace, parts, 4) != (ssize_t)(at + first_length + second_length + length)) give_up("the trace cannot be written");
}

static int opened(int file, const char *path, int flags) {
    if (file >= 0 && ours(path)) {
        if (file >= FILES) give_up("too many open files");
        pthread_mutex_lock(&lock);
        free(names[file]);
        names[file] = strdup(path);
        if (flags & (O_CREAT | O_TRUNC)) note('o', path, "", (flags & O_TRUNC) != 0, NULL, 0);
        pthread_mutex_unlock(&lock);
    }
    return file;
}

#define OPEN(function)                                      \
    int function(const char *path, int flags, ...) {        \
        REAL(int, function, const char *, int, ...);        \
        mode_t mode = 0;                                    \
        if (flags & O_CREAT) {                              \
            va_list more;                                   \
            va_start(more, flags);                          \
            mode = va_arg(more, mode_t);                    \
            va_end(more);                                   \
        }                                                   \
        return opened(real(path, flags, mode), path, flags); \
    }
OPEN(open)
OPEN(open64)

#define OPEN_AT(function)                                                   \
    int function(int at, const char *path, int flags, ...) {                \
        REAL(int, function, int, const char *, int, ...);                   \
        mode_t mode = 0;                                                    \
        if (flags & O_CREAT) {                                              \
            va_list more;                                                   \
            va_start(more, flags);                                          \
            mode = va_arg(more, mode_t);                                    \
            va_end(more);                                                   \
        }                                                                   \
        return opened(real(at, path, flags, mode), path, flags);            \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

int close(int file) {
    REAL(int, close, int);
    if (name(file)) {
        pthread_mutex_lock(&lock);
        free(names[file]);
        names[file] = NULL;
        pthread_mutex_unlock(&lock);
    }
    return real(file);
}

ssize_t write(int file, const void *data, size_t length) {
    REAL(ssize_t, write, int, const void *, size_t);
    if (!name(file)) return real(file, data, length);
    pthread_mutex_lock(&lock);
    off_t from = lseek(file, 0, SEEK_CUR);
    ssize_t written = real(file, data, length);
    if (written > 0) note('w', names[file], "", (uint64_t)from, data, (uint32_t)written);
    pthread_mutex_unlock(&lock);
    return written;
}

#define WRITE_AT(function, offset_type)                                             \
    ssize_t function(int file, const void *data, size_t length, offset_type from) { \
        REAL(ssize_t, function, int, const void *, size_t, offset_type);            \
        if (!name(file)) return real(file, data, length, from);                     \
        pthread_mutex_lock(&lock);                                                  \
        ssize_t written = real(file, data, length, from);                           \
        if (written > 0) note('w', names[file], "", (uint64_t)from, data, (uint32_t)written); \
        pthread_mutex_unlock(&lock);                                                \
        return written;                                                             \
    }
WRITE_AT(pwrite, off_t)
WRITE_AT(pwrite64, off64_t)

ssize_t writev(int file, const struct iovec *parts, int count) {
    REAL(ssize_t, writev, int, const struct iovec *, int);
    if (name(file)) give_up("a file of the store is written with writev, which is not traced");
    return real(file, parts, count);
}

#define SYNC(function)                                           \
    int function(int file) {                                     \
        REAL(int, function, int);                                \
        if (!name(file)) return real(file);                      \
        pthread_mutex_lock(&lock);                               \
        uint64_t number = ++syncs;                               \
        note('b', names[file], "", number, NULL, 0);             \
        pthread_mutex_unlock(&lock);                             \
        int outcome = real(file);                                \
        pthread_mutex_lock(&lock);                               \
        if (outcome == 0 && name(file)) note('e', names[file], "", number, NULL, 0); \
        pthread_mutex_unlock(&lock);                             \
        return outcome;                                          \
    }
SYNC(fsync)
SYNC(fdatasync)

/* Writes pages out without making them durable: noted, and counts for nothing. */
int sync_file_range(int file, off64_t from, off64_t length, unsigned int flags) {
    REAL(int, sync_file_range, int, off64_t, off64_t, unsigned int);
    if (name(file)) {
        pthread_mutex_lock(&lock);
        note('s', names[file], "", (uint64_t)from, NULL, 0);
        pthread_mutex_unlock(&lock);
    }
    return real(file, from, length, flags);
}

#define TRUNCATE(function, offset_type)                                      \
    int function(int file, offset_type length) {                             \
        REAL(int, function, int, offset_type);                               \
        if (!name(file)) return real(file, length);                          \
        pthread_mutex_lock(&lock);                                           \
        int outcome = real(file, length);                                    \
        if (outcome == 0) note('t', names[file], "", (uint64_t)length, NULL, 0); \
        pthread_mutex_unlock(&lock);                                         \
        return outcome;                                                      \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *);
    if (!ours(from)) return real(from, to);
    pthread_mutex_lock(&lock);
    int outcome = real(from, to);
    if (outcome == 0) {
        note('r', from, to, 0, NULL, 0);
        for (int file = 0; file < FILES; file++) {
            if (names[file] && strcmp(names[file], from) == 0) {
                free(names[file]);
                names[file] = strdup(to);
            }
        }
    }
    pthread_mutex_unlock(&lock);
    return outcome;
}

#define NAMED(function, kind, more, given)                   \
    int function(const char *path more) {                    \
        REAL(int, function, const char *more);               \
        if (!ours(path)) return real(path given);            \
        pthread_mutex_lock(&lock);                           \
        int outcome = real(path given);                      \
        if (outcome == 0) note(kind, path, "", 0, NULL, 0);  \
        pthread_mutex_unlock(&lock);                         \
        return outcome;                                      \
    }
#define NOTHING
#define COMMA ,
NAMED(unlink, 'u', NOTHING, NOTHING)
NAMED(rmdir, 'd', NOTHING, NOTHING)
NAMED(mkdir, 'm', COMMA mode_t mode, COMMA mode)
