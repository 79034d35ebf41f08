type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** What a program needs to be found, to keep temporary files, and to speak the user's language. */
const SYSTEM_VARIABLES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'TMPDIR', 'TEMP', 'TMP', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'NODE_ENV'];
/** How Node and glibc run; `MALLOC_*` limits the memory that freed blocks keep. */
const RUNTIME_VARIABLES = ['NODE_OPTIONS', 'NODE_V8_COVERAGE', 'MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_', 'LD_LIBRARY_PATH'];
/** A clock that is shifted for a test is shifted in its children too. */
const CLOCK_SHIFT_VARIABLES = ['LD_PRELOAD', 'DYLD_INSERT_LIBRARIES', 'FAKETIME', 'FAKETIME_SHARED', 'FAKETIME_DONT_FAKE_MONOTONIC'];

const ALLOWED_VARIABLES: ReadonlySet<string> = new Set([...SYSTEM_VARIABLES, ...RUNTIME_VARIABLES, ...CLOCK_SHIFT_VARIABLES]);

/**
 * The environment that a child process gets: none of the settings, which hold keys and secrets. A child that needs a setting is handed it.
 * @param environment Of this process, unless said otherwise.
 */
// biome-ignore lint/style/noProcessEnv: it reads no setting, and lets none through
export function filterChildEnvironment(environment: EnvironmentVariables = process.env): Record<string, string> {
  const kept = Object.entries(environment).filter(
    (entry): entry is [string, string] => ALLOWED_VARIABLES.has(entry[0]) && entry[1] !== undefined,
  );
  return Object.fromEntries(kept);
}
