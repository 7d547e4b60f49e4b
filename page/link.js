// The question in the address: #q= and the text of gpuenv.toml, deflated.

/** The most that is read of a gpuenv.toml: a link of a few KB can hold a gigabyte. */
const LONGEST_TEXT = 4 << 20;

async function through(stream, bytes, most = Infinity) {
  const parts = [];
  let length = 0;
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    length += read.value.length;
    if (length > most) {
      reader.cancel().catch(() => {});
      throw new RangeError(`more than ${most} bytes`);
    }
    parts.push(read.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

async function toLink(text) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text));
  let plain = "";
  for (const byte of bytes) plain += String.fromCharCode(byte);
  return "#q=" + btoa(plain).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The text that an address holds; null where it holds none, an error that says why where it cannot be read. */
async function fromLink(hash) {
  if (!hash.startsWith("#q=")) return null;
  try {
    const bytes = fromBase64(hash.slice(3).replaceAll("-", "+").replaceAll("_", "/"));
    const text = await through(new DecompressionStream("deflate-raw"), bytes, LONGEST_TEXT);
    return new TextDecoder("utf-8", { fatal: true }).decode(text);
  } catch (error) {
    throw new Error(error instanceof RangeError
      ? `This link was not read: it holds more than ${LONGEST_TEXT >> 20} MiB of text, which no gpuenv.toml has.`
      : "This link was not read: it is damaged or cut short. Ask for it again, or paste the gpuenv.toml below.");
  }
}

function fromBase64(text) {
  const plain = atob(text);
  const bytes = new Uint8Array(plain.length);
  for (let at = 0; at < plain.length; at++) bytes[at] = plain.charCodeAt(at);
  return bytes;
}
