import type { ChildProcess } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { PROCESS_METRICS, STATE_METRICS } from '../../src/ops/metric-definitions.ts';
import { ALERTS } from '../support/deploy/alerts.ts';
import { type Notification, startAlertmanager, startPrometheus, startReceiver } from '../support/deploy/monitoring.ts';
import { describeWithPrograms } from '../support/deploy/programs.ts';
import { removeFolder } from '../support/docs/folders.ts';
import { type RunningService, startService } from '../support/service/running-service.ts';
import { type TestService, unresolvedService } from '../support/service/service.ts';

const WAIT = { timeout: 120_000, interval: 500 };
const JOBS = { api: 'oracle-api', worker: 'oracle-worker' } as const;

interface Sample {
  metric: Record<string, string>;
  value: [number, string];
}

describeWithPrograms('Prometheus with deploy/prometheus', ['prometheus', 'prometheus-alertmanager'], (programs) => {
  let service: TestService;
  let folder: string;
  let url: string;
  let receiver: { received: Notification[]; server: Server; url: string };
  const roles: Partial<Record<keyof typeof JOBS, RunningService>> = {};
  const monitors: ChildProcess[] = [];

  beforeAll(async () => {
    [service, folder, receiver] = await Promise.all([unresolvedService(2), mkdtemp(join(tmpdir(), 'oracle-monitors-')), startReceiver()]);
    roles.worker = await startRole('worker');
    roles.api = await startRole('api');
    const alertmanager = await startAlertmanager(programs['prometheus-alertmanager'], folder, receiver.url);
    const targets = { [JOBS.api]: [metricsAddress(roles.api)], [JOBS.worker]: [metricsAddress(roles.worker)] };
    const prometheus = await startPrometheus(programs.prometheus, { folder, targets, alertmanagerPort: alertmanager.port });
    monitors.push(alertmanager.child, prometheus.child);
    url = prometheus.url;
  });
  afterAll(async () => {
    for (const child of monitors) child.kill('SIGKILL');
    for (const { child } of Object.values(roles)) child.kill('SIGTERM');
    await Promise.all(Object.values(roles).map(({ ended }) => ended));
    receiver?.server.close();
    await service?.stop();
    await removeFolder(folder);
  });

  /** A process of the role as its operator starts it, on the database and the chain of the service. */
  function startRole(role: keyof typeof JOBS): Promise<RunningService> {
    const { dataDir, infrastructure } = service;
    return startService({
      ...{ DATA_DIR: dataDir, ROLE: role, METRICS_PORT: '0', LOG_LEVEL: 'info' },
      ...{ CHAIN_RPC_URL: infrastructure.rpcUrl, CHAIN_LOCAL: '1', MONGODB_URI: infrastructure.mongodbUri },
    });
  }

  function metricsAddress({ output }: RunningService): string {
    const [, address] = /"url":"http:\/\/([^"/]+)\/metrics"/.exec(output())!;
    return address!;
  }

  async function query(expr: string): Promise<Sample[]> {
    const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`);
    return ((await response.json()) as { data: { result: Sample[] } }).data.result;
  }

  const firing = async () => (await query('ALERTS{alertstate="firing"}')).map(({ metric }) => metric.alertname);

  it('scrapes every role, and finds in each the series of the service', async () => {
    await vi.waitFor(async () => {
      const up = (await query('up')).map(({ metric, value }) => [metric.job, value[1]]);
      expect(Object.fromEntries(up)).toEqual({ [JOBS.api]: '1', [JOBS.worker]: '1' });
    }, WAIT);
    const counted = await query('count by (role, job) (oracle_info)');
    expect(counted.map(({ metric }) => metric).toSorted((a, b) => a.job!.localeCompare(b.job!))).toEqual([
      { role: 'api', job: JOBS.api },
      { role: 'worker', job: JOBS.worker },
    ]);
    for (const job of Object.values(JOBS)) {
      const names = (await query(`count by (__name__) ({job="${job}",__name__=~"oracle_.+"})`)).map(({ metric }) => metric.__name__);
      expect(names.length).toBeGreaterThan(40);
      expect(names).toEqual(expect.arrayContaining(['oracle_connections', 'oracle_state_readable', 'oracle_wallet_nonce_mined']));
    }
    // All but those of live providers, of backups, of work that is not there, and of a week that is not over.
    const known = [...STATE_METRICS, ...PROCESS_METRICS].map(({ name }) => name as string);
    const found = new Set((await query('count by (__name__) ({__name__=~"oracle_.+"})')).map(({ metric }) => metric.__name__));
    expect(known.filter((name) => !found.has(name) && !/^oracle_(?:provider|backup|transaction|wallet_days_left)/.test(name))).toEqual([]);
  });

  it('evaluates every rule without an error', async () => {
    await vi.waitFor(async () => {
      const response = await fetch(`${url}/api/v1/rules`);
      const { data } = (await response.json()) as { data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] } };
      const rules = data.groups.flatMap((group) => group.rules);
      expect(rules.map(({ name }) => name).toSorted()).toEqual(ALERTS.map(({ id }) => id).toSorted());
      expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    }, WAIT);
    const silent = [
      'OracleProcessDown',
      'OracleWorkerAbsent',
      'OracleApiAbsent',
      'OracleDatabaseDown',
      'OracleChainDown',
      'OracleForeignTransaction',
    ];
    // Before the first scrape no process answers.
    await vi.waitFor(async () => expect((await firing()).filter((name) => silent.includes(name!))).toEqual([]), WAIT);
  });

  it('notifies the receiver of pages, with what to do, when the worker was killed', async () => {
    receiver.received.length = 0;
    roles.worker!.child.kill('SIGKILL');
    await vi.waitFor(() => {
      const alerts = receiver.received.filter((one) => one.receiver === 'page').flatMap((one) => one.alerts);
      const absent = alerts.find(({ labels, status }) => labels.alertname === 'OracleWorkerAbsent' && status === 'firing');
      expect(absent?.annotations.action).toContain('Start one');
      expect(alerts.map(({ labels }) => labels.alertname)).toContain('OracleProcessDown');
    }, WAIT);
    expect(await firing()).not.toContain('OracleApiAbsent');
  });
});
