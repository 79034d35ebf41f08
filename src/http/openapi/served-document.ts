import { createHash } from 'node:crypto';
import type { Route } from '../route.ts';
import { openApiDocument } from './document.ts';

export interface ServedDocument {
  json: string;
  /** Strong: the same bytes, the same tag. */
  etag: string;
}

/** The document of a list of routes, made when it is first asked for and kept: the list of a process does not change. */
export function servedDocument(routes: () => readonly Route[], options: { publicUrl: string }): () => ServedDocument {
  let made: ServedDocument | undefined;
  return () => {
    made ??= make(routes(), options);
    return made;
  };
}

function make(routes: readonly Route[], options: { publicUrl: string }): ServedDocument {
  const json = JSON.stringify(openApiDocument(routes, options));
  return { json, etag: `"${createHash('sha256').update(json).digest('base64url')}"` };
}
