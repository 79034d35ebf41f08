import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions } from 'esbuild';
import { ICON_SVG } from '../../../../agent-card/documents/icon.ts';
import packageJson from '../../../../package.json' with { type: 'json' };
import { importBundler } from '../../bundler.ts';
import { readLicenseNotice } from '../../page/build-page.ts';
import { BUNDLE_ENTRY, BUNDLE_ICON, BUNDLE_MIN_NODE, buildBundleManifest } from './bundle-manifest.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** Recommended by the validator. */
const ICON_PIXELS = 512;

/** Node has it from version 22 on. */
const WITH_RESOLVERS = `Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new this((a, b) => { resolve = a; reject = b; });
  return { promise, resolve, reject };
};`;

const OPTIONS = {
  absWorkingDir: ROOT,
  stdin: {
    contents: `import { runMcpAlone } from './src/cli/svc/mcp/run-alone.ts';
await runMcpAlone({ environment: process.env, version: ${JSON.stringify(packageJson.version)} });`,
    resolveDir: ROOT,
  },
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: `node${BUNDLE_MIN_NODE}`,
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  write: false,
  metafile: true,
  logLevel: 'silent',
} as const satisfies BuildOptions;

/**
 * Writes what an MCP bundle contains into a folder: the stdio server with its packages in one file, manifest and icon.
 * @throws OracleError CONFIG_INVALID if the optional package esbuild is not installed
 */
export async function buildMcpb(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const entry = join(folder, BUNDLE_ENTRY);
  await mkdir(dirname(entry), { recursive: true });
  await writeFile(entry, await bundleServer());
  await writeFile(join(folder, 'manifest.json'), `${JSON.stringify(buildBundleManifest(packageJson), null, 2)}\n`);
  await writeFile(join(folder, BUNDLE_ICON), await drawIcon());
}

async function bundleServer(): Promise<string> {
  const { build } = await importBundler({ name: 'bundle', script: 'build:mcpb' });
  const { outputFiles, metafile } = await build(OPTIONS);
  const [{ inputs }] = Object.values(metafile.outputs);
  const contained = Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));
  return `${await readLicenseNotice(ROOT, contained)}${WITH_RESOLVERS}\n${outputFiles[0].text}`;
}

async function drawIcon(): Promise<Buffer> {
  const { Resvg } = await import('@resvg/resvg-js');
  return new Resvg(ICON_SVG, { fitTo: { mode: 'width', value: ICON_PIXELS } }).render().asPng();
}
