import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Address, createPublicClient, encodeFunctionData, type Hex, http, type LocalAccount, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { PaymentRequirements } from '../../src/commerce/x402/protocol/payment-quote.ts';
import { parseDemoFile } from '../../src/dev/demo/demo-file.ts';
import { parseLocalKeys } from '../../src/dev/demo/local-keys.ts';
import { sendTransactions } from '../../src/dev/local-chain/contracts/send-transactions.ts';
import { type WalletBehaviour, walletFactory } from '../../test/support/chain/contract-wallet.ts';
import { deployOffchainLookup } from '../../test/support/chain/reverting-contract.ts';
import { asHeader, readHeader } from '../../test/support/commerce/payments.ts';
import { type Signing, signPayment } from '../../test/support/commerce/x402.ts';
import type { Attack, Sent, Target } from './attack.ts';
import { exchange, getRequest } from './sockets.ts';

const PAYMENTS = 24;
const RESOURCE = '/oracle?horizon=7d';
const FUNDS_USDC_MICROS = 1_000_000n;
/** A second ahead is what an attacker signs who wants an answer and no settlement. */
const SHORT_SECONDS = 1;
const GAS_WASTERS: readonly WalletBehaviour[] = ['valid without gas price', 'burns gas', 'never ends'];

const mintAbi = parseAbi(['function mint(address to, uint256 value)']);

/** Who signs, and the wallet that is to pay. */
interface Payer {
  account: LocalAccount;
  wallet: Address;
}

interface Chain {
  rpcUrl: string;
  deployer: LocalAccount;
  facilitator: Address;
  mint(to: Address): Promise<void>;
}

/** Payments that cost the service more than they bring, each beside as many good ones. @param folder of the running service */
export async function openPaymentAttacks(target: Target, folder: string): Promise<Attack[]> {
  const chain = await openChain(folder);
  const requirements = await readRequirements(target);
  const good = await createPayers(chain);
  const pay = (payers: readonly Payer[], change: Signing['change'] = {}) => sendPayments(target, { requirements, payers, change });
  const honest = async () => {
    const { sent, answers } = await pay(good);
    if (answers !== `${PAYMENTS} x 200`) throw new Error(`good payments were answered ${answers}`);
    return sent;
  };
  return [
    await offchainLookup(chain, { honest, pay, report: target.report }),
    await settlementGas(chain, { honest, pay, report: target.report }),
    shortLived(good, { honest, pay, report: target.report }),
  ];
}

interface Paying extends Pick<Target, 'report'> {
  honest(): Promise<Sent>;
  pay(payers: readonly Payer[], change?: Signing['change']): Promise<Paid>;
}

async function offchainLookup(chain: Chain, { honest, pay, report }: Paying): Promise<Attack> {
  let lookups = 0;
  const server = createServer((_request, response) => {
    lookups += 1;
    response.end('{"data":"0x"}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  server.unref();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/{sender}/{data}`;
  const contract = await deployOffchainLookup({ rpcUrl: chain.rpcUrl, payer: chain.deployer }, [url]);
  await chain.mint(contract);
  const payers = Array.from({ length: PAYMENTS }, () => ({ account: privateKeyToAccount(generatePrivateKey()), wallet: contract }));
  return {
    name: 'offchain lookup',
    what: `${PAYMENTS} x402 payments of a contract that answers each call with an EIP-3668 lookup, beside as many good payments`,
    honest,
    async hostile() {
      const { sent, answers } = await pay(payers);
      report(`  answers to payments with an offchain lookup: ${answers}; lookups that the service made: ${lookups}`);
      return sent;
    },
  };
}

async function settlementGas(chain: Chain, { honest, pay, report }: Paying): Promise<Attack> {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const walletOf = await walletFactory({ client }, chain.rpcUrl, chain.deployer);
  const payers: Payer[] = [];
  for (let index = 0; index < PAYMENTS; index++) {
    const account = privateKeyToAccount(generatePrivateKey());
    const wallet = await walletOf(account.address, GAS_WASTERS[index % GAS_WASTERS.length]);
    await wallet.deploy();
    await chain.mint(wallet.address);
    payers.push({ account, wallet: wallet.address });
  }
  return {
    name: 'settlement gas',
    what: `${PAYMENTS} x402 payments of contracts (${GAS_WASTERS.join(', ')}), beside as many good payments`,
    honest,
    async hostile() {
      const before = await client.getBalance({ address: chain.facilitator });
      const { sent, answers } = await pay(payers);
      const spentWei = before - (await client.getBalance({ address: chain.facilitator }));
      report(`  answers to payments of such contracts: ${answers}; spent on gas: ${spentWei} wei`);
      return sent;
    },
  };
}

function shortLived(payers: readonly Payer[], { honest, pay, report }: Paying): Attack {
  return {
    name: 'short-lived payments',
    what: `${PAYMENTS} x402 payments that expire within ${SHORT_SECONDS} s, beside as many that are good for minutes`,
    honest,
    async hostile() {
      const validBefore = String(Math.floor(Date.now() / 1_000) + SHORT_SECONDS);
      const { sent, answers } = await pay(payers, { validBefore });
      report(`  answers to payments that expire at once: ${answers}`);
      return sent;
    },
  };
}

interface Paid {
  sent: Sent;
  /** How often each status was answered. */
  answers: string;
}

interface Payments {
  requirements: PaymentRequirements;
  payers: readonly Payer[];
  change: Signing['change'];
}

/** Sends a payment of each payer, each from an address of its own. */
async function sendPayments({ url, nextAddress }: Target, { requirements, payers, change }: Payments): Promise<Paid> {
  const counts = new Map<string, number>();
  let bytes = 0;
  for (const { account, wallet } of payers) {
    const payment = await signPayment({ account, requirements, change: { from: wallet, ...change } });
    const request = getRequest(RESOURCE, { 'PAYMENT-SIGNATURE': asHeader(payment), Connection: 'close' });
    bytes += request.length;
    const status = /^HTTP\/1\.1 (\d{3})/.exec(await exchange(url, nextAddress(), request))?.[1] ?? 'none';
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  const answers = [...counts].map(([status, count]) => `${count} x ${status}`).join(', ');
  return { sent: { requests: payers.length, bytes }, answers };
}

async function readRequirements({ url, nextAddress }: Target): Promise<PaymentRequirements> {
  const answer = await exchange(url, nextAddress(), getRequest(RESOURCE, { Connection: 'close' }));
  return readHeader(/^payment-required: (\S+)/im.exec(answer)?.[1]).accepts[0];
}

async function openChain(folder: string): Promise<Chain> {
  const read = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8'));
  const { rpcUrl, contracts } = parseDemoFile(await read('demo.json'));
  const keys = parseLocalKeys(await read('keys.json'));
  const deployer = privateKeyToAccount(keys.deployer);
  const mint = (to: Address) => encodeFunctionData({ abi: mintAbi, functionName: 'mint', args: [to, FUNDS_USDC_MICROS] }) as Hex;
  return {
    rpcUrl,
    deployer,
    facilitator: privateKeyToAccount(keys.facilitator).address,
    mint: (to) => sendTransactions(rpcUrl, deployer, [{ to: contracts.stablecoin, data: mint(to) }]),
  };
}

async function createPayers({ mint }: Chain): Promise<Payer[]> {
  const accounts = Array.from({ length: PAYMENTS }, () => privateKeyToAccount(generatePrivateKey()));
  for (const { address } of accounts) await mint(address);
  return accounts.map((account) => ({ account, wallet: account.address }));
}
