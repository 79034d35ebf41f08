import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Payer, World } from './world.ts';

/** A wallet of a key. */
export async function createKeyPayer(world: Pick<World, 'fund'>, units: bigint): Promise<Payer> {
  const privateKey = generatePrivateKey();
  const payer = { privateKey, address: privateKeyToAccount(privateKey).address, funds: units };
  await world.fund(payer);
  return payer;
}
