import type { Db } from 'mongodb';
import { Revision } from '../../platform/concurrency/revision.ts';

/** Of the figures of the contest: their summary, and the revision that they belong to. */
export const CONTEST_FIGURES = 'contest_figures';

/** Advances with each decided round and each scored market. */
export function openContestRevision(db: Db): Revision {
  return new Revision(db, { collection: CONTEST_FIGURES, _id: 'revision' });
}
