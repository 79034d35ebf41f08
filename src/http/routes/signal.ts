import { z } from 'zod';
import { OracleError } from '../../errors.ts';
import { fromCents } from '../../record/forecast.ts';
import { viewForecast } from '../../record/views.ts';
import { signalHorizon } from '../parameters.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { ANYTHING } from '../schemas/anything.ts';

/** Interface, section 2.1. */
export function signalRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/open/signal',
      name: 'getPublicSignal',
      tag: 'signal',
      reply: ANYTHING,
      summary: 'Public signal: direction and confidence stay gated until the outcome; the market context is always there',
      query: z.object({ horizon: signalHorizon }),
      async handle({ query: { horizon }, caller }) {
        const doc = await parts.record.latest(horizon);
        const day = doc === null ? null : await parts.record.day(doc.day);
        if (doc === null || day === null || day.price === null) {
          throw new OracleError('STEP_WAITING', 'There is no forecast yet', {
            suggestedAction: 'Ask again after 21:35 UTC; GET /ready says whether something is missing.',
          });
        }
        const view = viewForecast(doc, parts.viewFor(caller));
        return {
          body: {
            success: true,
            signal: view.signal,
            direction: view.direction,
            confidence: view.confidence,
            btcPrice: fromCents(day.price.cents),
            fearGreed: day.context?.fearGreed ?? null,
            fearGreedLabel: day.context?.fearGreedLabel ?? null,
            etfFlows7d: day.context?.etfFlows7dUsd ?? null,
            regime: view.regime,
            modelVersion: view.modelVersion,
            model_version: view.modelVersion,
            timestamp: view.timestamp,
            horizon: view.horizon,
            predictionId: view.predictionId,
            status: view.status,
            windowOpensAt: view.windowOpensAt,
            resolvesAt: view.resolvesAt,
            attestationUid: doc.attestation?.uid ?? null,
            replayed: view.replayed,
            source: parts.market.source,
          },
        };
      },
    }),
  ];
}
