import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import type { HttpDeps } from '../../deps.ts';
import { EncodedText } from '../../server/replies/encoded-text.ts';
import { type Route, route } from '../../server/route.ts';
import { AGENT_CARD, CARD_KEYS } from './schemas.ts';

/** The signed agent card, and the public keys of its signatures. */
export function agentCardRoutes({ card }: Pick<HttpDeps, 'card'>): Route[] {
  let built: { etag: string; encoded: EncodedText } | undefined;
  return [
    route({
      path: ENDPOINTS.agentCard,
      name: 'getAgentCard',
      tag: 'agent',
      summary: 'A2A agent card: how agents reach this one, what it can do, on which terms; signed',
      description:
        'One document for readers of A2A 1.0 and of 0.3. An extension of it names the URL with the JSON Schemas, prices and freshness of all skills. ETag and Last-Modified stay for as long as the card says the same under the same key.',
      reply: AGENT_CARD,
      async handle() {
        const { json, etag, modifiedAt } = await card.current();
        if (built?.etag !== etag) built = { etag, encoded: new EncodedText(json) };
        return {
          headers: {
            'Content-Type': 'application/json; charset=utf-8',
            'Cache-Control': 'public, max-age=3600',
            ETag: etag,
            'Last-Modified': modifiedAt.toUTCString(),
          },
          encoded: built.encoded,
        };
      },
    }),
    route({
      path: ENDPOINTS.cardKeys,
      name: 'getAgentCardKeys',
      tag: 'agent',
      summary: 'Public keys that the agent card is signed with',
      description: 'Other keys than those of session tokens.',
      reply: CARD_KEYS,
      // Not cached: after a rotation the new card needs the new key at once.
      handle: async () => ({ body: { keys: await card.keys() } }),
    }),
  ];
}
