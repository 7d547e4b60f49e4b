// The solver: unpacked from this file, then called through what wasm-bindgen made.

/** What was packed into an element of this file. */
const unpack = (id) => through(new DecompressionStream("gzip"), fromBase64(byId(id).textContent));

async function load() {
  const bytes = await unpack("solver");
  await wasm_bindgen({ module_or_path: bytes });
  return wasm_bindgen;
}
