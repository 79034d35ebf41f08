import type { PipelineDeps } from './deps.ts';

type RebuildDeps = Pick<PipelineDeps, 'record' | 'wagers' | 'figures' | 'crowd'>;

/** Computes the stored figures of the record and the wagers again, for all processes. @returns a sentence for the operator */
export async function rebuildFigures({ record, wagers, figures, crowd }: RebuildDeps, now: Date): Promise<string> {
  const differing = await figures.verify();
  await Promise.all([record.revision.advance(), wagers.revision.advance()]);
  await figures.refresh();
  await crowd.refresh(now);
  return `computed again; ${differing.length === 0 ? 'none of the record had differed' : `these had differed: ${differing.join(', ')}`}`;
}
