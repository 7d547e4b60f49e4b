// The programs that `gpuenv verify` runs on every GPU. No header is needed and nothing newer than the oldest compiler
// that reads them. They compute with whole numbers, small enough that every product and every sum is exact in fp32:
// the order of the terms and fused multiply-adds cannot change a result, so that it has to equal the host's bit by bit.

#define BLOCK 128
#define TILE 16

// y = a x + y
extern "C" __global__ void saxpy(unsigned n, float a, const float *x, float *y) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = a * x[i] + y[i];
  }
}

// The sum of each block's part of x, by halves in shared memory.
extern "C" __global__ void reduce(unsigned n, const float *x, float *sums) {
  __shared__ float part[BLOCK];
  unsigned i = blockIdx.x * BLOCK + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = part[0];
  }
}

// c = a b, square matrices of n rows, row by row in memory, tile by tile in shared memory.
extern "C" __global__ void matmul(unsigned n, const float *a, const float *b, float *c) {
  __shared__ float left[TILE][TILE];
  __shared__ float right[TILE][TILE];
  unsigned row = blockIdx.y * TILE + threadIdx.y;
  unsigned column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
#pragma unroll 1
  for (unsigned from = 0; from < n; from += TILE) {
    unsigned across = from + threadIdx.x;
    unsigned down = from + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < n && across < n ? a[row * n + across] : 0.0f;
    right[threadIdx.y][threadIdx.x] = down < n && column < n ? b[down * n + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < TILE; ++k) {
      sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    }
    __syncthreads();
  }
  if (row < n && column < n) {
    c[row * n + column] = sum;
  }
}
