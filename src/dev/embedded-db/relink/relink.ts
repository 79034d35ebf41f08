import { type ElfBinding, type NeededVersion, readElf, type UndefinedSymbol } from './elf.ts';

const TOO_NEW_VERSION = 'GLIBC_2.38';
/** The base version of each port, by `e_machine`. */
const BASE_VERSION: Record<number, string> = { 62: 'GLIBC_2.2.5', 183: 'GLIBC_2.17' };
const ISO_C23 = '__isoc23_';
/**
 * Symbols versioned anew in glibc 2.38 with an equivalent in the base version. The `__isoc23_` functions additionally parse binary literals
 * ("0b1"); `fmod` no longer sets `errno` through the obsolete `_LIB_VERSION`.
 */
const REPLACEABLE_SYMBOLS = new Set([
  ...['strtol', 'strtoll', 'strtoul', 'strtoull', 'sscanf', 'fscanf'].map((name) => ISO_C23 + name),
  'fmod',
]);

/** Binds to the base version instead of 2.38. @throws Error if the library uses a symbol of 2.38 without a known equivalent */
export function relinkForOlderGlibc(library: Buffer): Buffer {
  const elf = readElf(library);
  const tooNew = elf.versions.filter(({ name }) => name === TOO_NEW_VERSION);
  const symbols = elf.symbols.filter(({ version }) => tooNew.some(({ index }) => index === version));
  const unknown = symbols.filter(({ name }) => !REPLACEABLE_SYMBOLS.has(name)).map(({ name }) => name);
  if (unknown.length > 0) throw new Error(`no equivalent of ${unknown.join(', ')} (${TOO_NEW_VERSION}) is known`);
  const relinked = Buffer.from(library);
  for (const symbol of symbols) dropPrefix(relinked, symbol);
  for (const version of tooNew) renameVersion(relinked, version, findBaseVersion(elf));
  return relinked;
}

/** The plain name is a suffix of the prefixed one, so only the name index advances. */
function dropPrefix(library: Buffer, { name, offset }: UndefinedSymbol): void {
  if (!name.startsWith(ISO_C23)) return;
  library.writeUInt32LE(library.readUInt32LE(offset) + ISO_C23.length, offset);
}

/** Renames the needed version for all symbols bound to it; the loader accepts one name under two indexes. */
function renameVersion(library: Buffer, { offset }: NeededVersion, base: { name: string; stringIndex: number }): void {
  library.writeUInt32LE(computeElfHash(base.name), offset);
  library.writeUInt32LE(base.stringIndex, offset + 8);
}

function findBaseVersion(elf: ElfBinding): { name: string; stringIndex: number } {
  const name = BASE_VERSION[elf.machine];
  if (!name) throw new Error(`the base version of glibc for ELF machine ${elf.machine} is not known`);
  const stringIndex = elf.stringIndex(name);
  if (stringIndex < 0) throw new Error(`the library does not mention ${name}`);
  return { name, stringIndex };
}

/** The hash of symbol version names (System V ABI, "Hash Table"). */
function computeElfHash(name: string): number {
  let hash = 0;
  for (const char of name) {
    hash = (hash * 16 + char.charCodeAt(0)) >>> 0;
    const high = hash & 0xf0000000;
    hash = (hash ^ (high >>> 24)) & ~high & 0x0fffffff;
  }
  return hash;
}
