import { runProcess } from '../../../app/process.ts';
import type { StartupContext } from '../../../app/process-context.ts';
import type { BackupContents } from '../../../platform/backup/read-backup.ts';
import { toErrorDocument } from '../../svc/errors/error-document.ts';

/** What was done, for people or as one JSON document in one line. */
export function writeOutcome({ json = false }: { json?: boolean }, document: object, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(document)}\n` : text);
}

export function toContentsDocument({ header, documents, bytes }: BackupContents) {
  const { createdAt, consistency, lastDay = null } = header;
  return { createdAt, consistency, lastDay, documents, bytes };
}

/** As `runProcess`, with errors as JSON for `--json`. */
export function runBackupProcess({ json = false }: { json?: boolean }, work: (context: StartupContext) => Promise<void>): Promise<void> {
  return json ? runProcess(work, 1, (error) => `${JSON.stringify(toErrorDocument(error))}\n`) : runProcess(work);
}
