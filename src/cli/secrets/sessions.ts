import { join } from 'node:path';
import { z } from 'zod';
import type { Host } from '../host.ts';
import { configFolder, readJson, writePrivate } from './private-files.ts';

const SESSION = z.object({
  token: z.string(),
  wallet: z.string(),
  tier: z.enum(['basic', 'premium']),
  expiresAt: z.iso.datetime(),
});
const FILE = z.record(z.string(), SESSION);

/** A login that this program keeps. */
export type StoredSession = z.infer<typeof SESSION>;

export function sessionsFile(host: Host): string {
  return join(configFolder(host), 'sessions.json');
}

/** The session with a service, as long as it lasts; null without one. */
export async function storedSession(host: Host, url: string): Promise<StoredSession | null> {
  return (await liveSessions(host))[url] ?? null;
}

/** Keeps a session under the address of its service. @throws OracleError CONFIG_INVALID */
export async function storeSession(host: Host, url: string, session: StoredSession): Promise<void> {
  const { token, wallet, tier, expiresAt } = session;
  await writePrivate(sessionsFile(host), { ...(await liveSessions(host)), [url]: { token, wallet, tier, expiresAt } });
}

/** @throws OracleError CONFIG_INVALID */
export async function forgetSession(host: Host, url: string): Promise<void> {
  const { [url]: gone, ...others } = await liveSessions(host);
  if (gone !== undefined) await writePrivate(sessionsFile(host), others);
}

async function liveSessions(host: Host): Promise<Record<string, StoredSession>> {
  const { data = {} } = FILE.safeParse(await readJson(sessionsFile(host)));
  const now = host.now().getTime();
  return Object.fromEntries(Object.entries(data).filter(([, { expiresAt }]) => Date.parse(expiresAt) > now));
}
