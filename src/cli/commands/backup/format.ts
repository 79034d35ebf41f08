import type { BackupContents } from '../../../platform/backup/read-backup.ts';

export function formatContents({ header, documents, bytes }: BackupContents): string {
  const { createdAt, lastDay, consistency } = header;
  const counts = `${documents.toLocaleString('en')} documents of ${formatMegabytes(bytes)}`;
  return `${counts}, of ${createdAt.toISOString()} (${consistency}), the record to ${lastDay ?? 'no day yet'}`;
}

export function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
