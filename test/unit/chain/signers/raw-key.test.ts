import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createKeySigner } from '../../../../src/chain/signers.ts';
import { testSigner } from '../../../support/signers/signer-suite.ts';

testSigner('a key of this process', async () => {
  const key = generatePrivateKey();
  return { signer: createKeySigner('provider', key), address: privateKeyToAccount(key).address };
});
