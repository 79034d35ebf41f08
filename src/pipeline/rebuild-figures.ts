import type { PipelineDeps } from './deps.ts';

interface RebuildDeps extends Pick<PipelineDeps, 'record' | 'wagers' | 'figures' | 'crowd'> {
  contest: { rebuild(): Promise<void> };
}

/** Computes the stored figures of the record, the wagers and the contest again, for all processes. @returns a sentence for the operator */
export async function rebuildFigures({ record, wagers, figures, crowd, contest }: RebuildDeps, now: Date): Promise<string> {
  const differing = await figures.verify();
  await Promise.all([record.revision.advance(), wagers.revision.advance()]);
  await figures.refresh();
  await crowd.refresh(now);
  await contest.rebuild();
  return `computed again; ${differing.length === 0 ? 'none of the record had differed' : `these had differed: ${differing.join(', ')}`}`;
}
