import { DEFAULT_HORIZON, HORIZON_NAMES } from '../../../forecast/horizon-input.ts';
import type { HorizonName } from '../../../forecast/model.ts';

interface Answered<Answer> {
  answer: Answer;
  body: unknown;
}

/**
 * Asks for every horizon, or for the one that is named. The body is that of the named horizon, or of 7 days, with the bodies of all that were
 * asked for as `horizons`, shortest first: one shape in both cases.
 */
export async function queryHorizons<Answer>(
  horizon: HorizonName | undefined,
  query: (horizon: HorizonName) => Promise<Answered<Answer>>,
): Promise<{ answers: Answer[]; body: object }> {
  const names = horizon === undefined ? HORIZON_NAMES : [horizon];
  const found = await Promise.all(names.map(query));
  const { body } = found[names.indexOf(horizon ?? DEFAULT_HORIZON)];
  return { answers: found.map(({ answer }) => answer), body: { ...(body as object), horizons: found.map((one) => one.body) } };
}
