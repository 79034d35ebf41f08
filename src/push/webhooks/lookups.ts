import type { TargetRules } from '../../platform/outbound/target.ts';
import { Turns } from '../../platform/turns.ts';

/** Names that are looked up for a wallet at once, and further ones that wait: as many as it can have webhooks. */
const A_WALLET = { underWay: 2, waiting: 8, waitMs: 1_000 } as const;

/** Gives each wallet rules under which the names that it registers are looked up a few at a time: its slow ones keep nobody else waiting. */
export function lookUpsByWallet(rules: TargetRules): (wallet: string) => TargetRules {
  const wallets = new Map<string, Turns>();
  return (wallet) => ({
    ...rules,
    async resolve(hostname) {
      const turns = wallets.get(wallet) ?? new Turns(A_WALLET);
      wallets.set(wallet, turns);
      try {
        return await turns.run(() => rules.resolve(hostname));
      } finally {
        if (turns.idle) wallets.delete(wallet);
      }
    },
  });
}
