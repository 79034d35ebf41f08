import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Script that sets `globalThis.pageChecks`, bundled as the page is. */
export async function bundlePageChecks(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./entry.ts', import.meta.url))],
    ...{ bundle: true, format: 'iife', platform: 'browser', target: 'es2024', write: false, logLevel: 'silent' },
  });
  return outputFiles[0]!.text;
}
