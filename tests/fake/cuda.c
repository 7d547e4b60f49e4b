/* A libcuda without a GPU, for tests. It has the calls that gpuenv makes, refuses what a driver would refuse, and runs
 * the three programs of src/probe/kernels/kernels.cu on the host's memory, known by their names.
 *
 * GPUENV_FAKE scripts it, see fake.h:
 *   devices=2 cc=86 isa=84 cuda=12040   what it pretends to be: two devices of capability 8.6, PTX ISA 8.4, CUDA 12.4
 *   name=Thor integrated=1              also of its devices; the name may be `endless`
 *   sick=3 sickness=hang                cuInit does this wherever device 3 can be seen
 *   cuInit=999                          a call returns this code, or does something
 *   sm_86=209, ptx=222                  loading this machine code, or any PTX, does
 *   reduce=700                          launching this program does; `wrong`: one result is off by one
 *
 * -DOLD: without the calls that came later.
 * After a launch that failed every later call returns its code, as it is with a real driver. */

#include "fake.h"

typedef struct {
  char name[32];
} Function;

static int retained = 0;

/* The device that CUDA_VISIBLE_DEVICES leaves, by its UUID; -1: all of them. */
static int only(void) {
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  if (!visible) return -1;
  if (!strncmp(visible, "GPU-", 4)) return (int)strtol((char[]){visible[4], visible[5], 0}, NULL, 16) - 0x10;
  return strncmp(visible, "MIG-", 4) ? -1 : 0;
}

/* Whether an instance of MIG is all that is visible. */
static int is_instance(void) {
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  return visible && !strncmp(visible, "MIG-", 4);
}

int cuDriverGetVersion(int *version) {
  CALL("cuDriverGetVersion");
  *version = (int)number("cuda", 12040);
  return 0;
}

int cuInit(unsigned flags) {
  CALL("cuInit");
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  if (visible && (!*visible || !strcmp(visible, "-1"))) return 100;
  int sick = (int)number("sick", -1);
  if (sick >= 0 && (only() < 0 || only() == sick)) CALL("sickness");
  return flags ? 1 : 0;
}

int cuDeviceGetCount(int *count) {
  CALL("cuDeviceGetCount");
  *count = only() < 0 ? (int)number("devices", 1) : 1;
  return 0;
}

int cuDeviceGet(int *device, int ordinal) {
  CALL("cuDeviceGet");
  if (ordinal < 0 || ordinal >= number("devices", 1)) {
    return 101;
  }
  *device = only() < 0 ? ordinal : only();
  return 0;
}

int cuDeviceGetName(char *name, int room, int device) {
  CALL("cuDeviceGetName");
  char usual[32];
  snprintf(usual, sizeof usual, "Fake GPU %d", device);
  if (is_instance()) snprintf(usual, sizeof usual, "Fake GPU 0 MIG 1g.12gb");
  text(name, (size_t)room, "name", usual);
  return 0;
}

#ifndef OLD
int cuDeviceGetPCIBusId(char *address, int room, int device) {
  CALL("cuDeviceGetPCIBusId");
  snprintf(address, (size_t)room, "0000:%02X:00.0", 0x65 + device);
  return 0;
}

int cuDeviceGetUuid(unsigned char *uuid, int device) {
  CALL("cuDeviceGetUuid");
  memset(uuid, 0x10 + device, 16);
  const char *text = is_instance() ? getenv("CUDA_VISIBLE_DEVICES") + 4 : "";
  for (int i = 0; *text && text[1] && i < 16; ++i, text += 2) {
    text += *text == '-';
    uuid[i] = (unsigned char)strtol((char[]){text[0], text[1], 0}, NULL, 16);
  }
  return 0;
}
#endif

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  CALL("cuDeviceGetAttribute");
  (void)device;
  int capability = (int)number("cc", 90);
  *value = attribute == 75   ? capability / 10
           : attribute == 76 ? capability % 10
           : attribute == 18 ? (int)number("integrated", 0)
                             : 0;
  return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  CALL("cuDeviceTotalMem_v2");
  (void)device;
  *bytes = (size_t)80 << 30;
  return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  current = device;
  CALL("cuDevicePrimaryCtxRetain");
  *context = &retained;
  return 0;
}

int cuCtxSetCurrent(void *context) {
  CALL("cuCtxSetCurrent");
  return context == &retained ? 0 : 201;
}

/* Writes into the log that the caller offers: options 5 and 6 are a buffer and its size. */
static int log_and(int code, unsigned count, const int *options, void **values, const char *words) {
  char *log = NULL;
  size_t room = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == 5) {
      log = values[i];
    }
    if (options[i] == 6) {
      room = (size_t)values[i];
    }
  }
  if (log && room) {
    snprintf(log, room, "%s", words);
  }
  return code;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
  CALL("cuModuleLoadDataEx");
  int device = (int)number("cc", 90);
  if (memcmp(image, "\x7f" "ELF", 4) == 0) {
    const unsigned char *bytes = image;
    int built = bytes[7] == 0x41 ? bytes[49] : bytes[48];
    char name[16];
    snprintf(name, sizeof name, "sm_%d", built);
    CALL(name);
    if (built / 10 != device / 10 || built > device) {
      return 209;
    }
  } else {
    CALL("ptx");
    const char *cache = getenv("CUDA_CACHE_DISABLE");
    if (!cache || strcmp(cache, "1") != 0) {
      return log_and(999, count, options, values, "the cache is on: nothing would be compiled");
    }
    const char *version = strstr(image, "\n.version ");
    const char *target = strstr(image, "\n.target sm_");
    if (!version || !target) {
      return log_and(218, count, options, values, "ptxas fatal : no .version, no .target");
    }
    int major = 0, minor = 0;
    sscanf(version, "\n.version %d.%d", &major, &minor);
    if (major * 10 + minor > number("isa", 84)) {
      return log_and(222, count, options, values, "ptxas fatal : Unsupported .version");
    }
    if (atoi(target + strlen("\n.target sm_")) > device) {
      return 209;
    }
  }
  *module = &current;
  return 0;
}

int cuModuleGetFunction(Function **function, void *module, const char *name) {
  CALL("cuModuleGetFunction");
  if (module != &current) {
    return 400;
  }
  if (strcmp(name, "saxpy") && strcmp(name, "reduce") && strcmp(name, "matmul")) {
    return 500;
  }
  *function = calloc(1, sizeof **function);
  snprintf((*function)->name, sizeof (*function)->name, "%s", name);
  return 0;
}

int cuModuleUnload(void *module) {
  CALL("cuModuleUnload");
  return module == &current ? 0 : 400;
}

int cuMemAlloc_v2(unsigned long long *place, size_t bytes) {
  CALL("cuMemAlloc_v2");
  *place = (unsigned long long)malloc(bytes);
  return *place ? 0 : 2;
}

int cuMemFree_v2(unsigned long long place) {
  CALL("cuMemFree_v2");
  free((void *)place);
  return 0;
}

int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes) {
  CALL("cuMemcpyHtoD_v2");
  memcpy((void *)to, from, bytes);
  return 0;
}

int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) {
  CALL("cuMemcpyDtoH_v2");
  memcpy(to, (const void *)from, bytes);
  return 0;
}

#define POINTER(i) (*(float **)arguments[i])

int cuLaunchKernel(Function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **extra) {
  CALL("cuLaunchKernel");
  const char *value = scripted(function->name);
  int wrong = value && !strcmp(value, "wrong");
  if (!wrong) {
    broken = act(function->name);
    CALL(function->name);
  }
  if (gz != 1 || bz != 1 || shared || stream || extra) {
    return 1;
  }
  unsigned n = *(unsigned *)arguments[0];
  float *first;
  if (!strcmp(function->name, "saxpy")) {
    float a = *(float *)arguments[1], *x = POINTER(2), *y = first = POINTER(3);
    for (unsigned i = 0; i < gx * bx && i < n; ++i) {
      y[i] = a * x[i] + y[i];
    }
  } else if (!strcmp(function->name, "reduce")) {
    float *x = POINTER(1), *sums = first = POINTER(2);
    for (unsigned block = 0; block < gx; ++block) {
      sums[block] = 0;
      for (unsigned i = block * bx; i < (block + 1) * bx && i < n; ++i) {
        sums[block] += x[i];
      }
    }
  } else {
    float *a = POINTER(1), *b = POINTER(2), *c = first = POINTER(3);
    for (unsigned row = 0; row < gy * by && row < n; ++row) {
      for (unsigned column = 0; column < gx * bx && column < n; ++column) {
        c[row * n + column] = 0;
        for (unsigned k = 0; k < n; ++k) {
          c[row * n + column] += a[row * n + k] * b[k * n + column];
        }
      }
    }
  }
  first[0] += wrong ? 1.0f : 0.0f;
  return 0;
}

int cuCtxSynchronize(void) {
  CALL("cuCtxSynchronize");
  return 0;
}
