import { join } from 'node:path';
import { z } from 'zod';
import type { CliContext } from '../context.ts';
import { getConfigFolder, readJsonFile, writePrivateFile } from './private-files.ts';

const SESSION = z.object({
  token: z.string(),
  wallet: z.string(),
  tier: z.enum(['basic', 'premium']),
  expiresAt: z.iso.datetime(),
});
const FILE = z.record(z.string(), SESSION);

export type StoredSession = z.infer<typeof SESSION>;

export function getSessionsFile(context: CliContext): string {
  return join(getConfigFolder(context), 'sessions.json');
}

/** The unexpired session with a service, or null. */
export async function readSession(context: CliContext, url: string): Promise<StoredSession | null> {
  return (await readLiveSessions(context))[url] ?? null;
}

/** Stores the session by the URL of its service. @throws OracleError CONFIG_INVALID */
export async function storeSession(context: CliContext, url: string, session: StoredSession): Promise<void> {
  const { token, wallet, tier, expiresAt } = session;
  await writePrivateFile(getSessionsFile(context), { ...(await readLiveSessions(context)), [url]: { token, wallet, tier, expiresAt } });
}

/** @throws OracleError CONFIG_INVALID */
export async function removeSession(context: CliContext, url: string): Promise<void> {
  const { [url]: gone, ...others } = await readLiveSessions(context);
  if (gone !== undefined) await writePrivateFile(getSessionsFile(context), others);
}

async function readLiveSessions(context: CliContext): Promise<Record<string, StoredSession>> {
  const { data = {} } = FILE.safeParse(await readJsonFile(getSessionsFile(context)));
  const now = context.now().getTime();
  return Object.fromEntries(Object.entries(data).filter(([, { expiresAt }]) => Date.parse(expiresAt) > now));
}
