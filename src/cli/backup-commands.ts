import type { CommandEntry } from './svc/context.ts';

/** Commands of `svc` that need the folder of the service. */
export const OPERATOR_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'backup',
    summary: 'Backs the database up into an encrypted file, and reads it back (operators)',
    load: async () => (await import('./backup.ts')).backupCommand,
  },
  {
    name: 'restore',
    summary: 'Restores a backup into an empty database (operators)',
    load: async () => (await import('./backup.ts')).restoreCommand,
  },
];
