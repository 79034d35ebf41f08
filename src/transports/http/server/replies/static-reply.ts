import type { Reply } from '../route.ts';
import { EncodedText } from './encoded-text.ts';
import { buildStrongEtag } from './etag.ts';
import { once } from './once.ts';

/** The reply with a text that does not change within a process: built, tagged and compressed when it is first asked for. */
export function createStaticReply(buildText: () => string, buildHeaders: () => Record<string, string>): () => Reply<never> {
  return once(() => {
    const text = buildText();
    return { headers: { ...buildHeaders(), ETag: buildStrongEtag(text) }, encoded: new EncodedText(text) };
  });
}
