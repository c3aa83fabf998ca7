/* How HDF5 reaches a file of one process. Its own driver would do, but for one thing: when there is no space left,
 * HDF5 cannot close a file whose last pages it cannot write, keeps it half closed, and falls over it at the end of
 * the program. Here a file that could not be written once is given up: what follows is swallowed, the file closes,
 * and hdf5_driver_trouble says why. No locks are taken: files are written under a name of their own. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hdf5_files.h"

struct driver_file {
  H5FD_t common; /* HDF5's part; first */
  int fd;
  int trouble; /* errno of the first write that failed, 0: none */
  dev_t device;
  ino_t inode;
  haddr_t eoa, eof; /* ends: of what is in use, of the file */
};

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t most) {
  (void)access, (void)most;
  struct stat status;
  int how = flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY;
  how |= (flags & H5F_ACC_TRUNC ? O_TRUNC : 0) | (flags & H5F_ACC_CREAT ? O_CREAT : 0) |
         (flags & H5F_ACC_EXCL ? O_EXCL : 0);
  struct driver_file *file = calloc(1, sizeof *file);
  if (!file)
    return NULL;
  file->fd = open(name, how | O_CLOEXEC, 0666);
  if (file->fd < 0 || fstat(file->fd, &status) != 0) {
    if (file->fd >= 0)
      close(file->fd);
    free(file);
    return NULL;
  }
  file->device = status.st_dev;
  file->inode = status.st_ino;
  file->eof = (haddr_t)status.st_size;
  return &file->common;
}

static herr_t driver_close(H5FD_t *common) {
  struct driver_file *file = (struct driver_file *)common;
  int status = close(file->fd);
  free(file);
  return status == 0 ? 0 : -1;
}

static int driver_compare(const H5FD_t *a, const H5FD_t *b) {
  const struct driver_file *x = (const struct driver_file *)a, *y = (const struct driver_file *)b;
  if (x->device != y->device)
    return x->device < y->device ? -1 : 1;
  return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static herr_t driver_query(const H5FD_t *common, unsigned long *flags) {
  (void)common;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *common, H5FD_mem_t type) {
  (void)type;
  return ((const struct driver_file *)common)->eoa;
}

static herr_t driver_set_eoa(H5FD_t *common, H5FD_mem_t type, haddr_t eoa) {
  (void)type;
  ((struct driver_file *)common)->eoa = eoa;
  return 0;
}

static haddr_t driver_get_eof(const H5FD_t *common, H5FD_mem_t type) {
  (void)type;
  return ((const struct driver_file *)common)->eof;
}

static herr_t driver_handle(H5FD_t *common, hid_t access, void **handle) {
  (void)access;
  *handle = common;
  return 0;
}

/* Behind the end of the file are zeros. */
static herr_t driver_read(H5FD_t *common, H5FD_mem_t type, hid_t list, haddr_t at, size_t size,
                          void *buffer) {
  const struct driver_file *file = (const struct driver_file *)common;
  unsigned char *to = buffer;
  (void)type, (void)list;
  while (size > 0) {
    ssize_t n = pread(file->fd, to, size, (off_t)at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return -1;
    if (n == 0) {
      memset(to, 0, size);
      break;
    }
    to += n;
    at += (haddr_t)n;
    size -= (size_t)n;
  }
  return 0;
}

static herr_t driver_write(H5FD_t *common, H5FD_mem_t type, hid_t list, haddr_t at, size_t size,
                           const void *buffer) {
  struct driver_file *file = (struct driver_file *)common;
  const unsigned char *from = buffer;
  (void)type, (void)list;
  const haddr_t end = at + size;
  if (file->trouble)
    return 0;
  while (size > 0) {
    ssize_t n = pwrite(file->fd, from, size, (off_t)at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      file->trouble = n < 0 ? errno : ENOSPC;
      return -1;
    }
    from += n;
    at += (haddr_t)n;
    size -= (size_t)n;
  }
  file->eof = end > file->eof ? end : file->eof;
  return 0;
}

static herr_t driver_truncate(H5FD_t *common, hid_t list, hbool_t closing) {
  struct driver_file *file = (struct driver_file *)common;
  (void)list, (void)closing;
  if (file->trouble || file->eoa == file->eof)
    return 0;
  if (ftruncate(file->fd, (off_t)file->eoa) != 0) {
    file->trouble = errno;
    return -1;
  }
  file->eof = file->eoa;
  return 0;
}

static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = 600, /* of those that HDF5 leaves to drivers that are not registered with it */
#endif
    .name = "op2jit",
    .maxaddr = ((haddr_t)1 << 62) - 1,
    .fc_degree = H5F_CLOSE_STRONG,
    .open = driver_open,
    .close = driver_close,
    .cmp = driver_compare,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .get_handle = driver_handle,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t hdf5_driver_use(hid_t access) {
  hid_t id = H5FDregister(&driver);
  if (id >= 0 && H5Pset_driver(access, id, NULL) >= 0)
    return id;
  hdf5_driver_release(id);
  return -1;
}

void hdf5_driver_release(hid_t id) {
  if (id >= 0)
    H5FDunregister(id);
}

int hdf5_driver_trouble(hid_t file) {
  void *handle = NULL;
  if (H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0 || !handle)
    return 0;
  return ((const struct driver_file *)handle)->trouble;
}
