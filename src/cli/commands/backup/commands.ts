import { EXIT, type SvcCommand } from '../../svc/command.ts';
import { type BackupValues, DEFAULT_FOLDER, parseKeep, requireBackupUsage } from './options.ts';
import { parseInterval, parseTimes } from './schedule.ts';

/** These print text into a pipe, too. */
const JSON_OPTION = ['--json', 'print JSON'] as const;

export const backupCommand: SvcCommand<BackupValues> = {
  arguments: '[action] [path]',
  argumentValues: ['verify', 'list'],
  description: `With the settings of the service, beside it or alone. [action] is one of
  (none)           writes a backup; it has its name once all of it was read back
  verify <file>    decrypts the whole file and compares every digest; needs BACKUP_KEY alone
  list [folder]    the backups of a folder, newest first`,
  options: [
    ['--out <path>', `folder, or a file that ends with .backup (default: ${DEFAULT_FOLDER})`],
    ['--keep <count>', 'delete all but the newest backups of the folder', parseKeep],
    ['--at <times>', 'go on, with a backup at these times of each day in UTC, such as 21:50,00:30', parseTimes],
    ['--every <interval>', 'go on, with a backup now and after each interval, such as 24h', parseInterval],
    JSON_OPTION,
  ],
  footer: 'Exits with 0 once everything is written and verified, 1 on an error, 2 on a usage error.',
  async run(_context, values, positionals) {
    const [action, path] = positionals;
    requireBackupUsage(values, action, path);
    const { runBackup, runList, runVerify } = await import('./run-backup.ts');
    if (action === 'verify') await runVerify(path!, values);
    else if (action === 'list') await runList(path ?? values.out ?? DEFAULT_FOLDER, values);
    else await runBackup(values);
    return EXIT.ok;
  },
};

export const restoreCommand: SvcCommand<{ json?: boolean }> = {
  arguments: '<file>',
  description: `With the settings of the service, whose processes are all stopped. The file is checked before anything is written, and what was written is
read back. An interrupted restore keeps the service from starting until it is repeated.`,
  options: [JSON_OPTION],
  footer: 'Exits with 0 once everything is restored, 1 on an error, 2 on a usage error.',
  async run(_context, values, [file]) {
    const { runRestore } = await import('./run-restore.ts');
    await runRestore(file!, values);
    return EXIT.ok;
  },
};
