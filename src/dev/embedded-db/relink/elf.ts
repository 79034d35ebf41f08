/** ELF64, little endian; layout and names by the System V ABI and LSB 5.0 "Symbol Versioning". */
export interface ElfBinding {
  machine: number;
  symbols: UndefinedSymbol[];
  versions: NeededVersion[];
  stringIndex(text: string): number;
}

export interface UndefinedSymbol {
  name: string;
  /** The `index` of the needed version it is bound to. */
  version: number;
  /** File offset of its entry, which begins with the 32-bit index of the name. */
  offset: number;
}

export interface NeededVersion {
  library: string;
  name: string;
  index: number;
  offset: number;
}

const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const TAG = {
  null: 0,
  strtab: 5,
  symtab: 6,
  strsz: 10,
  gnuHash: 0x6ffffef5,
  versym: 0x6ffffff0,
  verneed: 0x6ffffffe,
  verneednum: 0x6fffffff,
};
const SYMBOL_BYTES = 24;
/** The top bit of a symbol's version index means "hidden". */
const VERSION_MASK = 0x7fff;

type Segment = Record<'type' | 'fileOffset' | 'address' | 'fileSize', number>;

/** @throws Error for a truncated file or another kind of file */
export function readElf(file: Buffer): ElfBinding {
  try {
    return parseElf(file);
  } catch (error) {
    if (error instanceof RangeError) throw new Error('the library is truncated', { cause: error });
    throw error;
  }
}

function parseElf(file: Buffer): ElfBinding {
  if (file.readUInt32BE(0) !== 0x7f454c46) throw new Error('not an ELF file');
  if (file[4] !== 2 || file[5] !== 1) throw new Error('not a 64-bit little-endian ELF file');
  const segments = readSegments(file);
  const offsetOf = (address: number) => toFileOffset(segments, address);
  const dynamic = readDynamic(file, segments);
  const strings = file.subarray(offsetOf(dynamic.get(TAG.strtab)!)).subarray(0, dynamic.get(TAG.strsz));
  const text = (index: number) => strings.toString('latin1', index, strings.indexOf(0, index));
  return {
    machine: file.readUInt16LE(18),
    symbols: readUndefinedSymbols(file, dynamic, offsetOf, text),
    versions: readNeededVersions(file, offsetOf(dynamic.get(TAG.verneed)!), dynamic.get(TAG.verneednum)!, text),
    stringIndex: (wanted) => {
      const at = strings.indexOf(`\0${wanted}\0`, 0, 'latin1');
      return at < 0 ? -1 : at + 1;
    },
  };
}

function readSegments(file: Buffer): Segment[] {
  const table = readU64(file, 32);
  const size = file.readUInt16LE(54);
  const segments = Array.from({ length: file.readUInt16LE(56) }, (_, i) => {
    const at = table + i * size;
    return {
      type: file.readUInt32LE(at),
      fileOffset: readU64(file, at + 8),
      address: readU64(file, at + 16),
      fileSize: readU64(file, at + 32),
    };
  });
  if (segments.some((segment) => segment.fileOffset + segment.fileSize > file.length))
    throw new RangeError('a segment ends after the file');
  return segments;
}

function toFileOffset(segments: Segment[], address: number): number {
  const segment = segments.find((one) => one.type === PT_LOAD && address >= one.address && address < one.address + one.fileSize);
  if (!segment) throw new Error(`no segment holds the address 0x${address?.toString(16)}`);
  return address - segment.address + segment.fileOffset;
}

function readDynamic(file: Buffer, segments: Segment[]): Map<number, number> {
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  if (!dynamic) throw new Error('not a dynamic library');
  const tags = new Map<number, number>();
  for (let at = dynamic.fileOffset; readU64(file, at) !== TAG.null; at += 16) tags.set(readU64(file, at), readU64(file, at + 8));
  const missing = Object.entries(TAG).find(([, tag]) => tag !== TAG.null && !tags.has(tag));
  if (missing) throw new Error(`the dynamic section lacks ${missing[0].toUpperCase()}`);
  return tags;
}

function readUndefinedSymbols(
  file: Buffer,
  dynamic: Map<number, number>,
  offsetOf: (address: number) => number,
  text: (index: number) => string,
): UndefinedSymbol[] {
  const table = offsetOf(dynamic.get(TAG.symtab)!);
  const versions = offsetOf(dynamic.get(TAG.versym)!);
  // The hash table contains only defined symbols and begins with the index of the first.
  const firstDefined = file.readUInt32LE(offsetOf(dynamic.get(TAG.gnuHash)!) + 4);
  return Array.from({ length: firstDefined }, (_, i) => {
    const offset = table + i * SYMBOL_BYTES;
    return { name: text(file.readUInt32LE(offset)), version: file.readUInt16LE(versions + i * 2) & VERSION_MASK, offset };
  });
}

function readNeededVersions(file: Buffer, start: number, count: number, text: (index: number) => string): NeededVersion[] {
  const versions: NeededVersion[] = [];
  for (let library = start, i = 0; i < count; i++, library += file.readUInt32LE(library + 12)) {
    const name = text(file.readUInt32LE(library + 4));
    const entries = file.readUInt16LE(library + 2);
    for (let at = library + file.readUInt32LE(library + 8), j = 0; j < entries; j++, at += file.readUInt32LE(at + 12)) {
      versions.push({ library: name, name: text(file.readUInt32LE(at + 8)), index: file.readUInt16LE(at + 6), offset: at });
    }
  }
  return versions;
}

function readU64(file: Buffer, at: number): number {
  return Number(file.readBigUInt64LE(at));
}
