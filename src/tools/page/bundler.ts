import { fileURLToPath } from 'node:url';
import type { BuildOptions } from 'esbuild';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const SOURCES = `${ROOT}src/dashboard/`;

/** Of every bundle that browsers load. */
export const BROWSER_BUNDLE = {
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
