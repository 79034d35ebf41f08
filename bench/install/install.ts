import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { removeFolder } from '../../test/support/docs/folders.ts';
import type { Benchmark, Comparison } from '../lib.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** What `npm ci` reads, with the install script and the sources that it bundles. */
const INPUTS = ['package.json', 'package-lock.json', '.npmrc', 'bin', 'src', 'skills', 'agent-card'];
const GOAL_MB = 450;
const GOAL_MS = 30_000;

/** What a new user waits for, and what it takes of the disk. */
export const INSTALL: Benchmark = {
  name: 'install',
  what: 'npm ci into an empty folder: packages, megabytes on disk, seconds; the download counts, unless the cache of npm has it',
  async run({ report }): Promise<Comparison[]> {
    const folder = await mkdtemp(join(tmpdir(), 'oracle-install-'));
    try {
      for (const input of INPUTS) await cp(join(ROOT, input), join(folder, input), { recursive: true, filter: isOwnFile });
      const began = performance.now();
      const { stdout, stderr } = await runIn(folder, 'npm', ['ci']);
      const ours = [performance.now() - began];
      const mb = await diskMb(join(folder, 'node_modules'));
      report(`  ${await countPackages(folder)} packages, ${mb} MB   goal <= ${GOAL_MB} MB: ${mb <= GOAL_MB ? 'met' : 'MISSED'}`);
      const warnings = `${stdout}\n${stderr}`.split('\n').filter((line) => /warn|deprecated/i.test(line));
      report(`  ${warnings.length} warnings`);
      const meaning = 'The install scripts run: Node itself, and the bundles of the service and of the page.';
      return [{ kind: 'time', work: 'npm ci', meaning, baseline: null, ours, goalMs: GOAL_MS }];
    } finally {
      await removeFolder(folder);
    }
  },
};

const isOwnFile = (path: string) => !path.endsWith('node_modules');

const runIn = (cwd: string, command: string, words: string[]) => promisify(execFile)(command, words, { cwd, maxBuffer: 2 ** 26 });

/** Disk blocks in use; a file with two names counts once. */
async function diskMb(folder: string): Promise<number> {
  const { stdout } = await runIn(folder, 'du', ['-sm', '.']);
  return Number.parseInt(stdout, 10);
}

async function countPackages(folder: string): Promise<number> {
  const lock = JSON.parse(await readFile(join(folder, 'node_modules/.package-lock.json'), 'utf8')) as { packages: object };
  return Object.keys(lock.packages).length;
}
