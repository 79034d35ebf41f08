import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { PUBLICATION } from '../../src/tools/packages.ts';
import { yaml } from '../support/deploy/deploy-yaml.ts';
import { runProgram } from '../support/deploy/programs.ts';
import { loadWorkflowParser, type ParsedWorkflow } from '../support/deploy/workflow-parser.ts';
import { documentText, ROOT } from '../support/docs/documents.ts';

const FOLDER = '.github/workflows';
const readText = (path: string) => readFileSync(resolve(ROOT, path), 'utf8');
const readWorkflow = (name: string) => readText(`${FOLDER}/${name}`);

let parse: (name: string, content: string) => Promise<ParsedWorkflow>;
beforeAll(async () => {
  parse = await loadWorkflowParser();
});

describe.each(['ci.yml', 'release.yml'])(`${FOLDER}/%s`, (name) => {
  const text = readWorkflow(name);
  let parsed: ParsedWorkflow;
  const listSteps = () => parsed.jobs.flatMap(({ steps = [] }) => steps);
  const listScripts = () => listSteps().flatMap(({ run }) => (run === undefined ? [] : [run.toString()]));
  beforeAll(async () => {
    parsed = await parse(name, text);
  });

  it('is a workflow by the parser of GitHub', () => {
    expect(parsed.errors).toEqual([]);
    expect(listSteps().length).toBeGreaterThan(2);
  });

  it.each([
    ['timeout-minutes:', 'timeout-minuts:', "Unexpected value 'timeout-minuts'"],
    ['contents: read', 'contents: reed', "Unexpected value 'reed'"],
    ['${{ github.', '${{ githup.', "Unrecognized named-value: 'githup'"],
  ])('is none with %s misspelled', async (right, wrong, message) => {
    expect(text).toContain(right);
    expect((await parse(name, text.replaceAll(right, wrong))).errors.join('\n')).toContain(message);
  });

  it('pins each action by its commit, with its version beside it', () => {
    const lines = text.match(/^.*\buses: .*$/gm)!.filter((line) => !/uses: \.\//.test(line));
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    for (const { ref } of parsed.jobs) if (ref !== undefined) expect(existsSync(resolve(ROOT, ref.toString())), ref.toString()).toBe(true);
  });

  it('runs scripts that there are', async () => {
    const scripts = listScripts();
    for (const [, script] of scripts.join('\n').matchAll(/npm run (?:-s )?([\w:]+)/g)) expect(packageJson.scripts).toHaveProperty(script!);
    for (const script of scripts.filter((line) => /^[\w.]+\//.test(line))) accessSync(resolve(ROOT, script), constants.X_OK);
    for (const script of scripts) await runProgram('/bin/bash', ['-n', '-c', script]);
  });
});

describe(`${FOLDER}/release.yml`, () => {
  const workflow = () => yaml().parse(readWorkflow('release.yml'));
  const stepsOf = (job: string): Record<string, unknown>[] => workflow().jobs[job].steps;

  it('checks version and suites before it publishes, and writes the notes last', () => {
    const { version, checks, image, npm, notes } = workflow().jobs;
    expect(version.needs).toBeUndefined();
    expect([checks.needs, image.needs, npm.needs, notes.needs]).toEqual([
      'version',
      ['version', 'checks'],
      ['version', 'checks'],
      ['version', 'image', 'npm'],
    ]);
  });

  it('runs no install script where the identity of the workflow can be had', () => {
    const identified = Object.values<{ permissions: Record<string, string>; steps?: { run?: string }[] }>(workflow().jobs).filter(
      ({ permissions }) => permissions['id-token'] === 'write',
    );
    expect(identified).toHaveLength(2);
    const installs = identified.flatMap(({ steps = [] }) => steps.flatMap(({ run = '' }) => run.match(/npm (?:ci|install).*/g) ?? []));
    expect(installs).toEqual(['npm ci --ignore-scripts']);
  });

  it('gives the image the arguments that its labels have', () => {
    const build = stepsOf('image').find(({ id }) => id === 'build') as { with: { 'build-args': string } };
    const given = build.with['build-args'].match(/^\w+/gm)!;
    const dockerfile = readText('Dockerfile');
    for (const name of given) {
      expect(dockerfile).toMatch(new RegExp(`^ARG ${name}=`, 'm'));
      expect(dockerfile).toMatch(new RegExp(`org\\.opencontainers\\.image\\.${name.toLowerCase()}=\\$${name}\\b`));
    }
    expect(given).toEqual(['VERSION', 'REVISION', 'SOURCE']);
  });

  it('publishes the folder and the name that npm run build:svc makes', () => {
    const publish = stepsOf('npm').at(-1) as { run: string; 'working-directory': string };
    expect(readText('bin/dev/packages/build-svc.mjs')).toContain(`'${publish['working-directory']}'`);
    expect(/npm view "(@?[\w/-]+)@/.exec(publish.run)![1]).toBe(PUBLICATION.npmName);
  });

  it('attaches the package and the bundle to the release', () => {
    const scripts = stepsOf('notes').map(({ run }) => String(run));
    expect(scripts).toContainEqual(expect.stringContaining('npm run build:svc -- --pack\nnpm run build:mcpb'));
    expect(scripts.at(-1)).toContain('dist/*.tgz dist/*.mcpb');
  });

  it('verifies as SECURITY.md says', () => {
    const commands = (text: string) =>
      [...text.matchAll(/^ *(cosign verify|gh attestation verify|docker buildx imagetools inspect) /gm)]
        .map(([, command]) => command)
        .toSorted();
    const security = documentText('SECURITY.md');
    expect(commands(String(stepsOf('image').at(-1)!.run))).toEqual(commands(security));
    expect(security).toContain(`/${FOLDER}/release.yml@refs/tags/v1.0.0`);
    expect(commands(security)).toHaveLength(3);
  });
});
