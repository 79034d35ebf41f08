import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import type { BuildOptions, BuildResult, Plugin } from 'esbuild';
import packageJson from '../../package.json' with { type: 'json' };
import { OracleError } from '../errors.ts';
import {
  getBrotliUrl,
  OWN_BUNDLES,
  type OwnBundle,
  PAGE_FILE_NAME,
  PAGE_FOLDER,
  PAGE_MANIFEST,
  type PageBundle,
} from '../http/routes/home.ts';
import { APP_FOLDER, type AppDocuments, getAppFileName } from '../mcp/protocol.ts';
import { el, renderMarkup } from '../page/markup.ts';
import { APP_VIEWS, type AppView, VIEW_TITLES } from '../page/mcp-app.ts';
import { importBundler, writeAtomically } from './bundler.ts';

/** Builds the page and the MCP App, and prints their sizes. With `--optional`, as `npm ci` runs it, a missing bundler is no failure. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    const { files } = await buildPage();
    for (const { name, text, brotli } of files)
      process.stdout.write(`dist/page/${name}: ${text.length} characters, ${brotli.length} bytes compressed\n`);
    const documents = await buildApp();
    for (const view of APP_VIEWS) process.stdout.write(`dist/mcp-app/${getAppFileName(view)}: ${documents[view].length} characters\n`);
  } catch (error) {
    if (!(error instanceof OracleError)) throw error;
    console.error(`${error.message}. ${error.suggestedAction ?? ''}`);
    if (!args.includes('--optional')) process.exitCode = 1;
  }
}

/** Writes the documents of the MCP App into their folder. @throws OracleError CONFIG_INVALID if the optional package esbuild is not installed */
export async function buildApp(folder: URL = APP_FOLDER): Promise<AppDocuments> {
  const assets = await bundleApp();
  await mkdir(folder, { recursive: true });
  const documents = Object.fromEntries(APP_VIEWS.map((view) => [view, renderAppDocument(view, assets)])) as unknown as AppDocuments;
  for (const view of APP_VIEWS) await writeAtomically(new URL(getAppFileName(view), folder), documents[view]);
  return documents;
}

/** The document of a view: all that it needs is in it, and its policy permits it no connection. */
function renderAppDocument(view: AppView, { script, style, hashes, version }: AppAssets): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashes.script}'`,
    `style-src '${hashes.style}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const document = el('html', { lang: 'en' }, [
    el('head', {}, [
      el('meta', { charset: 'utf-8' }),
      el('meta', { 'http-equiv': 'Content-Security-Policy', content: policy }),
      el('meta', { name: 'viewport', content: 'width=device-width' }),
      el('title', {}, VIEW_TITLES[view]),
      el('style', {}, '{{style}}'),
    ]),
    el('body', {}, [
      // Not at the root, which some hosts replace by their own.
      el('main', { 'data-view': view, 'data-version': version }, [
        el('h1', {}, VIEW_TITLES[view]),
        el('p', { class: 'quiet' }, 'Waiting for the answer…'),
      ]),
      el('p', { id: 'status', role: 'status' }),
      el('script', {}, '{{script}}'),
    ]),
  ]);
  const html = renderMarkup(document)
    .replace('{{style}}', () => style)
    .replace('{{script}}', () => script);
  return `<!doctype html>\n${html}\n`;
}

/** One script and one style sheet for all views. */
async function bundleApp(): Promise<AppAssets> {
  const { build } = await importBundler({ name: 'MCP App', script: 'build:page' });
  const { outputFiles } = await build({
    ...BROWSER_BUNDLE,
    // A classic script: hosts load the document in various ways.
    format: 'iife',
    entryPoints: [`${SOURCES}mcp-app.ts`, `${SOURCES}styles/app.css`],
    outdir: 'unused',
  });
  const getText = (extension: string) => outputFiles.find(({ path }) => path.endsWith(extension))!.text.trim();
  const [script, style] = [getText('.js'), getText('.css')];
  return { script, style, hashes: { script: hash(script), style: hash(style) }, version: packageJson.version };
}

interface AppAssets {
  script: string;
  style: string;
  /** `sha256-` and the digest of script and style in base64, as in a Content Security Policy. */
  hashes: { script: string; style: string };
  /** Of the service. */
  version: string;
}

function hash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCES = `${ROOT}src/page/browser/`;

/** Of every bundle that browsers load. */
const BROWSER_BUNDLE = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'browser',
  target: 'es2024',
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  write: false,
  metafile: true,
  logLevel: 'silent',
} as const satisfies BuildOptions;

const PACKAGE = /^(?:.*\/)?node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//;

interface BuiltFile {
  name: string;
  text: string;
  /** Compressed at maximum quality. */
  brotli: Buffer;
}

export interface BuiltPage {
  /** Scripts and style sheets. */
  files: readonly BuiltFile[];
  names: PageBundle['names'];
  /** Paths of all bundled files, relative to the project. */
  inputs: readonly string[];
}

/**
 * Bundles the page into its folder: one script and one style sheet, those of pages with their own, and the manifest that names them.
 * @throws OracleError CONFIG_INVALID if the optional package esbuild is not installed
 */
export async function buildPage(folder: URL = PAGE_FOLDER): Promise<BuiltPage> {
  const page = await bundlePage();
  await mkdir(folder, { recursive: true });
  for (const { name, text, brotli } of page.files) {
    await writeAtomically(getBrotliUrl(new URL(name, folder)), brotli);
    await writeAtomically(new URL(name, folder), text);
  }
  await writeAtomically(new URL(PAGE_MANIFEST, folder), renderManifest(page));
  await removeEarlierFiles(folder, page);
  return page;
}

async function removeEarlierFiles(folder: URL, { files }: BuiltPage): Promise<void> {
  const isEarlier = (name: string) => PAGE_FILE_NAME.test(name) && !files.some((file) => file.name === name);
  const names = (await readdir(folder)).filter((name) => isEarlier(name.replace(/\.br$/, '')));
  await Promise.all(names.map((name) => rm(new URL(name, folder), { force: true })));
}

/** The bundle in memory. */
async function bundlePage(): Promise<BuiltPage> {
  const { build } = await importBundler({ name: 'page', script: 'build:page' });
  const { outputFiles, metafile }: BuildResult<typeof OPTIONS> = await build(OPTIONS);
  // What is imported and then left out, as most of a library, is no part of the page.
  const listInputs = (path: string) =>
    Object.entries(metafile.outputs[relative(ROOT, path)]!.inputs).flatMap(([input, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [input] : [],
    );
  const files = await Promise.all(
    outputFiles.map(async ({ path, text }) =>
      path.endsWith('.js') ? toPageFile((await readLicenseNotice(ROOT, listInputs(path))) + text, 'js') : toPageFile(text, 'css'),
    ),
  );
  const inputs = [...new Set(outputFiles.flatMap(({ path }) => listInputs(path)))];
  const getName = (output: string) => files[outputFiles.findIndex(({ path }) => path.endsWith(output))]!.name;
  const own = OWN_BUNDLES.map((page) => [page, { script: getName(`/pages/${page}.js`), style: getName(`/styles/pages/${page}.css`) }]);
  const names = {
    script: getName('/main.js'),
    style: getName('/styles/page.css'),
    ...(Object.fromEntries(own) as Record<OwnBundle, PageBundle['names'][OwnBundle]>),
  };
  return { files, names, inputs };
}

async function toPageFile(text: string, extension: 'css' | 'js'): Promise<BuiltFile> {
  const name = `page-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.${extension}`;
  return { name, text, brotli: await promisify(brotliCompress)(text) };
}

/** Off-chain lookups of viem (ERC-3668), which the page does not use: an RPC endpoint could name URLs by them. */
const WITHOUT_OFFCHAIN_LOOKUPS: Plugin = {
  name: 'without off-chain lookups',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/ccip\.js$/ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, namespace: 'left-out' } : null));
    onLoad({ filter: /./, namespace: 'left-out' }, () => ({ contents: 'export {}' }));
  },
};

const OPTIONS = {
  ...BROWSER_BUNDLE,
  entryPoints: ['main.ts', 'styles/page.css', ...OWN_BUNDLES.flatMap((page) => [`pages/${page}.ts`, `styles/pages/${page}.css`])].map(
    (path) => SOURCES + path,
  ),
  outbase: SOURCES,
  outdir: fileURLToPath(PAGE_FOLDER),
  format: 'esm',
  plugins: [WITHOUT_OFFCHAIN_LOOKUPS],
} as const satisfies BuildOptions;

function renderManifest({ names }: BuiltPage): string {
  return `${JSON.stringify(names)}\n`;
}

/** A comment that names each bundled package with its license and copyright; empty without any. */
export async function readLicenseNotice(root: string, inputs: readonly string[]): Promise<string> {
  const folders = new Set(inputs.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []));
  const lines = await Promise.all([...folders].sort().map((folder) => describePackage(`${root}${folder}`)));
  return lines.length === 0 ? '' : `/*! ${lines.join('; ')} */\n`;
}

async function describePackage(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(`${folder}package.json`, 'utf8')) as Record<string, string>;
  const text = await readFile(`${folder}LICENSE`, 'utf8').catch(() => '');
  const copyright = /^.*Copyright \(c\).*$/im.exec(text)?.[0].trim() ?? '';
  return [`${name} ${version}`, `${license} License`, copyright].filter((part) => part !== '').join(', ');
}
