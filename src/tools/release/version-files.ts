import { UsageError } from '../../platform/usage-error.ts';

export interface VersionFile {
  path: string;
  read(text: string): (string | undefined)[];
  write(text: string, version: string): string;
}

const PYTHON_VERSION = /(?<=^version = ").+(?="$)/m;
const IMAGE_TAG = /(?<=^ *newTag: ).+$/m;

/** All files that state the version. Everything else reads package.json: documents, protocols, both commands, the package for npm. */
export const VERSION_FILES: readonly VersionFile[] = [
  {
    path: 'package.json',
    read: (text) => [JSON.parse(text).version],
    write: (text, version) => editJson(text, (manifest) => Object.assign(manifest, { version })),
  },
  {
    path: 'package-lock.json',
    read: (text) => getLockEntries(JSON.parse(text)).map((entry) => entry.version),
    write: (text, version) =>
      editJson(text, (lock) => {
        for (const entry of getLockEntries(lock)) entry.version = version;
      }),
  },
  {
    path: 'deploy/kubernetes/overlays/example/kustomization.yaml',
    read: (text) => [IMAGE_TAG.exec(text)?.[0]],
    write: (text, version) => text.replace(IMAGE_TAG, version),
  },
  {
    path: 'server.json',
    read: (text) => getRegistryEntries(JSON.parse(text)).map((entry) => entry.version),
    write: (text, version) =>
      editJson(text, (entry) => {
        for (const versioned of getRegistryEntries(entry)) versioned.version = version;
      }),
  },
  {
    path: 'clients/python/pyproject.toml',
    read: (text) => [PYTHON_VERSION.exec(text)?.[0]],
    write: (text, version) => text.replace(PYTHON_VERSION, version),
  },
];

/** @throws UsageError for a file that states another version than package.json. */
export function replaceVersion({ path, read, write }: VersionFile, text: string, versions: { from: string; to: string }): string {
  const other = read(text).filter((found) => found !== versions.from);
  if (other.length > 0)
    throw new UsageError(path, `states the version ${other[0] ?? 'nowhere'}, package.json ${versions.from}`, 'Make them equal.');
  return write(text, versions.to);
}

interface Versioned {
  version?: string;
}

function getLockEntries(lock: Versioned & { packages: Record<string, Versioned> }): Versioned[] {
  return [lock, lock.packages['']];
}

/** The entry and the package that it names. */
function getRegistryEntries(entry: Versioned & { packages: Versioned[] }): Versioned[] {
  return [entry, ...entry.packages];
}

function editJson(text: string, edit: (value: ReturnType<typeof JSON.parse>) => void): string {
  const value = JSON.parse(text);
  edit(value);
  return `${JSON.stringify(value, null, 2)}\n`;
}
