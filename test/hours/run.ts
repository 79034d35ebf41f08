import { spawn } from 'node:child_process';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fakeClockEnvironment, findFakeClock } from './fake-clock.ts';
import { INSTANTS, type Instant, parseInstant } from './instants.ts';
import { UsageError } from './usage-error.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const OUTPUT = join(ROOT, 'node_modules/.cache/test-hours');
const USAGE = 'npm run test:hours -- [--at <name or ISO instant>]... [--workers <n>] [suite paths]';
const PROJECTS = ['unit', 'integration', 'page', 'e2e'].flatMap((name) => ['--project', name]);

interface Options {
  instants: Instant[];
  /** Arguments of vitest. */
  vitest: string[];
}

interface Run {
  passed: boolean;
  /** One line, and below it a line for each failed test. */
  summary: string;
}

/** `npm run test:hours`: suites of CI at instants at which the calendar, the steps of a day or their time limits change. */
try {
  const options = parseOptions(process.argv.slice(2));
  const library = findFakeClock();
  await mkdir(OUTPUT, { recursive: true });
  for (const instant of options.instants) {
    const { passed, summary } = await runAt(instant, options.vitest, library);
    console.log(summary);
    if (!passed) process.exitCode = 1;
  }
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
}

function parseOptions(words: string[]): Options {
  const { values, positionals } = readWords(words);
  const workers = values.workers === undefined ? [] : [`--maxWorkers=${values.workers}`];
  return { instants: values.at?.map(parseInstant) ?? INSTANTS, vitest: [...PROJECTS, ...workers, ...positionals] };
}

function readWords(args: string[]) {
  try {
    return parseArgs({ args, allowPositionals: true, options: { at: { type: 'string', multiple: true }, workers: { type: 'string' } } });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

async function runAt({ name, ms }: Instant, vitest: string[], library: string): Promise<Run> {
  const files = { log: join(OUTPUT, `${name}.log`), report: join(OUTPUT, `${name}.json`) };
  const title = `${name.padEnd(14)} ${new Date(ms).toISOString()}`;
  await rm(files.report, { force: true });
  const began = performance.now();
  if ((await runNode(['test/hours/check-clocks.ts', String(ms)], fakeClockEnvironment(library, ms), files.log)) !== 0) {
    return { passed: false, summary: `${title}  not run: a child process does not follow the clock, see ${files.log}` };
  }
  const words = [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...vitest,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${files.report}`,
  ];
  const code = await runNode(words, fakeClockEnvironment(library, ms), files.log);
  const seconds = Math.round((performance.now() - began) / 1000);
  const lines = await describeReport(files.report);
  const result = code === 0 ? 'passed' : 'FAILED';
  return { passed: code === 0, summary: [`${title}  ${result}  ${lines[0]}, ${seconds} s  ${files.log}`, ...lines.slice(1)].join('\n') };
}

/** Runs the node of this process with its output in a file; resolves to its exit code, null after a signal. */
async function runNode(words: string[], env: NodeJS.ProcessEnv, logPath: string): Promise<number | null> {
  const log = await open(logPath, 'w');
  try {
    const child = spawn(process.execPath, words, { cwd: ROOT, env, stdio: ['ignore', log.fd, log.fd] });
    return await new Promise((done, fail) => child.once('error', fail).once('exit', done));
  } finally {
    await log.close();
  }
}

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  testResults: { name: string; status: string; assertionResults: { fullName: string; status: string }[] }[];
}

async function describeReport(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return ['no report'];
  const { numPassedTests, numFailedTests, numPendingTests, testResults }: Report = JSON.parse(text);
  const failed = testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, assertionResults }) => {
      const titles = assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
      return (titles.length > 0 ? titles : ['the file itself']).map((title) => `    ${name.slice(ROOT.length + 1)}: ${title}`);
    });
  return [`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`, ...failed];
}
