import { requireTier } from '../../access/tiers.ts';
import type { Caller } from '../../record/caller.ts';
import type { AppOptions } from '../app.ts';
import type { Guard } from '../mount.ts';

/** The one place where this door decides who asks and whether he is let in. */
export function createGuard({ identify }: Pick<AppOptions, 'identify'>): Guard {
  return async ({ access }, request): Promise<Caller> => {
    const authorization = request.get('authorization');
    const caller = await identify(authorization);
    if (access === 'basic' || access === 'premium') requireTier(caller, access);
    return caller;
  };
}
