import type { IssuedApiKey } from '../../../src/auth/api-keys.ts';
import type { TestService } from '../service/service.ts';
import { demoWallets } from './login.ts';

/** An API key of a demonstration wallet, without an end, made without HTTP. */
export function issueKey(service: TestService, wallet: 'basic' | 'premium', tier: 'basic' | 'premium' = wallet): Promise<IssuedApiKey> {
  const { address } = demoWallets(service)[wallet];
  return service.http.access.apiKeys.issue(address, { label: 'a bot', tier, expiresInDays: null });
}

/** Ends a key at once. */
export function revokeKey(service: TestService, wallet: 'basic' | 'premium', { entry }: IssuedApiKey): Promise<boolean> {
  return service.http.access.apiKeys.revoke(demoWallets(service)[wallet].address, entry.id);
}
