import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import type { HttpDeps } from '../../deps.ts';
import { EncodedText } from '../../server/replies/encoded-text.ts';
import { type Route, route } from '../../server/route.ts';
import { AGENT_CARD, CARD_KEYS } from './schemas.ts';

export function agentCardRoutes({ card }: Pick<HttpDeps, 'card'>): Route[] {
  let built: { etag: string; encoded: EncodedText } | undefined;
  return [
    route(`GET ${ENDPOINTS.agentCard}`, 'getAgentCard', {
      tag: 'agent',
      summary: 'Signed A2A agent card: interfaces, skills and terms',
      description:
        'One document for A2A 1.0 and 0.3. An extension links to the JSON Schemas, prices and freshness of all skills. `ETag` and `Last-Modified` change only with the content or its signing key.',
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
    route(`GET ${ENDPOINTS.cardKeys}`, 'getAgentCardKeys', {
      tag: 'agent',
      summary: 'Public keys of the agent card signatures',
      description: 'Not the keys of session tokens.',
      reply: CARD_KEYS,
      // Not cached: after a rotation the new card needs the new key at once.
      handle: async () => ({ body: { keys: await card.keys() } }),
    }),
  ];
}
