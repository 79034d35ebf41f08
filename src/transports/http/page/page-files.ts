import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EncodedText } from '../server/replies/encoded-text.ts';

/** What the page is made of; nothing else of its folder is served. */
const MEDIA_TYPES = { '.css': 'text/css; charset=utf-8', '.js': 'text/javascript; charset=utf-8' } as const;

/** Folders of the page, as they are named in its URLs. */
export const PAGE_FOLDERS = [
  ...(['chain', 'charts', 'check', 'header', 'lib', 'live', 'parts', 'record', 'state', 'styles'] as const),
  ...(['today', 'unlock', 'vendor'] as const),
] as const;

type PageFolder = (typeof PAGE_FOLDERS)[number];

/**
 * Hashes that the page recomputes commitments with: files of the package, which browsers load without a bundler, line by line as they are
 * published but for their comments, more than half of what readers would load, and with whose they are.
 */
const VENDOR = { of: '@noble/hashes/sha3.js', files: ['sha3.js', 'sha2.js', '_md.js', '_u64.js', 'utils.js'] } as const;
const NOTICE = '/*! @noble/hashes, MIT License, Copyright (c) 2022 Paul Miller */\n';

export interface PageFile {
  name: string;
  content: EncodedText;
  type: string;
  /** Changes with the content. */
  etag: string;
}

const DASHBOARD = new URL('../../../dashboard/', import.meta.url);

/** The files of a folder of the page, by name; read once. */
const filesByFolder = new Map<PageFolder, ReadonlyMap<string, PageFile>>();

export function getPageFiles(folder: PageFolder): ReadonlyMap<string, PageFile> {
  const cached = filesByFolder.get(folder);
  if (cached !== undefined) return cached;
  const contentOf = (path: string) => (folder === 'vendor' ? `${NOTICE}${stripCommentLines(readText(path))}` : readText(path));
  const files = new Map(listFileLocations(folder).map(([name, path]) => [name, buildPageFile(name, contentOf(path))]));
  filesByFolder.set(folder, files);
  return files;
}

/** Code without the comments that have lines of their own; one with code on its line stays. */
export function stripCommentLines(code: string): string {
  return code.replace(/^[ \t]*(?:\/\*\*(?:[^*]|\*(?!\/))*\*\/|\/\/.*)\n/gm, '');
}

/** The frame of the page, with places for what differs between deployments. */
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
