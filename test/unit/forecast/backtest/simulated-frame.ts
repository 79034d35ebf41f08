import { parseDay } from '../../../../src/forecast/day.ts';
import type { InputFrame } from '../../../../src/forecast/inputs.ts';
import { getSignalTimeMs } from '../../../../src/market/feed.ts';
import { createMarket } from '../../../../src/market/market.ts';
import { openSimulatedFeed } from '../../../../src/market/simulated.ts';

/** The simulated history from 2010-07-18 to 2026-08-20. */
export async function simulatedFrame(): Promise<InputFrame> {
  const day = parseDay('2026-08-20');
  const { frame } = await createMarket(openSimulatedFeed()).inputs(day, getSignalTimeMs(day));
  return frame;
}
