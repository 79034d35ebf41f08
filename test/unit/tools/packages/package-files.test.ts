import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildMcpServerFile } from '../../../../agent-card/documents.ts';
import { IDENTITY } from '../../../../agent-card/endpoints.ts';
import { SKILLS } from '../../../../skills/index.ts';
import {
  buildBundleManifest,
  buildPackageFiles,
  buildRegistryEntry,
  buildSvcManifest,
  PACKAGE_SETTINGS,
  PUBLICATION,
} from '../../../../src/tools/packages.ts';
import { ROOT } from '../../../support/docs/documents.ts';

const version = '1.2.3';

describe('the files for directories', () => {
  it.each(Object.entries(buildPackageFiles()))('%s is what the code generates', (path, text) => {
    expect(readFileSync(resolve(ROOT, path), 'utf8'), 'run npm run docs:tables').toBe(text);
  });
});

/** Rules of the registry schema 2025-12-11 and of its documentation for the members in use; unknown ones are rejected. */
const INPUT = z.strictObject({
  description: z.string(),
  isRequired: z.boolean(),
  isSecret: z.boolean().optional(),
  default: z.string().min(1).optional(),
  placeholder: z.string().optional(),
});
const KEY_VALUE_INPUT = INPUT.extend({ name: z.string().min(1) });
const ENTRY = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .max(200)
    .regex(/^io\.github\.[a-zA-Z0-9-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  packages: z.tuple([
    z.strictObject({
      registryType: z.literal('npm'),
      identifier: z.string(),
      version: z.string(),
      runtimeHint: z.literal('npx'),
      transport: z.strictObject({ type: z.literal('stdio') }),
      packageArguments: z.array(z.strictObject({ type: z.literal('positional'), value: z.string() })),
      environmentVariables: z.array(KEY_VALUE_INPUT),
    }),
  ]),
  remotes: z.tuple([
    z.strictObject({
      type: z.literal('streamable-http'),
      url: z.string().regex(/^https:\/\/[^\s]+$/),
      variables: z.record(z.string(), INPUT),
      headers: z.array(KEY_VALUE_INPUT),
    }),
  ]),
});

describe('server.json of the project', () => {
  const { packages, remotes, ...entry } = ENTRY.parse(buildRegistryEntry({ version }));

  it('names the package, and the package names it', () => {
    const manifest = buildSvcManifest({ version, license: 'MIT', dependencies: {} });
    expect([packages[0].identifier, packages[0].version, entry.name]).toEqual([manifest.name, manifest.version, manifest.mcpName]);
    const [argument] = packages[0].packageArguments;
    expect([Object.keys(manifest.bin)[0], argument!.value]).toEqual([PUBLICATION.npmName.split('/')[1], 'mcp']);
  });

  it('defines each variable of its template, and marks what is secret', () => {
    const [remote] = remotes;
    expect([...remote.url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)).toEqual(Object.keys(remote.variables));
    const secrets = packages[0].environmentVariables.filter(({ isSecret }) => isSecret).map(({ name }) => name);
    expect(secrets).toEqual(['ORACLE_TOKEN', 'PRIVATE_KEY']);
  });

  it('describes the server as the entry that a service serves', () => {
    const {
      title,
      description,
      remotes: served,
    } = buildMcpServerFile({ publicUrl: 'https://oracle.example.org', version, hasOAuth: true });
    expect([entry.title, entry.description]).toEqual([title, description]);
    expect(remotes[0].url.replace('{host}', 'oracle.example.org')).toBe(served[0].url);
  });
});

describe('the manifest of the bundle', () => {
  const manifest = buildBundleManifest({ version, license: 'MIT' });

  it('has the tools of the service in their order', () => {
    expect(manifest.tools).toEqual(SKILLS.map(({ id, summary }) => ({ name: id, description: summary })));
    expect(manifest).toMatchObject({ name: IDENTITY.slug, display_name: IDENTITY.name, description: IDENTITY.tagline, version });
  });

  it('passes each field to its variable, and has a default for each, as hosts leave the placeholder of a field without one', () => {
    const { env } = manifest.server.mcp_config;
    expect(Object.values(env)).toEqual(Object.keys(manifest.user_config).map((key) => `\${user_config.${key}}`));
    expect(Object.keys(env)).toEqual(PACKAGE_SETTINGS.map(({ variable }) => variable));
    for (const { key, isSecret } of PACKAGE_SETTINGS)
      expect(manifest.user_config[key]).toMatchObject({ sensitive: isSecret, required: false, default: expect.any(String) });
  });
});
