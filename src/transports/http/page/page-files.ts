import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EncodedText } from '../server/replies/encoded-text.ts';

/** Files of other types are not served. */
const MEDIA_TYPES = { '.css': 'text/css; charset=utf-8', '.js': 'text/javascript; charset=utf-8' } as const;

/** Folders of the page, as its URLs name them. */
export const PAGE_FOLDERS = [
  'chain',
  'charts',
  'check',
  'header',
  'lib',
  'live',
  'parts',
  'record',
  'state',
  'styles',
  'today',
  'unlock',
  'vendor',
] as const;

type PageFolder = (typeof PAGE_FOLDERS)[number];

/** Hash functions of the page: unmodified ES modules without comments (more than half of the bytes), with the copyright notice. */
const VENDOR = { of: '@noble/hashes/sha3.js', files: ['sha3.js', 'sha2.js', '_md.js', '_u64.js', 'utils.js'] } as const;
const NOTICE = '/*! @noble/hashes, MIT License, Copyright (c) 2022 Paul Miller */\n';

export interface PageFile {
  name: string;
  content: EncodedText;
  type: string;
  etag: string;
}

const DASHBOARD = new URL('../../../dashboard/', import.meta.url);

const filesByFolder = new Map<PageFolder, ReadonlyMap<string, PageFile>>();

export function getPageFiles(folder: PageFolder): ReadonlyMap<string, PageFile> {
  const cached = filesByFolder.get(folder);
  if (cached !== undefined) return cached;
  const readContent = (path: string) => (folder === 'vendor' ? `${NOTICE}${stripCommentLines(readText(path))}` : readText(path));
  const files = new Map(listFileLocations(folder).map(([name, path]) => [name, buildPageFile(name, readContent(path))]));
  filesByFolder.set(folder, files);
  return files;
}

/** Removes comments on lines of their own; a comment behind code stays. */
export function stripCommentLines(code: string): string {
  return code.replace(/^[ \t]*(?:\/\*\*(?:[^*]|\*(?!\/))*\*\/|\/\/.*)\n/gm, '');
}

export function readPageTemplate(): string {
  return readText(new URL('index.html', DASHBOARD));
}

function readText(path: string | URL): string {
  return readFileSync(path, 'utf8');
}

function listFileLocations(folder: PageFolder): [name: string, path: string][] {
  if (folder === 'vendor') return VENDOR.files.map((name) => [name, fileURLToPath(new URL(name, import.meta.resolve(VENDOR.of)))]);
  const path = fileURLToPath(new URL(`${folder}/`, DASHBOARD));
  return readdirSync(path)
    .filter((name) => extname(name) in MEDIA_TYPES)
    .toSorted()
    .map((name) => [name, `${path}${name}`]);
}

function buildPageFile(name: string, content: string): PageFile {
  const digest = createHash('sha256').update(content).digest('base64url').slice(0, 22);
  return { name, content: new EncodedText(content), type: MEDIA_TYPES[extname(name) as keyof typeof MEDIA_TYPES], etag: `"${digest}"` };
}
