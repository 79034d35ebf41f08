// agent0-sdk, as its README has it: https://www.npmjs.com/package/agent0-sdk
import { SDK } from 'agent0-sdk';

/** Reads the registry of ERC-8004 and the registration file that it names. */
export async function find({ rpcUrl, agentId }) {
  const sdk = new SDK({ chainId: 84532, rpcUrl });
  const agent = await sdk.loadAgent(agentId);
  return agent.getRegistrationFile();
}

/** It also pays by x402. */
export async function buy({ url, privateKey, rpcUrl, init = { method: 'GET' } }) {
  const sdk = new SDK({ chainId: 84532, rpcUrl, privateKey });
  const result = await sdk.request({ url, ...init });
  const { x402Settlement, ...answer } = result.x402Required ? await result.x402Payment.pay() : result;
  return { answer, settlement: x402Settlement };
}
