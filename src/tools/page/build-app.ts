import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import packageJson from '../../../package.json' with { type: 'json' };
import { APP_FOLDER, type AppDocuments, getAppFileName } from '../../transports/mcp/apps/app-documents.ts';
import { APP_VIEWS } from '../../views/mcp-app/app-views.ts';
import { type AppAssets, renderAppDocument } from '../../views/mcp-app/document.ts';
import { importBundler, writeAtomically } from '../bundler.ts';
import { BROWSER_BUNDLE, SOURCES } from './bundler.ts';

/** Writes the documents of the MCP App into their folder. @throws OracleError CONFIG_INVALID if the optional package esbuild is not installed */
export async function buildApp(folder: URL = APP_FOLDER): Promise<AppDocuments> {
  const assets = await bundleApp();
  await mkdir(folder, { recursive: true });
  const documents = Object.fromEntries(APP_VIEWS.map((view) => [view, renderAppDocument(view, assets)])) as unknown as AppDocuments;
  for (const view of APP_VIEWS) await writeAtomically(new URL(getAppFileName(view), folder), documents[view]);
  return documents;
}

/** One script and one style sheet for all views. */
async function bundleApp(): Promise<AppAssets> {
  const { build } = await importBundler({ name: 'MCP App', script: 'build:page' });
  const { outputFiles } = await build({
    ...BROWSER_BUNDLE,
    // A classic script: hosts load the document in various ways.
    format: 'iife',
    entryPoints: [`${SOURCES}mcp-app/app.ts`, `${SOURCES}mcp-app/app.css`],
    outdir: 'unused',
  });
  const getText = (extension: string) => outputFiles.find(({ path }) => path.endsWith(extension))!.text.trim();
  const [script, style] = [getText('.js'), getText('.css')];
  return { script, style, hashes: { script: hash(script), style: hash(style) }, version: packageJson.version };
}

function hash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
