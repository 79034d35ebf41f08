import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRecordPrices } from '../../src/cli/audit.ts';
import { formatDay } from '../../src/forecast/day.ts';
import { logsLack, openBrokenEndpoint } from '../support/chain/broken-endpoint.ts';
import { yaml } from '../support/deploy/deploy-yaml.ts';
import { runProgram } from '../support/deploy/programs.ts';
import { loadActionParser, loadWorkflowParser } from '../support/deploy/workflow-parser.ts';
import { ROOT } from '../support/docs/documents.ts';
import { type ExampleWorld, exampleWorld } from '../support/docs/example-world.ts';
import { removeFolder } from '../support/docs/folders.ts';
import { listening } from '../support/webhooks/receiver.ts';

const FOLDER = 'examples/github-action';
const WORKFLOW = 'me/mine/.github/workflows/verify-record.yml@refs/heads/main';
const readText = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Step {
  run?: string;
  uses?: string;
  env?: Record<string, string>;
}

const action = () => yaml().parse(readText(`${FOLDER}/action.yml`));
const steps = (): Step[] => action().runs.steps;

describe(`${FOLDER}/verify-record.yml`, () => {
  const workflow = readText(`${FOLDER}/verify-record.yml`);

  it('is a workflow by the parser of GitHub, and with a misspelled context none', async () => {
    const parse = await loadWorkflowParser();
    expect((await parse('verify-record.yml', workflow)).errors).toEqual([]);
    expect((await parse('verify-record.yml', workflow.replace('secrets.', 'secret.'))).errors.join()).toContain("'secret'");
  });

  it('uses what is an action by the parser of GitHub, and with a misspelled context none', async () => {
    const parse = await loadActionParser();
    const text = readText(`${FOLDER}/action.yml`);
    expect(parse(text)).toEqual([]);
    expect(parse(text.replace('inputs.rpc', 'input.rpc')).join()).toContain("'input'");
    expect(parse(text.replace('shell: bash', 'shel: bash')).join()).toContain("'shel'");
  });

  it('gives the action each required input, and none that it does not have', () => {
    const used = yaml().parse(workflow).jobs.verify.steps.at(-1);
    expect(used.uses).toBe('./.github/actions/verify-record');
    const inputs = Object.entries<{ required?: boolean }>(action().inputs);
    expect(inputs.map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(used.with)));
    for (const [name, { required }] of inputs) if (required) expect(used.with).toHaveProperty(name);
  });

  it('lets its job enable itself, and says why', () => {
    expect(yaml().parse(workflow).jobs.verify.permissions).toEqual({ contents: 'read', issues: 'write', actions: 'write' });
    expect(workflow).toMatch(/public repository[\s\S]*60 days/);
  });

  it('pins other actions by their commit, as the workflows of this repository do', () => {
    const pins = (source: string) => source.match(/uses: actions\/.*/g)!;
    const own = pins(readText('.github/workflows/ci.yml'));
    for (const pin of [...pins(workflow), ...pins(readText(`${FOLDER}/action.yml`))]) expect(own).toContain(pin);
  });
});

/** Issues of a repository, by the REST interface of GitHub (version 2022-11-28). */
async function startGithub() {
  const issues: Record<string, unknown>[] = [];
  const enabled: string[] = [];
  const server = createServer(async (request, response) => {
    const sent = await text(request);
    const body = sent === '' ? {} : (JSON.parse(sent) as object);
    const [, number] = /^\/repos\/me\/mine\/issues\/(\d+)$/.exec(request.url!) ?? [];
    const answer = (status: number, value: unknown) => response.writeHead(status).end(JSON.stringify(value));
    if (request.headers.authorization !== 'Bearer of-the-job') return answer(401, { message: 'Bad credentials' });
    if (request.url?.startsWith('/repos/me/mine/actions/')) {
      enabled.push(`${request.method} ${request.url}`);
      // GitHub answers with 204, and with 403 for a token that may not.
      return server.listenerCount('forbid') > 0 ? answer(403, { message: 'Resource not accessible' }) : response.writeHead(204).end();
    }
    if (request.method === 'GET' && request.url === '/repos/me/mine/issues?state=open&labels=record-differs') return answer(200, issues);
    if (request.method === 'POST' && request.url === '/repos/me/mine/issues') {
      issues.push({ number: issues.length + 7, ...body });
      return answer(201, issues.at(-1));
    }
    const issue = issues.find((one) => String(one.number) === number);
    if (request.method !== 'PATCH' || issue === undefined) return answer(404, { message: 'Not Found' });
    return answer(200, Object.assign(issue, body));
  });
  return { issues, enabled, forbidEnabling: () => void server.on('forbid', () => {}), ...(await listening(server)) };
}

describe(`${FOLDER}/action.yml at a running service`, () => {
  let folder: string;
  let world: ExampleWorld;
  let github: Awaited<ReturnType<typeof startGithub>>;
  let inputs: Record<string, string>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oracle-action-'));
    world = await exampleWorld();
    const { attester } = await world.get('/api/svc/onchain-oracle/stats');
    inputs = { service: world.url, rpc: world.rpcUrl, attester, token: 'of-the-job', package: await packSvc() };
    inputs.options = `--tolerance-bps 0 --prices ${await writeCloses()}`;
    await mkdir(join(folder, 'temp'));
    // Only the installation asks another machine: it has the registry.
    const { code, stderr } = await runStep(1, {}, { NODE_OPTIONS: '' });
    expect(code, stderr).toBe(0);
  });
  beforeEach(async () => {
    github = await startGithub();
    return () => github.close();
  });
  afterAll(async () => {
    await world?.close();
    await removeFolder(folder);
  });

  async function packSvc(): Promise<string> {
    await runProgram('npm', ['run', '-s', 'build:svc', '--', join(folder, 'package')], ROOT);
    const [packed] = JSON.parse(await runProgram('npm', ['pack', '--json', './package'], folder));
    return join(folder, packed.filename);
  }

  async function writeCloses(): Promise<string> {
    const { source } = await world.get('/api/svc/open/signal');
    const prices = await openRecordPrices(source, { feeds: 'simulated', now: new Date() });
    const { firstDay, closes } = (await prices.history())!;
    const rows = [...closes].map((close, index) => `${formatDay(firstDay + index)},${close}`);
    await writeFile(join(folder, 'closes.csv'), ['date,close', ...rows].join('\n'));
    return join(folder, 'closes.csv');
  }

  /** As the runner does: https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax */
  async function runStep(index: number, more: Record<string, string> = {}, environment: Record<string, string> = {}) {
    const { run, env = {} } = steps()[index]!;
    const given: Record<string, string> = { options: '', token: '', ...inputs, ...more };
    const entries = Object.entries(env).map(([name, value]) => [
      name,
      value.replace(/^\$\{\{ inputs\.(\w+) \}\}$/, (_, input) => given[input]!),
    ]);
    const files = { GITHUB_STEP_SUMMARY: join(folder, 'summary.md'), GITHUB_OUTPUT: join(folder, 'output') };
    for (const file of Object.values(files)) await writeFile(file, '');
    const runner = {
      ...{ ...process.env, RUNNER_TEMP: join(folder, 'temp'), GITHUB_ACTION_PATH: join(ROOT, FOLDER) },
      ...{ GITHUB_API_URL: `http://127.0.0.1:${github?.port}`, GITHUB_SERVER_URL: 'https://github.com' },
      ...{ GITHUB_REPOSITORY: 'me/mine', GITHUB_RUN_ID: '42', GITHUB_WORKFLOW_REF: WORKFLOW, ...files, ...environment },
    };
    const words = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run!];
    const child = spawn('bash', words, { cwd: folder, env: { ...runner, ...Object.fromEntries(entries) } });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    const [summary, output] = await Promise.all(Object.values(files).map((file) => readFile(file, 'utf8')));
    return { code, stdout, stderr, summary, output };
  }
  const check = (more: Record<string, string> = {}) => runStep(2, more);

  /** The service, with one more win in each figure that it publishes. */
  async function boastfulService() {
    const server = createServer(async (request, response) => {
      const answer = await fetch(world.url + request.url, { headers: { accept: request.headers.accept ?? '*/*' } });
      const body = Buffer.from(await answer.arrayBuffer());
      const isJson = answer.headers.get('content-type')?.includes('json');
      const boast = () => body.toString().replace(/"wins":(\d+)/g, (_, wins) => `"wins":${Number(wins) + 1}`);
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(isJson ? boast() : body);
    });
    const { port, close } = await listening(server);
    return { url: `http://127.0.0.1:${port}`, close };
  }

  it('ends with 0 and opens no issue where the record agrees', async () => {
    const { code, stdout, stderr, summary, output } = await check();
    expect(code, stdout + stderr + summary).toBe(0);
    expect(summary).toMatch(/^## The record agrees with the chain\n\n\[This run\]\(https:\/\/github\.com\/me\/mine\/actions\/runs\/42\)/);
    expect(output).toBe('result=agrees\n');
    expect(github.issues).toEqual([]);
  });

  it('enables its workflow at each run, since GitHub stops the schedules of an inactive public repository', async () => {
    const { summary } = await check();
    expect(github.enabled).toEqual(['PUT /repos/me/mine/actions/workflows/verify-record.yml/enable']);
    expect(summary).toContain('The schedule goes on for 60 days from this run');
  });

  it('says that its schedule may stop where it cannot enable it, and ends as the record does', async () => {
    github.forbidEnabling();
    for (const [more, reason] of [
      [{}, 'was answered with 403'],
      [{ token: '' }, 'no token'],
    ] as const) {
      const { code, stdout, summary } = await check(more);
      expect(code, summary).toBe(0);
      expect(summary).toMatch(new RegExp(`after 60 days without a commit.*${reason}`));
      expect(stdout).toContain('::warning title=The schedule may stop::');
    }
  });

  it('ends with 1 where the service claims something else, and keeps one issue', async () => {
    const boastful = await boastfulService();
    const first = await check({ service: boastful.url });
    const second = await check({ service: boastful.url });
    await boastful.close();
    expect([first.code, second.code], first.summary + first.stderr).toEqual([1, 1]);
    expect(first.output).toBe('result=differs\n');
    expect(first.summary).toMatch(/^## The record DIFFERS from the chain\n[\s\S]*<pre>[\d,]+ of [\d,]+ checks FAIL[\s\S]*\n\[\w+\] .*wins/);
    expect(first.stdout).toBe('::error title=The record DIFFERS from the chain::The summary of this run has the details\n');
    expect(github.issues).toMatchObject([{ number: 7, title: 'The record DIFFERS from the chain', labels: ['record-differs'] }]);
    expect(github.issues[0]!.body).toContain('checks FAIL');
  });

  it('fails without a token for issues, and opens none', async () => {
    const boastful = await boastfulService();
    const { code, summary } = await check({ service: boastful.url, token: '' });
    await boastful.close();
    expect([code, github.issues], summary).toEqual([1, []]);
  });

  it.each([
    ['the chain does not answer', { rpc: 'http://127.0.0.1:9/' }, 'CHAIN_UNREACHABLE'],
    ['the service does not answer', { service: 'http://127.0.0.1:9/' }, 'http://127.0.0.1:9'],
  ])('ends with 2 and opens no issue where %s', async (_, more, words) => {
    const { code, summary, output } = await check(more);
    expect(code, summary).toBe(2);
    expect(summary).toMatch(/^## The record could not be checked\n/);
    expect(summary).toContain(words);
    expect(output).toBe('result=unknown\n');
    expect(github.issues).toEqual([]);
  });

  it('ends with 2 and opens no issue where the endpoint lacks events', async () => {
    const endpoint = await openBrokenEndpoint(
      world.rpcUrl,
      logsLack(() => true),
    );
    const { code, summary, output } = await check({ rpc: endpoint.url });
    await endpoint.close();
    expect(code, summary).toBe(2);
    expect(summary).toMatch(
      /^## The record could not be checked\n[\s\S]*could not be made, none fails\nCould not be checked: the endpoint returns it/,
    );
    expect(summary).not.toMatch(/checks FAIL|DIFFERS|agree/);
    expect(output).toBe('result=unknown\n');
    expect(github.issues).toEqual([]);
  });

  it('ends with 2 where the package cannot be run', async () => {
    const { code, summary } = await check({ options: '--no-such-option' });
    expect(code).toBe(2);
    expect(summary).toContain('no-such-option');
  });
});
