#include "fault_vfs.h"

#include <sqlite3.h>
#include <stddef.h>

struct fault_plan fault_plan;

struct fault_file {
  sqlite3_file base;
  sqlite3_file *real; /* behind this struct */
};

static bool fails(void) {
  fault_plan.calls++;
  bool now = fault_plan.at &&
             (fault_plan.for_good ? fault_plan.calls >= fault_plan.at : fault_plan.calls == fault_plan.at);
  fault_plan.failed += now;
  return now;
}

static sqlite3_file *real(sqlite3_file *f) {
  return ((struct fault_file *)(void *)f)->real;
}

static int write_code(int otherwise) {
  return fault_plan.full ? SQLITE_FULL : otherwise;
}

static int f_close(sqlite3_file *f) {
  return real(f)->pMethods ? real(f)->pMethods->xClose(real(f)) : SQLITE_OK;
}
static int f_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at) {
  return fails() ? SQLITE_IOERR_READ : real(f)->pMethods->xRead(real(f), p, n, at);
}
static int f_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at) {
  return fails() ? write_code(SQLITE_IOERR_WRITE) : real(f)->pMethods->xWrite(real(f), p, n, at);
}
static int f_truncate(sqlite3_file *f, sqlite3_int64 n) {
  return fails() ? SQLITE_IOERR_TRUNCATE : real(f)->pMethods->xTruncate(real(f), n);
}
static int f_sync(sqlite3_file *f, int flags) {
  return fails() ? SQLITE_IOERR_FSYNC : real(f)->pMethods->xSync(real(f), flags);
}
static int f_size(sqlite3_file *f, sqlite3_int64 *n) {
  return fails() ? SQLITE_IOERR_FSTAT : real(f)->pMethods->xFileSize(real(f), n);
}
static int f_lock(sqlite3_file *f, int level) {
  return fails() ? SQLITE_IOERR_LOCK : real(f)->pMethods->xLock(real(f), level);
}
static int f_unlock(sqlite3_file *f, int level) {
  return real(f)->pMethods->xUnlock(real(f), level);
}
static int f_reserved(sqlite3_file *f, int *out) {
  return fails() ? SQLITE_IOERR_CHECKRESERVEDLOCK : real(f)->pMethods->xCheckReservedLock(real(f), out);
}
static int f_control(sqlite3_file *f, int op, void *arg) {
  return real(f)->pMethods->xFileControl(real(f), op, arg);
}
static int f_sector(sqlite3_file *f) {
  return real(f)->pMethods->xSectorSize(real(f));
}
static int f_device(sqlite3_file *f) {
  return real(f)->pMethods->xDeviceCharacteristics(real(f));
}
static int f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
  return fails() ? SQLITE_IOERR_SHMMAP : real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
}
static int f_shm_lock(sqlite3_file *f, int offset, int n, int flags) {
  bool unlock = (flags & SQLITE_SHM_UNLOCK) != 0;
  return !unlock && fails() ? SQLITE_IOERR_SHMLOCK : real(f)->pMethods->xShmLock(real(f), offset, n, flags);
}
static void f_shm_barrier(sqlite3_file *f) {
  real(f)->pMethods->xShmBarrier(real(f));
}
static int f_shm_unmap(sqlite3_file *f, int delete) {
  return real(f)->pMethods->xShmUnmap(real(f), delete);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = f_close,
    .xRead = f_read,
    .xWrite = f_write,
    .xTruncate = f_truncate,
    .xSync = f_sync,
    .xFileSize = f_size,
    .xLock = f_lock,
    .xUnlock = f_unlock,
    .xCheckReservedLock = f_reserved,
    .xFileControl = f_control,
    .xSectorSize = f_sector,
    .xDeviceCharacteristics = f_device,
    .xShmMap = f_shm_map,
    .xShmLock = f_shm_lock,
    .xShmBarrier = f_shm_barrier,
    .xShmUnmap = f_shm_unmap,
};

static sqlite3_vfs *below;

static int v_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out_flags) {
  struct fault_file *file = (struct fault_file *)(void *)f;
  (void)vfs;
  file->base.pMethods = NULL;
  if (fails())
    return SQLITE_CANTOPEN;
  file->real = (sqlite3_file *)(void *)(file + 1);
  int code = below->xOpen(below, name, file->real, flags, out_flags);
  if (file->real->pMethods)
    file->base.pMethods = &methods;
  return code;
}
static int v_delete(sqlite3_vfs *vfs, const char *name, int sync) {
  (void)vfs;
  return fails() ? SQLITE_IOERR_DELETE : below->xDelete(below, name, sync);
}
static int v_access(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
  (void)vfs;
  return fails() ? SQLITE_IOERR_ACCESS : below->xAccess(below, name, flags, out);
}
static int v_full(sqlite3_vfs *vfs, const char *name, int n, char *out) {
  (void)vfs;
  return fails() ? SQLITE_CANTOPEN : below->xFullPathname(below, name, n, out);
}

void fault_vfs_register(void) {
  static sqlite3_vfs vfs;
  below = sqlite3_vfs_find(NULL);
  vfs = *below;
  vfs.szOsFile = (int)sizeof(struct fault_file) + below->szOsFile;
  vfs.zName = FAULT_VFS;
  vfs.pNext = NULL;
  vfs.xOpen = v_open;
  vfs.xDelete = v_delete;
  vfs.xAccess = v_access;
  vfs.xFullPathname = v_full;
  sqlite3_vfs_register(&vfs, 0);
}
