/* A libnvidia-ml without a GPU, for tests; without a script it is a driver with one healthy H100.
 *
 * GPUENV_FAKE scripts it, see fake.h. A call's word is its name without its version:
 *   count=2 driver=470.57.02 cuda=11040          what the driver pretends to be
 *   name=… uuid=… brand=2 major=8 minor=6        what its GPUs are; a text may be `endless`
 *   uuids=1                                      each GPU has the UUID that the fake libcuda gives it
 *   mode=3 persistence=0 virtualization=2 processes=5 mig=1 instances=7 fabric=2 fabric_status=9
 *   confidential=1 ready=0 recovery=1 pending=1 unreplaced=1 licensed=0
 *                                                what state they are in, as the numbers of nvml.h
 *   faulty=1                                     the states of health are those of this GPU only
 *   nvmlDeviceGetName=15                         a call returns this code, or does something
 *
 * -DOLD: a driver from before its functions had versions. */

#include "fake.h"

typedef void *Device;

#ifdef OLD
#define SECOND(name) name
#define THIRD(name) name
#else
#define SECOND(name) name##_v2
#define THIRD(name) name##_v3
#endif

int SECOND(nvmlInit)(void) {
  CALL("nvmlInit");
  return 0;
}
int nvmlShutdown(void) {
  CALL("nvmlShutdown");
  return 0;
}

int nvmlSystemGetDriverVersion(char *out, unsigned room) {
  CALL("nvmlSystemGetDriverVersion");
  text(out, room, "driver", "550.54.15");
  return 0;
}

int SECOND(nvmlSystemGetCudaDriverVersion)(int *out) {
  CALL("nvmlSystemGetCudaDriverVersion");
  *out = (int)number("cuda", 12040);
  return 0;
}

int SECOND(nvmlDeviceGetCount)(unsigned *out) {
  CALL("nvmlDeviceGetCount");
  *out = (unsigned)number("count", 1);
  return 0;
}

/* A handle is the number plus one; those of MIG instances lie above. */
enum { INSTANCES = 0x10000 };

int SECOND(nvmlDeviceGetHandleByIndex)(unsigned index, Device *out) {
  CALL("nvmlDeviceGetHandleByIndex");
  *out = (Device)(size_t)(index + 1);
  return 0;
}

int nvmlDeviceGetName(Device device, char *out, unsigned room) {
  CALL("nvmlDeviceGetName");
  if ((size_t)device >= INSTANCES)
    text(out, room, "instance", "NVIDIA H100 NVL MIG 1g.12gb");
  else
    text(out, room, "name", "NVIDIA H100 NVL");
  return 0;
}

int nvmlDeviceGetUUID(Device device, char *out, unsigned room) {
  CALL("nvmlDeviceGetUUID");
  if ((size_t)device >= INSTANCES)
    snprintf(out, room, "MIG-11111111-2222-3333-4444-%012zx", (size_t)device);
  else if (number("uuids", 0)) {
    unsigned each = 0x0f + (unsigned)(size_t)device, two = each << 8 | each;
    snprintf(out, room, "GPU-%04x%04x-%04x-%04x-%04x-%04x%04x%04x", two, two, two, two, two, two, two, two);
  } else
    text(out, room, "uuid", "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6");
  return 0;
}

int nvmlDeviceGetBrand(Device device, unsigned *out) {
  (void)device;
  CALL("nvmlDeviceGetBrand");
  *out = (unsigned)number("brand", 14);
  return 0;
}

int THIRD(nvmlDeviceGetPciInfo)(Device device, char *out) {
  CALL("nvmlDeviceGetPciInfo");
  unsigned place[3] = {0, 0x65, (unsigned)(size_t)device - 1};
  memcpy(out + 16, place, sizeof place);
  return 0;
}

int nvmlDeviceGetMemoryInfo(Device device, unsigned long long *out) {
  CALL("nvmlDeviceGetMemoryInfo");
  out[0] = (size_t)device >= INSTANCES ? 12ull << 30 : 94ull << 30;
  out[1] = (unsigned long long)number("free", (long)((out[0] >> 30) - 1)) << 30;
  out[2] = out[0] - out[1];
  return 0;
}

int nvmlDeviceGetComputeMode(Device device, unsigned *out) {
  (void)device;
  CALL("nvmlDeviceGetComputeMode");
  *out = (unsigned)number("mode", 0);
  return 0;
}

int nvmlDeviceGetPersistenceMode(Device device, unsigned *out) {
  (void)device;
  CALL("nvmlDeviceGetPersistenceMode");
  *out = (unsigned)number("persistence", 1);
  return 0;
}

int THIRD(nvmlDeviceGetComputeRunningProcesses)(Device device, unsigned *count, void *out) {
  (void)device;
  CALL("nvmlDeviceGetComputeRunningProcesses");
  unsigned room = *count;
  *count = (unsigned)number("processes", 2);
  if (out && room) abort();
  return *count > room ? 7 : 0;
}

#ifndef OLD
int nvmlDeviceGetCudaComputeCapability(Device device, int *major, int *minor) {
  (void)device;
  CALL("nvmlDeviceGetCudaComputeCapability");
  *major = (int)number("major", 9);
  *minor = (int)number("minor", 0);
  return 0;
}

int nvmlDeviceGetVirtualizationMode(Device device, unsigned *out) {
  (void)device;
  CALL("nvmlDeviceGetVirtualizationMode");
  *out = (unsigned)number("virtualization", 0);
  return 0;
}

int nvmlDeviceGetMigMode(Device device, unsigned *current, unsigned *pending) {
  (void)device;
  CALL("nvmlDeviceGetMigMode");
  *current = *pending = (unsigned)number("mig", 0);
  return 0;
}

int nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned *out) {
  (void)device;
  CALL("nvmlDeviceGetMaxMigDeviceCount");
  *out = (unsigned)number("instances", 7);
  return 0;
}

/* Every second instance is there. */
int nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device *out) {
  (void)device;
  CALL("nvmlDeviceGetMigDeviceHandleByIndex");
  *out = (Device)(size_t)(INSTANCES + index);
  return index % 2 ? 6 : 0;
}

int nvmlDeviceGetGpuFabricInfoV(Device device, unsigned char *out) {
  (void)device;
  CALL("nvmlDeviceGetGpuFabricInfoV");
  unsigned version, status = (unsigned)number("fabric_status", 0);
  memcpy(&version, out, sizeof version);
  if (version != (2u << 24 | 36)) return 25;
  memcpy(out + 20, &status, sizeof status);
  out[28] = (unsigned char)number("fabric", 3);
  return 0;
}

/* Whether this is the GPU that the words of health are about. */
static int is_faulty(Device device) {
  long long which = number("faulty", -1);
  return which < 0 || (size_t)device == (size_t)which + 1;
}

int nvmlDeviceGetFieldValues(Device device, int count, char *out) {
  CALL("nvmlDeviceGetFieldValues");
  for (int i = 0; i < count; ++i, out += 40) {
    unsigned field, code = 3, value = 0;
    memcpy(&field, out, sizeof field);
    if (field == 230) {
      code = 0;
      value = is_faulty(device) ? (unsigned)number("recovery", 0) : 0;
    }
    memcpy(out + 28, &code, sizeof code);
    memcpy(out + 32, &value, sizeof value);
  }
  return 0;
}

int nvmlDeviceGetRemappedRows(Device device, unsigned *correctable, unsigned *uncorrectable, unsigned *pending,
                              unsigned *failed) {
  CALL("nvmlDeviceGetRemappedRows");
  if (number("mig", 0) || number("virtualization", 0) == 2) return 3;
  *correctable = 0;
  *pending = is_faulty(device) ? (unsigned)number("pending", 0) : 0;
  *failed = is_faulty(device) ? (unsigned)number("unreplaced", 0) : 0;
  *uncorrectable = *pending + *failed;
  return 0;
}

int nvmlDeviceGetGridLicensableFeatures_v4(Device device, unsigned char *out) {
  (void)device;
  CALL("nvmlDeviceGetGridLicensableFeatures");
  unsigned head[2] = {1, 1}, code = 1, enabled = 1, licensed = (unsigned)number("licensed", 1);
  memset(out, 0, 8 + 3 * 284);
  memcpy(out, head, sizeof head);
  memcpy(out + 8, &code, sizeof code);
  memcpy(out + 12, &licensed, sizeof licensed);
  memcpy(out + 8 + 264, &enabled, sizeof enabled);
  return 0;
}

int nvmlSystemGetConfComputeState(unsigned *out) {
  CALL("nvmlSystemGetConfComputeState");
  out[1] = (unsigned)number("confidential", 0);
  return 0;
}

int nvmlSystemGetConfComputeGpusReadyState(unsigned *out) {
  CALL("nvmlSystemGetConfComputeGpusReadyState");
  *out = (unsigned)number("ready", 1);
  return 0;
}
#endif
