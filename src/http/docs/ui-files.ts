import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Files of Swagger UI that the page needs, with their media types; nothing else of the package is served. */
export const UI_TYPES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
} as const;

type UiFile = keyof typeof UI_TYPES;

export const UI_FILES = Object.keys(UI_TYPES) as UiFile[];

const { version: UI_VERSION } = require('swagger-ui-dist/package.json') as { version: string };

/** Changes with the version of the package. */
export const UI_ETAG = `"swagger-ui-${UI_VERSION}"`;

/** Read when asked for: they are large and rarely wanted. */
export function readUiFile(name: UiFile): Promise<string> {
  return readFile(require.resolve(`swagger-ui-dist/${name}`), 'utf8');
}
