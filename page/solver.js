// The solver: unpacked from this file, then called through what wasm-bindgen made.

/** What was packed into an element of this file: a byte for each character, of which some stand 256 higher. */
function unpack(id) {
  const text = byId(id).textContent;
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

async function load() {
  await wasm_bindgen({ module_or_path: unpack("solver") });
  return wasm_bindgen;
}
