import type { Environment } from '../config/config.ts';

const SYSTEM_VARIABLES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'TMPDIR', 'TEMP', 'TMP', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'NODE_ENV'];
/** Options of Node and glibc; `MALLOC_*` limits the memory that freed blocks retain. */
const RUNTIME_VARIABLES = ['NODE_OPTIONS', 'NODE_V8_COVERAGE', 'MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_', 'LD_LIBRARY_PATH'];
const CLOCK_SHIFT_VARIABLES = ['LD_PRELOAD', 'DYLD_INSERT_LIBRARIES', 'FAKETIME', 'FAKETIME_SHARED', 'FAKETIME_DONT_FAKE_MONOTONIC'];
const ALLOWED_VARIABLES: ReadonlySet<string> = new Set([...SYSTEM_VARIABLES, ...RUNTIME_VARIABLES, ...CLOCK_SHIFT_VARIABLES]);

/** The environment of a child process, without the settings, which contain keys and secrets: these are passed explicitly. */
// biome-ignore lint/style/noProcessEnv: reads no setting and passes none on
export function filterChildEnvironment(environment: Environment = process.env): Record<string, string> {
  const kept = Object.entries(environment).filter(
    (entry): entry is [string, string] => ALLOWED_VARIABLES.has(entry[0]) && entry[1] !== undefined,
  );
  return Object.fromEntries(kept);
}
