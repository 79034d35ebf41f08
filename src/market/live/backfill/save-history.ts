import type { Day } from '../../../forecast/day.ts';
import type { CollectDeps } from '../collect/deps.ts';
import type { AgreementDeps } from '../collect/venues/agree-on-closes.ts';
import type { DatedValue } from '../sources/source.ts';
import type { ObservationStream } from '../store/observations/observation-stream.ts';

export interface BackfillDeps extends CollectDeps, AgreementDeps {
  /** Earlier closes come from one venue. Fixed by the first attempt: a window moving with the clock would leave days to neither item. */
  windowStart: Day;
}

/** Backfilled values count as known since their publication; unpublished values since their reception. */
export async function saveHistory(
  deps: BackfillDeps,
  stream: ObservationStream,
  provider: string,
  values: readonly DatedValue[],
): Promise<void> {
  await deps.stores.observations.save(stream, provider, values, { receivedAtMs: deps.now(), backfilled: true });
  await deps.stores.observationCache.invalidate(stream);
}
