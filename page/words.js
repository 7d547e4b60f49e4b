// Lines and changes of gpuenv.toml in words, as the command says them.

const LONGEST = 48;

const targetOf = (key) => (key.startsWith("target.") ? key.slice(7, key.lastIndexOf(".")) : "");
const nameOf = (key) => key.slice(key.lastIndexOf(".") + 1);

/** A value as TOML writes it; of a longer one the beginning. */
function toml(text) {
  const bare = text.startsWith("[") || text === "true" || text === "false";
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
  return bare ? short : `"${short}"`;
}

/** Which lines clash; `values` holds what is written for each key. */
function title(keys, values) {
  const line = (key) => (values.has(key) ? `${nameOf(key)} = ${toml(values.get(key))}` : key);
  const of = (key) => (targetOf(key) ? ` (target ${targetOf(key)})` : "");
  const targets = new Set(keys.map(targetOf).filter(Boolean));
  const one = targets.size === 1;
  const lines = keys.map((key) => line(key) + (one ? "" : of(key)));
  const last = one ? ` (target ${[...targets][0]})` : "";
  if (lines.length === 0) return "nothing in the catalog satisfies this spec";
  if (lines.length === 1) return `${lines[0]} cannot be satisfied${last}`;
  if (lines.length === 2) return `${lines[0]} is incompatible with ${lines[1]}${last}`;
  if (lines.length > 4) return `${lines.length} settings are incompatible`;
  return `${listed(lines)} are incompatible${last}`;
}

/** A change of a key; its target is named where there are several. */
function changed({ key, from, to }, several) {
  const name = nameOf(key);
  const of = several && targetOf(key) ? ` of target ${targetOf(key)}` : "";
  if (from === null) return `set ${name} = ${toml(to)} under [${key.slice(0, key.lastIndexOf("."))}]`;
  if (to === null) return `remove ${name} = ${toml(from)}${of}`;
  if (name === "driver" && /^>=[^,|]*$/.test(to)) return `upgrade the driver${of} from ${from} to ${to.slice(2)} or newer`;
  if (to === "*") return `allow any ${name}${of} instead of ${from}`;
  return `change ${name}${of} from ${from} to ${to}`;
}

const stackWords = (stack) => Object.entries(stack).map((one) => one.join(" ")).join(", ");
