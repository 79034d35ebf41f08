import { formatWalletError, isSameAccount, USER_REJECTED_REQUEST } from '../unlock/login.ts';
import type { Provider } from '../unlock/wallets.ts';
import type { AcceptedTerms, PaymentTerms } from './terms.ts';

type Authorization = Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>;

/** A payment of x402 version 2: usable once, until its authorization ends. */
export interface SignedPayment {
  x402Version: 2;
  resource: unknown;
  accepted: AcceptedTerms;
  payload: { signature: string; authorization: Authorization };
  extensions: { 'payment-identifier': { info: { id: string } } };
}

/** A payment that was not signed; the message is shown to the reader. */
export class SigningError extends Error {}

const TYPES = {
  EIP712Domain: toFields('string name,string version,uint256 chainId,address verifyingContract'),
  TransferWithAuthorization: toFields('address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce'),
};

/** Lets a chain whose clock is behind accept the authorization. */
const CLOCK_SKEW_SECONDS = 600;

/** Asks a wallet to sign an EIP-3009 transfer (EIP-712) of exactly these terms. @throws {SigningError} */
export async function signWithWallet(provider: Provider, { accepted, resource }: PaymentTerms, preferred?: string): Promise<SignedPayment> {
  try {
    const accounts = (await provider.request({ method: 'eth_requestAccounts' })) as readonly string[];
    const from = accounts.find((account) => isSameAccount(account, preferred)) ?? accounts[0];
    await selectChain(provider, Number(accepted.network.split(':')[1]));
    const message = buildAuthorization(from, accepted);
    const data = JSON.stringify(toTypedData(accepted, message));
    const signature = (await provider.request({ method: 'eth_signTypedData_v4', params: [from, data] })) as string;
    const info = { id: `page_${crypto.randomUUID?.() ?? randomHex(16)}` };
    return {
      x402Version: 2,
      resource,
      accepted,
      payload: { signature, authorization: message },
      extensions: { 'payment-identifier': { info } },
    };
  } catch (error) {
    throw error instanceof SigningError ? error : new SigningError(formatWalletError(error as { code?: number }));
  }
}

function toTypedData({ network, asset, extra }: AcceptedTerms, message: Authorization) {
  const domain = { name: extra.name, version: extra.version, chainId: Number(network.split(':')[1]), verifyingContract: asset };
  return { types: TYPES, primaryType: 'TransferWithAuthorization', domain, message };
}

function buildAuthorization(from: string, { payTo, amount, maxTimeoutSeconds }: AcceptedTerms): Authorization {
  const seconds = Math.floor(Date.now() / 1_000);
  const [validAfter, validBefore] = [seconds - CLOCK_SKEW_SECONDS, seconds + maxTimeoutSeconds].map(String);
  return { from, to: payTo, value: amount, validAfter, validBefore, nonce: `0x${randomHex(32)}` };
}

/** Wallets sign for the chain that they are on. */
async function selectChain(provider: Provider, chainId: number) {
  const wanted = `0x${chainId.toString(16)}`;
  if (Number(await provider.request({ method: 'eth_chainId' })) === chainId) return;
  await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: wanted }] }).catch((error) => {
    if (error.code === USER_REJECTED_REQUEST) throw error;
    throw new SigningError(`The wallet is on another network. Select chain ${chainId} there, then pay again.`);
  });
}

function randomHex(bytes: number) {
  return [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function toFields(fields: string) {
  return fields.split(',').map((field) => {
    const [type, name] = field.split(' ');
    return { name, type };
  });
}
