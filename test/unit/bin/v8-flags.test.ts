import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Set while the service runs, then set back: V8 ignores the name of an unknown flag, and has no way to ask for its value. */
const DEFAULTS = ['--bytecode-old-age=6', '--no-flush-baseline-code', '--heap-growing-percent=0'];

it.each(DEFAULTS)("%s is V8's own", (flag) => {
  const { stdout } = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8', maxBuffer: 2 ** 24 });
  expect(stdout).toMatch(new RegExp(`default: ${flag}\\s`));
});
