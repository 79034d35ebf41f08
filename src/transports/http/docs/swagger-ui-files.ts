import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { EncodedText } from '../server/replies/encoded-text.ts';

const require = createRequire(import.meta.url);

/** Media types of the Swagger UI files that are served. */
export const UI_TYPES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
} as const;

type UiFile = keyof typeof UI_TYPES;

export const UI_FILES = Object.keys(UI_TYPES) as UiFile[];

const { version: UI_VERSION } = require('swagger-ui-dist/package.json') as { version: string };

export const UI_ETAG = `"swagger-ui-${UI_VERSION}"`;

const files = new Map<UiFile, Promise<EncodedText>>();

/** Reads a file on first use, as the files are large and rarely requested. A failed read is retried. */
export function readUiFile(name: UiFile): Promise<EncodedText> {
  const file = files.get(name) ?? load(name);
  files.set(name, file);
  // Such as EMFILE.
  file.catch(() => files.delete(name));
  return file;
}

async function load(name: UiFile): Promise<EncodedText> {
  return new EncodedText(await readFile(require.resolve(`swagger-ui-dist/${name}`), 'utf8'));
}
