import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { InputFrame } from '../../src/forecast/inputs.ts';
import { type Headlines, writeFrame } from '../headlines.ts';
import type { Timed } from './walk-forward-process.ts';

const PROGRAM = join(import.meta.dirname, 'walk_forward.py');

/** The reference in numpy, in a process of its own. */
export interface NumpyReference {
  /** E.g. `numpy 2.4.6, Python 3.11.7`. */
  versions: string;
  run(): Promise<Timed>;
  end(): Promise<void>;
}

/** Starts the reference on a frame; null where there is no `python3` with numpy. */
export async function startNumpy(frame: InputFrame): Promise<NumpyReference | null> {
  if (!(await hasNumpy())) return null;
  const folder = await mkdtemp(join(tmpdir(), 'oracle-bench-'));
  await writeFrame(folder, frame);
  const child = spawn('python3', [PROGRAM, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the numpy reference ended');
    return JSON.parse(value);
  };
  const { numpy, python } = await next();
  return {
    versions: `numpy ${numpy}, Python ${python}`,
    async run() {
      child.stdin.write('\n');
      const { seconds, horizons } = (await next()) as { seconds: number; horizons: Headlines };
      return { ms: seconds * 1_000, headlines: horizons };
    },
    async end() {
      const ended = new Promise((done) => child.once('exit', done));
      child.stdin.end();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function hasNumpy(): Promise<boolean> {
  try {
    await promisify(execFile)('python3', ['-c', 'import numpy']);
    return true;
  } catch {
    return false;
  }
}
