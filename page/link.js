// The question in the address: #q= and the text of gpuenv.toml, deflated.

async function through(stream, bytes) {
  const piped = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

async function toLink(text) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text));
  const plain = btoa(String.fromCharCode(...bytes));
  return "#q=" + plain.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The text that an address holds; null where it holds none that can be read. */
async function fromLink(hash) {
  if (!hash.startsWith("#q=")) return null;
  try {
    const bytes = fromBase64(hash.slice(3).replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder("utf-8", { fatal: true }).decode(await through(new DecompressionStream("deflate-raw"), bytes));
  } catch {
    return null;
  }
}

function fromBase64(text) {
  const plain = atob(text);
  const bytes = new Uint8Array(plain.length);
  for (let at = 0; at < plain.length; at++) bytes[at] = plain.charCodeAt(at);
  return bytes;
}
