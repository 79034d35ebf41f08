import { mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { removeFolder } from '../support/docs/folders.ts';
import { findFreePort } from '../support/http/serve.ts';
import { environmentOf, familyOf, isAlive, MCP_BIN, openStdio, type StdioSession } from '../support/mcp/mcp-stdio.ts';

let folder: string;
let environment: Record<string, string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oracle-mcp-'));
  environment = { DATA_DIR: 'data', FEEDS: 'simulated', REPLAY_DAYS: '2', PORT: '0' };
});
afterAll(() => removeFolder(folder));

/** Repeated while the service starts, as the answer says: on a machine under load that takes longer than a call may wait. */
// biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
async function call({ client }: StdioSession, name: string): Promise<any> {
  for (;;) {
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const answer: any = await client.callTool({ name, arguments: {} });
    if (!String(answer.content[0].text).startsWith('STEP_WAITING')) return answer;
  }
}

const urlIn = (stderr: string) => /No service answers at (http:\S+): starting one/.exec(stderr)?.[1];

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(25);
}

/** Fails the test, and not only the run, when a process outlives it. */
function endAfterwards(pids: () => number[]): void {
  onTestFinished(() => {
    for (const pid of pids().filter(isAlive)) process.kill(pid, 'SIGKILL');
  });
}

describe('MCP over stdio where no service runs', () => {
  it('starts one, lets others share it, and ends it when its client goes', async () => {
    const link = join(folder, 'bitcoin-signal-oracle-mcp');
    await symlink(MCP_BIN, link);
    const secrets = { SOME_OTHER_KEY: 'canary-of-another-program', ADMIN_USER: 'operator', ADMIN_PASSWORD: 'canary-of-the-service' };
    const session = await openStdio({
      words: ['--wallet', 'premium'],
      environment: { ...environment, ...secrets },
      cwd: folder,
      bin: link,
    });
    let family: number[] = [session.pid];
    endAfterwards(() => family);
    // The protocol is served at once; a call waits for the service.
    expect((await session.client.listTools()).tools).toHaveLength(4);
    const signal = await call(session, 'predict_btc_direction');
    expect(signal.structuredContent, signal.content[0].text).toMatchObject({ horizon: '7d' });
    expect(session.stderr()).toMatch(/Replaying .*2\/2/);
    expect(session.stderr()).toContain(`Its data is in ${join(folder, 'data')}.`);
    family = familyOf(session.pid);
    // This program, the service, its database, its chain, and the node of that; while self-tests run, also their process.
    expect([5, 6]).toContain(family.length);
    if (process.platform === 'linux') {
      const [own, service, ...hosts] = family.map(environmentOf);
      expect(own).toContain('canary-of-another-program');
      expect([service?.includes('canary-of-another-program'), service?.includes('canary-of-the-service')]).toEqual([false, true]);
      for (const host of hosts) expect(host).not.toMatch(/canary|SIMULAT|FEEDS|DATA_DIR/);
    }

    const { port } = new URL(urlIn(session.stderr())!);
    const other = await openStdio({ environment: { ...environment, PORT: port }, cwd: folder });
    expect((await call(other, 'get_track_record')).structuredContent).toBeDefined();
    expect(other.stderr()).not.toContain('starting one');
    await other.client.close();
    expect((await call(session, 'get_track_record')).structuredContent).toBeDefined();

    // Another address, and the same folder.
    const rival = await openStdio({ environment, cwd: folder });
    const refused = await call(rival, 'get_market_context');
    expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('SERVICE_UNREACHABLE') }] });
    expect(refused.content[0].text).toContain('has ended (exit code 1)');
    expect(rival.stderr()).toContain('DATA_DIR_IN_USE');
    await rival.client.close();

    await session.client.close();
    await until(() => !family.some(isAlive));
  });

  it('of two that start at once one shares what the other started, and it ends also when they are killed', async () => {
    const port = String(await findFreePort());
    const both = await Promise.all([1, 2].map(() => openStdio({ environment: { ...environment, PORT: port }, cwd: folder })));
    const family = both.map(({ pid }) => pid);
    endAfterwards(() => family);
    const answers = await Promise.all(both.map((one) => call(one, 'get_market_context')));
    for (const answer of answers) expect(answer.structuredContent, answer.content[0].text).toBeDefined();
    family.push(...both.flatMap(({ pid }) => familyOf(pid)));
    for (const { pid } of both) process.kill(pid, 'SIGKILL');
    await until(() => !family.some(isAlive));
  });
});
