import type { z } from 'zod';
import { HORIZONS } from '../../../../forecast/model.ts';
import { FIRST_CHAMPION } from '../../../../record/challenge/champion-log.ts';
import type { HttpDeps } from '../../deps.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { CHALLENGE_REPLY } from './schemas.ts';

type ChallengeDeps = Pick<HttpDeps, 'statistics' | 'champions'>;

/** The model versions against each other on the record. */
export function challengeRoutes({ statistics, champions }: ChallengeDeps): Route[] {
  return [
    route('GET /api/svc/challenge', 'getChallenge', {
      units: 0.2,
      tag: 'record',
      summary: 'Champion and challenger: their committed distributions scored, and whether the record proves one better',
      description:
        'Versions commit their distributions in the same attestation, with the same P(up). A test that stays valid whenever one looks ' +
        '(e-process, Ville) says whether the later version has the lower CRPS. The operator changes the champion, refused below the threshold ' +
        'unless forced, and every change stays listed.',
      reply: CHALLENGE_REPLY,
      sharedByTier: true,
      handle: async (): Promise<Reply<z.input<typeof CHALLENGE_REPLY>>> => {
        const [changes, horizons] = await Promise.all([
          champions.list(),
          Promise.all(HORIZONS.map((horizonDays) => statistics.figures.getChallenge(horizonDays))),
        ]);
        const champion = changes.at(-1)?.to ?? FIRST_CHAMPION;
        const listed = changes.map(({ _id, at, ...change }) => ({ at: at.toISOString(), ...change }));
        return { body: { success: true, champion, changes: listed, horizons } };
      },
    }),
  ];
}
