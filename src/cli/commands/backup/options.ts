import { UsageError } from '../../../platform/usage-error.ts';

/** Options of `svc backup`. */
export interface BackupValues {
  /** Folder, or a file that ends with `.backup`. */
  out?: string;
  keep?: number;
  /** Minutes after 00:00 UTC. */
  at?: number[];
  /** Milliseconds. */
  every?: number;
  json?: boolean;
}

export const DEFAULT_FOLDER = './backups';

export const isBackupFile = (out: string): boolean => out.endsWith('.backup');

/** @throws UsageError for an unknown action, and for options that exclude each other */
export function requireBackupUsage({ keep, out, at, every }: BackupValues, action?: string, path?: string): void {
  if (action !== undefined && action !== 'verify' && action !== 'list')
    throw new UsageError('action', 'must be verify or list, or left out');
  if (action === 'verify' && path === undefined) throw new UsageError('path', 'is missing: the file to verify');
  if (at !== undefined && every !== undefined) throw new UsageError('--every', 'does not go with --at');
  const needsFolder = [keep, at, every].some((value) => value !== undefined);
  if (out !== undefined && isBackupFile(out) && needsFolder)
    throw new UsageError('--out', 'must be a folder with --keep, --at and --every');
}

/** @throws UsageError */
export function parseKeep(name: string, text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new UsageError(name, 'must be a whole number from 1 to 9999');
  return Number(text);
}
