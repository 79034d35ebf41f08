import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { printHelpIfAsked } from '../lib/help.mjs';
import { requireNode } from '../require-node.mjs';
import { ensureInstalled } from './install-package.mjs';

const AREAS = ['forecast', 'record', 'commerce', 'verify', 'auth'];
const ROOT = resolve(import.meta.dirname, '../..');
const BUDGETS = join(ROOT, 'test/budgets.json');
/** Of an area; a score is comparable with those of samples of the same size only. */
const SAMPLE = 50;
/** Texts are not mutated, and objects not emptied: most are messages, documents and options, whose words and fields no test needs to state. */
const MUTATOR = { plugins: null, excludedMutations: ['StringLiteral', 'ObjectLiteral'] };
const SILENT = { isDebugEnabled: () => false, debug() {}, info() {} };

const stryker = (name) => `${import.meta.dirname}/stryker/node_modules/@stryker-mutator/${name}/dist/src/index.js`;
/** Positions of mutants count from 0, those of results from 1. */
const identify = ({ fileName, location: { start, end }, replacement }, first = 0) =>
  JSON.stringify([fileName, ...[start, end].flatMap(({ line, column }) => [line - first, column - first]), replacement]);

/** Stryker takes ranges of code, which contain more mutants than the one they were made for: this passes those of the sample alone. */
function createSampleChecker({ sample }) {
  const chosen = new Set(sample);
  const check = (mutant) => (chosen.has(identify(mutant)) ? { status: 'passed' } : { status: 'compileError', reason: '' });
  return {
    init: async () => {},
    group: async (mutants) => [mutants.map(({ id }) => id)],
    check: async (mutants) => Object.fromEntries(mutants.map((mutant) => [mutant.id, check(mutant)])),
  };
}
createSampleChecker.inject = ['options'];
export const strykerPlugins = [{ kind: 'Checker', name: 'sample', factory: createSampleChecker }];

/** Those with the lowest hashes of their code, so that neither moved files nor changes elsewhere change the choice. */
async function chooseSample(area) {
  const { Instrumenter } = await import(stryker('instrumenter'));
  const names = globSync(`src/${area}/**/*.ts`, { cwd: ROOT }).sort();
  const files = names.map((name) => ({ name: join(ROOT, name), mutate: true, content: readFileSync(join(ROOT, name), 'utf8') }));
  const lines = new Map(files.map(({ name, content }) => [name, content.split('\n')]));
  const { mutants } = await new Instrumenter(SILENT, undefined, () => '').instrument(files, { ignorers: [], ...MUTATOR });
  // Those of the excluded kinds are listed too, with a status.
  const active = mutants.filter(({ status }) => status === undefined);
  const described = active.map((mutant) => {
    const { start, end } = mutant.location;
    const code = lines.get(mutant.fileName).slice(start.line, end.line + 1);
    const before = code[0].slice(0, start.column).replace(/^\s*(?:export )?/, '');
    code.push(code.pop().slice(0, end.column));
    const original = code.join(' ').slice(start.column).replace(/\s+/g, ' ');
    const hash = createHash('sha256').update(JSON.stringify([before, original, mutant.replacement]));
    const range = `${relative(ROOT, mutant.fileName)}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`;
    return { area, key: identify(mutant), range, original, hash: hash.digest('hex') };
  });
  return described.sort((a, b) => (a.hash < b.hash ? -1 : 1)).slice(0, SAMPLE);
}

async function run(sample) {
  const { Stryker } = await import(stryker('core'));
  const results = await new Stryker({
    mutate: [...new Set(sample.map(({ range }) => range))],
    sample: sample.map(({ key }) => key),
    mutator: MUTATOR,
    plugins: [stryker('vitest-runner'), import.meta.filename],
    checkers: ['sample'],
    testRunner: 'vitest',
    vitest: { pool: 'forks' },
    // Of tools: they bundle the sources, and find other ones than they should.
    testFiles: ['test/unit/!(tools)/**/*.test.ts'],
    coverageAnalysis: 'perTest',
    ignoreStatic: true,
    concurrency: 1,
    dryRunTimeoutMinutes: 30,
    timeoutMS: 30_000,
    disableTypeChecks: false,
    // TypeScript 7 has not the API by which Stryker would rewrite its paths.
    tsconfigFile: 'none',
    tempDirName: join(tmpdir(), 'stryker'),
    cleanTempDir: 'always',
    reporters: ['progress-append-only'],
    warnings: { unknownOptions: false },
  }).runMutationTest();
  const byKey = new Map(results.map((result) => [identify(result, 1), result]));
  return sample.flatMap(({ area, key, original }) => {
    const result = byKey.get(key);
    return result === undefined ? [] : { ...result, area, original, status: judge(result) };
  });
}

/** Code that also runs while modules are loaded is not mutated there, where tests may take what they compare: that none fails says nothing. */
const judge = ({ status, static: isStatic }) => (status === 'Survived' && isStatic ? 'Ignored' : status);

function summarize(results) {
  const count = (status) => results.filter((result) => result.status === status).length;
  const [killed, survived, notCovered, timedOut] = ['Killed', 'Survived', 'NoCoverage', 'Timeout'].map(count);
  const of = killed + survived + notCovered + timedOut;
  const percent = (total) => Math.floor((100 * (killed + timedOut)) / total);
  return {
    sampled: results.length,
    static: count('Ignored'),
    killed,
    timedOut,
    survived,
    notCovered,
    score: percent(of),
    ofCovered: percent(of - notCovered),
  };
}

async function main(args) {
  const named = args.filter((argument) => argument !== '--record');
  const unknown = named.find((area) => !AREAS.includes(area));
  if (unknown !== undefined) throw new Error(`${unknown} is none of ${AREAS.join(', ')}`);
  const areas = named.length > 0 ? named : AREAS;
  ensureInstalled('bin/dev/stryker');
  const sample = [];
  for (const area of areas) sample.push(...(await chooseSample(area)));
  const results = await run(sample);
  const table = Object.fromEntries(areas.map((area) => [area, summarize(results.filter((result) => result.area === area))]));
  console.table(table);
  for (const { status, fileName, location, original, replacement } of results) {
    if (status !== 'Survived' && status !== 'NoCoverage') continue;
    const place = `${relative(ROOT, fileName)}:${location.start.line}`;
    console.log(`${place}  ${original} -> ${replacement.replace(/\s+/g, ' ')}${status === 'NoCoverage' ? '  (not covered)' : ''}`);
  }
  const budgets = JSON.parse(readFileSync(BUDGETS, 'utf8'));
  budgets.mutants ??= {};
  for (const [area, { score }] of Object.entries(table)) {
    const budget = budgets.mutants[area] ?? 0;
    if (score < budget) process.exitCode = 1;
    if (score !== budget) console.log(`${area}: the score has ${score < budget ? 'fallen' : 'risen'} from ${budget} to ${score} %`);
    budgets.mutants[area] = Math.max(score, budget);
  }
  if (args.includes('--record')) writeFileSync(BUDGETS, `${JSON.stringify(budgets, null, 2)}\n`);
}

if (process.argv[1] && resolve(process.argv[1]) === import.meta.filename) {
  requireNode();
  printHelpIfAsked(`Usage: npm run test:mutants -- [area...] [--record]

Mutates a sample of ${SAMPLE} places of each area (${AREAS.join(', ')}), runs the unit tests that cover them, and compares
the share that they notice with test/budgets.json, where --record raises it.`);
  process.chdir(ROOT);
  // A test that a busy machine ends would count as one that notices the mutant.
  process.env.TEST_TIMEOUT_FACTOR ??= '10';
  // Not awaited: Stryker imports this module, its plugin, once it is evaluated.
  main(process.argv.slice(2));
}
