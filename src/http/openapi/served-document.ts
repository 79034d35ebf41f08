import { EncodedText } from '../encoded-text.ts';
import { strongEtag } from '../etag.ts';
import type { Reply, Route } from '../route.ts';
import { openApiDocument } from './document.ts';

interface ServedDocument {
  json: EncodedText;
  /** Strong: the same bytes, the same tag. */
  etag: string;
}

/** The document of a list of routes; the list of a process does not change. */
export function servedDocument(routes: () => readonly Route[], options: { publicUrl: string }): () => Reply<never> {
  return servedJson(() => openApiDocument(routes(), options));
}

/** A document that never changes within a process: made when it is first asked for, and kept; also by whoever asks, for a while. */
export function servedJson(make: () => object): () => Reply<never> {
  let made: ServedDocument | undefined;
  return () => {
    made ??= serialized(make());
    const { json, etag } = made;
    return {
      headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'public, max-age=300', ETag: etag },
      encoded: json,
    };
  };
}

function serialized(document: object): ServedDocument {
  const json = JSON.stringify(document);
  return { json: new EncodedText(json), etag: strongEtag(json) };
}
