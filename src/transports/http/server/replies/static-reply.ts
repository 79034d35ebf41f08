import type { Reply } from '../route.ts';
import { EncodedText } from './encoded-text.ts';
import { buildStrongEtag } from './etag.ts';

/** A cacheable reply that is constant within a process: rendered, tagged and compressed on the first request. A failed build is retried. */
export function createStaticReply(
  buildText: () => string,
  buildHeaders: () => Record<string, string>,
  buildEtag: (text: string) => string = buildStrongEtag,
): () => Reply<never> {
  let reply: Reply<never> | undefined;
  return () => {
    if (reply === undefined) {
      const text = buildText();
      reply = { headers: { ...buildHeaders(), ETag: buildEtag(text) }, encoded: new EncodedText(text) };
    }
    return reply;
  };
}

/** A JSON document that is constant within a process; caches keep it for five minutes. */
export function createJsonReply(buildDocument: () => object): () => Reply<never> {
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'public, max-age=300' };
  return createStaticReply(
    () => JSON.stringify(buildDocument()),
    () => headers,
  );
}
