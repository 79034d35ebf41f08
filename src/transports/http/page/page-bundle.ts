import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { OracleError } from '../../../platform/errors.ts';
import { EncodedText } from '../server/replies/encoded-text.ts';

/** Where `npm run build:page` writes the page. */
export const PAGE_FOLDER = new URL('../../../../dist/page/', import.meta.url);

/** Names the script and the style sheet of the newest build. */
export const PAGE_MANIFEST = 'manifest.json';

/** The web component, which pages of other sites load: no part of the page. */
export const WIDGET_SCRIPT = 'widget.js';

/** Names that the build gives: they change with the content. */
export const PAGE_FILE_NAME = /^page-[0-9a-f]{16}\.(?:css|js)$/;

/** The build compresses each file at maximum quality, which takes seconds. */
export function getBrotliUrl(file: URL): URL {
  return new URL(`${file.href}.br`);
}

const MEDIA_TYPES = { '.css': 'text/css; charset=utf-8', '.js': 'text/javascript; charset=utf-8' } as const;

export interface PageFile {
  content: EncodedText;
  type: string;
}

interface BundleNames {
  script: string;
  style: string;
}

/** Pages with a script of their own in place of the common one. */
export const OWN_BUNDLES = ['access', 'consent'] as const;

export type OwnBundle = (typeof OWN_BUNDLES)[number];

export interface PageBundle {
  /** Of most pages, and of those with a script of their own and styles besides the common ones. */
  names: BundleNames & Record<OwnBundle, BundleNames>;
  files: ReadonlyMap<string, PageFile>;
}

let bundle: PageBundle | undefined;

/** The built page, read once per process. */
export function getPageBundle(): PageBundle {
  bundle ??= readPageBundle(PAGE_FOLDER);
  return bundle;
}

/** @throws OracleError CONFIG_INVALID if the page has not been built */
export function readPageBundle(folder: URL): PageBundle {
  return readBuilt(new URL(PAGE_MANIFEST, folder), (manifest) => {
    const names = readdirSync(folder).filter((name) => PAGE_FILE_NAME.test(name));
    return {
      names: JSON.parse(manifest) as PageBundle['names'],
      files: new Map(names.map((name) => [name, readPageFile(new URL(name, folder))])),
    };
  });
}

/** @throws OracleError CONFIG_INVALID if the page has not been built */
export function readWidgetScript(): string {
  return readBuilt(new URL(WIDGET_SCRIPT, PAGE_FOLDER), (text) => text);
}

function readBuilt<Result>(path: URL, parse: (text: string) => Result): Result {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new OracleError('CONFIG_INVALID', `The page has not been built: ${path.pathname} cannot be read`, {
      suggestedAction: 'Run "npm run build:page", which "npm ci" also does.',
      cause,
    });
  }
}

function readPageFile(path: URL): PageFile {
  const content = new EncodedText(readFileSync(path, 'utf8'), readFileSync(getBrotliUrl(path)));
  return { content, type: MEDIA_TYPES[extname(path.pathname) as keyof typeof MEDIA_TYPES] };
}
