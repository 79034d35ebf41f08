import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { findFreePort } from '../http/serve.ts';
import { deployText, deployYaml, yaml } from './deploy-yaml.ts';

/** What a receiver of Alertmanager was notified of. */
export interface Notification {
  receiver: string;
  status: string;
  alerts: { labels: Record<string, string>; annotations: Record<string, string>; status: string }[];
}

/** Stands for the operator's mailbox. */
export async function startReceiver(): Promise<{ url: string; received: Notification[]; server: Server }> {
  const received: Notification[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      received.push(JSON.parse(body));
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, server };
}

/** The shipped configuration with its mail replaced by a local receiver, and without its waits between notifications. */
export async function startAlertmanager(path: string, folder: string, receiverUrl: string): Promise<{ child: ChildProcess; port: number }> {
  const { global: _, ...config } = deployYaml('alertmanager/alertmanager.yaml');
  for (const receiver of config.receivers) {
    if (receiver.email_configs === undefined) continue;
    receiver.email_configs = undefined;
    receiver.webhook_configs = [{ url: receiverUrl }];
  }
  config.route.group_interval = '1s';
  const file = join(folder, 'alertmanager.yaml');
  await writeFile(file, yaml().stringify(config));
  const port = await findFreePort();
  const flags = [`--config.file=${file}`, `--storage.path=${join(folder, 'alertmanager')}`, `--web.listen-address=127.0.0.1:${port}`];
  return { child: spawn(path, [...flags, '--cluster.listen-address='], { stdio: 'ignore' }), port };
}

export interface PrometheusOptions {
  folder: string;
  /** Addresses of the processes by the name of their job. */
  targets: Readonly<Record<string, readonly string[]>>;
  alertmanagerPort: number;
}

/** The shipped configuration with addresses in place of names, and the shipped rules without their waits. */
export async function startPrometheus(
  path: string,
  { folder, targets, alertmanagerPort }: PrometheusOptions,
): Promise<{ child: ChildProcess; url: string }> {
  const config = deployYaml('prometheus/prometheus.yaml');
  config.global = { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '1s' };
  config.alerting.alertmanagers[0].static_configs = [{ targets: [`127.0.0.1:${alertmanagerPort}`] }];
  config.scrape_configs = config.scrape_configs
    .filter((job: { job_name: string }) => job.job_name in targets)
    .map(({ dns_sd_configs: _, ...job }: { job_name: string; dns_sd_configs: unknown }) => ({
      ...job,
      static_configs: [{ targets: targets[job.job_name] }],
    }));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'prometheus.yaml'), yaml().stringify(config));
  await writeFile(join(folder, 'rules.yaml'), deployText('prometheus/rules.yaml').replaceAll(/^ {8}for: .*$/gm, '        for: 0s'));
  const port = await findFreePort();
  const flags = [
    `--config.file=${join(folder, 'prometheus.yaml')}`,
    `--storage.tsdb.path=${join(folder, 'tsdb')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  return { child: spawn(path, flags, { stdio: 'ignore' }), url: `http://127.0.0.1:${port}` };
}
