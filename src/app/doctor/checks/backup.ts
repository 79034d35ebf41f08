import type { Check } from '../check.ts';
import { ok, skipped, warn } from '../finding.ts';

/** Twice a day, with an hour to spare. */
const MAX_AGE_HOURS = 25;

/** Age of the newest verified backup. */
export const backupCheck: Check = {
  id: 'backup',
  title: 'Backup',
  needs: ['MONGODB_URI'],
  needsTarget: true,
  uses: ['database'],
  async run({ config, database, now }) {
    const { db } = await database();
    const newest = await db
      .collection<{ finishedAt: Date; verified: boolean }>('backups')
      .findOne({ verified: true }, { sort: { finishedAt: -1 } });
    if (newest === null) {
      if (config.chainMode !== 'real') return [skipped('none, and a demonstration needs none')];
      return [warn('none has been made', 'See "Backup and restore" in docs/OPERATE.md.')];
    }
    const hours = (now().getTime() - newest.finishedAt.getTime()) / 3_600_000;
    const detail = `the newest is of ${newest.finishedAt.toISOString()}`;
    return [
      hours <= MAX_AGE_HOURS ? ok(detail) : warn(`${detail}, ${Math.round(hours)} hours ago`, 'Look why the scheduled one has not run.'),
    ];
  },
};
