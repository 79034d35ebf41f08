import { parseDay } from '../../../src/forecast/day.ts';
import type { MoveSize } from '../../../src/forecast/move.ts';
import type { MoveDay } from '../../../src/forecast/move-skill.ts';

export const FIRST = parseDay('2026-01-01');

export interface Drawn {
  pBig: number;
  big: boolean;
  frequency: number;
  ewma?: number;
  moveSize?: MoveSize;
  replayed?: boolean;
}

export const toDays = (drawn: readonly Drawn[]) =>
  drawn.map(({ pBig, big, frequency, ewma = frequency, moveSize = 'USUAL', replayed = false }, index): MoveDay => {
    return { day: FIRST + index, replayed, move: { pBig, big, moveSize, references: { frequency, ewma, garch: null } } };
  });
