import type { CallData, UsualShare } from './first-screen-data.ts';
import { formatWholePercent } from './format-figures.ts';

export interface CallVerdict {
  /** `UP 59 %`; led by the signal where it holds more than the usual share. */
  claim: string;
  /** `usual 60 %: no edge`; null while the usual share is unknown. */
  comparison: string | null;
  tone: 'good' | 'bad' | 'plain';
}

/** Two-sided 95 %. */
const Z95 = 1.96;
/** Arrows, as colour alone would not be accessible. */
const SIGNS = { BUY: '▲', SELL: '▼' } as const;

type ReadableCall = Pick<CallData, 'signal' | 'direction' | 'confidence'>;

/** What the call says beside the usual share of its direction. Null for a call that is hidden. */
export function judgeCall(
  { signal, direction, confidence }: ReadableCall,
  horizonDays: number,
  usual: UsualShare | null,
): CallVerdict | null {
  if (signal === 'GATED' || direction === null || confidence === null) return null;
  const claim = `${direction} ${formatWholePercent(confidence)}`;
  const held = signal === 'HOLD' ? `HOLD, ${claim}` : claim;
  if (usual === null) return { claim: held, comparison: null, tone: 'plain' };
  const share = direction === 'UP' ? usual.up : 1 - usual.up;
  const comparison = `usual ${formatWholePercent(share)}`;
  if (!isAboveUsual(confidence, share, usual.days / horizonDays))
    return { claim: held, comparison: `${comparison}: no edge`, tone: 'plain' };
  if (signal === 'HOLD') return { claim: held, comparison, tone: 'plain' };
  return { claim: `${SIGNS[signal]} ${signal}, ${claim}`, comparison, tone: signal === 'BUY' ? 'good' : 'bad' };
}

/** Above the 95 % interval of the usual share, measured on windows that do not overlap. */
function isAboveUsual(probability: number, share: number, windows: number): boolean {
  return windows > 0 && probability > share + Z95 * Math.sqrt((share * (1 - share)) / windows);
}
