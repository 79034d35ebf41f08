import { readFile } from 'node:fs/promises';
import type { Agenda } from 'agenda';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openJobsAgenda, type Schedule } from '../../../../../src/pipeline/schedule.ts';
import { AS_OPERATOR, type OperatorDoor, operatorDoor } from '../../../../support/service/operator.ts';
import { type TestService, testService } from '../../../../support/service/service.ts';

let service: TestService;
let door: OperatorDoor;
let queue: Agenda;

beforeAll(async () => {
  service = await testService(0);
  door = await operatorDoor(service);
  queue = await openJobsAgenda(service.database.db);
});
afterAll(async () => {
  await door.close();
  await service.stop();
});
beforeEach(async () => {
  for (const name of ['jobs', 'admin_audit']) await service.database.db.collection(name).deleteMany({});
  // Far from now on any day of the year.
  for (const name of ['signal', 'attest']) await queue.schedule(new Date('2099-01-01T00:00:00Z'), name, {});
});

const get = (path: string) => fetch(door.url + path, { headers: { Authorization: AS_OPERATOR }, redirect: 'manual' });
const jobs = () => service.database.db.collection('jobs').find({}).sort({ name: 1 }).toArray();
const audited = () =>
  service.database.db
    .collection('admin_audit')
    .find({}, { projection: { _id: 0 } })
    .sort({ _id: 1 })
    .toArray();

function change(name: string, body: unknown): Promise<Response> {
  const headers = { Authorization: AS_OPERATOR, 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' };
  return fetch(`${door.url}/admin/api/jobs/${name}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

describe('the jobs page', () => {
  it('redirects /admin to /admin/', async () => {
    const response = await get('/admin');
    expect([response.status, response.headers.get('Location')]).toEqual([301, '/admin/']);
  });

  it('serves HTML with its own CSP, assets of this origin and no framing', async () => {
    const response = await get('/admin/');
    expect(response.headers.get('Content-Type')).toContain('text/html');
    const policy = response.headers.get('Content-Security-Policy')!.split('; ');
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]),
    );
    const html = await response.text();
    const files = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, file]) => file);
    expect(files).toHaveLength(2);
    expect(html).not.toMatch(/https?:\/\//);
    for (const file of files) {
      const loaded = await get(`/admin/${file}`);
      expect(loaded.status, file).toBe(200);
      const shipped = new URL(`../../../../../node_modules/agendash/public/${file}`, import.meta.url);
      expect(await loaded.text()).toBe(await readFile(shipped, 'utf8'));
    }
  });

  it('serves no other files and has no endpoint that creates jobs', async () => {
    for (const path of [
      '/admin/package.json',
      '/admin/..%2fpackage.json',
      '/admin/%2e%2e%2fdist%2findex.js',
      '/admin/api/events',
      '/admin/nothing',
    ]) {
      expect((await get(path)).status, path).toBe(404);
    }
    const response = await change('create', { jobName: 'signal', jobRepeatEvery: '1 second' });
    expect([response.status, await response.json()]).toMatchObject([400, { field: 'change' }]);
    expect(await jobs()).toHaveLength(2);
  });

  it('lists and filters jobs in a process that runs none', async () => {
    const list = async (query = '') =>
      (await (await get(`/admin/api${query}`)).json()) as { jobs: { job: { name: string } }[]; total: number };
    expect(await list()).toMatchObject({ total: 2, totalPages: 1 });
    expect((await list('?job=signal&limit=50&skip=0')).jobs).toMatchObject([{ job: { name: 'signal' }, scheduled: true }]);
    expect((await list('?q=TTE&state=scheduled')).jobs).toMatchObject([{ job: { name: 'attest' } }]);
    expect((await list('?limit=1')).jobs).toHaveLength(1);
    for (const query of ['?limit=0', '?limit=201', '?skip=-1', '?job=a&job=b', `?q=${'x'.repeat(101)}`]) {
      expect((await get(`/admin/api${query}`)).status, query).toBe(400);
    }
    expect(await (await get('/admin/api/logs')).json()).toEqual({ entries: [], total: 0, loggingEnabled: false });
  });

  it('returns the running jobs, and 503 in a process that runs none', async () => {
    const problem = await get('/admin/api/stats');
    expect([problem.status, await problem.json()]).toMatchObject([503, { code: 'STEP_WAITING' }]);
    const running = async (fullDetails: boolean) => ({ runningJobs: fullDetails ? [] : 0 });
    service.state.schedule = { getRunningStats: running } as unknown as Schedule;
    const answers = await Promise.all(['', '?fullDetails=true', '?fullDetails=1'].map((query) => get(`/admin/api/stats${query}`)));
    service.state.schedule = null;
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400]);
    expect([await answers[0].json(), await answers[1].json()]).toEqual([{ runningJobs: 0 }, { runningJobs: [] }]);
  });
});

describe('a change of jobs', () => {
  it('is applied and audited', async () => {
    const [attest, signal] = (await jobs()).map(({ _id }) => String(_id));
    expect(await (await change('pause', { jobIds: [signal] })).json()).toEqual({ pausedCount: 1 });
    expect(await jobs()).toMatchObject([{ name: 'attest' }, { name: 'signal', disabled: true }]);
    expect(await (await change('resume', { jobIds: [signal] })).json()).toEqual({ resumedCount: 1 });
    expect((await jobs()).filter(({ disabled }) => disabled === true)).toEqual([]);
    expect(await (await change('requeue', { jobIds: [signal] })).json()).toEqual({ requeuedCount: 1 });
    expect((await jobs()).map(({ name }) => name)).toEqual(['attest', 'signal', 'signal']);
    expect(await (await change('retry', { jobIds: [attest] })).json()).toEqual({ retriedCount: 1 });
    expect((await jobs())[0].nextRunAt.getTime()).toBeLessThanOrEqual(Date.now());
    expect(await (await change('delete', { jobIds: [attest, signal] })).json()).toEqual({ deleted: true, deletedCount: 2 });
    expect((await jobs()).map(({ name }) => name)).toEqual(['signal']);

    const entries = await audited();
    expect(entries.map(({ action, parameters, result }) => [action, parameters.jobIds, result])).toEqual([
      ['jobs.pause', signal, '{"pausedCount":1}'],
      ['jobs.resume', signal, '{"resumedCount":1}'],
      ['jobs.requeue', signal, '{"requeuedCount":1}'],
      ['jobs.retry', attest, '{"retriedCount":1}'],
      ['jobs.delete', `${attest} ${signal}`, '{"deleted":true,"deletedCount":2}'],
    ]);
    for (const entry of entries) expect(entry).toMatchObject({ user: 'operator', address: '127.0.0.1', state: 'done' });
  });

  it.each([
    [{}, 'jobIds'],
    [{ jobIds: [] }, 'jobIds'],
    [{ jobIds: 'all' }, 'jobIds'],
    [{ jobIds: { $ne: null } }, 'jobIds'],
    [{ jobIds: ['x'] }, 'jobIds.0'],
    [{ jobIds: [{ $ne: null }] }, 'jobIds.0'],
    [{ jobIds: Array.from({ length: 201 }, () => new ObjectId().toHexString()) }, 'jobIds'],
    [{ jobIds: [new ObjectId().toHexString()], name: 'signal' }, 'name'],
  ])('is rejected with 400 for an invalid list: %.60j', async (body, field) => {
    for (const name of ['delete', 'requeue', 'retry', 'pause', 'resume']) {
      const response = await change(name, body);
      expect([response.status, await response.json()], name).toMatchObject([400, { code: 'INPUT_INVALID', field }]);
    }
    expect(await jobs()).toHaveLength(2);
    expect(await audited()).toEqual([]);
  });

  it('changes nothing for deleted jobs', async () => {
    const response = await change('delete', { jobIds: [new ObjectId().toHexString()] });
    expect(await response.json()).toEqual({ deleted: false, deletedCount: 0 });
    expect(await jobs()).toHaveLength(2);
  });
});
