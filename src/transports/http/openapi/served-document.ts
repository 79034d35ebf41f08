import { EncodedText } from '../server/replies/encoded-text.ts';
import { buildStrongEtag } from '../server/replies/etag.ts';
import type { Reply, Route } from '../server/route.ts';
import { buildOpenApiDocument } from './document.ts';

interface ServedDocument {
  json: EncodedText;
  /** Strong: the same bytes, the same tag. */
  etag: string;
}

/** The document of a list of routes; the list of a process does not change. */
export function createDocumentReply(routes: () => readonly Route[], options: { publicUrl: string }): () => Reply<never> {
  return createJsonReply(() => buildOpenApiDocument(routes(), options));
}

/** A document that never changes within a process: made when it is first asked for, and kept; also by whoever asks, for a while. */
export function createJsonReply(buildDocument: () => object): () => Reply<never> {
  let cached: ServedDocument | undefined;
  return () => {
    cached ??= serializeDocument(buildDocument());
    const { json, etag } = cached;
    return {
      headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'public, max-age=300', ETag: etag },
      encoded: json,
    };
  };
}

function serializeDocument(document: object): ServedDocument {
  const json = JSON.stringify(document);
  return { json: new EncodedText(json), etag: buildStrongEtag(json) };
}
