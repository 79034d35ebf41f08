import type { HorizonName } from '../../forecast/model.ts';
import { type Brief, type BriefNext, sortByTime } from './compose.ts';

export function filterBriefByHorizons(brief: Brief, horizons: readonly HorizonName[]): Brief {
  const isChosen = ({ horizon }: { horizon: HorizonName }) => horizons.includes(horizon);
  const open = brief.open.filter(isChosen);
  return {
    ...brief,
    resolved: brief.resolved.filter(isChosen),
    scorecard: brief.scorecard.filter(isChosen),
    open,
    next: sortByTime(brief.next.flatMap((one) => (one.event === 'resolution' ? findNextResolution(open) : [one]))),
  };
}

/** The stored event covers all horizons and is recomputed. */
function findNextResolution(open: Brief['open']): BriefNext[] {
  const [at] = open.map(({ resolvesAt }) => resolvesAt).toSorted();
  return at === undefined ? [] : [{ event: 'resolution', at }];
}
