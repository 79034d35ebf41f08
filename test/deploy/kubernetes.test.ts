import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { isPublicAddress } from '../../src/platform/outbound/guarded.ts';
import { DEPLOY, yaml } from '../support/deploy/deploy-yaml.ts';
import { listUnknownSettings, toEnvironment } from '../support/deploy/deployed-settings.ts';
import { describeWithPrograms, runProgram } from '../support/deploy/programs.ts';
import { ROOT } from '../support/docs/documents.ts';

// biome-ignore lint/suspicious/noExplicitAny: documents are what is tested
type Manifest = any;

const TYPES: Record<string, string> = { v1: 'core/v1' };
const toModule = (apiVersion: string) =>
  `kubernetes-types/${TYPES[apiVersion] ?? apiVersion.replace(/^networking\.k8s\.io/, 'networking')}.d.ts`;

/** Type-checks manifests by the types of the API: fields that it does not know, and values of another type, are errors. */
async function checkTypes(manifests: readonly Manifest[]): Promise<string> {
  const folder = await mkdtemp(resolve(ROOT, 'test/deploy/node_modules/.manifests-'));
  try {
    const checks = manifests.map((manifest, index) => {
      const name = `${manifest.kind}${index}`;
      const from = JSON.stringify(toModule(manifest.apiVersion).replace('.d.ts', ''));
      return `import type { ${manifest.kind} as ${name} } from ${from};\n(${JSON.stringify(manifest)}) satisfies ${name};`;
    });
    await writeFile(join(folder, 'manifests.ts'), checks.join('\n'));
    const flags = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--types',
      '',
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
      '--ignoreConfig',
    ];
    return await runProgram(process.execPath, [resolve(ROOT, 'node_modules/typescript/bin/tsc'), ...flags, 'manifests.ts'], folder).catch(
      (error: Error) => error.message,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

describeWithPrograms('deploy/kubernetes, rendered by kubectl', ['kubectl'], ({ kubectl }) => {
  let manifests: Manifest[];
  const find = (kind: string, name: string): Manifest =>
    manifests.find((one) => one.kind === kind && one.metadata.name.startsWith(name)) ?? expect.unreachable(`${kind} ${name}`);

  beforeAll(async () => {
    const text = await runProgram(kubectl, ['kustomize', 'overlays/example'], resolve(DEPLOY, 'kubernetes'));
    manifests = yaml()
      // Kubernetes reads an address of 40 hexadecimal digits, which is beyond its integers, as text.
      .parseAllDocuments(text, { customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || tag.format !== 'HEX') })
      .map((document) => document.toJS());
  });

  it('has what it should', () => {
    const kinds = [...Map.groupBy(manifests, ({ kind }) => kind)].map(([kind, members]) => [kind, members.length]);
    expect(Object.fromEntries(kinds)).toEqual({
      ...{ Namespace: 1, ServiceAccount: 1, ConfigMap: 1, Service: 3, Deployment: 2, Ingress: 1 },
      ...{ HorizontalPodAutoscaler: 1, PodDisruptionBudget: 2, NetworkPolicy: 4 },
    });
  });

  it('has the types of the API of Kubernetes, which a field of no such name has not', async () => {
    expect(await checkTypes(manifests)).toBe('');
    const [first, ...others] = manifests.filter(({ kind }) => kind === 'Deployment');
    expect(await checkTypes([{ ...first, spec: { ...first.spec, replica: 2 } }, ...others])).toContain('\'"replica"\' does not exist');
  });

  it.each(['api', 'worker'])('has the settings with which a process of role %s starts on a real chain', (role) => {
    const [container] = find('Deployment', role).spec.template.spec.containers;
    const { data } = find('ConfigMap', 'oracle-settings');
    const environment = { ...data, ...Object.fromEntries(container.env.map(({ name, value }: Record<string, string>) => [name, value])) };
    expect(container.envFrom).toEqual([{ configMapRef: { name: find('ConfigMap', 'oracle-settings').metadata.name } }]);
    expect(listUnknownSettings(Object.keys(environment))).toEqual([]);
    const config = loadConfig({ NODE_ENV: 'production', ...toEnvironment(environment) });
    expect(config).toMatchObject({ chainMode: 'real', ROLE: role, HOST: '0.0.0.0', PORT: 3000, METRICS_PORT: 9464 });
    const [{ mountPath }] = container.volumeMounts;
    const mounted: { key: string; path: string }[] = find('Deployment', role).spec.template.spec.volumes[0].secret.items;
    const named = Object.entries(environment as Record<string, string>).flatMap(([name, path]) => (name.endsWith('_FILE') ? [path] : []));
    expect(mounted.map(({ path }) => `${mountPath}/${path}`).toSorted()).toEqual(named.toSorted());
  });

  it('selects with each service, budget and policy the pods that there are', () => {
    const pods = ['api', 'worker'].map((name) => find('Deployment', name).spec.template.metadata.labels);
    const selectors = manifests.flatMap(({ kind, spec }) => {
      if (kind === 'Service') return [spec.selector];
      if (kind === 'PodDisruptionBudget' || kind === 'Deployment') return [spec.selector.matchLabels];
      return kind === 'NetworkPolicy' ? [spec.podSelector.matchLabels ?? {}] : [];
    });
    expect(selectors).toHaveLength(11);
    for (const selector of selectors) expect(pods).toContainEqual(expect.objectContaining(selector));
  });

  it('lets out what the guard of the service lets out: HTTPS to public addresses', () => {
    const { egress } = find('NetworkPolicy', 'outbound').spec;
    const blocks = egress.flatMap(({ to }: Manifest) => to.flatMap(({ ipBlock }: Manifest) => (ipBlock ? [ipBlock] : [])));
    expect(egress.at(-1).ports).toEqual([{ port: 443, protocol: 'TCP' }]);
    const isInside = (address: string, cidr: string) => {
      const [parsed, range] = [ipaddr.parse(address), ipaddr.parseCIDR(cidr)];
      return parsed.kind() === range[0].kind() && parsed.match(range as [ipaddr.IPv4, number]);
    };
    const isAllowed = (address: string) =>
      blocks.some(
        ({ cidr, except }: Manifest) => isInside(address, cidr) && !except.some((excluded: string) => isInside(address, excluded)),
      );
    const excluded: string[] = blocks.flatMap(({ except }: Manifest) => except);
    const probes = [
      ...excluded.map((cidr) => cidr.split('/')[0]!),
      ...['10.96.0.1', '169.254.169.254', '172.31.255.255', '100.127.0.1', '192.168.1.1', '127.0.0.53', '::1', 'fd00::1', 'fe80::1'],
      ...['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::1'],
    ];
    for (const address of probes) expect(isAllowed(address), address).toBe(isPublicAddress(address));
  });

  it('probes paths that a worker serves, too', async () => {
    const operate = await readFile(resolve(ROOT, 'docs/OPERATE.md'), 'utf8');
    for (const role of ['api', 'worker']) {
      const [container] = find('Deployment', role).spec.template.spec.containers;
      const paths = ['startupProbe', 'readinessProbe', 'livenessProbe'].map((probe) => container[probe].httpGet.path);
      for (const path of paths) expect(operate).toMatch(new RegExp(`\`worker\` serves [^.]*\`${path}\``, 's'));
    }
  });
});
